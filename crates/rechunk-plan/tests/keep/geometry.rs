//! Where buffers, write blocks and runs are, against a walk through all elements.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rechunk_grid::{ChunkGrid, Region};
use rechunk_plan::keep::{Buffers, Model, Run, Runs};

use crate::cases::{Case, cases, place};

/// Key of a write block: its file, and on axes that are not kept the buffer.
type Key = Vec<(u64, u64)>;

fn write_block(case: &Case, element: &[u64]) -> Key {
    let Case { problem, schedule } = case;
    let of = |axis: usize| {
        let part = if schedule.kept[axis] { 0 } else { element[axis] / schedule.buffer[axis] };
        (element[axis] / problem.target_block[axis], part)
    };
    (0..element.len()).map(of).collect()
}

/// Checks runs element by element: every element of the part once, where the file has it, and no
/// two runs could be one. Gives their number.
fn check_runs(runs: Runs, grid: &ChunkGrid, order: &[usize], part: &Region) -> u64 {
    let (total, run_shape) = (runs.total(), runs.run_shape().to_vec());
    let run_bytes = runs.run_bytes();
    let mut seen = BTreeSet::new();
    let mut end_before = None;
    let mut count = 0;
    for Run { offset_bytes, length_bytes, start } in runs {
        assert_eq!(length_bytes, run_bytes);
        assert!(end_before.is_none_or(|end| end < offset_bytes), "runs ascend and do not touch");
        end_before = Some(offset_bytes + length_bytes);
        // Elements of a run follow each other in storage order.
        let elements = Region::new(start, run_shape.clone()).positions_in(order);
        let mut offset = offset_bytes;
        for element in elements {
            assert_eq!(place(grid, order, &element).1 * 4, offset);
            assert!(part.contains(&Region::new(element.clone(), vec![1; element.len()])));
            assert!(seen.insert(element));
            offset += 4;
        }
        assert_eq!(offset, offset_bytes + length_bytes);
        count += 1;
    }
    assert_eq!(seen.len() as u64, part.elements());
    assert_eq!(count, total);
    count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn buffers_blocks_and_runs_are_those_of_a_walk(case in cases()) {
        let Case { problem, schedule } = &case;
        let model = Model::new(problem).unwrap();
        let counts = model.counts(schedule);
        let buffers = Buffers::new(problem, schedule).unwrap();
        let grid = ChunkGrid::new(&problem.shape, &schedule.buffer).unwrap();
        let in_order: Vec<Region> = grid
            .indices()
            .positions_in(&schedule.step_axes)
            .map(|index| grid.region(&index))
            .collect();
        prop_assert_eq!(buffers.count(), in_order.len() as u64);

        // Which buffers meet a write block, and its elements.
        let mut blocks: BTreeMap<Key, (BTreeSet<u64>, u64)> = BTreeMap::new();
        for (number, region) in (0..).zip(&in_order) {
            for element in region.positions() {
                let (met_by, elements) = blocks.entry(write_block(&case, &element)).or_default();
                met_by.insert(number);
                *elements += 1;
            }
        }
        let (mut opens, mut runs) = ([0, 0], [0, 0]);
        for (number, region) in (0..).zip(&in_order) {
            prop_assert_eq!(&buffers.region(number), region);
            let mut read = 0;
            for part in buffers.reads(number) {
                prop_assert!(region.contains(&part.region));
                read += part.region.elements();
                opens[0] += 1;
                let grid = buffers.source_grid();
                prop_assert!(grid.region(&part.file).contains(&part.region));
                let order = &problem.source_order;
                runs[0] += check_runs(buffers.source_runs(&part), grid, order, &part.region);
            }
            prop_assert_eq!(read, region.elements());
            let mut met = BTreeSet::new();
            for block in buffers.write_blocks(number) {
                let key = write_block(&case, &block.region.start);
                let (met_by, elements) = &blocks[&key];
                prop_assert_eq!(block.region.elements(), *elements);
                prop_assert_eq!(block.is_first, met_by.first() == Some(&number));
                prop_assert_eq!(block.is_last, met_by.last() == Some(&number));
                prop_assert!(met.insert(key));
                if block.is_last {
                    opens[1] += 1;
                    let (grid, order) = (buffers.target_grid(), &problem.target_order);
                    runs[1] += check_runs(buffers.target_runs(&block), grid, order, &block.region);
                }
            }
            let meets = blocks.iter().filter(|(_, (met_by, _))| met_by.contains(&number));
            prop_assert!(meets.map(|(key, _)| key).eq(&met));
        }
        prop_assert_eq!(opens, [counts.source.opens, counts.target.opens]);
        prop_assert_eq!(runs, [counts.source.runs, counts.target.runs]);
    }

    #[test]
    fn what_is_read_again_is_what_meets_a_block_that_is_not_done(case in cases()) {
        let buffers = Buffers::new(&case.problem, &case.schedule).unwrap();
        let count = buffers.count();
        prop_assume!(count <= 200);
        let mut last = BTreeMap::new();
        for number in 0..count {
            for block in buffers.write_blocks(number) {
                last.insert(block.region.start.clone(), number);
            }
        }
        for next in 0..=count {
            let mut first = next;
            for number in (0..count).rev() {
                let needed = number >= next
                    || (buffers.write_blocks(number)).any(|block| last[&block.region.start] >= next);
                prop_assert_eq!(buffers.is_needed(number, next), needed, "{} of {}", number, next);
                first = if needed { first.min(number) } else { first };
            }
            prop_assert_eq!(buffers.first_needed(next), first);
        }
    }
}
