//! Saved plans: what `plan --out` writes and an interrupted run leaves.

use rechunk::SavedJob;
use rechunk_plan::Plan;
use serde_json::Value;

/// Most stages of a plan that are looked at.
const STAGES_MAX: usize = 8;

/// A saved job. Its plan is also looked at with the fingerprint that its contents have, which
/// whoever edits one can compute.
pub(crate) fn target(data: &[u8]) {
    if let Ok(job) = SavedJob::from_json("plan.json", data) {
        holds(&job.plan);
    }
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let plan = value.get("plan").unwrap_or(&value).clone();
    let Ok(mut plan) = serde_json::from_value::<Plan>(plan) else { return };
    plan.fingerprint = plan.computed_fingerprint();
    if plan.check().is_ok() {
        holds(&plan);
    }
}

/// What a plan that passed its check can be asked without harm.
fn holds(plan: &Plan) {
    let total = plan.task_count();
    for (number, stage) in plan.stages.iter().enumerate().take(STAGES_MAX) {
        assert!(stage.tasks <= total);
        let geometry = plan.geometry(number);
        assert!(geometry.is_ok(), "{geometry:?}");
        let Ok(geometry) = geometry else { continue };
        assert_eq!(stage.read_box(plan).len(), plan.shape.len());
        let last = stage.tasks.saturating_sub(1);
        for task in [0, last / 2, last] {
            if task >= stage.tasks {
                continue;
            }
            let tile = geometry.tile(task);
            let _ = (geometry.units(&tile), geometry.inputs_touching(&tile));
            let _ = (geometry.object_bytes(&tile), geometry.last_step(&tile, &tile));
            let _ = geometry.steps(&tile);
        }
    }
    for memory_bytes in [0, 64 << 20, u64::MAX] {
        let mut fitted = plan.clone();
        if fitted.fit_to(memory_bytes) {
            assert!(fitted.memory.planned_peak_bytes <= memory_bytes, "{:?}", fitted.memory);
        }
    }
}
