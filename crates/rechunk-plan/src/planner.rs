//! The planner: enumerates plan kinds, sizes the boxes of each by search, prices what fits and
//! takes the cheapest. What is rejected is kept with its price or the reason, unless nobody asks
//! for it.

use rechunk_grid::{ChunkGrid, ITEM_BYTES_MAX};
use serde::{Deserialize, Serialize};

use crate::bound::staged_seconds_min;
use crate::cuts::Cuts;
use crate::draft::Draft;
use crate::families::Family;
use crate::keep::is_order;
use crate::plan::THREADS;
use crate::sizing::Sizing;
use crate::{Estimate, Plan, PlanError, PlanRequest, Side, Strategy};

/// Candidates of one kind that are kept.
const OF_A_KIND_MAX: usize = 3;

/// The plan and what was considered on the way to it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The cheapest plan that fits.
    pub plan: Plan,
    /// Every candidate that was searched for, the chosen one first, then by price, then those that
    /// do not fit.
    pub candidates: Vec<Candidate>,
}

/// One candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its kind.
    pub kind: Strategy,
    /// Boxes of each stage, elements: read box, write box.
    pub boxes: Vec<Vec<u64>>,
    /// Passes over the data.
    pub passes: usize,
    /// Outcome of comparing it with others.
    pub outcome: CandidateOutcome,
}

/// Outcome for a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CandidateOutcome {
    /// It is the plan.
    Chosen {
        /// Predicted traffic and price.
        estimate: Estimate,
        /// Memory the run reserves, bytes.
        memory_bytes: u64,
    },
    /// It would work and costs more.
    Dearer {
        /// Predicted traffic and price.
        estimate: Estimate,
        /// Memory the run would reserve, bytes.
        memory_bytes: u64,
    },
    /// It needs more memory.
    DoesNotFit {
        /// The least it needs, bytes.
        needs_bytes: u64,
    },
    /// It cannot work here.
    NotApplicable {
        /// Why.
        reason: String,
    },
}

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
    match request.with_least_parts() {
        Some(request) if matches!(planned, Err(PlanError::DoesNotFit { .. })) => {
            search(&request, searched)
        }
        _ => planned,
    }
}

/// The cheapest plan of the families.
fn search(request: &PlanRequest, searched: Searched) -> Result<Planned, PlanError> {
    let cuts = Cuts::new(request);
    let mut fitting: Vec<(Plan, Candidate)> = Vec::new();
    let mut others: Vec<Candidate> = Vec::new();
    let mut minimum = u64::MAX;
    let mut not_applicable = None;
    for family in families(request) {
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
        let sizing = Sizing::new(request, &cuts, least.reads_shards);
        fitting.extend(sizing.finish_least(&least)?.map(priced));
    }
    choose(request, fitting, others, minimum, not_applicable)
}

/// No plan with an intermediate would be chosen beside those that are `fitting` (see
/// [`prefer_fewer_requests`]).
fn staged_are_dearer(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    fitting: &[(Plan, Candidate)],
) -> bool {
    let fastest = fitting.iter().map(|(plan, _)| plan.estimate.seconds).min_by(f64::total_cmp);
    fastest.is_some_and(|seconds| {
        let mut readings = readings(request).iter();
        readings.all(|&reads| staged_seconds_min(request, cuts, reads) > seconds * NEAR)
    })
}

/// The families that the request's strategy allows.
fn families(request: &PlanRequest) -> impl Iterator<Item = Family> {
    let strategy = request.strategy;
    let is_allowed = move |family: &Family| [Strategy::Auto, family.kind()].contains(&strategy);
    Family::ALL.into_iter().filter(is_allowed)
}

/// Units that the first stage may fetch at once: chunks, or whole shards where there are such.
fn readings(request: &PlanRequest) -> &'static [bool] {
    if request.source.shard.is_some() { &[false, true] } else { &[false] }
}

/// The draft that needs least memory.
pub(crate) struct Least {
    pub family: Family,
    reads_shards: bool,
    pub draft: Draft,
    /// Bytes that it needs.
    pub needs_bytes: u64,
}

impl Least {
    /// Of all drafts of all families. A search from nothing may end above what another comes to
    /// that has a little more room, so each is followed by one with a byte less than what was
    /// found, until that finds nothing less: what is named as the least works, and a byte less does
    /// not.
    fn of_all(request: &PlanRequest, cuts: &Cuts<'_>) -> Option<Self> {
        /// Most searches; there were no more than a few in thousands of random requests.
        const ROUNDS_MAX: usize = 32;
        let mut least = Self::within(request, cuts, 0)?;
        for _ in 0..ROUNDS_MAX {
            let below = Self::within(request, cuts, least.needs_bytes.saturating_sub(1));
            let Some(below) = below.filter(|below| below.needs_bytes < least.needs_bytes) else {
                break;
            };
            least = below;
        }
        Some(least)
    }

