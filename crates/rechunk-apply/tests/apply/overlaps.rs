//! Worked numbers of blends, gaps and crops.

use rechunk_apply::{
    Accumulator, ApplySpec, BlockView, BoxSpec, Coverage, Expand, LevelSpec, Mode, OpOutput, Ramp,
    Span, TaskOutput, VoxelBox, Way, prepare, run_task,
};
use rechunk_grid::DataType;

use crate::job::{bytes_of, run, values_of};

/// A level of one axis with a blend.
fn blended(chunk: u64, blend: u64, mode: Mode) -> LevelSpec {
    LevelSpec::new([chunk]).blend([blend], mode)
}

fn line(length: u64, chunk: u64, data_type: DataType, levels: Vec<LevelSpec>) -> ApplySpec {
    ApplySpec::new(&[length], &[chunk], data_type, levels)
}

/// Values of a source that has 0 beyond its border.
fn source(at: i64, length: i64) -> u8 {
    if (0..length).contains(&at) { u8::try_from((1 + 37 * at) % 241).unwrap() } else { 0 }
}

fn padded<T>(tile: &rechunk_apply::BottomTile, value: impl Fn(i64) -> T) -> Vec<T> {
    (tile.padded.axes[0].start..tile.padded.axes[0].end).map(value).collect()
}

#[test]
fn the_worked_example_of_one_axis() {
    let plan = prepare(&line(16, 8, DataType::Uint8, vec![blended(8, 2, Mode::Linear)])).unwrap();
    // Each output voxel is the first voxel of the padded input.
    let result = run(&plan, &[0], |tile| {
        let first = source(tile.read.axes[0].start, 16);
        OpOutput::Padded(padded(tile, |_| first))
    });
    let expected = [0, 0, 0, 0, 0, 0, 45, 89, 134, 178, 223, 223, 223, 223, 223, 223];
    assert_eq!(result, expected);
}

#[test]
fn the_worked_example_of_two_axes() {
    let level = LevelSpec::new([4, 4]).blend([1, 1], Mode::Linear);
    let plan = prepare(&ApplySpec::new(&[8, 8], &[8, 8], DataType::Uint8, vec![level])).unwrap();
    let region = plan.reduction(0);
    let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
    for (ordinal, value) in [(3, 36), (0, 9), (2, 27), (1, 18)] {
        let task = plan.task(ordinal);
        let bytes = vec![value; usize::try_from(task.keep.elements()).unwrap()];
        let block = BlockView { bounds: &task.keep, bytes: &bytes };
        sum.add(ordinal, block, &plan.task_weights(&task)).unwrap();
    }
    let mut out = [0; 64];
    assert_eq!(sum.finish(&mut out), Ok(Coverage::Whole));
    assert_eq!((out[3 * 8 + 3], out[4 * 8 + 4], out[0], out[63]), (18, 27, 9, 36));
}

#[test]
fn weights_are_those_of_the_table() {
    let near = |mode, blend, chunk, expected: &[f64]| {
        let ramp = Ramp::new(mode, blend, chunk, 30).unwrap();
        for (k, expected) in (1..).zip(expected) {
            assert!((ramp.weight(k) - expected).abs() < 1e-6, "{mode} {k}: {}", ramp.weight(k));
            let fixed = ramp.numerator(k) as f64 / ramp.denominator() as f64;
            assert!((fixed - expected).abs() < 1e-6, "{mode} {k}: {fixed}");
        }
        assert_eq!(ramp.length(), expected.len() as u64);
    };
    near(Mode::Linear, 2, 8, &[0.2, 0.4, 0.6, 0.8]);
    near(Mode::Quadratic, 2, 8, &[0.08, 0.32, 0.68, 0.92]);
    near(Mode::Bump, 2, 8, &[0.087_287, 0.374_696, 0.625_304, 0.912_713]);
    let three = [0.040_816, 0.163_265, 0.367_347, 0.632_653, 0.836_735, 0.959_184];
    near(Mode::Quadratic, 3, 8, &three);
    near(Mode::Linear, 1, 8, &[1.0 / 3.0, 2.0 / 3.0]);
    near(Mode::Quadratic, 1, 8, &[2.0 / 9.0, 7.0 / 9.0]);
    assert!(Ramp::new(Mode::Max, 1, 8, 30).is_none());
}

