//! Boxes that are tried: extents along each axis, and where the grids of both sides meet.

use rechunk_plan::AxisCuts;
use rechunk_plan::count::lcm_capped;

use crate::baseline::{PlannerOptions, Rechunking, rechunking_plan};
use crate::inputs::axis_extents;
use crate::search::extents;
use crate::sizing::Sizing;

/// Read box and write box of a plan, elements.
pub(crate) type BoxPair = (Vec<u64>, Vec<u64>);

/// On every axis one of the two chunks is a multiple of the other, or spans the axis. Chunks of
/// different lengths never are.
pub(super) fn nested(sizing: &Sizing<'_>) -> bool {
    let request = sizing.inputs.request;
    if request.source.edges.is_some() || request.target.edges.is_some() {
        return false;
    }
    let (request, read) = (sizing.inputs.request, sizing.inputs.read_unit());
    axis_extents(request).iter().enumerate().all(|(axis, &extent)| {
        let (i, o) = (read[axis], request.target.commit_shape()[axis]);
        i >= extent || o >= extent || i.is_multiple_of(o) || o.is_multiple_of(i)
    })
}

/// Smallest box whose ends are ends of both grids.
pub(super) fn common_box(sizing: &Sizing<'_>) -> Vec<u64> {
    let (request, read) = (sizing.inputs.request, sizing.inputs.read_unit());
    axis_extents(request)
        .iter()
        .enumerate()
        .map(|(axis, &extent)| {
            let (i, o) = (read[axis], request.target.commit_shape()[axis]);
            if let Some(target) = sizing.inputs.cuts.target_axis(axis) {
                // Any group of its chunks ends where inputs do, or only all of them.
                let is_common = target.ends_in_source(i, request.source.edges.as_ref(), axis);
                return if is_common { o.min(extent) } else { extent };
            }
            sizing.inputs.cuts.axis(axis).map_or_else(|| lcm_capped(i, o, extent), AxisCuts::common)
        })
        .collect()
}

/// Candidate extents of a box that is filled at a time. They are whole shards, or parts of one that
/// divide it, so that the boxes of all tasks make one regular grid.
pub(super) fn write_extents(sizing: &Sizing<'_>, axis: usize, also: &[u64]) -> Vec<u64> {
    let (request, other) = (sizing.inputs.request, sizing.inputs.read_unit()[axis]);
    let extent = request.shape[axis].max(1);
    let (chunk, commit) = (request.target.chunk_shape[axis], request.target.commit_shape()[axis]);
    if chunk == commit {
        return extents(extent, commit, other, also);
    }
    if commit >= extent {
        return extents(extent, chunk, other, &[]);
    }
    let mut list = extents(extent, commit, other, &[]);
    let chunks = commit / chunk;
    let parts = extents(chunks, 1, 1, &[]).into_iter().filter(|part| chunks.is_multiple_of(*part));
    list.extend(parts.map(|part| part * chunk));
    list.sort_unstable();
    list.dedup();
    list
}

pub(super) fn box_lists(sizing: &Sizing<'_>, read: &[u64], write: &[u64]) -> Vec<Vec<u64>> {
    let request = sizing.inputs.request;
    let extent = axis_extents(request);
    let (i, o) = (sizing.inputs.read_unit(), request.target.commit_shape());
    // Boxes that end where chunks do, if there are such.
    let unit = |axis: usize| {
        let aligned = sizing.inputs.cuts.axis(axis).map(AxisCuts::aligned);
        aligned.filter(|&aligned| aligned < extent[axis]).unwrap_or(i[axis])
    };
    let mut lists: Vec<Vec<u64>> =
        (0..extent.len()).map(|a| extents(extent[a], unit(a), o[a], &[read[a]])).collect();
    lists.extend((0..extent.len()).map(|a| write_extents(sizing, a, &[write[a]])));
    lists
}

/// Read and write boxes of rechunker's algorithm within the same limit (see [`crate::baseline`]),
/// consolidated on both sides. Where it refuses, the chunks themselves.
pub(super) fn literature_boxes(sizing: &Sizing<'_>) -> BoxPair {
    consolidated_boxes(sizing, true, true)
}

/// Pairs of read and write boxes by which the literature's plans can be run: consolidated or not
/// on either side, each under both intermediates. Exact pieces take the boxes as they are. In the
/// regular grid `min(read, write)` every chunk has one writer if reads end where its chunks do, or
/// if its chunks themselves are the reads, as rechunker executes it.
pub(crate) fn literature_pairs(sizing: &Sizing<'_>) -> Vec<BoxPair> {
    let extent = axis_extents(sizing.inputs.request);
    let mut pairs = Vec::new();
    for (reads, writes) in [(true, true), (true, false), (false, true), (false, false)] {
        let (read, write) = consolidated_boxes(sizing, reads, writes);
        let on_grid = (0..read.len()).map(|axis| match (read[axis], write[axis]) {
            (read, write) if read > write && read < extent[axis] => read / write * write,
            (read, _) => read,
        });
        let between = read.iter().zip(&write).map(|(&read, &write)| read.min(write));
        let (on_grid, between) = (on_grid.collect(), between.collect());
        for first in [read, on_grid, between] {
            let pair = (first, write.clone());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// Boxes of rechunker's algorithm, with the reads and the writes consolidated where asked for.
fn consolidated_boxes(
    sizing: &Sizing<'_>,
    consolidate_reads: bool,
    consolidate_writes: bool,
) -> BoxPair {
    let request = sizing.inputs.request;
    let extent = axis_extents(request);
    let clip = |chunk: &[u64]| -> Vec<u64> {
        chunk.iter().zip(&extent).map(|(&chunk, &extent)| chunk.min(extent)).collect()
    };
    let (source, target) = (clip(sizing.inputs.read_unit()), clip(request.target.commit_shape()));
    let rechunking = Rechunking {
        shape: &extent,
        source_chunks: &source,
        target_chunks: &target,
        itemsize_bytes: request.item_bytes,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: request.item_bytes,
        memory_bytes_max: sizing.limit_bytes,
        consolidate_reads,
        consolidate_writes,
    };
    rechunking_plan(&rechunking, &options)
        .map_or((source, target), |boxes| (boxes.read, boxes.write))
}
