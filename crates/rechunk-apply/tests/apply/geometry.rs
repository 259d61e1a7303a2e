//! Tasks, reductions and gathers against lists of all of them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rechunk_apply::{Boundary, SourceGrid, Span, VoxelBox, Way, prepare};
use rechunk_grid::{AxisChunks, DataType, Edges, Region};

use crate::reference::jobs;

fn meets(one: &VoxelBox, two: &VoxelBox) -> bool {
    one.axes.iter().zip(&two.axes).all(|(one, two)| one.meets(*two))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn gathers_are_complete_and_minimal(spec in jobs(DataType::Uint8)) {
        let plan = prepare(&spec).unwrap();
        let tasks: Vec<_> = (0..plan.task_count()).map(|ordinal| plan.task(ordinal)).collect();
        let boxes: Vec<_> = (0..plan.reduction_count()).map(|j| plan.reduction(j)).collect();
        let mut requests = 0;
        for (number, reduction) in boxes.iter().enumerate() {
            let found: Vec<u64> = plan.contributors(reduction).ordinals().collect();
            let expected: Vec<u64> = tasks
                .iter()
                .filter(|task| meets(&task.keep, reduction))
                .map(|task| task.ordinal)
                .collect();
            prop_assert_eq!(&found, &expected);
            requests += found.len() as u64;
            for ordinal in found {
                let task = &tasks[usize::try_from(ordinal).unwrap()];
                let feeds: Vec<u64> = plan.feeds(task).ordinals().collect();
                prop_assert!(feeds.contains(&(number as u64)));
            }
        }
        let feeds: u64 = tasks.iter().map(|task| plan.feeds(task).len()).sum();
        if plan.way() == Way::Pull {
            prop_assert_eq!(feeds, requests, "each is the other's inverse");
        }
        let counts = plan.counts().unwrap();
        prop_assert_eq!(counts.pull_requests, requests);
        let elements: u128 = tasks.iter().map(|task| task.keep.elements()).sum();
        prop_assert_eq!(
            u128::from(counts.block_elements),
            if plan.way() == Way::Pull { elements } else { 0 }
        );
    }

    #[test]
    fn each_array_chunk_has_one_writer(spec in jobs(DataType::Uint8)) {
        let plan = prepare(&spec).unwrap();
        let writers: Vec<VoxelBox> = match plan.way() {
            Way::Pull => (0..plan.reduction_count()).map(|j| plan.reduction(j)).collect(),
            Way::Direct => (0..plan.task_count()).map(|k| plan.task(k).keep).collect(),
            Way::Defer => unreachable!(),
        };
        let target = plan.target().unwrap();
        let grid: Vec<u64> =
            target.shape.iter().zip(&target.chunk).map(|(s, c)| s.div_ceil(*c)).collect();
        let (mut met, mut whole) = (0, 0);
        for index in Region::whole(&grid).positions() {
            let start: Vec<u64> = index.iter().zip(&target.chunk).map(|(i, c)| i * c).collect();
            let shape: Vec<u64> = (0..start.len())
                .map(|axis| target.chunk[axis].min(target.shape[axis] - start[axis]))
                .collect();
            let chunk = VoxelBox::from(&Region::new(start, shape));
            let count = writers.iter().filter(|writer| meets(writer, &chunk)).count();
            let is_met = meets(&chunk, plan.kept());
            // In gaps nothing is written.
            if spec.gap.iter().all(|&gap| gap == 0) {
                prop_assert_eq!(count, usize::from(is_met));
            }
            prop_assert!(count <= 1);
            let is_written = if plan.way() == Way::Direct { count > 0 } else { is_met };
            met += u64::from(is_written);
            let kept = [plan.kept().clone()];
            let parts = if plan.way() == Way::Direct { &writers[..] } else { &kept };
            whole += u64::from(parts.iter().any(|part| part.contains(&chunk)));
        }
        let counts = plan.counts().unwrap();
        prop_assert_eq!((counts.target_chunks, counts.whole_target_chunks), (met, whole));
        let found = plan.written_chunks(&target.chunk).unwrap();
        prop_assert_eq!((found.met, found.whole, found.held), (met, whole, met));
    }

    #[test]
    fn counts_are_those_of_a_list(
        mut spec in jobs(DataType::Uint8), ratio in (1_u64..4, 1_u64..4),
        extra in 0_u64..5, chunk in 1_u64..7, has_scale in any::<bool>(),
        boundary in prop::sample::select(&Boundary::ALL),
        lengths in prop::option::of(prop::collection::vec(1_u64..6, 1..5)),
    ) {
        let ratio = if has_scale { ratio } else { (1, 1) };
        spec.scale = vec![ratio.into(); spec.levels[0].chunk.len()];
        for crop in &mut spec.levels.last_mut().unwrap().crop {
            *crop *= ratio.1;
        }
        let plan = prepare(&spec).unwrap();
        let shape: Vec<u64> = spec.target.as_ref().unwrap().shape.iter()
            .map(|&extent| (extent * ratio.0 / ratio.1 + extra).saturating_sub(3).max(1)).collect();
        let mut source = SourceGrid::regular(shape.clone(), vec![chunk; shape.len()]);
        let lengths = lengths.unwrap_or(vec![chunk]);
        // First element and length of each chunk along an axis.
        let cut = |extent: u64| {
            let starts = lengths.iter().cycle().scan(0, |end, &length| {
                let start = *end;
                *end += length;
                (start < extent).then_some((start, length))
            });
            starts.collect::<Vec<(u64, u64)>>()
        };
        let edges = shape.iter().enumerate().map(|(axis, &extent)| {
            let runs = cut(extent).into_iter().map(|(_, length)| (length, 1));
            let chunks = AxisChunks::of_runs(axis, extent, runs).unwrap();
            source.chunk[axis] = chunks.longest();
            chunks.into_edges()
        });
        source.edges = Edges::new(edges.collect());
        // Chunks that are met, and their elements.
        let reads = |read: &VoxelBox| -> (u64, u64) {
            let axes = read.axes.iter().zip(&source.shape).map(|(&span, &extent)| {
                let window = boundary.window(span, extent);
                let parts = window.intervals().iter().flat_map(|part| {
                    let (from, to) = (part.start, part.end);
                    cut(extent).into_iter().filter(move |(at, length)| *at < to && at + length > from)
                });
                parts.fold((0, 0), |(chunks, elements), (_, length)| (chunks + 1, elements + length))
            });
            axes.fold((1, 1), |product, axis| (product.0 * axis.0, product.1 * axis.1))
        };
        let add = |sum: &mut (u64, u64), met: (u64, u64)| *sum = (sum.0 + met.0, sum.1 + met.1);
        let (mut by_call, mut by_task, mut input) = ((0, 0), (0, 0), 0);
        let mut boxes = vec![0; plan.levels().len()];
        for ordinal in 0..plan.task_count() {
            let task = plan.task(ordinal);
            add(&mut by_task, reads(&plan.task_read(&task)));
            let mut hull: Option<VoxelBox> = None;
            rechunk_apply::run_task(&plan, ordinal, &[0], &mut |tile| {
                add(&mut by_call, reads(&tile.read));
                input += tile.read.elements();
                boxes[0] += 1;
                let most = plan.op_input_shape_max();
                assert!(tile.read.shape().iter().zip(most).all(|(found, most)| *found <= most));
                hull = Some(hull.take().map_or(tile.read.clone(), |hull| VoxelBox::new(
                    hull.axes.iter().zip(&tile.read.axes).map(|(one, two)| Span::new(
                        one.start.min(two.start), one.end.max(two.end))))));
                Ok::<_, ()>(rechunk_apply::OpOutput::Cropped(
                    vec![1; usize::try_from(tile.task_box.elements()).unwrap()]))
            }).unwrap();
            prop_assert_eq!(hull.unwrap(), plan.task_read(&task));
        }
        let found = plan.source_reads(&source, boundary).unwrap();
        prop_assert_eq!((found.by_call, found.elements_by_call), by_call);
        prop_assert_eq!((found.by_task, found.elements_by_task), by_task);
        prop_assert_eq!(u128::from(plan.counts().unwrap().op_input_elements), input);
        let levels = plan.level_counts().unwrap();
        prop_assert_eq!(levels[0], boxes[0]);
        prop_assert_eq!(levels[plan.top()], plan.task_count());
    }

    #[test]
    fn a_plan_is_read_again(spec in jobs(DataType::Int32)) {
        let plan = prepare(&spec).unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        let again: rechunk_apply::ApplyPlan = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&again, &plan);
        let summary = plan.summary().unwrap();
        let text = serde_json::to_string(&summary).unwrap();
        prop_assert_eq!(serde_json::from_str::<rechunk_apply::Summary>(&text).unwrap(), summary);
    }

    #[test]
    fn tasks_cover_the_kept_box(spec in jobs(DataType::Uint8)) {
        let plan = prepare(&spec).unwrap();
        let mut parities = std::collections::BTreeMap::<i64, Vec<VoxelBox>>::new();
        for ordinal in 0..plan.task_count() {
            let task = plan.task(ordinal);
            prop_assert_eq!(task.ordinal, ordinal);
            let of = parities.entry(plan.deferred_box(&task).axes[0].start).or_default();
            prop_assert!(of.iter().all(|other| !meets(other, &task.task_box)), "one layer");
            of.push(task.task_box);
        }
        let covered = plan.covered(plan.kept());
        let tasks: BTreeSet<Vec<u64>> = parities.values().flatten()
            .flat_map(|task| task.intersect(plan.kept()).to_region().unwrap().positions())
            .collect();
        let length = |spans: &Vec<Span>| spans.iter().map(|span| span.length()).sum::<u64>();
        let product = covered.iter().map(length);
        prop_assert_eq!(tasks.len() as u64, product.product::<u64>());
    }
}
