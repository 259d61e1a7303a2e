//! The families of candidates: for each plan kind, which boxes are tried.

use std::collections::HashMap;

use crate::baseline::{PlannerOptions, Rechunking, rechunking_plan};
use crate::count::{lcm_capped, pairs_along, product};
use crate::cuts::AxisCuts;
use crate::draft::{
    Draft, copies_objects, geometric_boxes, passthrough, staged, stream, tiles, whole_source_steps,
};
use crate::memory::SteppedAxis;
use crate::search::{INFEASIBLE, descend, extents, position_at_most};
use crate::sizing::Sizing;
use crate::{IntermediateGrid, PlanRequest, StageOutput, Strategy};

/// A family: the rule by which boxes of one plan kind are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Passthrough,
    Direct,
    Memory,
    Pull,
    Keep,
    PushPull,
    Multistage,
}

type Drafts = Result<Vec<Draft>, &'static str>;

impl Family {
    /// All families; a forced strategy picks one of them by [`Family::kind`].
    pub(crate) const ALL: [Self; 7] = [
        Self::Passthrough,
        Self::Direct,
        Self::Memory,
        Self::Keep,
        Self::Pull,
        Self::PushPull,
        Self::Multistage,
    ];

    pub(crate) fn kind(self) -> Strategy {
        match self {
            Self::Passthrough => Strategy::Passthrough,
            Self::Direct => Strategy::Direct,
            Self::Memory => Strategy::Memory,
            Self::Pull => Strategy::Pull,
            Self::Keep => Strategy::Keep,
            Self::PushPull => Strategy::PushPull,
            Self::Multistage => Strategy::Multistage,
        }
    }

    /// Its plans leave an intermediate.
    pub(crate) fn is_staged(self) -> bool {
        matches!(self, Self::PushPull | Self::Multistage)
    }

    /// Returns the kind that is shown for a draft: the family's. But a pull that happens to read
    /// nothing twice is a keep (or direct) plan when the choice was free.
    pub(crate) fn label(self, sizing: &Sizing<'_>, draft: &Draft) -> Strategy {
        let free = sizing.request.strategy == Strategy::Auto;
        if self == Self::Pull && free && reads_once(sizing, draft.stages[0].filled()) {
            return if nested(sizing) { Strategy::Direct } else { Strategy::Keep };
        }
        self.kind()
    }

    /// The drafts to price, at least one; or why the family does not apply.
    pub(crate) fn drafts(self, sizing: &Sizing<'_>) -> Drafts {
        let request = sizing.request;
        match self {
            Self::Passthrough => passthrough_drafts(sizing),
            Self::Direct => direct_drafts(sizing),
            Self::Memory => {
                let whole = axis_extents(request);
                Ok(vec![sizing.noted(tiles(sizing, &whole))])
            }
            Self::Pull => Ok(pull_drafts(sizing)),
            Self::Keep => Ok(keep_drafts(sizing)),
            Self::PushPull => Ok(push_pull_drafts(sizing)),
            Self::Multistage => Ok(multistage_drafts(sizing)),
        }
    }
}

/// Extents of the array, at least 1: a box that spans every axis.
pub(crate) fn axis_extents(request: &PlanRequest) -> Vec<u64> {
    request.shape.iter().map(|&extent| extent.max(1)).collect()
}

fn reads_once(sizing: &Sizing<'_>, tile: &[u64]) -> bool {
    let pairs = |axis: usize| match sizing.cuts.axis(axis) {
        Some(cuts) => cuts.pairs(tile[axis]).0,
        None => pairs_along(sizing.request.shape[axis], tile[axis], sizing.read_unit()[axis]),
    };
    let cells = |axis: usize| match sizing.request.shape[axis] {
        0 => 0,
        _ => sizing.inputs_along(axis),
    };
    product((0..tile.len()).map(pairs)) == product((0..tile.len()).map(cells))
}

/// On every axis one of the two chunks is a multiple of the other, or spans the axis. Source chunks
/// of different lengths never are.
fn nested(sizing: &Sizing<'_>) -> bool {
    if sizing.request.source.edges.is_some() {
        return false;
    }
    let (request, read) = (sizing.request, sizing.read_unit());
    axis_extents(request).iter().enumerate().all(|(axis, &extent)| {
        let (i, o) = (read[axis], request.target.commit_shape()[axis]);
        i >= extent || o >= extent || i.is_multiple_of(o) || o.is_multiple_of(i)
    })
}

