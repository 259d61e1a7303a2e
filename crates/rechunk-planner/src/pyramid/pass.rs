//! A pass of a pyramid: its tile, its steps, its memory and its traffic.

use rechunk_plan::count::cells;
use rechunk_plan::{
    ArrayId, Estimate, Kernel, Levels, Parallel, PassInput, Stage, StageInput, StageOutput, Unit,
};

use super::geometry::{Geometry, PassRequest};
use super::sizes::{Sizes, Way};
use super::traffic::traffic;
use crate::by_region::{Answers, bytes_of, stage_estimate};

/// Bytes of the elements of a step that tasks aim at: enough for the chunks of one level below.
const STEP_BYTES: u64 = 16 << 20;
/// A task that is lost should not cost more than the reading of so many bytes.
const TASK_BYTES: u64 = 4 << 30;
/// Part of their time by which passes may differ and are as cheap: less than is known of it.
const ALIKE: f64 = 0.02;
/// Tasks from which their size does not matter.
const TASKS_ENOUGH: u64 = 16;

/// A stage and what it costs.
pub(super) struct Staged {
    pub stage: Stage,
    pub estimate: Estimate,
    /// Shape of the blocks that it leaves as an array, and of one block.
    pub blocks: Option<(Vec<u64>, Vec<u64>)>,
    /// Fewer tasks than a run should have that may be interrupted.
    pub is_coarse: bool,
    pub transfer_bytes: u64,
    pub steps_at_once: u32,
}

/// The cheapest tile and step of a pass that fit; else the least bytes that it needs.
pub(super) fn stage_of(request: &PassRequest<'_>) -> Result<Staged, u64> {
    let geometry = Geometry::new(request);
    let mut best: Option<Staged> = None;
    let mut least = u64::MAX;
    for tile in tiles(&geometry) {
        for step in steps(&geometry, &tile) {
            // What a task holds takes long to find out: only of those that may be the best.
            let traffic = traffic(request, &geometry, (&tile, &step));
            let hoped = hoped_seconds(request, &geometry, (&tile, &step), &traffic);
            if best.as_ref().is_some_and(|best| {
                hoped >= (best.is_coarse, best.estimate.seconds * (1.0 + ALIKE))
            }) {
                continue;
            }
            let sizes = Sizes::new(request, &geometry, (&tile, &step));
            let Some(sizes) = sizes else { continue };
            let way = sizes.ways().find(|&way| {
                let all = sizes.needed_bytes(way).saturating_add(request.fixed_bytes);
                least = least.min(all);
                all <= request.asked.request.budget.memory_bytes
            });
            let Some(way) = way else { continue };
            let staged = staged(request, &geometry, (&tile, &step), (&sizes, way), traffic);
            if best.as_ref().is_none_or(|known| is_better(&staged, known)) {
                best = Some(staged);
            }
        }
    }
    best.ok_or(least)
}

/// A pass is better if it has enough tasks, is cheaper, or as cheap and takes less memory.
fn is_better(new: &Staged, known: &Staged) -> bool {
    if new.is_coarse != known.is_coarse {
        return known.is_coarse;
    }
    let (new_seconds, known_seconds) = (new.estimate.seconds, known.estimate.seconds);
    let is_alike = new_seconds <= known_seconds * (1.0 + ALIKE);
    new_seconds < known_seconds * (1.0 - ALIKE)
        || is_alike && new.stage.task_bytes < known.stage.task_bytes
}

/// Tiles that no object is written by two of.
fn tiles(geometry: &Geometry) -> Vec<Vec<u64>> {
    let unit = geometry.unit(geometry.levels.len(), true);
    let aligned = geometry.lcm(&unit, &geometry.chunk);
    let mut found = vec![unit];
    if !found.contains(&aligned) {
        found.push(aligned);
    }
    found
}

/// Steps of a tile, of whole cells, chunks of the input or chunks of levels. Larger ones too, as
/// far as that pays.
fn steps(geometry: &Geometry, tile: &[u64]) -> Vec<Vec<u64>> {
    let grain = geometry.grain();
    let chunks = geometry.lcm(&grain, &geometry.chunk);
    let mut found: Vec<Vec<u64>> = Vec::new();
    let mut add = |step: Vec<u64>| {
        let step: Vec<u64> = step.iter().zip(tile).map(|(&step, &tile)| step.min(tile)).collect();
        if geometry.divides(&step, tile) && !found.contains(&step) {
            found.push(step);
        }
    };
    for base in [&grain, &chunks] {
        add(base.clone());
        for levels in 1..=geometry.levels.len() {
            add(geometry.lcm(base, &geometry.unit(levels, false)));
        }
        let mut grown: Vec<u64> =
            base.iter().zip(tile).map(|(&base, &tile)| base.min(tile)).collect();
        for axis in (0..grown.len()).rev() {
            while grown[axis] < tile[axis] {
                let mut more = grown.clone();
                more[axis] = more[axis].saturating_mul(2).min(tile[axis]);
                if bytes_of(&more, geometry.item_bytes) > STEP_BYTES
                    || !geometry.divides(&more, tile)
                {
                    break;
                }
                grown = more;
            }
        }
        add(grown);
    }
    add(tile.to_vec());
    found
}

