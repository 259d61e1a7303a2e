//! The planner: enumerates plan kinds, sizes the boxes of each by search, prices what fits and
//! takes the cheapest. What is rejected is kept with its price or the reason, unless nobody asks
//! for it.

use rechunk_grid::{ChunkGrid, ITEM_BYTES_MAX};
use rechunk_plan::keep::is_order;
use rechunk_plan::{Cuts, Multipart, Plan, PlanRequest, Side, THREADS};

use crate::bound::staged_seconds_min;
use crate::choice::{NEAR, choose};
use crate::families::{Family, literature_pairs};
use crate::inputs::{Inputs, readings};
use crate::least::Least;
use crate::planned::{candidate, priced};
use crate::sizing::Sizing;
use crate::{Candidate, CandidateOutcome, PlanError, Planned};

/// Plans. Pure and deterministic: equal requests give equal plans and fingerprints.
pub fn plan(request: &PlanRequest) -> Result<Planned, PlanError> {
    plan_of(request, Searched::All)
}

/// The plan that [`plan`] chooses, found sooner: kinds that cannot be cheaper than what was found
/// are not among the candidates.
pub fn cheapest(request: &PlanRequest) -> Result<Planned, PlanError> {
    plan_of(request, Searched::MayBeCheaper)
}

/// Which families are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Searched {
    All,
    /// Those that may have a plan that is chosen.
    MayBeCheaper,
}

fn plan_of(request: &PlanRequest, searched: Searched) -> Result<Planned, PlanError> {
    check(request)?;
    if let Some(sides) = crate::runs::sides(request) {
        return crate::runs::plan(request, sides);
    }
    let planned = search(request, searched);
    match with_least_parts(request) {
        Some(request) if matches!(planned, Err(PlanError::DoesNotFit { .. })) => {
            search(&request, searched)
        }
        _ => planned,
    }
}

/// Returns the request with the smallest parts that the store takes, where shards are filled in
/// larger ones. What fits at all fits so: also in the budget that is named when nothing has
/// fitted.
fn with_least_parts(request: &PlanRequest) -> Option<PlanRequest> {
    let multipart = request.profile.target.multipart.filter(|_| request.target.shard.is_some())?;
    let part_bytes = multipart.part_bytes.min(Multipart::PART_BYTES_MIN);
    let mut smaller = request.clone();
    smaller.profile.target.multipart = Some(Multipart { part_bytes, ..multipart });
    (smaller.target_uploads() != request.target_uploads()).then_some(smaller)
}

/// The cheapest plan of the families.
fn search(request: &PlanRequest, searched: Searched) -> Result<Planned, PlanError> {
    let cuts = Cuts::new(request);
    let mut fitting: Vec<(Plan, Candidate)> = Vec::new();
    let mut others: Vec<Candidate> = Vec::new();
    let mut minimum = u64::MAX;
    let mut not_applicable = None;
    for family in Family::allowed(request) {
        if searched == Searched::MayBeCheaper
            && family.is_staged()
            && staged_are_dearer(request, &cuts, &fitting)
        {
            continue;
        }
        match of_family(request, &cuts, family)? {
            Ok((plans, needs_bytes)) => {
                minimum = minimum.min(needs_bytes);
                if plans.is_empty() {
                    let outcome = CandidateOutcome::DoesNotFit { needs_bytes };
                    others.push(candidate(family.kind(), Vec::new(), outcome));
                }
                fitting.extend(plans.into_iter().map(priced));
            }
            Err(reason) => {
                not_applicable = Some(reason);
                let outcome = CandidateOutcome::NotApplicable { reason: reason.to_owned() };
                others.push(candidate(family.kind(), Vec::new(), outcome));
            }
        }
    }
    if fitting.is_empty()
        && let Some(least) = Least::of_all(request, &cuts)
    {
        minimum = minimum.min(least.needs_bytes);
        let inputs = Inputs { request, cuts: &cuts, reads_shards: least.reads_shards };
        fitting.extend(least.finish(&Sizing::new(inputs))?.map(priced));
    }
    let literature = request.budget.box_bytes.map(|_| {
        let read = |&reads_shards| Sizing::new(Inputs { request, cuts: &cuts, reads_shards });
        readings(request).iter().map(read).flat_map(|sizing| literature_pairs(&sizing)).collect()
    });
    choose(request, fitting, others, minimum, literature, not_applicable)
}