/// Smallest box whose ends are ends of both grids.
fn common_box(sizing: &Sizing<'_>) -> Vec<u64> {
    let (request, read) = (sizing.request, sizing.read_unit());
    axis_extents(request)
        .iter()
        .enumerate()
        .map(|(axis, &extent)| {
            let (i, o) = (read[axis], request.target.commit_shape()[axis]);
            sizing.cuts.axis(axis).map_or_else(|| lcm_capped(i, o, extent), AxisCuts::common)
        })
        .collect()
}

fn passthrough_drafts(sizing: &Sizing<'_>) -> Drafts {
    let request = sizing.request;
    let (source, target) = (&request.source, &request.target);
    if request.held().is_some() {
        return Err("the source begins or ends inside of chunks of the target");
    }
    if source.edges.is_some() {
        return Err("the chunks of the source differ in length");
    }
    if !request.same_encoding || source.chunk_shape != target.chunk_shape {
        return Err("source and target differ in chunk shape or encoding");
    }
    let mut drafts = Vec::new();
    let is_same = request.same_shards && source.shard == target.shard;
    let output = if sizing.reads_shards() && is_same {
        StageOutput::TargetShards
    } else {
        StageOutput::TargetChunks
    };
    let copies = copies_objects(request, &output);
    for tasks_min in [1, u64::from(request.budget.threads)] {
        let tile = passthrough_tile(request, copies, tasks_min);
        drafts.push(sizing.noted(passthrough(sizing, &tile, &output)));
    }
    Ok(drafts)
}

/// As many of the target's objects as make a task large enough, and leave some for `tasks_min`
/// tasks.
fn passthrough_tile(request: &PlanRequest, copied_by_store: bool, tasks_min: u64) -> Vec<u64> {
    /// Encoded bytes after which a task is large enough, and most objects of one.
    const TASK_BYTES: u64 = 256 << 20;
    const TASK_OBJECTS: u64 = 1024;
    /// Objects of a task that moves no bytes: as many requests as may usefully be in flight at
    /// once.
    const TASK_COPIES: u64 = 256;
    let target = &request.target;
    let unit = target.commit_shape();
    let expected = target.encoded_bytes_expected.max(1).saturating_mul(target.shard_chunks());
    let by_bytes = (TASK_BYTES / expected).clamp(1, TASK_OBJECTS);
    let objects =
        product((0..unit.len()).map(|axis| request.shape[axis].div_ceil(unit[axis]).max(1)));
    let most = if copied_by_store { TASK_COPIES } else { by_bytes };
    let mut room = most.min(objects.div_ceil(tasks_min.max(1)));
    let mut tile = unit.to_vec();
    for axis in (0..tile.len()).rev() {
        let count = request.shape[axis].div_ceil(unit[axis]).max(1).min(room);
        tile[axis] = unit[axis].saturating_mul(count).min(request.shape[axis].max(1));
        room /= count;
    }
    tile
}

fn direct_drafts(sizing: &Sizing<'_>) -> Drafts {
    let request = sizing.request;
    if request.held().is_some() {
        return Err(
            "the source begins or ends inside of chunks of the target: `keep` does the same",
        );
    }
    if request.source.edges.is_some() {
        return Err("the chunks of the source differ in length: `keep` does the same");
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
        let input = sizing.read_unit();
        let (steps, per_tile) = values.split_at(rank);
        let tile: Vec<u64> =
            (0..rank).map(|a| steps[a].saturating_mul(per_tile[a]).min(extent[a])).collect();
        let step_chunks: Vec<u64> = (0..rank).map(|a| steps[a].div_ceil(input[a])).collect();
        stream(sizing, &tile, &step_chunks, (0..rank).collect())
    };
    let start = vec![0; lists.len()];
    let drafts = best_of(sizing, &lists, &[start], build);
    let shorter = |draft| with_shorter_steps(sizing, with_smaller_tasks(sizing, draft), false);
    Ok(drafts.into_iter().map(shorter).collect())
}

