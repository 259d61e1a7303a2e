//! Location of pieces of the intermediate: an object has all pieces of a task.

use rechunk_plan::Plan;

use crate::stage::stage_run::StageRun;
use crate::units::input::Input;

/// Key of the intermediate object that task `task` of stage `stage` writes.
pub(crate) fn object_key(stage: usize, task: u64) -> String {
    format!("stage{stage}/{task:09}")
}

/// Keys of all intermediate objects of a plan.
pub fn intermediate_keys(plan: &Plan) -> impl Iterator<Item = String> {
    let stages = plan.stages.iter().rev().skip(1).rev().enumerate();
    stages.flat_map(|(stage, of)| (0..of.tasks).map(move |task| object_key(stage, task)))
}

/// Location of a piece.
pub(crate) struct PiecePlace {
    pub key: String,
    /// Offset and length in the object, bytes.
    pub range: (u64, u64),
}

impl PiecePlace {
    /// Location of the piece that is input `index`.
    pub(crate) fn of_input(stage: &StageRun, index: &[u64], input: &Input) -> Self {
        let grid = stage.geometry.input_grid();
        let before = stage.number.saturating_sub(1);
        let key = object_key(before, grid.indices().ordinal(index));
        Self { key, range: stage.geometry.piece_range(&grid.region(index), &input.region) }
    }
}
