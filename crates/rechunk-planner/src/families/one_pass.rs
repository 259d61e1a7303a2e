//! Plans of one pass without an intermediate: direct, pull and keep.

use rechunk_plan::Strategy;

use super::boxes::{common_box, literature_boxes, nested, write_extents};
use super::descent::{best_of, positions};
use super::steps::{walk_order, with_shorter_steps};
use super::tasks::with_smaller_tasks;
use crate::draft::{Draft, Drafts, stream, tiles, whole_source_steps};
use crate::inputs::axis_extents;
use crate::search::extents;
use crate::sizing::Sizing;

pub(super) fn direct_drafts(sizing: &Sizing<'_>) -> Drafts {
    let request = sizing.inputs.request;
    if request.held().is_some() {
        return Err(
            "the source begins or ends inside of chunks of the target: `keep` does the same",
        );
    }
    if request.source.edges.is_some() {
        return Err("the chunks of the source differ in length: `keep` does the same");
    }
    if request.target.edges.is_some() {
        return Err("the chunks of the target differ in length: `keep` does the same");
    }
    if !nested(sizing) {
        return Err("on some axis neither chunk extent is a multiple of the other");
    }
    let unit = common_box(sizing);
    let extent = axis_extents(request);
    let rank = unit.len();
    // Per axis: boxes taken in one step, and steps per tile.
    let mut lists: Vec<Vec<u64>> =
        (0..rank).map(|axis| extents(extent[axis], unit[axis], unit[axis], &[])).collect();
    lists.extend((0..rank).map(|_| vec![1, 2, 4, 8, 16, 32, 64, 128]));
    let build = |values: &[u64]| {
        let input = sizing.inputs.read_unit();
        let (steps, per_tile) = values.split_at(rank);
        let tile: Vec<u64> =
            (0..rank).map(|a| steps[a].saturating_mul(per_tile[a]).min(extent[a])).collect();
        let step_chunks: Vec<u64> = (0..rank).map(|a| steps[a].div_ceil(input[a])).collect();
        stream(sizing.inputs, &tile, &step_chunks, (0..rank).collect())
    };
    let start = vec![0; lists.len()];
    let drafts = best_of(sizing, &lists, &[start], build);
    let shorter = |draft| with_shorter_steps(sizing, with_smaller_tasks(sizing, draft), false);
    Ok(drafts.into_iter().map(shorter).collect())
}

pub(super) fn pull_drafts(sizing: &Sizing<'_>) -> Vec<Draft> {
    let request = sizing.inputs.request;
    let extent = axis_extents(request);
    let rank = extent.len();
    let (_, ppc_write) = literature_boxes(sizing);
    let lists: Vec<Vec<u64>> =
        (0..rank).map(|a| write_extents(sizing, a, &[ppc_write[a]])).collect();
    let starts = [
        vec![0; rank],
        positions(&lists, &ppc_write),
        positions(&lists, &common_box(sizing)),
        positions(&lists, &extent),
    ];
    let mut drafts = best_of(sizing, &lists, &starts, |tile| tiles(sizing.inputs, tile));
    if request.strategy == Strategy::Auto || request.budget.box_bytes.is_some() {
        // Streams whose columns re-read at their sides.
        drafts.extend(stream_drafts(sizing, &lists));
    }
    drafts
}

pub(super) fn keep_drafts(sizing: &Sizing<'_>) -> Vec<Draft> {
    let request = sizing.inputs.request;
    let extent = axis_extents(request);
    let common = common_box(sizing);
    // Only tiles that end on ends of both grids: nothing is read twice.
    let lists: Vec<Vec<u64>> = (0..extent.len())
        .map(|a| {
            let mut list = extents(extent[a], common[a], common[a], &[]);
            list.retain(|&tile| tile >= extent[a] || tile.is_multiple_of(common[a]));
            list
        })
        .collect();
    let drafts = stream_drafts(sizing, &lists);
    if drafts.is_empty() {
        // A single source chunk on every axis: one step, nothing to carry.
        return vec![sizing.noted(tiles(sizing.inputs, &extent))];
    }
    drafts
}

/// One-pass streams: for each axis, columns that are walked along it; and nested walks along all.
fn stream_drafts(sizing: &Sizing<'_>, tile_lists: &[Vec<u64>]) -> Vec<Draft> {
    let request = sizing.inputs.request;
    let extent = axis_extents(request);
    let rank = extent.len();
    let long: Vec<usize> = (0..rank).filter(|&axis| sizing.inputs.inputs_along(axis) > 1).collect();
    let mut walks: Vec<Vec<usize>> = long.iter().map(|&axis| vec![axis]).collect();
    if long.len() > 1 {
        walks.push(long);
    }
    let common = common_box(sizing);
    let mut drafts = Vec::new();
    for walk in walks {
        let mut lists = tile_lists.to_vec();
        for &axis in &walk {
            let chunks = sizing.inputs.inputs_along(axis);
            let mut steps = vec![1];
            while let Some(&last) = steps.last()
                && last * 2 < chunks
            {
                steps.push(last * 2);
            }
            lists.push(steps);
        }
        let seed: Vec<u64> = (0..rank)
            .map(|axis| if walk.contains(&axis) { extent[axis] } else { common[axis] })
            .collect();
        let mut start = positions(tile_lists, &seed);
        start.resize(lists.len(), 0);
        let build = |values: &[u64]| {
            let (tile, steps) = values.split_at(rank);
            let mut step_chunks = whole_source_steps(sizing.inputs, tile);
            for (slot, &axis) in walk.iter().enumerate() {
                step_chunks[axis] = steps[slot];
            }
            stream(sizing.inputs, tile, &step_chunks, walk_order(sizing, tile, &step_chunks))
        };
        let found = best_of(sizing, &lists, &[start], build);
        let shorter = |draft| with_shorter_steps(sizing, with_smaller_tasks(sizing, draft), true);
        drafts.extend(found.into_iter().map(shorter));
    }
    drafts
}