/// Cuts `draft` into smaller tasks, where one has very many pieces and cutting it costs nothing. A
/// task passes over regions without stored chunks, and tasks are marked in the journal or lost with
/// a worker.
fn with_smaller_tasks(sizing: &Sizing<'_>, mut draft: Draft) -> Draft {
    const SLOWER_MAX: f64 = 1.01;
    /// Most parts of target chunks that the inputs of a small enough task have: about as many
    /// copies.
    const PIECES_MAX: u64 = 1 << 18;
    if sizing.request.budget.box_bytes.is_some() {
        return draft; // plans are compared by their counts
    }
    let seconds_max = sizing.cost(&draft) * SLOWER_MAX;
    let (input, common) = (sizing.read_unit(), common_box(sizing));
    let unit = &sizing.request.target.chunk_shape;
    loop {
        let Some(stage) = draft.stages.first().filter(|stage| stage.box_shape.is_none()) else {
            return draft;
        };
        let along = |axis: usize| stage.tile[axis].div_ceil(input[axis].min(unit[axis]));
        let pieces = product((0..input.len()).map(along));
        let cut = |axis: usize, parts: u64| {
            // Tasks end where chunks of both sides do: nothing is read twice.
            let boxes = stage.tile[axis].div_ceil(common[axis]).div_ceil(parts);
            let tile = boxes.saturating_mul(common[axis]);
            if tile >= stage.tile[axis] {
                return None;
            }
            let mut tiles = stage.tile.clone();
            tiles[axis] = tile;
            let smaller = stream(sizing, &tiles, &stage.step_chunks, stage.step_axes.clone());
            let seconds = sizing.cost(&smaller);
            (seconds <= seconds_max).then_some((seconds, smaller))
        };
        let mut all_parts =
            std::iter::successors(Some(pieces.div_ceil(PIECES_MAX)), |parts| Some(parts / 4))
                .take_while(|&parts| parts > 1);
        let smaller = all_parts.find_map(|parts| {
            let cuts = (0..input.len()).filter_map(|axis| cut(axis, parts));
            cuts.min_by(|(a, _), (b, _)| a.total_cmp(b))
        });
        match smaller {
            Some((_, smaller)) => draft = smaller,
            None => return draft,
        }
    }
}

/// Gives `draft` shorter steps, if it is not a hundredth slower for it and threads have enough to
/// do in each. The memory they leave is for reading ahead, and a run that is killed has fewer
/// inputs to take in again.
fn with_shorter_steps(sizing: &Sizing<'_>, mut draft: Draft, is_reordered: bool) -> Draft {
    const SLOWER_MAX: f64 = 1.01;
    /// Fewest inputs of a shorter step for each thread, which waits for the last one.
    const INPUTS_MIN: u64 = 16;
    if sizing.request.budget.box_bytes.is_some() {
        return draft; // plans are compared by their counts
    }
    let inputs_min = INPUTS_MIN.saturating_mul(u64::from(sizing.request.budget.threads));
    let seconds_max = sizing.cost(&draft) * SLOWER_MAX;
    let (input, common) = (sizing.read_unit(), common_box(sizing));
    let mut held_bytes = sizing.held_bytes(&draft);
    loop {
        let Some(stage) = draft.stages.first() else { return draft };
        let steps = stage.step_chunks.iter().zip(stage.filled()).zip(input);
        let inputs: Vec<u64> =
            steps.map(|((&step, &filled), &input)| step.min(filled.div_ceil(input))).collect();
        let shorter = (0..inputs.len()).filter_map(|axis| {
            let half = inputs[axis].div_ceil(2);
            // Steps that end where units do carry nothing.
            let unit = (common[axis] / input[axis]).max(1);
            let is_aligned = inputs[axis].is_multiple_of(unit);
            let half = if is_aligned { half.next_multiple_of(unit) } else { half };
            let of_axis = |(at, &inputs)| if at == axis { half } else { inputs };
            let is_shorter = half < inputs[axis];
            if !is_shorter || product(inputs.iter().enumerate().map(of_axis)) < inputs_min {
                return None;
            }
            let mut shorter = draft.clone();
            for stage in &mut shorter.stages {
                stage.step_chunks[axis] = half;
                if is_reordered {
                    stage.step_axes = walk_order(sizing, stage.filled(), &stage.step_chunks);
                }
            }
            let is_as_fast = sizing.cost(&shorter) <= seconds_max;
            is_as_fast.then(|| (sizing.held_bytes(&shorter), shorter))
        });
        match shorter.min_by_key(|(bytes, _)| *bytes) {
            Some((bytes, shorter)) if bytes <= held_bytes => {
                (held_bytes, draft) = (bytes, shorter);
            }
            _ => return draft,
        }
    }
}

fn pull_drafts(sizing: &Sizing<'_>) -> Vec<Draft> {
    let request = sizing.request;
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
    let mut drafts = best_of(sizing, &lists, &starts, |tile| tiles(sizing, tile));
    if request.strategy == Strategy::Auto || request.budget.box_bytes.is_some() {
        // Streams whose columns re-read at their sides.
        drafts.extend(stream_drafts(sizing, &lists));
    }
    drafts
}

