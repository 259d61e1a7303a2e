//! The keep strategy's formulas against a walk through all elements, and what holds for every
//! schedule.
use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use rechunk_grid::{ChunkGrid, Region};
use rechunk_plan::keep::{Baseline, Model, Problem, Schedule, SideCounts, search};

use crate::cases::{Case, cases, place};

/// Opens a file: counts the runs of what is read or written of it.
fn open(counts: &mut SideCounts, grid: &ChunkGrid, index: &[u64], mut positions: Vec<u64>) {
    positions.sort_unstable();
    counts.opens += 1;
    counts.runs += 1 + positions.windows(2).filter(|pair| pair[1] != pair[0] + 1).count() as u64;
    counts.whole += u64::from(positions.len() as u64 == grid.region(index).elements());
}

/// A write block that waits: elements it will have, positions that were read, by file.
type Waiting = HashMap<Vec<(u64, u64)>, Vec<u64>>;

/// Runs the schedule element by element: counts of both sides, the most elements held.
fn walk(case: &Case) -> (SideCounts, SideCounts, u64) {
    let Case { problem, schedule } = case;
    let shape = &problem.shape;
    let source = ChunkGrid::new(shape, &problem.source_block).unwrap();
    let target = ChunkGrid::new(shape, &problem.target_block).unwrap();
    let buffers = ChunkGrid::new(shape, &schedule.buffer).unwrap();
    let mut counts = [SideCounts::default(); 2];
    counts[0].files = source.count();
    counts[1].files = target.count();
    // On an axis that is not kept, a write block is the part of a file in one buffer.
    let write_block = |element: &[u64]| -> Vec<(u64, u64)> {
        (0..shape.len())
            .map(|axis| {
                let part = element[axis] / schedule.buffer[axis];
                let part = if schedule.kept[axis] { 0 } else { part };
                (element[axis] / problem.target_block[axis], part)
            })
            .collect()
    };
    let mut sizes: HashMap<Vec<(u64, u64)>, u64> = HashMap::new();
    for element in Region::whole(shape).positions() {
        *sizes.entry(write_block(&element)).or_default() += 1;
    }
    let mut waiting = Waiting::new();
    let (mut held, mut peak) = (0, 0);
    for index in buffers.indices().positions_in(&schedule.step_axes) {
        let buffer = buffers.region(&index);
        held += buffer.elements();
        peak = held.max(peak);
        let mut read: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
        for element in buffer.positions() {
            let (file, position) = place(&source, &problem.source_order, &element);
            read.entry(file).or_default().push(position);
            let (_, position) = place(&target, &problem.target_order, &element);
            waiting.entry(write_block(&element)).or_default().push(position);
        }
        for (file, positions) in read {
            open(&mut counts[0], &source, &file, positions);
        }
        let complete =
            waiting.extract_if(|block, positions| sizes[block] == positions.len() as u64);
        for (block, positions) in complete {
            held -= positions.len() as u64;
            let file: Vec<u64> = block.iter().map(|part| part.0).collect();
            open(&mut counts[1], &target, &file, positions);
        }
    }
    assert_eq!((held, waiting.len()), (0, 0));
    (counts[0], counts[1], peak)
}