fn staged(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
    (sizes, way): (&Sizes, Way),
    traffic: Estimate,
) -> Staged {
    let (asked, pass) = (request.asked, request.pass);
    let budget = &asked.request.budget;
    let needed = sizes.needed_bytes(way);
    let tasks = cells(&geometry.domain, tile);
    let room = budget.memory_bytes.saturating_sub(request.fixed_bytes) / needed.max(1);
    let tasks_at_once = sizes.answers.tasks_at_once(asked.request, tasks.min(room));
    let lanes = u64::from(way.steps_at_once).max(way.chunks_at_once);
    let parallel = (tasks_at_once, lanes);
    let estimate = estimate(request, geometry, (tile, step), parallel, traffic);
    let blocks =
        pass.leaves_blocks.then(|| (request.work.cells(pass.end - 1), geometry.block(tile)));
    Staged {
        stage: stage(request, geometry, (tile, step), (tasks_at_once, needed)),
        estimate,
        blocks,
        is_coarse: is_coarse(geometry, tasks),
        transfer_bytes: sizes.transfer_bytes(way.chunks_at_once),
        steps_at_once: way.steps_at_once,
    }
}

fn is_coarse(geometry: &Geometry, tasks: u64) -> bool {
    let domain_bytes = bytes_of(&geometry.domain, geometry.item_bytes);
    tasks < domain_bytes.div_ceil(TASK_BYTES).min(TASKS_ENOUGH)
}

/// Whether a pass has few tasks, and the seconds it takes if there is memory for all.
fn hoped_seconds(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
    traffic: &Estimate,
) -> (bool, f64) {
    let tasks = cells(&geometry.domain, tile);
    let most = Answers::Late;
    let lanes = most.chunks_at_once().max(u64::from(request.asked.request.budget.threads));
    let parallel = (most.tasks_at_once(request.asked.request, tasks), lanes);
    let estimate = estimate(request, geometry, (tile, step), parallel, traffic.clone());
    (is_coarse(geometry, tasks), estimate.seconds)
}

fn estimate(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
    (tasks_at_once, chunks_at_once): (u32, u64),
    traffic: Estimate,
) -> Estimate {
    let tasks = cells(&geometry.domain, tile);
    let steps = cells(&geometry.domain, step).max(tasks);
    // Of tasks for which there are not threads enough, each has one; else chunks have their own.
    let is_alone = tasks_at_once < request.asked.request.budget.threads;
    let lanes = if is_alone { u32::try_from(chunks_at_once).unwrap_or(1) } else { 1 };
    let parallel = Parallel { tasks_at_once, lanes };
    stage_estimate(request.asked.request, traffic, (tasks, steps), (chunks_at_once, parallel))
}

fn stage(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
    (tasks_at_once, needed): (u32, u64),
) -> Stage {
    let pass = request.pass;
    let input = match pass.input {
        PassInput::Source => StageInput::new(ArrayId(0), Unit::Chunk),
        PassInput::Level(level) => StageInput::new(ArrayId(level + 1), Unit::Chunk),
        PassInput::Blocks(_) => StageInput::new(ArrayId(0), Unit::Piece),
    };
    let written = |level: usize| StageOutput::new(ArrayId(level + 1), Unit::Chunk);
    let mut outputs: Vec<StageOutput> = (pass.first..pass.end).map(written).collect();
    if pass.leaves_blocks {
        outputs.push(StageOutput::new(ArrayId(0), Unit::Piece));
    }
    let kernel = Kernel::Reduce(Levels { rule: request.work.method.name().to_owned() });
    let boxes = (geometry.domain.clone(), tile.to_vec());
    Stage {
        box_shape: Some(step.to_vec()),
        tasks_at_once,
        resident_bytes: needed,
        task_bytes: needed,
        ..Stage::new("reduce", kernel, (vec![input], outputs), boxes)
    }
}
