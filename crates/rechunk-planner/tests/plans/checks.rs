//! Checks of a plan.

use proptest::prelude::*;
use rechunk_grid::{ChunkGrid, Region};
use rechunk_plan::{Plan, PlanRequest, ShardSide, Side, Unit, piece_offset_elements};
use rechunk_planner::{PlanError, plan};

/// The requests and decoded bytes of a plan, counted by walking through its tasks.
pub(crate) fn assert_counts(plan: &Plan) -> Result<(), TestCaseError> {
    let grid = |chunk: &[u64]| ChunkGrid::new(&plan.source().shape, chunk).unwrap();
    let (mut gets, mut elements) = (0, 0);
    let first = &plan.stages[0];
    let geometry = plan.geometry(0).unwrap();
    for task in 0..geometry.task_count() {
        let tile = geometry.tile(task);
        for part in geometry.boxes(&tile) {
            gets += geometry.input_grid().covering(&part).elements();
            let grains = geometry.grain_grid().covering(&part).positions();
            elements += grains.map(|at| geometry.grain_grid().chunk(&at).elements()).sum::<u64>();
            if let (Unit::Chunk, Some(shard)) = (first.input_unit(), &plan.source().shard) {
                gets += grid(shard).covering(&part).elements();
            }
        }
    }
    prop_assert_eq!(plan.estimate.source.get_requests, gets);
    if !first.passes_through() {
        prop_assert_eq!(
            plan.estimate.source.decoded_read_bytes,
            elements * plan.source().item_bytes
        );
    }
    let commit = grid(plan.target().commit_shape());
    prop_assert_eq!(plan.estimate.target.put_requests, commit.count());
    Ok(())
}

/// Each with whether it is the second.
pub(crate) fn held_by<T>(sides: [&Option<T>; 2]) -> impl Iterator<Item = (bool, &T)> {
    let [read, written] = sides;
    read.iter().map(|read| (false, read)).chain(written.iter().map(|written| (true, written)))
}

/// Most bytes in memory of a target shard that is sent in parts while it is filled. These are the
/// part that is filled, the one on its way, and those its index is in, if that comes first.
pub(crate) fn unsent_bytes(plan: &Plan, request: &PlanRequest, shard: &ShardSide) -> u64 {
    let Some(uploads) = plan.target().uploads else { return 0 };
    let chunk: u64 = plan.target().chunk.iter().product();
    let chunks = shard.shape.iter().product::<u64>() / chunk;
    let whole = chunks * request.target.encoded_bytes_max + shard.index_bytes;
    let first = if shard.index_first { shard.index_bytes } else { 0 };
    let parts = 2 + first.div_ceil(uploads.log_part_bytes);
    whole.min(parts * uploads.log_part_bytes)
}

/// The memory that a stage reserves for the indexes of shards is enough at every step of every
/// tile.
pub(crate) fn assert_indexes_fit(plan: &Plan, request: &PlanRequest) -> Result<(), TestCaseError> {
    for (number, stage) in plan.stages.iter().enumerate() {
        let geometry = plan.geometry(number).unwrap();
        let state = |side: &Side, is_needed: bool| {
            let shard = side.shard.clone().filter(|_| is_needed);
            shard.map(|shard| (ChunkGrid::new(&plan.source().shape, &shard.shape).unwrap(), shard))
        };
        let read = state(&request.source, stage.input_unit() == Unit::Chunk);
        let written = state(&request.target, stage.output_unit() == Unit::Chunk);
        for task in 0..geometry.task_count() {
            let tile = geometry.tile(task);
            for part in geometry.boxes(&tile) {
                let steps: Vec<Region> = geometry.steps(&part).collect();
                let mut held = vec![0; steps.len()];
                for (is_written, (grid, shard)) in held_by([&read, &written]) {
                    let unsent = if is_written { unsent_bytes(plan, request, shard) } else { 0 };
                    for index in grid.covering(&tile).positions() {
                        let region = grid.region(&index).intersect(&part);
                        let inputs = region.map(|region| geometry.input_grid().covering(&region));
                        let meets = |step: &Region| {
                            inputs.as_ref().is_some_and(|inputs| step.intersect(inputs).is_some())
                        };
                        let mut first = steps.iter().position(meets);
                        let mut last = steps.iter().rposition(meets);
                        if stage.box_shape.is_some() && is_written {
                            // It stays open from one box to the next.
                            (first, last) = (Some(0), Some(steps.len() - 1));
                        }
                        let (Some(first), Some(last)) = (first, last) else { continue };
                        for bytes in &mut held[first..=last] {
                            *bytes += 2 * shard.index_bytes + unsent;
                        }
                    }
                }
                let most = held.iter().copied().max().unwrap_or(0);
                prop_assert!(most <= stage.shard_state_bytes, "{most} {}", stage.shard_state_bytes);
            }
        }
        if let (Unit::Shard, Some(shard)) = (stage.input_unit(), &request.source.shard) {
            // A lane decodes the index of the shard it holds.
            let fetched = request.source.object_bytes_max(request.item_bytes);
            let lane = fetched + 2 * shard.index_bytes;
            prop_assert!(lane <= stage.lane_bytes, "{lane} {}", stage.lane_bytes);
        }
    }
    Ok(())
}