#[test]
fn both_ramps_of_an_overlap_add_up() {
    for mode in [Mode::Linear, Mode::Quadratic, Mode::Bump] {
        for (blend, chunk) in [(1, 2), (3, 6), (5, 40), (500, 4000), (4000, 9000)] {
            let ramp = Ramp::new(mode, blend, chunk, 30).unwrap();
            for k in 1..=2 * blend {
                let mirrored = 2 * blend + 1 - k;
                let both = ramp.numerator(k) + ramp.numerator(mirrored);
                assert_eq!(both, ramp.denominator(), "{mode} {blend} {k}");
                assert!(ramp.numerator(k) > 0 && ramp.weight(k) > 0.0, "{mode} {blend} {k}");
                let both = ramp.weight(k) + ramp.weight(mirrored);
                assert!((both - 1.0).abs() < 1e-15, "{mode} {blend} {k}: {both}");
            }
        }
    }
}

/// Task boxes that lie over four reduction boxes: zetta_utils loses contributions.
#[test]
fn a_task_box_may_meet_many_reductions() {
    let mut spec = line(40, 5, DataType::Uint8, vec![blended(8, 4, Mode::Linear)]);
    spec.reduce_max = Some(vec![8]);
    let plan = prepare(&spec).unwrap();
    assert_eq!(plan.feeds(&plan.task(2)).len(), 4);
    let result = run(&plan, &[0], |tile| OpOutput::Padded(padded(tile, |_| 100)));
    assert_eq!(result, [100; 40]);
}

#[test]
fn the_largest_of_negative_values_is_negative() {
    let plan = prepare(&line(16, 8, DataType::Int16, vec![blended(8, 2, Mode::Max)])).unwrap();
    let result = run(&plan, &[0, 0], |tile| {
        let value = if tile.task_box.axes[0].start < 0 { -7_i16 } else { -5 };
        OpOutput::Padded(bytes_of!(padded(tile, |_| value)))
    });
    assert_eq!(
        values_of!(i16, result),
        [[-7; 6], [-5; 6]].concat().into_iter().chain([-5; 4]).collect::<Vec<_>>()
    );
}

#[test]
fn zeros_are_values() {
    let plan = prepare(&line(16, 8, DataType::Uint8, vec![blended(8, 2, Mode::Linear)])).unwrap();
    let result = run(&plan, &[77], |tile| OpOutput::Padded(padded(tile, |_| 0)));
    assert_eq!(result, [0; 16], "nothing stale is left");
}

#[test]
fn voxels_beside_the_box_are_nobodys() {
    let mut spec = line(32, 8, DataType::Uint8, vec![blended(8, 2, Mode::Linear)]);
    spec.region = BoxSpec::voxels([(3, 19)]);
    let plan = prepare(&spec).unwrap();
    let result = run(&plan, &[77], |tile| OpOutput::Padded(padded(tile, |_| 5)));
    let expected = [vec![77; 3], vec![5; 16], vec![77; 13]].concat();
    assert_eq!(result, expected);
    let counts = plan.counts().unwrap();
    assert_eq!((counts.target_chunks, counts.whole_target_chunks), (3, 1));
}

#[test]
fn gaps_are_neither_computed_nor_written() {
    for (levels, way) in [
        (vec![LevelSpec::new([8])], Way::Pull),
        (vec![LevelSpec::new([8]), LevelSpec::new([4]).crop([1])], Way::Pull),
    ] {
        let mut spec = line(28, 7, DataType::Uint8, levels);
        spec.gap = vec![2];
        let plan = prepare(&spec).unwrap();
        assert_eq!(plan.way(), way);
        let chunks = (0..plan.task_count()).map(|k| plan.task(k).chunk.axes[0]);
        let chunks: Vec<_> = chunks.map(|span| (span.start, span.end)).collect();
        assert_eq!(chunks, [(0, 8), (10, 18), (20, 28)]);
        let result = run(&plan, &[77], |tile| OpOutput::Padded(padded(tile, |_| 5)));
        let (value, gap) = (vec![5; 8], vec![77; 2]);
        let expected = [value.clone(), gap.clone(), value.clone(), gap, value].concat();
        assert_eq!(result, expected);
    }
}

