//! Steps of a task: the order they are taken in, and shorter ones.

use rechunk_plan::SteppedAxis;
use rechunk_plan::count::product;

use super::boxes::common_box;
use crate::draft::Draft;
use crate::sizing::Sizing;

/// Order of the loops over steps by Smith's rule: the axis with the largest carry per remaining
/// extent is fastest. That is minimal over all orders, for the bound. Axes that carry nothing are
/// slowest, so that nothing is carried over them. Ties keep C order.
pub(super) fn walk_order(sizing: &Sizing<'_>, tile: &[u64], step_chunks: &[u64]) -> Vec<usize> {
    let (input, unit) = (sizing.inputs.read_unit(), &sizing.inputs.request.target.chunk_shape);
    let ratio = |axis: usize| {
        let window = input[axis].saturating_mul(step_chunks[axis]);
        let (steps, whole) = (step_chunks[axis], tile[axis] >= sizing.inputs.request.shape[axis]);
        let stepped = SteppedAxis::new(tile[axis], unit[axis], input[axis], steps, whole);
        let cuts = sizing.inputs.cuts;
        let has_edges = cuts.axis(axis).is_some() || cuts.target_axis(axis).is_some();
        let carries = stepped.carries || has_edges;
        if window >= tile[axis] || !carries {
            return 0.0;
        }
        unit[axis] as f64 / (tile[axis] - window) as f64
    };
    let mut axes: Vec<usize> = (0..tile.len()).collect();
    axes.sort_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
    axes
}

/// Gives `draft` shorter steps, if it is not a hundredth slower for it and threads have enough to
/// do in each. The memory they leave is for reading ahead, and a run that is killed has fewer
/// inputs to take in again.
pub(super) fn with_shorter_steps(
    sizing: &Sizing<'_>,
    mut draft: Draft,
    is_reordered: bool,
) -> Draft {
    const SLOWER_MAX: f64 = 1.01;
    /// Fewest inputs of a shorter step for each thread, which waits for the last one.
    const INPUTS_MIN: u64 = 16;
    if sizing.inputs.request.budget.box_bytes.is_some() {
        return draft; // plans are compared by their counts
    }
    let inputs_min = INPUTS_MIN.saturating_mul(u64::from(sizing.inputs.request.budget.threads));
    let seconds_max = sizing.cost(&draft) * SLOWER_MAX;
    let (input, common) = (sizing.inputs.read_unit(), common_box(sizing));
    let mut held_bytes = sizing.held_bytes(&draft);
    loop {
        let Some(stage) = draft.stages.first() else { return draft };
        let steps = stage.step_chunks.iter().zip(stage.filled()).zip(input);
        let inputs: Vec<u64> =
            steps.map(|((&step, &filled), &input)| step.min(filled.div_ceil(input))).collect();
        let shorter = (0..inputs.len()).filter_map(|axis| {
            let half = inputs[axis].div_ceil(2);
            // Steps that end where units do carry nothing.
            let unit = (common[axis] / input[axis]).max(1);
            let is_aligned = inputs[axis].is_multiple_of(unit);
            let half = if is_aligned { half.next_multiple_of(unit) } else { half };
            let of_axis = |(at, &inputs)| if at == axis { half } else { inputs };
            let is_shorter = half < inputs[axis];
            if !is_shorter || product(inputs.iter().enumerate().map(of_axis)) < inputs_min {
                return None;
            }
            let mut shorter = draft.clone();
            for stage in &mut shorter.stages {
                stage.step_chunks[axis] = half;
                if is_reordered {
                    stage.step_axes = walk_order(sizing, stage.filled(), &stage.step_chunks);
                }
            }
            let is_as_fast = sizing.cost(&shorter) <= seconds_max;
            is_as_fast.then(|| (sizing.held_bytes(&shorter), shorter))
        });
        match shorter.min_by_key(|(bytes, _)| *bytes) {
            Some((bytes, shorter)) if bytes <= held_bytes => {
                (held_bytes, draft) = (bytes, shorter);
            }
            _ => return draft,
        }
    }
}
