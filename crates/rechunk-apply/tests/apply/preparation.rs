//! Worked numbers of boxes and levels that are prepared.

use rechunk_apply::{
    ApplyPlan, ApplySpec, BoxSpec, Expand, LevelSpec, Mode, Span, Way, levels_of_inputs, prepare,
};
use rechunk_grid::DataType;

fn spec(shape: &[u64], chunk: &[u64], levels: Vec<LevelSpec>) -> ApplySpec {
    ApplySpec::new(shape, chunk, DataType::Uint8, levels)
}

/// Work chunks, outermost first.
fn chunks(plan: &ApplyPlan) -> Vec<Vec<u64>> {
    plan.levels().iter().rev().map(|level| level.chunk.clone()).collect()
}

#[test]
fn the_example_of_the_guide_has_twenty_five_chunks() {
    let levels = vec![
        LevelSpec::new([1, 1024, 1024]).crop([0, 96, 96]).blend([0, 32, 32], Mode::Linear),
        LevelSpec::new([1, 256, 256]).crop([0, 24, 24]).blend([0, 16, 16], Mode::Linear),
    ];
    let plan = prepare(&spec(&[10, 1024, 1024], &[1, 128, 128], levels)).unwrap();
    let counts = plan.counts().unwrap();
    assert_eq!((counts.tasks, counts.op_calls), (10, 250));
    assert_eq!(plan.level_counts().unwrap(), [250, 10]);
    assert!((counts.work_amplification() - 2.69).abs() < 0.005);
    // The bottom level alone.
    let level = LevelSpec::new([256, 256]).crop([24, 24]).blend([16, 16], Mode::Linear);
    let plan = prepare(&spec(&[1024, 1024], &[128, 128], vec![level])).unwrap();
    assert!((plan.counts().unwrap().work_amplification() - 1.72).abs() < 0.005);
}

#[test]
fn chunks_are_made_to_divide() {
    let levels = vec![
        LevelSpec::new([820, 938]).crop([3, 5]).blend([7, 11], Mode::Linear),
        LevelSpec::new([234, 192]),
    ];
    let mut two = spec(&[3000, 3000], &[64, 64], levels);
    (two.auto_divide, two.expand) = (true, Expand::Work);
    two.region = BoxSpec::voxels([(0, 1000), (0, 1000)]);
    let plan = prepare(&two).unwrap();
    assert_eq!(chunks(&plan), [[682, 928], [234, 192]]);
    assert_eq!(plan.region().shape(), [2 * 682, 2 * 928]);
    let levels = vec![
        LevelSpec::new([4096, 4096, 64]).crop([24, 24, 8]).blend([8, 8, 4], Mode::Linear),
        LevelSpec::new([1024, 1024, 32]).crop([16, 16, 2]).blend([16, 16, 2], Mode::Linear),
        LevelSpec::new([256, 256, 16]),
    ];
    let mut three = spec(&[9000, 9000, 99], &[64, 64, 8], levels);
    (three.auto_divide, three.expand) = (true, Expand::Work);
    let expected = [[3776, 3776, 48], [960, 960, 24], [256, 256, 16]];
    assert_eq!(chunks(&prepare(&three).unwrap()), expected);
}

#[test]
fn boxes_grow() {
    let grown = |expand, gap: u64, region: (i64, i64), array: u64| {
        let mut spec = spec(&[100], &[array], vec![LevelSpec::new([8])]);
        spec.expand = expand;
        spec.gap = vec![gap];
        spec.region = BoxSpec::voxels([region]);
        let plan = prepare(&spec).unwrap();
        let Span { start, end } = plan.region().axes[0];
        (start, end, plan.task_count())
    };
    assert_eq!(grown(Expand::Work, 0, (0, 20), 4), (0, 24, 3));
    assert_eq!(grown(Expand::Work, 2, (0, 20), 4), (0, 28, 2), "the third has nothing to keep");
    assert_eq!(grown(Expand::ArrayChunk, 0, (3, 19), 8), (0, 24, 3));
    assert_eq!(grown(Expand::Both, 0, (3, 19), 5), (0, 24, 3));
    assert_eq!(grown(Expand::None, 0, (3, 19), 8), (3, 19, 2));
}