#[test]
fn wide_labels_are_kept() {
    let label = 0x0123_4567_i32;
    let plan =
        prepare(&line(32, 8, DataType::Int32, vec![blended(8, 3, Mode::Quadratic)])).unwrap();
    let result = run(&plan, &[0; 4], |tile| OpOutput::Padded(bytes_of!(padded(tile, |_| label))));
    assert_eq!(values_of!(i32, result), [label; 32]);
}

#[test]
fn the_widest_labels_are_kept_along_three_axes() {
    for mode in [Mode::Linear, Mode::Quadratic, Mode::Bump, Mode::Max] {
        let level = LevelSpec::new([4, 4, 4]).blend([2, 1, 2], mode);
        let spec = ApplySpec::new(&[8, 8, 8], &[8, 8, 8], DataType::Uint64, vec![level]);
        let plan = prepare(&spec).unwrap();
        let label = u64::MAX - 2;
        let region = plan.reduction(0);
        let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
        for ordinal in 0..plan.task_count() {
            let task = plan.task(ordinal);
            let elements = usize::try_from(task.keep.elements()).unwrap();
            let bytes = bytes_of!(vec![label; elements]);
            let block = BlockView { bounds: &task.keep, bytes: &bytes };
            sum.add(ordinal, block, &plan.task_weights(&task)).unwrap();
        }
        let mut out = vec![0; 512 * 8];
        assert_eq!(sum.finish(&mut out), Ok(Coverage::Whole));
        assert_eq!(values_of!(u64, out), [label; 512], "{mode}");
    }
}

/// A crop above work chunks of one voxel: tiles that lie in the crop are not called at all.
#[test]
fn work_chunks_within_a_crop_are_left_out() {
    let levels = vec![LevelSpec::new([4]).crop([1]), LevelSpec::new([1])];
    let plan = prepare(&line(8, 4, DataType::Uint8, levels)).unwrap();
    let mut calls = 0;
    let output = run_task(&plan, 0, &[0], &mut |tile| {
        calls += 1;
        let start = tile.padded.axes[0].start;
        assert!((0..4).contains(&start));
        Ok::<_, ()>(OpOutput::Padded(vec![u8::try_from(start).unwrap()]))
    });
    assert_eq!(calls, 4);
    let bytes = vec![0, 1, 2, 3];
    assert_eq!(output.unwrap(), TaskOutput::Block { bytes, covered: None });
    assert_eq!(plan.counts().unwrap().op_calls, 8);
}

#[test]
fn a_blend_of_half_a_work_chunk_is_allowed() {
    let plan =
        prepare(&line(24, 8, DataType::Uint8, vec![blended(8, 4, Mode::Quadratic)])).unwrap();
    let result = run(&plan, &[0], |tile| OpOutput::Padded(padded(tile, |_| 200)));
    assert_eq!(result, [200; 24]);
}

#[test]
fn skipped_tasks_leave_their_neighbours_whole() {
    for mode in [Mode::Linear, Mode::Bump, Mode::Max] {
        let plan = prepare(&line(24, 8, DataType::Uint8, vec![blended(8, 2, mode)])).unwrap();
        let result = run(&plan, &[77], |tile| {
            if tile.chunk.axes[0].start == 8 {
                return OpOutput::Skip;
            }
            OpOutput::Padded(padded(tile, |_| 50))
        });
        // Overlaps have the value of the only one that is there.
        let expected = [vec![50; 10], vec![77; 4], vec![50; 10]].concat();
        assert_eq!(result, expected, "{mode}");
    }
}