/// Candidate extents of a box that is filled at a time. They are whole shards, or parts of one that
/// divide it, so that the boxes of all tasks make one regular grid.
fn write_extents(sizing: &Sizing<'_>, axis: usize, also: &[u64]) -> Vec<u64> {
    let (request, other) = (sizing.request, sizing.read_unit()[axis]);
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

fn keep_drafts(sizing: &Sizing<'_>) -> Vec<Draft> {
    let request = sizing.request;
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
        return vec![sizing.noted(tiles(sizing, &extent))];
    }
    drafts
}

/// One-pass streams: for each axis, columns that are walked along it; and nested walks along all.
fn stream_drafts(sizing: &Sizing<'_>, tile_lists: &[Vec<u64>]) -> Vec<Draft> {
    let request = sizing.request;
    let extent = axis_extents(request);
    let rank = extent.len();
    let long: Vec<usize> = (0..rank).filter(|&axis| sizing.inputs_along(axis) > 1).collect();
    let mut walks: Vec<Vec<usize>> = long.iter().map(|&axis| vec![axis]).collect();
    if long.len() > 1 {
        walks.push(long);
    }
    let common = common_box(sizing);
    let mut drafts = Vec::new();
    for walk in walks {
        let mut lists = tile_lists.to_vec();
        for &axis in &walk {
            let chunks = sizing.inputs_along(axis);
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
            let mut step_chunks = whole_source_steps(sizing, tile);
            for (slot, &axis) in walk.iter().enumerate() {
                step_chunks[axis] = steps[slot];
            }
            stream(sizing, tile, &step_chunks, walk_order(sizing, tile, &step_chunks))
        };
        let found = best_of(sizing, &lists, &[start], build);
        let shorter = |draft| with_shorter_steps(sizing, with_smaller_tasks(sizing, draft), true);
        drafts.extend(found.into_iter().map(shorter));
    }
    drafts
}

/// Order of the loops over steps by Smith's rule: the axis with the largest carry per remaining
/// extent is fastest. That is minimal over all orders, for the bound. Axes that carry nothing are
/// slowest, so that nothing is carried over them. Ties keep C order.
fn walk_order(sizing: &Sizing<'_>, tile: &[u64], step_chunks: &[u64]) -> Vec<usize> {
    let (input, unit) = (sizing.read_unit(), &sizing.request.target.chunk_shape);
    let ratio = |axis: usize| {
        let window = input[axis].saturating_mul(step_chunks[axis]);
        let (steps, whole) = (step_chunks[axis], tile[axis] >= sizing.request.shape[axis]);
        let stepped = SteppedAxis::new(tile[axis], unit[axis], input[axis], steps, whole);
        let carries = stepped.carries || sizing.cuts.axis(axis).is_some();
        if window >= tile[axis] || !carries {
            return 0.0;
        }
        unit[axis] as f64 / (tile[axis] - window) as f64
    };
    let mut axes: Vec<usize> = (0..tile.len()).collect();
    axes.sort_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
    axes
}

fn box_lists(sizing: &Sizing<'_>, read: &[u64], write: &[u64]) -> Vec<Vec<u64>> {
    let request = sizing.request;
    let extent = axis_extents(request);
    let (i, o) = (sizing.read_unit(), request.target.commit_shape());
    // Boxes that end where chunks do, if there are such.
    let unit = |axis: usize| {
        let aligned = sizing.cuts.axis(axis).map(AxisCuts::aligned);
        aligned.filter(|&aligned| aligned < extent[axis]).unwrap_or(i[axis])
    };
    let mut lists: Vec<Vec<u64>> =
        (0..extent.len()).map(|a| extents(extent[a], unit(a), o[a], &[read[a]])).collect();
    lists.extend((0..extent.len()).map(|a| write_extents(sizing, a, &[write[a]])));
    lists
}

fn push_pull_drafts(sizing: &Sizing<'_>) -> Vec<Draft> {
    let request = sizing.request;
    let extent = axis_extents(request);
    let rank = extent.len();
    let (read, write) = literature_boxes(sizing);
    let lists = box_lists(sizing, &read, &write);
    let build = |values: &[u64]| {
        let (read, write) = values.split_at(rank);
        staged(sizing, &[read.to_vec(), write.to_vec()])
    };
    let join = |read: &[u64], write: &[u64]| positions(&lists, &[read, write].concat());
    let starts = [
        join(&read, &write),
        join(&common_box(sizing), request.target.commit_shape()),
        join(&extent, request.target.commit_shape()),
        join(sizing.read_unit(), &extent),
        vec![0; 2 * rank],
    ];
    if request.intermediate_grid == IntermediateGrid::Min {
        return best_of_where(sizing, &lists, &starts, build, |values| boxes_nest(request, values));
    }
    let mut drafts = best_of(sizing, &lists, &starts, build);
    drafts.push(sizing.noted(build(&[read, write].concat()))); // the literature's own boxes
    drafts
}

