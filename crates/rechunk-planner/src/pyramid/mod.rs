//! The plan of a pyramid: which levels are written in one pass over which array.

mod geometry;
mod pass;
mod request;
mod search;
mod sizes;
mod traffic;

use std::cmp::Ordering;

use rechunk_plan::{
    ArrayRole, PLAN_VERSION, Plan, PlanArray, PlanMemory, PlanRequest, PyramidWork, Side, Strategy,
    fixed_bytes,
};

use crate::planned::candidate;
use crate::{Candidate, CandidateOutcome, PlanError, Planned};
pub use request::{PyramidPlanRequest, PyramidTarget};
use search::{Course, courses};

/// Plans a pyramid. The counts of what it reads are exact but for sources that are stored as they
/// are, and for levels of which chunks are left out.
pub fn plan_pyramid(asked: &PyramidPlanRequest<'_>) -> Result<Planned, PlanError> {
    // Passes leave no blocks in memory: they would be as many as the array has elements for.
    let beside = PlanRequest { intermediate_in_memory: false, ..asked.request.clone() };
    let fixed_bytes = fixed_bytes(&beside);
    let work = asked.work();
    let mut found = courses(asked, &work, fixed_bytes)?;
    let seconds = |course: &Course| course.estimate.seconds;
    found.sort_by(|a, b| {
        (a.is_coarse, seconds(a)).partial_cmp(&(b.is_coarse, seconds(b))).unwrap_or(Ordering::Equal)
    });
    let mut rivals = found.into_iter();
    let Some(chosen) = rivals.next() else {
        return Err(PlanError::NotApplicable {
            strategy: Strategy::Pyramid,
            reason: "there are no levels to write",
        });
    };
    let mut candidates = vec![of_course(&chosen, fixed_bytes, true)];
    candidates.extend(rivals.map(|course| of_course(&course, fixed_bytes, false)));
    Ok(Planned { plan: plan(asked, work, chosen, fixed_bytes), candidates })
}

fn peak_bytes(course: &Course, fixed_bytes: u64) -> u64 {
    let stages = course.stages.iter().map(|stage| stage.peak_bytes(0));
    stages.max().unwrap_or(0).saturating_add(fixed_bytes)
}

fn of_course(course: &Course, fixed_bytes: u64, is_chosen: bool) -> Candidate {
    let (estimate, memory_bytes) = (course.estimate.clone(), peak_bytes(course, fixed_bytes));
    let outcome = if is_chosen {
        CandidateOutcome::Chosen { estimate, memory_bytes }
    } else {
        CandidateOutcome::Dearer { estimate, memory_bytes }
    };
    let boxes = course.stages.iter().map(|stage| stage.tile.clone()).collect();
    candidate(Strategy::Pyramid, boxes, outcome)
}

fn plan(
    asked: &PyramidPlanRequest<'_>,
    work: PyramidWork,
    course: Course,
    fixed_bytes: u64,
) -> Plan {
    let request = asked.request;
    let planned_peak_bytes = peak_bytes(&course, fixed_bytes);
    let side = |role, shape: &[u64], side: &Side| {
        PlanArray::of_side(role, shape.to_vec(), request.item_bytes, side)
    };
    let mut arrays = vec![side(ArrayRole::Source, &request.shape, &request.source)];
    arrays.extend(asked.levels.iter().map(|level| PlanArray {
        uploads: request.target_uploads(),
        ..side(ArrayRole::Target, &level.shape, &level.side)
    }));
    arrays.extend(course.blocks.into_iter().map(|(shape, chunk)| PlanArray {
        uploads: request.intermediate_uploads(),
        ..PlanArray::new(ArrayRole::Intermediate, shape, asked.block_item_bytes(), chunk)
    }));
    let (passes, transfer_bytes) = (course.passes, course.transfer_bytes);
    let work = PyramidWork { passes, transfer_bytes, ..work };
    let mut plan = Plan {
        version: PLAN_VERSION,
        kind: Strategy::Pyramid,
        arrays,
        keeps_absence: false,
        stages: course.stages,
        apply: None,
        pyramid: Some(Box::new(work)),
        memory: PlanMemory {
            budget_bytes: request.budget.memory_bytes,
            planned_peak_bytes,
            fixed_bytes,
        },
        threads: request.budget.threads,
        estimate: course.estimate,
        priced_by: Some(request.profile.names()),
        fingerprint: String::new(),
    };
    plan.fingerprint = plan.computed_fingerprint();
    plan
}
