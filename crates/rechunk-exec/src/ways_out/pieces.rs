//! The way into an intermediate: all pieces of a tile become one object.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_kernel::{narrow, wide};
use rechunk_store::{ObjectWriter, Role};

use crate::Fault;
use crate::stage::piece_place::intermediate_key;
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;
use crate::units::unit::Finished;

/// The finished pieces of a tile, in C order of the boxes that will read them, which is where
/// [`rechunk_plan::piece_offset_elements`] looks for them.
#[derive(Debug)]
pub(crate) enum TileObject {
    /// The task writes target chunks.
    None,
    /// They wait here until all of them are there, and are sent as one.
    Held {
        pieces: Vec<Bytes>,
        /// Bytes behind the elements of each: its marks of absence, and its checksum.
        tails: Vec<Bytes>,
    },
    /// Each goes to its place in a file when it is finished, by whoever is free.
    File(Arc<TileFile>),
}

/// A file that pieces are written to.
#[derive(Debug)]
pub(crate) struct TileFile {
    writer: ObjectWriter,
    /// Where each piece begins, bytes.
    offsets: Vec<u64>,
}

impl TileObject {
    /// An object without pieces.
    pub(crate) fn new(task: &TaskRun) -> Result<Self, Fault> {
        let stage = &task.stage;
        if stage.way_out != WayOut::Pieces {
            return Ok(Self::None);
        }
        if !stage.in_place.writes_pieces {
            return Ok(Self::Held { pieces: Vec::new(), tails: Vec::new() });
        }
        let key = intermediate_key(stage.number, task.number);
        let writer = stage.intermediate()?.begin(&key, 0).map_err(Fault::Intermediate)?;
        let mut offsets = Vec::new();
        let mut end = 0_u64;
        for index in stage.geometry.units(&task.tile).positions() {
            offsets.push(end);
            if let Some(piece) = stage.geometry.unit_region(&index, &task.tile) {
                end = end.saturating_add(stage.geometry.object_bytes(&piece));
            }
        }
        Ok(Self::File(Arc::new(TileFile { writer, offsets })))
    }

    /// Adds a finished piece that waits: its buffer becomes part of the object as it is.
    pub(crate) fn add(&mut self, task: &TaskRun, piece: Finished) {
        let Self::Held { pieces, tails } = self else { return };
        let at = narrow(piece.ordinal);
        if pieces.len() <= at {
            pieces.resize(at.saturating_add(1), Bytes::new());
            tails.resize(at.saturating_add(1), Bytes::new());
        }
        pieces[at] = Bytes::from(piece.buffer);
        tails[at] = Bytes::from(piece.stored.marks);
        task.stage.progress(&piece.region);
    }

    /// Stores the object, all of whose pieces have been added or written.
    pub(crate) async fn put(self, task: &TaskRun) -> Result<(), Fault> {
        let stage = &task.stage;
        let object_bytes = stage.geometry.object_bytes(&task.tile);
        let decoded_bytes = task.tile.elements().saturating_mul(wide(stage.item_bytes));
        match self {
            Self::None => return Ok(()),
            Self::Held { pieces, tails } => {
                let key = intermediate_key(stage.number, task.number);
                let parts = in_order(&pieces, &tails);
                let filled: u64 = parts.iter().map(|part| wide(part.len())).sum();
                if filled != object_bytes {
                    let reason = format!("{key} has {filled} bytes of {object_bytes}");
                    return Err(Fault::Plan { reason });
                }
                stage.intermediate()?.put(&key, parts).await.map_err(Fault::Intermediate)?;
                for piece in pieces {
                    task.buffers.recycle(piece);
                }
            }
            Self::File(file) => {
                file.writer.finish(object_bytes).await.map_err(Fault::Intermediate)?;
            }
        }
        stage.intermediate()?.meter().add_decoded_written(Role::Intermediate, decoded_bytes);
        Ok(())
    }
}

/// The parts of the object in their order.
fn in_order(pieces: &[Bytes], tails: &[Bytes]) -> Vec<Bytes> {
    let parts = pieces.iter().zip(tails).flat_map(|(piece, tail)| [piece, tail]);
    parts.filter(|part| !part.is_empty()).cloned().collect()
}

impl TileFile {
    /// Writes a finished piece.
    pub(crate) async fn write(&self, task: &TaskRun, piece: Finished) -> Result<(), Fault> {
        let Finished { ordinal, region, buffer, stored, .. } = piece;
        let at = usize::try_from(ordinal).ok().and_then(|at| self.offsets.get(at)).copied();
        let offset = at.ok_or_else(|| Fault::Plan {
            reason: format!("piece {ordinal} has no place in its object"),
        })?;
        let behind = offset.saturating_add(wide(buffer.len()));
        let written = self.writer.write_at(offset, Bytes::from(buffer)).await;
        task.buffers.recycle(written.map_err(Fault::Intermediate)?);
        let tail = Bytes::from(stored.marks);
        self.writer.write_at(behind, tail).await.map_err(Fault::Intermediate)?;
        task.stage.progress(&region);
        Ok(())
    }
}