/// Walks the steps of every tile: no more is resident at once than is reserved.
pub(crate) fn assert_resident(plan: &Plan) -> Result<(), TestCaseError> {
    for (number, stage) in plan.stages.iter().enumerate() {
        let geometry = plan.geometry(number).unwrap();
        if stage.passes_through() || !stage.writes_target() {
            continue;
        }
        let unit_bytes = geometry.output_grid().chunk_elements() * plan.source().item_bytes;
        for task in 0..geometry.task_count() {
            for part in geometry.boxes(&geometry.tile(task)) {
                let steps: Vec<Region> = geometry.steps(&part).collect();
                prop_assert!(stage.is_stepped || steps.len() == 1, "{} steps", steps.len());
                let mut held = vec![0; steps.len()];
                for index in geometry.units(&part).positions() {
                    let unit = geometry.unit_region(&index, &part).unwrap();
                    let touching = geometry.input_grid().covering(&unit);
                    let meets = |step: &Region| step.intersect(&touching).is_some();
                    let first = steps.iter().position(meets).unwrap();
                    let last = steps.iter().rposition(meets).unwrap();
                    held[first..=last].iter_mut().for_each(|bytes| *bytes += unit_bytes);
                }
                let most = held.into_iter().max().unwrap_or(0);
                prop_assert!(most <= stage.resident_bytes, "{most} {}", stage.resident_bytes);
            }
        }
    }
    Ok(())
}

/// Tiles partition the array; a unit of the target lies in one tile; pieces partition objects.
pub(crate) fn assert_one_writer(plan: &Plan) -> Result<(), TestCaseError> {
    let elements: u64 = plan.source().shape.iter().product();
    let mut written_bytes = 0;
    for (number, stage) in plan.stages.iter().enumerate() {
        let geometry = plan.geometry(number).unwrap();
        prop_assert_eq!(geometry.task_count(), stage.tasks);
        let mut seen = 0;
        for task in 0..geometry.task_count() {
            let owned = geometry.tile(task);
            let mut in_boxes = 0;
            for tile in geometry.boxes(&owned) {
                prop_assert!(owned.contains(&tile));
                in_boxes += tile.elements();
                let mut in_units = 0;
                let (mut offset, mut offset_bytes) = (0, 0);
                let steps: Vec<Region> = geometry.steps(&tile).collect();
                let mut begun = vec![0; steps.len()];
                for index in geometry.units(&tile).positions() {
                    let unit = geometry.unit_region(&index, &tile).unwrap();
                    match stage.output_unit() {
                        Unit::Chunk => {
                            prop_assert_eq!(&unit, &geometry.output_grid().region(&index));
                            let commit = geometry.commit_region(&index, &owned).unwrap();
                            prop_assert!(commit.contains(&unit));
                            let shard = geometry.commit_grid().covering(&unit);
                            prop_assert_eq!(&commit, &geometry.commit_grid().region(&shard.start));
                        }
                        Unit::Shard => {
                            prop_assert_eq!(&unit, &geometry.output_grid().region(&index));
                        }
                        Unit::Piece => {
                            prop_assert_eq!(piece_offset_elements(&tile, &unit), offset);
                            offset += unit.elements();
                            // Pieces with what is behind them leave no gap.
                            let reader = plan.geometry(number + 1).unwrap();
                            let (start, bytes) = reader.piece_range(&tile, &unit);
                            prop_assert_eq!(start, offset_bytes);
                            prop_assert!(bytes <= reader.piece_bytes_max());
                            offset_bytes += bytes;
                        }
                    }
                    in_units += unit.elements();
                    let touching = geometry.input_grid().covering(&unit);
                    let touches = |step: &Region| step.intersect(&touching).is_some();
                    let last = steps.iter().rposition(touches).unwrap();
                    prop_assert_eq!(geometry.last_step(&tile, &unit), last as u64);
                    begun[steps.iter().position(touches).unwrap()] += 1;
                    let grains = geometry.grain_grid().covering(&unit);
                    prop_assert_eq!(geometry.inputs_touching(&unit), grains.elements());
                }
                prop_assert_eq!(in_units, tile.elements());
                for (step, begun) in steps.iter().zip(begun) {
                    prop_assert_eq!(geometry.units_begun(&tile, step), begun);
                }
                if geometry.writes_pieces() {
                    prop_assert_eq!(offset_bytes, geometry.object_bytes(&tile));
                    written_bytes += offset_bytes;
                }
                let inputs: u64 = geometry.steps(&tile).map(|step| step.elements()).sum();
                prop_assert_eq!(inputs, geometry.input_grid().covering(&tile).elements());
            }
            prop_assert_eq!(in_boxes, owned.elements());
            seen += owned.elements();
        }
        prop_assert_eq!(seen, elements);
        if stage.input_unit() == Unit::Piece {
            prop_assert_eq!(&stage.input(plan).chunk, &plan.stages[number - 1].tile);
        }
    }
    prop_assert_eq!(written_bytes, plan.estimate.intermediate.written_bytes);
    prop_assert_eq!(written_bytes, plan.estimate.intermediate.read_bytes);
    Ok(())
}

/// The least budget that an error names is enough, and a byte less is not.
pub(crate) fn assert_least(request: &mut PlanRequest) {
    if let Err(PlanError::DoesNotFit { minimum_bytes, .. }) = plan(request) {
        request.budget.memory_bytes = minimum_bytes;
        let planned = plan(request);
        assert!(planned.is_ok(), "{:?} with the minimum", planned.err());
        request.budget.memory_bytes = minimum_bytes - 1;
        let planned = plan(request);
        assert!(planned.is_err(), "{} fits in less than {minimum_bytes}", request.strategy);
    }
}
