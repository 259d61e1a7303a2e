//! Checks of plans of stages that read and write regions.

use rechunk_plan::Unit;

use crate::{Execution, Fault};

/// Refuses a plan without threads, for which `no_threads` is the reason, without memory for its
/// tasks, or without the store that it writes pieces to.
pub(crate) fn check(execution: &Execution, no_threads: &str) -> Result<(), Fault> {
    let plan = &execution.plan;
    if plan.threads == 0 {
        return refuse(no_threads);
    }
    let available = plan.memory.planned_peak_bytes.saturating_sub(plan.memory.fixed_bytes);
    for (number, stage) in plan.stages.iter().enumerate() {
        if stage.tasks_at_once == 0 || stage.peak_bytes(plan.threads) > available {
            return refuse(&format!("stage {number} has no memory for its tasks"));
        }
    }
    let mut outputs = plan.stages.iter().flat_map(|stage| &stage.outputs);
    if outputs.any(|output| output.unit == Unit::Piece) && execution.intermediate.is_none() {
        return refuse("it has an intermediate, but there is no store for one");
    }
    Ok(())
}

/// Refuses the plan.
pub(crate) fn refuse(reason: &str) -> Result<(), Fault> {
    Err(Fault::Plan { reason: reason.to_owned() })
}
