//! Jobs of one axis, run whole.

use std::convert::Infallible;

use rechunk_apply::{
    Accumulator, ApplyPlan, BlockView, BottomTile, Coverage, OpOutput, TaskOutput, Way, run_task,
};

/// Runs a job over one axis; `op` gives the bytes of the padded box. Voxels without a value keep
/// `background`.
pub(crate) fn run(
    plan: &ApplyPlan,
    background: &[u8],
    mut op: impl FnMut(&BottomTile) -> OpOutput,
) -> Vec<u8> {
    let mut blocks = Vec::new();
    for ordinal in 0..plan.task_count() {
        let output = run_task(plan, ordinal, background, &mut |tile| Ok::<_, Infallible>(op(tile)));
        blocks.push(match output.unwrap() {
            TaskOutput::Block { bytes, .. } => Some(bytes),
            TaskOutput::Skipped => None,
        });
    }
    let item = background.len();
    let at = |position: i64| usize::try_from(position).unwrap() * item;
    let length = usize::try_from(plan.target().unwrap().shape[0]).unwrap();
    let mut result = background.repeat(length);
    if plan.way() == Way::Direct {
        for (ordinal, bytes) in (0..).zip(blocks) {
            let keep = plan.task(ordinal).keep.axes[0];
            if let Some(bytes) = bytes {
                result[at(keep.start)..at(keep.end)].copy_from_slice(&bytes);
            }
        }
        return result;
    }
    for number in 0..plan.reduction_count() {
        let region = plan.reduction(number);
        let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
        for ordinal in plan.contributors(&region).ordinals() {
            let task = plan.task(ordinal);
            match &blocks[usize::try_from(ordinal).unwrap()] {
                Some(bytes) => {
                    let block = BlockView { bounds: &task.keep, bytes };
                    sum.add(ordinal, block, &plan.task_weights(&task)).unwrap();
                }
                None => sum.skip(),
            }
        }
        let out = &mut result[at(region.axes[0].start)..at(region.axes[0].end)];
        assert!(matches!(
            sum.finish(out).unwrap(),
            Coverage::Whole | Coverage::Part | Coverage::Nothing
        ));
    }
    result
}

/// Values of a type of the machine as bytes.
macro_rules! bytes_of {
    ($values:expr) => {
        $values.into_iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>()
    };
}

/// Bytes as values of a type of the machine.
macro_rules! values_of {
    ($type:ty, $bytes:expr) => {
        $bytes
            .chunks_exact(size_of::<$type>())
            .map(|bytes| <$type>::from_ne_bytes(bytes.try_into().unwrap()))
            .collect::<Vec<$type>>()
    };
}

pub(crate) use {bytes_of, values_of};
