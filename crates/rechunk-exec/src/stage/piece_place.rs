//! Location of pieces of the intermediate: an object has all pieces of a task.

use rechunk_plan::Plan;
use rechunk_store::{Store, StoreError};

use crate::Fault;
use crate::stage::stage_run::StageRun;
use crate::task_range::TaskRange;
use crate::units::input::Input;

/// Key of the intermediate object that task `task` of stage `stage` writes.
pub fn intermediate_key(stage: usize, task: u64) -> String {
    format!("stage{stage}/{task:09}")
}

/// Keys of all intermediate objects of a plan.
pub fn intermediate_keys(plan: &Plan) -> impl Iterator<Item = String> {
    let stages = plan.stages.iter().rev().skip(1).rev().enumerate();
    stages.flat_map(|(stage, of)| (0..of.tasks).map(move |task| intermediate_key(stage, task)))
}

/// Location of a piece.
pub(crate) struct PiecePlace {
    pub key: String,
    /// Offset and length in the object, bytes.
    pub range: (u64, u64),
    /// The task that has written the object.
    pub written_by: TaskRange,
}

impl PiecePlace {
    /// Location of `range` (offset and length, bytes) of the object of a task of stage `stage`.
    pub(crate) fn of_task(stage: usize, task: u64, range: (u64, u64)) -> Self {
        let written_by = TaskRange::new(stage, task..task.saturating_add(1));
        Self { key: intermediate_key(stage, task), range, written_by }
    }

    /// Location of the piece that is input `index`.
    pub(crate) fn of_input(stage: &StageRun, index: &[u64], input: &Input) -> Self {
        let grid = stage.geometry.input_grid();
        let before = stage.number.saturating_sub(1);
        let task = grid.indices().ordinal(index);
        let range = stage.geometry.piece_range(&grid.region(index), &input.region);
        Self::of_task(before, task, range)
    }

    /// The fault of a piece that cannot be read: lost, if the object is not there or too short.
    pub(crate) fn unread(&self, source: StoreError) -> Fault {
        let is_lost = source.is_not_found()
            || source.is_wrong_size()
            || matches!(source, StoreError::Short { .. });
        let written_by = self.written_by;
        if is_lost {
            Fault::LostPiece { written_by, source: Box::new(source) }
        } else {
            Fault::Intermediate(source)
        }
    }

    /// The fault of a piece that was read from `store` and has not its checksum.
    pub(crate) fn damaged(self, store: &Store) -> Fault {
        let location = store.label().to_owned();
        let Self { key, range: (offset_bytes, length_bytes), written_by } = self;
        Fault::DamagedPiece { written_by, location, key, offset_bytes, length_bytes }
    }
}