#[test]
fn skipped_calls_leave_the_fill_value_in_a_block() {
    let levels = vec![LevelSpec::new([12]), LevelSpec::new([4])];
    let plan = prepare(&line(12, 12, DataType::Uint8, levels)).unwrap();
    let skips = |count: i64| {
        run_task(&plan, 0, &[9], &mut |tile| {
            let is_skipped = tile.chunk.axes[0].start < 4 * count;
            Ok::<_, ()>(if is_skipped { OpOutput::Skip } else { OpOutput::Cropped(vec![1; 4]) })
        })
        .unwrap()
    };
    let bytes = [vec![9; 4], vec![1; 8]].concat();
    let covered = Some(vec![VoxelBox::new([Span::new(4, 12)])]);
    assert_eq!(skips(1), TaskOutput::Block { bytes, covered });
    assert_eq!(skips(3), TaskOutput::Skipped);
}

#[test]
fn results_of_another_shape_are_refused() {
    let plan = prepare(&line(8, 8, DataType::Uint8, vec![LevelSpec::new([8]).crop([1])])).unwrap();
    for wrong in [OpOutput::Padded(vec![0; 8]), OpOutput::Cropped(vec![0; 10])] {
        let error = run_task(&plan, 0, &[0], &mut |_| Ok::<_, std::io::Error>(wrong.clone()));
        assert!(matches!(error, Err(rechunk_apply::RunError::Shape { .. })));
    }
}

/// For each parity the array over the box grown by the blend.
#[test]
fn deferred_blocks_are_whole_task_boxes() {
    let mut spec = line(32, 8, DataType::Uint8, vec![blended(8, 2, Mode::Defer)]);
    let plan = prepare(&spec).unwrap();
    assert_eq!(plan.way(), Way::Defer);
    assert_eq!((plan.kept().axes[0].start, plan.kept().axes[0].end), (-2, 34));
    for ordinal in 0..4 {
        let task = plan.task(ordinal);
        assert_eq!(task.keep, task.task_box);
        assert_eq!(task.keep.shape(), [12]);
        let (layer, start) =
            ((ordinal % 2).try_into().unwrap(), i64::try_from(ordinal * 8).unwrap());
        let found = plan.deferred_box(&task);
        assert_eq!(found, VoxelBox::new([(layer, layer + 1).into(), (start, start + 12).into()]));
    }
    spec.levels[0].mode = Mode::Linear;
    spec.defer = true;
    assert_eq!(prepare(&spec).unwrap().way(), Way::Defer);
}

#[test]
fn what_is_forgotten_or_comes_twice_is_noticed() {
    let plan = prepare(&line(24, 24, DataType::Uint8, vec![blended(8, 2, Mode::Linear)])).unwrap();
    let region = plan.reduction(0);
    let added = |ordinals: &[u64]| {
        let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
        for &ordinal in ordinals {
            let task = plan.task(ordinal);
            let bytes = vec![1; usize::try_from(task.keep.elements()).unwrap()];
            let block = BlockView { bounds: &task.keep, bytes: &bytes };
            sum.add(ordinal, block, &plan.task_weights(&task)).unwrap();
        }
        sum.finish(&mut [0; 24])
    };
    assert_eq!(added(&[2, 0, 1]), Ok(Coverage::Whole));
    let incomplete = rechunk_apply::CombineError::Incomplete { shape: vec![24] };
    assert_eq!(added(&[0, 1]), Err(incomplete.clone()));
    assert_eq!(added(&[0, 1, 1, 2]), Err(incomplete));
}

#[test]
fn results_beyond_the_box_are_written_on_demand_only() {
    let mut spec = line(30, 8, DataType::Uint8, vec![LevelSpec::new([8])]);
    spec.region = BoxSpec::voxels([(0, 20)]);
    spec.expand = Expand::Work;
    let written = |spec: &ApplySpec| {
        let plan = prepare(spec).unwrap();
        assert_eq!(plan.region().shape(), [24]);
        let result = run(&plan, &[77], |tile| OpOutput::Padded(padded(tile, |_| 5)));
        result.into_iter().map(|value| u32::from(value == 5)).sum::<u32>()
    };
    assert_eq!(written(&spec), 20);
    spec.clip = false;
    assert_eq!(written(&spec), 24);
}
