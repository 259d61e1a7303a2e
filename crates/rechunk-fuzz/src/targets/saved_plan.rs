//! Saved plans, of arrays and groups: what `plan --out` writes and an interrupted run leaves.

use rechunk::SavedPlan;
use rechunk_grid::Region;
use rechunk_plan::keep::Buffers;
use rechunk_plan::{Divided, PLAN_VERSION, Plan, StageGeometry, share};
use serde_json::Value;

/// Most stages of a plan that are looked at.
const STAGES_MAX: usize = 8;

/// Most of each kind of thing in a stage that are looked at.
const PARTS_MAX: usize = 16;

/// Reads a saved job as it is, and repaired: in a known version, with the fingerprint of its plan,
/// which whoever edits one can compute.
pub(crate) fn target(data: &[u8]) -> bool {
    let as_it_is = SavedPlan::from_json("plan.json", data);
    let repaired = repaired(data).map(|repaired| SavedPlan::from_json("plan.json", &repaired));
    let found: Vec<SavedPlan> = [as_it_is].into_iter().chain(repaired).flatten().collect();
    for saved in &found {
        if let SavedPlan::Array(job) = saved {
            holds(&job.plan);
        }
    }
    !found.is_empty()
}

fn repaired(data: &[u8]) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(data).ok()?;
    let plan = value.get_mut("plan")?;
    let version = plan.get_mut("version")?;
    if *version != 2 {
        *version = PLAN_VERSION.into();
    }
    let mut read = rechunk_plan::read_plan(plan.clone()).ok()?;
    read.fingerprint = read.computed_fingerprint();
    *plan = serde_json::to_value(read).ok()?;
    serde_json::to_vec(&value).ok()
}

/// Properties of a plan that passed its check.
fn holds(plan: &Plan) {
    let total = plan.task_count();
    for (number, stage) in plan.stages.iter().enumerate().take(STAGES_MAX) {
        assert!(stage.tasks <= total);
        let geometry = plan.geometry(number);
        assert!(geometry.is_ok(), "{geometry:?}");
        let Ok(geometry) = geometry else { continue };
        assert_eq!(geometry.task_count(), stage.tasks);
        assert_eq!(stage.read_box(plan).len(), plan.source().shape.len());
        let all = plan.source().shape.iter().product::<u64>();
        assert_eq!(geometry.elements_of(0, u64::MAX), all);
        let item_bytes = plan.source().item_bytes;
        let divided = [Divided { geometry: &geometry, tasks: stage.tasks, item_bytes }];
        assert!(share(&divided, 1, 3).iter().all(|tasks| tasks.end <= stage.tasks));
        let last = stage.tasks.saturating_sub(1);
        for task in [0, last / 2, last] {
            if task >= stage.tasks {
                continue;
            }
            let tile = geometry.tile(task);
            assert_eq!(geometry.elements_of(task, task + 1), tile.elements());
            let _ = geometry.object_bytes(&tile);
            for part in geometry.boxes(&tile).take(PARTS_MAX) {
                assert!(tile.contains(&part));
                part_holds(&geometry, &tile, &part);
            }
        }
        let buffers = plan.buffers(number);
        assert!(buffers.is_ok(), "{buffers:?}");
        if let Ok(Some(buffers)) = buffers {
            buffers_hold(&buffers);
        }
    }
    for memory_bytes in [0, 64 << 20, u64::MAX] {
        let mut fitted = plan.clone();
        if fitted.fit_to(memory_bytes) {
            assert!(fitted.memory.planned_peak_bytes <= memory_bytes, "{:?}", fitted.memory);
        }
    }
}

fn part_holds(geometry: &StageGeometry, tile: &Region, part: &Region) {
    let inputs = geometry.input_grid().covering(part);
    for step in geometry.steps(part).take(PARTS_MAX) {
        assert!(step.elements() == 0 || inputs.contains(&step), "{step:?} of {inputs:?}");
    }
    for index in geometry.units(part).positions().take(PARTS_MAX) {
        let Some(unit) = geometry.unit_region(&index, part) else { continue };
        assert!(part.contains(&unit), "{unit:?} of {part:?}");
        let _ = (geometry.inputs_touching(&unit), geometry.last_step(part, &unit));
        let _ = (geometry.commit_region(&index, tile), geometry.piece_bytes_max());
        let (start, bytes) = geometry.piece_range(part, &unit);
        assert!(start.checked_add(bytes).is_some());
    }
}

/// The first and the last buffer of raw files that are moved in runs.
fn buffers_hold(buffers: &Buffers) {
    let Some(last) = buffers.count().checked_sub(1) else { return };
    for number in [0, last] {
        let region = buffers.region(number);
        for part in buffers.reads(number).take(PARTS_MAX) {
            let mut runs = buffers.source_runs(&part);
            assert!(runs.next_offset().is_some() || runs.total() == 0);
        }
        for block in buffers.write_blocks(number).take(PARTS_MAX) {
            assert!(block.region.elements() == 0 || region.intersect(&block.region).is_some());
            assert!(buffers.last_buffer(&block) <= last);
        }
    }
}
