//! Tasks hold the memory that is said of them. One test alone in its program: it counts all of it.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use peak_alloc::PeakAlloc;
use rechunk_apply::{
    Accumulator, ApplySpec, BlockView, LevelSpec, Mode, OpOutput, Round, TaskOutput, prepare,
    run_task,
};
use rechunk_grid::DataType;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Memory of texts, indices and rows of weights, bytes.
const SMALL: u64 = 64 << 10;

/// Most memory that `work` has at once beside that which there was, bytes.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let result = work();
    (result, u64::try_from(ALLOCATOR.peak_usage() - before).unwrap())
}

fn check(data_type: DataType, mode: Mode, round: Round) {
    let levels = vec![
        LevelSpec::new([512, 512]).blend([32, 32], mode),
        LevelSpec::new([144, 144]).blend([16, 16], mode).crop([2, 2]),
    ];
    let mut spec = ApplySpec::new(&[1536, 1536], &[96, 96], data_type, levels);
    spec.round = round;
    let plan = prepare(&spec).unwrap();
    // The operation reads one byte per voxel.
    let memory = plan.memory(1, 0);
    let item = usize::try_from(data_type.item_bytes()).unwrap();
    let run = |ordinal: u64| {
        run_task(&plan, ordinal, &vec![0; item], &mut |tile| {
            let voxels = usize::try_from(tile.read.elements()).unwrap();
            let input = vec![1_u8; voxels];
            Ok::<_, ()>(OpOutput::Padded(input.iter().flat_map(|_| vec![0; item]).collect()))
        })
        .unwrap()
    };
    // The middle one has neighbours on all sides.
    let (output, peak) = peak_of(|| run(4));
    let said = memory.task_bytes;
    assert!(peak <= said + SMALL, "{data_type} {mode}: {peak} of {said}");
    assert!(peak >= said * 7 / 10, "{data_type} {mode}: only {peak} of {said}");
    let TaskOutput::Block { bytes, .. } = output else { unreachable!() };
    assert_eq!(bytes.len() as u64, memory.block_bytes);
    let region = plan.reduction(plan.reduction_count() / 2);
    let blocks: Vec<_> = plan.contributors(&region).ordinals().map(|k| (k, run(k))).collect();
    let ((), peak) = peak_of(|| {
        let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
        for (ordinal, block) in &blocks {
            let TaskOutput::Block { bytes, .. } = block else { unreachable!() };
            let task = plan.task(*ordinal);
            let block = BlockView { bounds: &task.keep, bytes };
            sum.add(*ordinal, block, &plan.task_weights(&task)).unwrap();
        }
        let mut out = vec![0; usize::try_from(region.elements()).unwrap() * item];
        sum.finish(&mut out).unwrap();
    });
    // Whole blocks were there before; who reads their windows holds one of these.
    assert!(peak <= memory.pull_bytes + SMALL, "{data_type} {mode}: {peak}");
}

#[test]
fn tasks_hold_no_more_than_is_said() {
    for mode in [Mode::Linear, Mode::Quadratic, Mode::Bump, Mode::Max] {
        for round in [Round::Level, Round::End] {
            for data_type in [
                DataType::Uint8,
                DataType::Int16,
                DataType::Uint64,
                DataType::Float32,
                DataType::Float64,
            ] {
                // The widest integers have no bits left for bumps of two levels.
                let is_too_wide = data_type == DataType::Uint64 && mode == Mode::Bump;
                if !(is_too_wide && round == Round::End) {
                    check(data_type, mode, round);
                }
            }
        }
    }
}