#[test]
fn parts_of_voxels_are_rounded_outwards() {
    let mut spec = spec(&[100], &[8], vec![LevelSpec::new([8])]);
    spec.region = BoxSpec::Fractional(vec![(2.5, 17.2)]);
    assert!(prepare(&spec).is_err());
    spec.expand = Expand::Voxel;
    assert_eq!(prepare(&spec).unwrap().asked().axes[0], Span::new(2, 18));
    // As 0.3 nm / 0.1 nm comes out.
    spec.region = BoxSpec::physical(&[(0.3, 1.7)], &[0.1], &[0.0]);
    assert_eq!(prepare(&spec).unwrap().asked().axes[0], Span::new(3, 17));
    spec.expand = Expand::None;
    assert_eq!(prepare(&spec).unwrap().asked().axes[0], Span::new(3, 17));
}

#[test]
fn chunks_shrink_to_the_box() {
    let levels = vec![LevelSpec::new([64]), LevelSpec::new([32])];
    let mut spec = spec(&[20], &[8], levels);
    spec.shrink = true;
    let plan = prepare(&spec).unwrap();
    assert_eq!(chunks(&plan), [[20], [20]]);
    assert_eq!(plan.counts().unwrap().op_calls, 1);
}

#[test]
fn sizes_after_padding_become_work_chunks() {
    let levels = levels_of_inputs(&[vec![28], vec![12]], &[1], &[2], Mode::Quadratic).unwrap();
    assert_eq!((levels[0].chunk[0], levels[1].chunk[0]), (24, 6));
    let error = levels_of_inputs(&[vec![28], vec![6]], &[1], &[2], Mode::Linear).unwrap_err();
    assert_eq!(error.code, rechunk_apply::ErrorCode::Zero);
}

#[test]
fn a_scale_multiplies_what_is_read() {
    let level = LevelSpec::new([8, 8, 8]).crop([2, 2, 2]);
    let mut spec = spec(&[16, 16, 16], &[8, 8, 8], vec![level]);
    spec.scale = vec![(2, 1).into(), (1, 1).into(), (1, 1).into()];
    let plan = prepare(&spec).unwrap();
    let read = plan.task_read(&plan.task(0));
    // The crop of 2 target voxels is 4 source voxels.
    assert_eq!(read.axes, [Span::new(-4, 20), Span::new(-2, 10), Span::new(-2, 10)]);
}

#[test]
fn intermediates_are_left_out_where_they_are_not_needed() {
    let way = |length: u64, array: u64, level: LevelSpec| {
        prepare(&spec(&[length], &[array], vec![level])).unwrap().way()
    };
    assert_eq!(way(32, 4, LevelSpec::new([8])), Way::Direct);
    assert_eq!(way(32, 5, LevelSpec::new([8])), Way::Pull, "an array chunk is cut");
    assert_eq!(way(32, 4, LevelSpec::new([8]).blend([1], Mode::Max)), Way::Pull);
    assert_eq!(way(8, 5, LevelSpec::new([8]).blend([1], Mode::Max)), Way::Direct, "one task");
    assert_eq!(way(12, 8, LevelSpec::new([8])), Way::Direct, "the last one is cut at the box");
    let mut shifted = spec(&[32], &[8], vec![LevelSpec::new([8])]);
    shifted.region = BoxSpec::voxels([(4, 32)]);
    assert_eq!(prepare(&shifted).unwrap().way(), Way::Pull);
}

#[test]
fn plans_of_any_size_are_small_and_quick() {
    let side = 1 << 40;
    let level = LevelSpec::new([3, 7, 5]).crop([2, 1, 0]).blend([1, 2, 2], Mode::Linear);
    let mut spec = spec(&[1 << 20, side, 77], &[5, 11, 13], vec![level]);
    spec.region = BoxSpec::voxels([(3, 1 << 20), (1, (1 << 40) - 5), (0, 77)]);
    let plan = prepare(&spec).unwrap();
    let counts = plan.counts().unwrap_err();
    assert_eq!(counts.code, rechunk_apply::ErrorCode::TooLarge, "elements do not fit 64 bits");
    let last = plan.task(plan.task_count() - 1);
    assert_eq!(last.keep.axes[1].end, (1 << 40) - 5);
    let number = plan.feeds(&last).ordinals().last().unwrap();
    assert_eq!(number, plan.reduction_count() - 1);
    let window = plan.reduction(number);
    assert_eq!(plan.contributors(&window).ordinals().last(), Some(last.ordinal));
    assert!(serde_json::to_string(&plan).unwrap().len() < 1000);
}