    /// Of those that searches within `budget_bytes` meet.
    fn within(request: &PlanRequest, cuts: &Cuts<'_>, budget_bytes: u64) -> Option<Self> {
        let all = families(request).flat_map(|family| {
            readings(request).iter().filter_map(move |&reads_shards| {
                Self::of_family(request, cuts, family, reads_shards, budget_bytes)
            })
        });
        all.min_by_key(|least| least.needs_bytes)
    }

    /// Of those of one family.
    fn of_family(
        request: &PlanRequest,
        cuts: &Cuts<'_>,
        family: Family,
        reads_shards: bool,
        budget_bytes: u64,
    ) -> Option<Self> {
        let sizing = Sizing::within(request, cuts, reads_shards, budget_bytes);
        let _ = family.drafts(&sizing); // what was seen on the way is wanted, whether it fits or not
        let (draft, needs_bytes) = sizing.into_least()?;
        Some(Self { family, reads_shards, draft, needs_bytes })
    }
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
        let sizing = Sizing::new(request, cuts, reads_shards);
        let drafts = match family.drafts(&sizing) {
            Ok(drafts) => drafts,
            Err(reason) => {
                refusal = Some(reason);
                continue;
            }
        };
        let found = plans.len();
        for draft in drafts {
            plans.extend(sizing.finish(family, &draft)?);
        }
        if plans.len() == found {
            // What needs least is looked for without regard to the budget, so that the minimum
            // that is named is one that works when it is given.
            if let Some(least) = Least::of_family(request, cuts, family, reads_shards, 0) {
                minimum = minimum.min(least.needs_bytes);
                plans.extend(sizing.finish_least(&least)?);
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

fn choose(
    request: &PlanRequest,
    mut fitting: Vec<(Plan, Candidate)>,
    others: Vec<Candidate>,
    minimum: u64,
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
    if request.budget.box_bytes.is_none() {
        prefer_fewer_requests(&mut fitting);
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

/// Times within a hundredth of each other are the same to a model.
pub(crate) const NEAR: f64 = 1.01;

/// Puts one of the plans first that are as fast as the fastest (see [`NEAR`]). It is the one with
/// the fewest dollars, then requests, then the least memory.
fn prefer_fewer_requests(fitting: &mut [(Plan, Candidate)]) {
    let Some(fastest) = fitting.first().map(|(plan, _)| plan.estimate.seconds) else { return };
    let near = fitting.iter().take_while(|(plan, _)| plan.estimate.seconds <= fastest * NEAR);
    let best = near.enumerate().min_by(|(_, (one, _)), (_, (other, _))| {
        let (a, b) = (&one.estimate, &other.estimate);
        let peaks = (one.memory.planned_peak_bytes, other.memory.planned_peak_bytes);
        a.usd.total_cmp(&b.usd).then(a.requests().cmp(&b.requests())).then(peaks.0.cmp(&peaks.1))
    });
    if let Some(at) = best.map(|(at, _)| at) {
        fitting[..=at].rotate_right(1);
    }
    prefer_encoded_chunks(fitting, fastest);
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

/// A plan that fits, as a candidate.
fn priced(plan: Plan) -> (Plan, Candidate) {
    let outcome = CandidateOutcome::Dearer {
        estimate: plan.estimate.clone(),
        memory_bytes: plan.memory.planned_peak_bytes,
    };
    let entry = candidate(plan.kind, boxes(&plan), outcome);
    (plan, entry)
}

fn candidate(kind: Strategy, boxes: Vec<Vec<u64>>, outcome: CandidateOutcome) -> Candidate {
    Candidate { kind, passes: boxes.len(), boxes, outcome }
}

fn boxes(plan: &Plan) -> Vec<Vec<u64>> {
    plan.stages.iter().map(|stage| stage.filled().to_vec()).collect()
}

fn check(request: &PlanRequest) -> Result<(), PlanError> {
    let source = &request.source;
    ChunkGrid::with_edges(&request.shape, &source.chunk_shape, source.edges.as_ref())?;
    ChunkGrid::new(&request.shape, &request.target.chunk_shape)?;
    if request.target.edges.is_some() || source.edges.is_some() && source.shard.is_some() {
        let (what, range) = ("the length of shards and of target chunks", "the same for all");
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