/// No plan with an intermediate would be chosen beside those that are `fitting` (see [`NEAR`]).
/// Where plans are compared by their counts, a dearer one may be.
fn staged_are_dearer(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    fitting: &[(Plan, Candidate)],
) -> bool {
    if request.budget.box_bytes.is_some() {
        return false;
    }
    let fastest = fitting.iter().map(|(plan, _)| plan.estimate.seconds).min_by(f64::total_cmp);
    fastest.is_some_and(|seconds| {
        let mut readings = readings(request).iter();
        readings.all(|&reads| staged_seconds_min(request, cuts, reads) > seconds * NEAR)
    })
}

/// The plans of a family that fit, and the least memory one of them needs, bytes; or why it does
/// not apply.
type OfFamily = Result<(Vec<Plan>, u64), &'static str>;

/// Tries a family: reading chunk by chunk and, where there are shards, whole shards too.
fn of_family(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    family: Family,
) -> Result<OfFamily, PlanError> {
    let (mut plans, mut minimum, mut refusal) = (Vec::new(), u64::MAX, None);
    for &reads_shards in readings(request) {
        let inputs = Inputs { request, cuts, reads_shards };
        let sizing = Sizing::new(inputs);
        let drafts = match family.drafts(&sizing) {
            Ok(drafts) => drafts,
            Err(reason) => {
                refusal = Some(reason);
                continue;
            }
        };
        let found = plans.len();
        for draft in drafts {
            plans.extend(sizing.finish(family.label(&sizing, &draft), &draft)?);
        }
        if plans.len() == found {
            // What needs least is looked for without regard to the budget, so that the minimum
            // that is named is one that works when it is given.
            if let Some(least) = Least::of_family(inputs, family, 0) {
                minimum = minimum.min(least.needs_bytes);
                plans.extend(least.finish(&sizing)?);
            }
        } else {
            minimum = minimum.min(sizing.minimum_bytes());
        }
    }
    Ok(match refusal {
        Some(reason) if minimum == u64::MAX => Err(reason),
        _ => Ok((plans, minimum)),
    })
}

fn check(request: &PlanRequest) -> Result<(), PlanError> {
    let source = &request.source;
    ChunkGrid::with_edges(&request.shape, &source.chunk_shape, source.edges.as_ref())?;
    let target = &request.target;
    ChunkGrid::with_edges(&request.shape, &target.chunk_shape, target.edges.as_ref())?;
    if [source, target].iter().any(|side| side.edges.is_some() && side.shard.is_some()) {
        let (what, range) = ("the length of shards", "the same for all");
        return Err(PlanError::OutOfRange { what, range });
    }
    if target.edges.as_ref().is_some_and(|edges| edges.held(&request.shape).is_some()) {
        let (what, range) = ("what chunks of the target hold", "all of it");
        return Err(PlanError::OutOfRange { what, range });
    }
    for side in [&request.source, &request.target] {
        check_shards(request, side)?;
    }
    let range = |ok: bool, what, range| {
        if ok { Ok(()) } else { Err(PlanError::OutOfRange { what, range }) }
    };
    let rank = request.shape.len();
    let is_ordered = source.parts.as_ref().is_none_or(|parts| is_order(&parts.order, rank));
    range(is_ordered, "the storage order", "every axis once")?;
    range((1..=ITEM_BYTES_MAX).contains(&request.item_bytes), "the item size", "1 byte to 1 MiB")?;
    range(THREADS.contains(&request.budget.threads), "the number of threads", "1 to 4096")?;
    range((1..=1 << 20).contains(&request.budget.workers), "the number of workers", "1 to 2^20")
}

fn check_shards(request: &PlanRequest, side: &Side) -> Result<(), PlanError> {
    let Some(shard) = side.shard_shape() else { return Ok(()) };
    ChunkGrid::new(&request.shape, shard)?;
    let divide = shard.iter().zip(&side.chunk_shape).all(|(s, chunk)| s.is_multiple_of(*chunk));
    let range = "a multiple of the chunk shape on every axis";
    if divide { Ok(()) } else { Err(PlanError::OutOfRange { what: "the shard shape", range }) }
}
