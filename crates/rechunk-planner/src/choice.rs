//! The choice among the plans that fit.

use rechunk_plan::{Plan, PlanRequest, Strategy};

use crate::families::BoxPair;
use crate::{Candidate, CandidateOutcome, PlanError, Planned};

/// Candidates of one kind that are kept.
const OF_A_KIND_MAX: usize = 3;

/// Times within a hundredth of each other are the same to a model.
pub(crate) const NEAR: f64 = 1.01;

/// Chooses among the plans that are `fitting`. `others` are candidates that do not fit or apply,
/// and `minimum` is the least memory that any needs, bytes. Where plans are compared by their
/// counts, `literature` has the boxes of rechunker's.
pub(crate) fn choose(
    request: &PlanRequest,
    mut fitting: Vec<(Plan, Candidate)>,
    others: Vec<Candidate>,
    minimum: u64,
    literature: Option<Vec<BoxPair>>,
    not_applicable: Option<&'static str>,
) -> Result<Planned, PlanError> {
    // Ties: fewer bytes through intermediates, fewer requests, less memory.
    fitting.sort_by(|(a, _), (b, _)| {
        let key = |plan: &Plan| {
            let estimate = &plan.estimate;
            (
                estimate.intermediate.written_bytes,
                estimate.requests(),
                plan.memory.planned_peak_bytes,
            )
        };
        a.estimate.seconds.total_cmp(&b.estimate.seconds).then_with(|| key(a).cmp(&key(b)))
    });
    fitting.dedup_by(|(a, _), (b, _)| a.fingerprint == b.fingerprint);
    match literature {
        None => prefer_fewer_requests(request.budget.workers, &mut fitting),
        Some(literature) => prefer_unbeaten(&literature, &mut fitting),
    }
    let Some((plan, _)) = fitting.first() else {
        return Err(match not_applicable {
            Some(reason) if minimum == u64::MAX => {
                PlanError::NotApplicable { strategy: request.strategy, reason }
            }
            _ => PlanError::DoesNotFit {
                strategy: request.strategy,
                budget_bytes: request.budget.memory_bytes,
                minimum_bytes: minimum,
            },
        });
    };
    let plan = plan.clone();
    let mut candidates: Vec<Candidate> = fitting.into_iter().map(|(_, entry)| entry).collect();
    if let Some(first) = candidates.first_mut()
        && let CandidateOutcome::Dearer { estimate, memory_bytes } = first.outcome.clone()
    {
        first.outcome = CandidateOutcome::Chosen { estimate, memory_bytes };
    }
    // Several searches may end in the same boxes: the cheapest stands for all, and a few of each
    // kind say enough.
    let mut seen: Vec<(Strategy, Vec<Vec<u64>>)> = Vec::new();
    candidates.retain(|candidate| {
        let key = (candidate.kind, candidate.boxes.clone());
        let of_kind = seen.iter().filter(|(kind, _)| *kind == candidate.kind).count();
        let is_new = of_kind < OF_A_KIND_MAX && !seen.contains(&key);
        if is_new {
            seen.push(key);
        }
        is_new
    });
    candidates.extend(others);
    Ok(Planned { plan, candidates })
}

/// Puts the fastest plan first that none of the literature's beats: by fewer bytes with as few
/// requests, or fewer requests with as few bytes. Prices alone do not decide: they know how many
/// requests run at once, so that a cheaper plan may have more of both.
fn prefer_unbeaten(literature: &[BoxPair], fitting: &mut [(Plan, Candidate)]) {
    let is_literature = |plan: &Plan| match plan.stages.as_slice() {
        [only] => literature.iter().any(|(_, write)| write == only.filled()),
        [push, pull] => {
            literature.iter().any(|(read, write)| read == push.filled() && write == pull.filled())
        }
        _ => false,
    };
    let of_literature = fitting.iter().filter(|(plan, _)| is_literature(plan));
    let theirs: Vec<(u64, u64)> = of_literature.map(|(plan, _)| counts(plan)).collect();
    let is_beaten = |own: (u64, u64)| {
        theirs.iter().any(|&other| other.0 <= own.0 && other.1 <= own.1 && other != own)
    };
    if let Some(at) = fitting.iter().position(|(plan, _)| !is_beaten(counts(plan))) {
        fitting[..=at].rotate_right(1);
    }
}

