//! Counts and memory of whole jobs.

use rechunk_apply::{ApplySpec, Boundary, LevelSpec, Mode, SourceGrid, prepare};
use rechunk_grid::DataType;

/// Chunk reads for each source chunk, of 32 chunks along each axis.
fn amplification(rank: usize, ratio: u64) -> f64 {
    let chunk = 16;
    let shape = vec![32 * chunk; rank];
    let level = LevelSpec::new(vec![ratio * chunk; rank]).crop(vec![1; rank]);
    let spec = ApplySpec::new(&shape, &vec![chunk; rank], DataType::Uint8, vec![level]);
    let source = SourceGrid::regular(shape, vec![chunk; rank]);
    let reads = prepare(&spec).unwrap().source_reads(&source, Boundary::Constant).unwrap();
    assert_eq!(reads.by_call, reads.by_task, "one level");
    reads.by_call as f64 / reads.chunks as f64
}

#[test]
fn source_reads_are_those_of_the_table() {
    for (ratio, two, three) in [(1, 8.63, 25.35), (2, 3.75, 7.27), (4, 2.07, 2.97), (8, 1.41, 1.67)]
    {
        assert!((amplification(2, ratio) - two).abs() < 0.006, "{ratio}");
        assert!((amplification(3, ratio) - three).abs() < 0.006, "{ratio}");
    }
}

/// Many reads that lie before, in and behind a source, of which most are alike.
#[test]
fn reads_beyond_a_source_are_none() {
    for (chunk, crop, scale) in [(4, 0, (1, 1)), (3, 2, (2, 1)), (5, 3, (1, 3)), (7, 1, (3, 1))] {
        let level = LevelSpec::new([chunk]).crop([crop]);
        let mut spec = ApplySpec::without_target(&[1], DataType::Uint8, vec![level]);
        spec.region = rechunk_apply::BoxSpec::voxels([(-101, 207)]);
        spec.scale = vec![scale.into()];
        let plan = prepare(&spec).unwrap();
        for (extent, chunk) in [(1, 1), (10, 3), (100, 7), (500, 11)] {
            let reads = |ordinal: u64| {
                let read = plan.task_read(&plan.task(ordinal)).axes[0];
                let met = |at: &i64| (read.start..read.end).contains(at);
                let inside: std::collections::BTreeSet<i64> =
                    (0..extent).filter(met).map(|at| at / chunk).collect();
                inside.len() as u64
            };
            let expected: u64 = (0..plan.task_count()).map(reads).sum();
            let [extent, chunk] = [extent, chunk].map(i64::cast_unsigned);
            let source = SourceGrid::regular(vec![extent], vec![chunk]);
            assert_eq!(plan.source_reads(&source, Boundary::Constant).unwrap().by_call, expected);
        }
    }
}

#[test]
fn levels_read_little_twice() {
    let levels = vec![
        LevelSpec::new([512, 512]).blend([32, 32], Mode::Linear),
        LevelSpec::new([144, 144]).blend([16, 16], Mode::Linear),
    ];
    let spec = ApplySpec::new(&[4096, 4096], &[128, 128], DataType::Uint8, levels);
    let source = SourceGrid::regular(vec![4096; 2], vec![64; 2]);
    let plan = prepare(&spec).unwrap();
    let reads = plan.source_reads(&source, Boundary::Constant).unwrap();
    assert!(3 * reads.by_task < 2 * reads.by_call);
    let counts = plan.counts().unwrap();
    assert_eq!((counts.blocks, counts.op_calls), (64, 64 * 16));
    // 2-D, a blend of a sixteenth: (1 + 1/8)², less the rim that is not kept.
    let factor = counts.block_elements as f64 / counts.kept_elements as f64;
    assert!((factor - 1.1094_f64.powi(2)).abs() < 1e-3, "{factor}");
    assert_eq!(counts.block_bytes, counts.block_elements);
}

#[test]
fn memory_follows_the_formula() {
    let levels = vec![
        LevelSpec::new([32, 32]).blend([4, 4], Mode::Linear),
        LevelSpec::new([20, 20]).crop([3, 3]).blend([2, 2], Mode::Linear),
    ];
    let spec = ApplySpec::new(&[64, 64], &[16, 16], DataType::Uint16, levels);
    let plan = prepare(&spec).unwrap();
    let memory = plan.memory(4, 1000);
    let (padded, top): (u64, u64) = (20 + 4 + 6, 32 + 8);
    assert_eq!(memory.op_bytes, padded.pow(2) * (4 + 2) + 1000);
    // Sums in 64 bits, and notes of 2 × 2 contributions.
    let notes = memory.region_bytes - top.pow(2) * 8;
    assert!((4 * 200..4 * 400).contains(&notes), "{notes}");
    let finishing = top.pow(2) * (8 + 2) + notes;
    assert_eq!(memory.task_bytes, finishing.max(memory.region_bytes + memory.op_bytes));
    assert_eq!(memory.block_bytes, top.pow(2) * 2);
    let notes = memory.pull_bytes - 32 * 32 * (8 + 2 + 2);
    assert!((4 * 200..=9 * 400).contains(&notes), "{notes}");
    let direct = ApplySpec::new(&[64], &[16], DataType::Uint16, vec![LevelSpec::new([16])]);
    assert_eq!(prepare(&direct).unwrap().memory(2, 0).pull_bytes, 0);
}

#[test]
fn a_summary_has_what_is_shown() {
    let levels = vec![LevelSpec::new([8]).crop([2]), LevelSpec::new([4]).blend([1], Mode::Max)];
    let mut spec = ApplySpec::new(&[30], &[8], DataType::Uint8, levels);
    spec.region = rechunk_apply::BoxSpec::voxels([(0, 20)]);
    spec.expand = rechunk_apply::Expand::Work;
    let summary = prepare(&spec).unwrap().summary().unwrap();
    assert!(summary.is_expanded);
    assert!((summary.expansion - 1.2).abs() < 1e-12);
    assert_eq!(summary.op_input_shape, [6]);
    assert_eq!(summary.levels[0].region_crop, [2]);
    assert!(summary.levels[0].is_blended && summary.levels[0].is_in_memory);
    assert_eq!(summary.levels[1].task_boxes, 3);
    let text = serde_json::to_value(&summary).unwrap();
    assert_eq!(text["levels"][0]["mode"], "max");
    assert_eq!(text["way"], "direct");
}

#[test]
fn statistics_need_no_target() {
    let levels = vec![LevelSpec::new([8]).crop([2]), LevelSpec::new([6])];
    let plan = prepare(&ApplySpec::without_target(&[16], DataType::Float32, levels)).unwrap();
    assert_eq!(plan.way(), rechunk_apply::Way::Direct);
    // Each voxel is kept by one call.
    let mut kept = Vec::new();
    for ordinal in 0..plan.task_count() {
        let output = rechunk_apply::run_task(&plan, ordinal, &[0; 4], &mut |tile| {
            kept.push((tile.keep.axes[0].start, tile.keep.axes[0].end));
            Ok::<_, ()>(rechunk_apply::OpOutput::Skip)
        });
        assert_eq!(output.unwrap(), rechunk_apply::TaskOutput::Skipped);
    }
    assert_eq!(kept, [(0, 4), (4, 8), (8, 12), (12, 16)]);
    let counts = plan.counts().unwrap();
    assert_eq!((counts.target_chunks, counts.pull_requests, counts.blocks), (0, 0, 0));
}