fn orders(rank: usize) -> Vec<Vec<usize>> {
    (0..rank).fold(vec![vec![]], |orders, axis| {
        let insert = |order: &Vec<usize>| {
            let places = 0..=order.len();
            places.map(|at| [&order[..at], &[axis], &order[at..]].concat()).collect::<Vec<_>>()
        };
        orders.iter().flat_map(insert).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn formulas_are_those_of_a_walk(case in cases()) {
        let unlimited = Problem { memory_bytes: 1 << 40, ..case.problem.clone() };
        let model = Model::new(&unlimited).unwrap();
        model.check(&case.schedule).unwrap();
        let (source, target, peak) = walk(&case);
        let counts = model.counts(&case.schedule);
        prop_assert_eq!(counts.source, source);
        prop_assert_eq!(counts.target, target);
        prop_assert_eq!(model.memory_exact(&case.schedule, u64::MAX), Some(peak));
        prop_assert!(peak <= model.memory_bound(&case.schedule));
        let tight = Model::new(&Problem { memory_bytes: peak * 4, ..case.problem }).unwrap();
        prop_assert!(counts.seeks() >= tight.files());
        prop_assert!(counts.seeks() as f64 >= tight.seeks_bound().floor());
    }

    #[test]
    fn no_order_has_a_lower_bound(case in cases()) {
        let model = Model::new(&Problem { memory_bytes: 1 << 40, ..case.problem }).unwrap();
        let Schedule { buffer, kept, .. } = case.schedule;
        let ours = model.memory_bound(&model.schedule(&buffer, &kept));
        for step_axes in orders(buffer.len()) {
            let other = Schedule { buffer: buffer.clone(), kept: kept.clone(), step_axes };
            prop_assert!(ours <= model.memory_bound(&other));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_other_strategy_is_better_than_the_search(case in cases()) {
        let model = Model::new(&case.problem).unwrap();
        let found = search(&case.problem).unwrap();
        model.check(&found.schedule).unwrap();
        let schedule = &found.schedule;
        let (source, target, peak) = walk(&Case { schedule: schedule.clone(), ..case.clone() });
        prop_assert_eq!((found.counts.source, found.counts.target), (source, target));
        prop_assert!(peak * 4 <= found.memory_bytes);
        prop_assert!(found.memory_bytes <= case.problem.memory_bytes);
        prop_assert!(!found.memory_is_exact || peak * 4 == found.memory_bytes);
        for baseline in Baseline::ALL {
            let Some(other) = baseline.schedule(&model) else { continue };
            model.check(&other).unwrap();
            let theirs = model.counts(&other).seeks();
            let ours = found.counts.seeks();
            prop_assert!(ours <= theirs, "{} {other:?}: {ours} > {theirs}", baseline.name());
            let exact = model.memory_exact(&other, u64::MAX).unwrap();
            prop_assert!(exact <= model.memory_elements());
        }
    }
}

#[test]
fn little_memory_is_enough_and_none_is_refused() {
    let problem = |bytes| Problem::in_c_order(&[30, 40], &[10, 40], &[30, 7], 8, bytes);
    assert!(search(&problem(7)).is_err());
    let one = search(&problem(8)).unwrap();
    assert_eq!((one.schedule.buffer, one.memory_bytes), (vec![1, 1], 8));
    let less_than_a_row = search(&problem(100)).unwrap();
    assert!(less_than_a_row.memory_bytes <= 100);
}

#[test]
fn scalars_empty_arrays_and_absurd_shapes() {
    let scalar = search(&Problem::in_c_order(&[], &[], &[], 8, 8)).unwrap();
    assert_eq!((scalar.counts.seeks(), scalar.memory_bytes), (2, 8));
    let empty = search(&Problem::in_c_order(&[4, 0], &[2, 3], &[4, 1], 8, 8)).unwrap();
    assert_eq!(empty.counts.seeks(), 0);
    for baseline in Baseline::ALL {
        let model = Model::new(&Problem::in_c_order(&[4, 0], &[2, 3], &[4, 1], 8, 8)).unwrap();
        assert!(baseline.schedule(&model).is_some());
    }
    assert!(search(&Problem::in_c_order(&[4], &[0], &[4], 8, 64)).is_err());
    assert!(search(&Problem::in_c_order(&[4], &[2, 2], &[4], 8, 64)).is_err());
    let huge = Problem::in_c_order(&[1 << 61], &[(1 << 40) + 1], &[(1 << 41) - 1], 8, 1 << 30);
    assert!(search(&huge).unwrap().memory_bytes <= 1 << 30);
    let many_axes = Problem::in_c_order(&[2; 32], &[1; 32], &[2; 32], 8, 1 << 20);
    assert!(search(&many_axes).unwrap().memory_bytes <= 1 << 20);
    let mut twice = Problem::in_c_order(&[4, 4], &[2, 2], &[4, 4], 8, 64);
    twice.source_order = vec![1, 1];
    assert!(search(&twice).is_err());
}
