//! Small arrays, cut and scheduled in all ways.

use proptest::prelude::*;
use rechunk_grid::ChunkGrid;
use rechunk_plan::keep::{Problem, Schedule};

/// Extent, source file, target file, buffer, kept.
type Axis = (u64, u64, u64, u64, bool);

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) problem: Problem,
    pub(crate) schedule: Schedule,
}

pub(crate) fn cases() -> impl Strategy<Value = Case> {
    (1..5_usize).prop_flat_map(|rank| {
        let extent_max = [40_u64, 14, 8, 5][rank - 1];
        let length = 1..=extent_max + 2;
        let axis = (1..=extent_max, length.clone(), length.clone(), length, any::<bool>());
        let order = || Just((0..rank).collect::<Vec<usize>>()).prop_shuffle();
        let axes = prop::collection::vec(axis, rank);
        (axes, order(), order(), order(), 0..11_u32).prop_map(case)
    })
}

fn case(
    (axes, source_order, target_order, step_axes, memory): (
        Vec<Axis>,
        Vec<usize>,
        Vec<usize>,
        Vec<usize>,
        u32,
    ),
) -> Case {
    let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
    let elements: u64 = shape.iter().product();
    // Budgets of all orders of magnitude, from one element to a little more than all.
    let memory_bytes = 4 + ((5 * elements) >> memory);
    Case {
        problem: Problem {
            source_block: axes.iter().map(|axis| axis.1).collect(),
            target_block: axes.iter().map(|axis| axis.2).collect(),
            item_bytes: 4,
            memory_bytes,
            source_order,
            target_order,
            shape,
        },
        schedule: Schedule {
            buffer: axes.iter().map(|axis| axis.3.min(axis.0)).collect(),
            kept: axes.iter().map(|axis| axis.4).collect(),
            step_axes,
        },
    }
}

/// Where an element is: number of the file, position in it.
pub(crate) fn place(grid: &ChunkGrid, order: &[usize], element: &[u64]) -> (Vec<u64>, u64) {
    let blocks = grid.chunk_shape();
    let index: Vec<u64> = element.iter().zip(blocks).map(|(at, block)| at / block).collect();
    let file = grid.region(&index);
    let position = order.iter().fold(0, |position, &axis| {
        position * file.shape[axis] + (element[axis] - file.start[axis])
    });
    (index, position)
}