/// `min(read, write)` is a regular grid with one writer: on every axis one box divides the other
/// or spans the axis.
fn boxes_nest(request: &PlanRequest, values: &[u64]) -> bool {
    let (read, write) = values.split_at(values.len() / 2);
    (0..read.len()).all(|a| {
        let (r, w, extent) = (read[a], write[a], request.shape[a]);
        r >= extent || w >= extent || r.is_multiple_of(w) || w.is_multiple_of(r)
    })
}

fn multistage_drafts(sizing: &Sizing<'_>) -> Vec<Draft> {
    let request = sizing.request;
    let rank = request.shape.len();
    let (read, write) = literature_boxes(sizing);
    let lists = box_lists(sizing, &read, &write);
    let mut drafts = Vec::new();
    for passes in [3, 4] {
        let build = |values: &[u64]| {
            let (read, write) = values.split_at(rank);
            staged(sizing, &geometric_boxes(read, write, passes))
        };
        let starts =
            [positions(&lists, &[read.clone(), write.clone()].concat()), vec![0; 2 * rank]];
        drafts.extend(best_of(sizing, &lists, &starts, build));
        drafts.push(sizing.noted(build(&[read.clone(), write.clone()].concat())));
    }
    drafts
}

fn positions(lists: &[Vec<u64>], values: &[u64]) -> Vec<usize> {
    lists.iter().zip(values).map(|(list, &value)| position_at_most(list, value)).collect()
}

fn best_of(
    sizing: &Sizing<'_>,
    lists: &[Vec<u64>],
    starts: &[Vec<usize>],
    build: impl Fn(&[u64]) -> Draft,
) -> Vec<Draft> {
    best_of_where(sizing, lists, starts, build, |_| true)
}

/// The cheapest draft that a descent from one of `starts` finds; none if nothing fits.
fn best_of_where(
    sizing: &Sizing<'_>,
    lists: &[Vec<u64>],
    starts: &[Vec<usize>],
    build: impl Fn(&[u64]) -> Draft,
    allowed: impl Fn(&[u64]) -> bool,
) -> Vec<Draft> {
    let mut best: Option<(Vec<u64>, f64)> = None;
    // Rounds of a descent meet most points again, and descents end in the same places.
    let mut costs: HashMap<Vec<u64>, f64> = HashMap::new();
    for start in starts {
        let found = descend(lists, start, |values| {
            if let Some(&cost) = costs.get(values) {
                return cost;
            }
            let is_allowed = allowed(values);
            let cost = if is_allowed { sizing.cost(&build(values)) } else { INFEASIBLE * 1e12 };
            costs.insert(values.to_vec(), cost);
            cost
        });
        if best.as_ref().is_none_or(|(_, price)| found.1 < *price) {
            best = Some(found);
        }
    }
    let fits = best.filter(|(_, price)| *price < INFEASIBLE);
    fits.map(|(values, _)| build(&values)).into_iter().collect()
}

/// Read and write boxes of the seed's algorithm within the same limit (see [`crate::baseline`]):
/// where it refuses, the chunks themselves.
fn literature_boxes(sizing: &Sizing<'_>) -> (Vec<u64>, Vec<u64>) {
    let request = sizing.request;
    let extent = axis_extents(request);
    let clip = |chunk: &[u64]| -> Vec<u64> {
        chunk.iter().zip(&extent).map(|(&chunk, &extent)| chunk.min(extent)).collect()
    };
    let (source, target) = (clip(sizing.read_unit()), clip(request.target.commit_shape()));
    let rechunking = Rechunking {
        shape: &extent,
        source_chunks: &source,
        target_chunks: &target,
        itemsize_bytes: request.item_bytes,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: request.item_bytes,
        memory_bytes_max: sizing.limit_bytes,
        consolidate_reads: true,
        consolidate_writes: true,
    };
    rechunking_plan(&rechunking, &options)
        .map_or((source, target), |boxes| (boxes.read, boxes.write))
}
