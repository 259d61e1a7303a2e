//! Smaller tasks where one has very many pieces.

use rechunk_plan::count::product;

use super::boxes::common_box;
use crate::draft::{Draft, stream};
use crate::sizing::Sizing;

/// Cuts `draft` into smaller tasks, where one has very many pieces and cutting it costs nothing. A
/// task passes over regions without stored chunks, and tasks are marked in the journal or lost with
/// a worker.
pub(super) fn with_smaller_tasks(sizing: &Sizing<'_>, mut draft: Draft) -> Draft {
    const SLOWER_MAX: f64 = 1.01;
    /// Most parts of target chunks that the inputs of a small enough task have: about as many
    /// copies.
    const PIECES_MAX: u64 = 1 << 18;
    if sizing.inputs.request.budget.box_bytes.is_some() {
        return draft; // plans are compared by their counts
    }
    let seconds_max = sizing.cost(&draft) * SLOWER_MAX;
    let (input, common) = (sizing.inputs.read_unit(), common_box(sizing));
    let unit = &sizing.inputs.request.target.chunk_shape;
    loop {
        let Some(stage) = draft.stages.first().filter(|stage| stage.box_shape.is_none()) else {
            return draft;
        };
        let along = |axis: usize| stage.tile[axis].div_ceil(input[axis].min(unit[axis]));
        let pieces = product((0..input.len()).map(along));
        let cut = |axis: usize, parts: u64| {
            // Tasks end where chunks of both sides do: nothing is read twice.
            let boxes = stage.tile[axis].div_ceil(common[axis]).div_ceil(parts);
            let tile = boxes.saturating_mul(common[axis]);
            if tile >= stage.tile[axis] {
                return None;
            }
            let mut tiles = stage.tile.clone();
            tiles[axis] = tile;
            let smaller =
                stream(sizing.inputs, &tiles, &stage.step_chunks, stage.step_axes.clone());
            let seconds = sizing.cost(&smaller);
            (seconds <= seconds_max).then_some((seconds, smaller))
        };
        let mut all_parts =
            std::iter::successors(Some(pieces.div_ceil(PIECES_MAX)), |parts| Some(parts / 4))
                .take_while(|&parts| parts > 1);
        let smaller = all_parts.find_map(|parts| {
            let cuts = (0..input.len()).filter_map(|axis| cut(axis, parts));
            cuts.min_by(|(a, _), (b, _)| a.total_cmp(b))
        });
        match smaller {
            Some((_, smaller)) => draft = smaller,
            None => return draft,
        }
    }
}
