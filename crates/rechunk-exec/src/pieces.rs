//! The way into an intermediate: all pieces of a tile become one object.

use bytes::Bytes;
use rechunk_plan::Plan;
use rechunk_store::Role;

use crate::Fault;
use crate::commit::recycle;
use crate::frame::wide;
use crate::task::TaskRun;
use crate::unit::Finished;

/// Key of the intermediate object that task `task` of stage `stage` writes.
pub(crate) fn object_key(stage: usize, task: u64) -> String {
    format!("stage{stage}/{task:09}")
}

/// Keys of all intermediate objects of a plan.
pub fn intermediate_keys(plan: &Plan) -> impl Iterator<Item = String> {
    let stages = plan.stages.iter().rev().skip(1).rev().enumerate();
    stages.flat_map(|(stage, of)| (0..of.tasks).map(move |task| object_key(stage, task)))
}

/// The finished pieces of a tile, in C order of the boxes that will read them, which is where
/// [`rechunk_plan::piece_offset_elements`] looks for them.
#[derive(Debug)]
pub(crate) struct TileObject {
    pieces: Vec<Bytes>,
    /// What each has behind its elements: what it keeps of absence, and its checksum.
    tails: Vec<Bytes>,
}

impl TileObject {
    /// An object without pieces; a task that writes target chunks leaves it so.
    pub(crate) fn new() -> Self {
        Self { pieces: Vec::new(), tails: Vec::new() }
    }

    /// Adds a finished piece: its buffer becomes part of the object as it is.
    pub(crate) fn add(&mut self, task: &TaskRun, piece: Finished) {
        let at = usize::try_from(piece.ordinal).unwrap_or(usize::MAX);
        if self.pieces.len() <= at {
            self.pieces.resize(at.saturating_add(1), Bytes::new());
            self.tails.resize(at.saturating_add(1), Bytes::new());
        }
        self.pieces[at] = Bytes::from(piece.buffer);
        self.tails[at] = Bytes::from(piece.stored.marks);
        task.stage.progress(&piece.region);
    }

    /// The parts of the object in their order.
    fn parts(&self) -> Vec<Bytes> {
        let pairs = self.pieces.iter().zip(&self.tails);
        let parts = pairs.flat_map(|(piece, tail)| [piece, tail]);
        parts.filter(|part| !part.is_empty()).cloned().collect()
    }

    /// Stores the object.
    pub(crate) async fn put(self, task: &TaskRun) -> Result<(), Fault> {
        let stage = &task.stage;
        let store = stage.intermediate()?;
        let key = object_key(stage.number, task.number);
        let object_bytes = stage.geometry.object_bytes(&task.tile);
        let parts = self.parts();
        let filled: u64 = parts.iter().map(|part| wide(part.len())).sum();
        if filled != object_bytes {
            let reason = format!("{key} has {filled} bytes of {object_bytes}");
            return Err(Fault::Plan { reason });
        }
        let decoded_bytes = task.tile.elements().saturating_mul(wide(stage.item_bytes));
        store.meter().add_decoded_written(Role::Intermediate, decoded_bytes);
        store.put(&key, parts).await.map_err(Fault::Intermediate)?;
        self.pieces.into_iter().for_each(|piece| recycle(task, piece));
        Ok(())
    }
}