/// Counts the bytes and the requests of a plan.
fn counts(plan: &Plan) -> (u64, u64) {
    (plan.estimate.encoded_bytes(), plan.estimate.requests())
}

/// Puts one of the plans first that are as fast as the fastest (see [`NEAR`]). It is the one with
/// the fewest dollars, then requests, then workers without a task, then the least memory.
fn prefer_fewer_requests(workers: u32, fitting: &mut [(Plan, Candidate)]) {
    let Some(fastest) = fitting.first().map(|(plan, _)| plan.estimate.seconds) else { return };
    let near = fitting.iter().take_while(|(plan, _)| plan.estimate.seconds <= fastest * NEAR);
    let best = near.enumerate().min_by(|(_, (one, _)), (_, (other, _))| {
        let (a, b) = (&one.estimate, &other.estimate);
        let peaks = (one.memory.planned_peak_bytes, other.memory.planned_peak_bytes);
        let idle = (idle_workers(workers, one), idle_workers(workers, other));
        a.usd
            .total_cmp(&b.usd)
            .then(a.requests().cmp(&b.requests()))
            .then(idle.0.cmp(&idle.1))
            .then(peaks.0.cmp(&peaks.1))
    });
    if let Some(at) = best.map(|(at, _)| at) {
        fitting[..=at].rotate_right(1);
    }
    prefer_encoded_chunks(fitting, fastest);
}

/// Workers for which a stage has no task, of all stages together.
fn idle_workers(workers: u32, plan: &Plan) -> u64 {
    plan.stages.iter().map(|stage| u64::from(workers).saturating_sub(stage.tasks.max(1))).sum()
}

/// Chunks that pass encoded cost no codec and no more requests than any other plan. Where that
/// looks slower all the same, it is by how few requests are divided among tasks: in jobs of
/// milliseconds.
fn prefer_encoded_chunks(fitting: &mut [(Plan, Candidate)], fastest_seconds: f64) {
    const SLOWER_MAX: f64 = 1.25;
    let requests = fitting.first().map_or(0, |(plan, _)| plan.estimate.requests());
    let is_as_good = |plan: &Plan| {
        plan.kind == Strategy::Passthrough
            && plan.estimate.seconds <= fastest_seconds * SLOWER_MAX
            && plan.estimate.requests() <= requests
    };
    if let Some(at) = fitting.iter().position(|(plan, _)| is_as_good(plan)) {
        fitting[..=at].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use rechunk_plan::Side;

    use super::*;
    use crate::planned::priced;

    /// Of plans with the same traffic and time, the one is taken that has a task for each worker.
    /// For one worker it is the one that needs less memory.
    #[test]
    fn workers_without_a_task_decide_between_plans_of_the_same_traffic() {
        let sides = (Side::raw(&[1, 80], 4), Side::raw(&[80, 1], 4));
        let mut request = PlanRequest::local(&[80, 80], 4, sides, 64 << 20);
        let plan = crate::plan(&request).unwrap().plan;
        let with = |tasks: u64, peak_bytes: u64| {
            let mut plan = plan.clone();
            plan.stages.iter_mut().for_each(|stage| stage.tasks = tasks);
            plan.memory.planned_peak_bytes = peak_bytes;
            plan.fingerprint = format!("{tasks} tasks");
            plan
        };
        for (workers, tasks) in [(1, 4), (4, 4), (5, 8), (8, 8), (64, 16)] {
            request.budget.workers = workers;
            let fitting = [with(8, 2000), with(4, 1000), with(16, 3000)].map(priced).to_vec();
            let chosen = choose(&request, fitting, Vec::new(), 0, None, None).unwrap();
            assert_eq!(chosen.plan.stages[0].tasks, tasks, "{workers} workers");
        }
    }
}
