//! The planner: enumerates plan kinds, sizes the boxes of each by search, prices what fits and
//! takes the cheapest. What is rejected is kept with its price or the reason.

use std::cell::RefCell;

use rechunk_grid::{ChunkGrid, ITEM_BYTES_MAX};
use serde::{Deserialize, Serialize};

use crate::cost::Figures;
use crate::cuts::{AxisCuts, Cuts};
use crate::draft::Draft;
use crate::families::Family;
use crate::memory::fixed_bytes;
use crate::plan::THREADS;
use crate::price::{Parallel, Price, price};
use crate::search::INFEASIBLE;
use crate::{
    Estimate, PLAN_VERSION, Plan, PlanError, PlanMemory, PlanRequest, Side, Stage, StageInput,
    StageOutput, Strategy,
};

/// Candidates of one kind that are kept.
const OF_A_KIND_MAX: usize = 3;

/// The plan and what was considered on the way to it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The cheapest plan that fits.
    pub plan: Plan,
    /// Every candidate, the chosen one first, then by price, then those that do not fit.
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
    /// What became of it.
    pub outcome: CandidateOutcome,
}

/// What became of a candidate.
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
    check(request)?;
    if let Some(sides) = crate::runs::sides(request) {
        return crate::runs::plan(request, sides);
    }
    let planned = search(request);
    match request.with_least_parts() {
        Some(request) if matches!(planned, Err(PlanError::DoesNotFit { .. })) => search(&request),
        _ => planned,
    }
}

/// The cheapest plan of all families.
fn search(request: &PlanRequest) -> Result<Planned, PlanError> {
    let cuts = Cuts::new(request);
    let mut fitting: Vec<(Plan, Candidate)> = Vec::new();
    let mut others: Vec<Candidate> = Vec::new();
    let mut minimum = u64::MAX;
    let mut not_applicable = None;
    for family in Family::ALL {
        if request.strategy != Strategy::Auto && request.strategy != family.kind() {
            continue;
        }
        match of_family(request, &cuts, family)? {
            Ok((plans, needs_bytes)) => {
                minimum = minimum.min(needs_bytes);
                if plans.is_empty() {
                    let outcome = CandidateOutcome::DoesNotFit { needs_bytes };
                    others.push(candidate(family.kind(), Vec::new(), outcome));
                }
                fitting.extend(plans.into_iter().map(|plan| {
                    let outcome = CandidateOutcome::Dearer {
                        estimate: plan.estimate.clone(),
                        memory_bytes: plan.memory.planned_peak_bytes,
                    };
                    let entry = candidate(plan.kind, boxes(&plan), outcome);
                    (plan, entry)
                }));
            }
            Err(reason) => {
                not_applicable = Some(reason);
                let outcome = CandidateOutcome::NotApplicable { reason: reason.to_owned() };
                others.push(candidate(family.kind(), Vec::new(), outcome));
            }
        }
    }
    choose(request, fitting, others, minimum, not_applicable)
}

/// The draft of a family that needs least memory, and how much, bytes.
fn least(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    reads_shards: bool,
    family: Family,
) -> (Option<Draft>, u64) {
    let sizing = Sizing { limit_bytes: 0, ..Sizing::new(request, cuts, reads_shards) };
    let _ = family.drafts(&sizing); // none of them fits: what was seen on the way is wanted
    let least = sizing.least.take();
    least.map_or((None, u64::MAX), |(draft, bytes)| (Some(draft), bytes))
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
    let readings = if request.source.shard.is_some() { &[false, true][..] } else { &[false] };
    for &reads_shards in readings {
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
            let (draft, needs_bytes) = least(request, cuts, reads_shards, family);
            minimum = minimum.min(needs_bytes);
            if let Some(draft) = draft.filter(|_| needs_bytes <= request.budget.memory_bytes) {
                plans.extend(sizing.finish(family, &draft)?);
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
    // Several searches may end in the same boxes: the cheapest stands for all, and a few of each kind
    // say enough.
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

/// Times within a hundredth of each other are the same to a model: among those the plan with the
/// fewest dollars, then requests, comes first.
fn prefer_fewer_requests(fitting: &mut [(Plan, Candidate)]) {
    let Some(fastest) = fitting.first().map(|(plan, _)| plan.estimate.seconds) else { return };
    let near = fitting.iter().take_while(|(plan, _)| plan.estimate.seconds <= fastest * 1.01);
    let best = near.enumerate().min_by(|(_, (a, _)), (_, (b, _))| {
        let (a, b) = (&a.estimate, &b.estimate);
        a.usd.total_cmp(&b.usd).then(a.requests().cmp(&b.requests()))
    });
    if let Some(at) = best.map(|(at, _)| at) {
        fitting[..=at].rotate_right(1);
    }
    prefer_encoded_chunks(fitting, fastest);
}

/// Chunks that pass encoded cost no codec and no more requests than any other plan. Where that looks
/// slower all the same, it is by how few requests are divided among tasks: in jobs of milliseconds.
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

/// Sizes and prices drafts within the budget.
#[derive(Debug)]
pub(crate) struct Sizing<'a> {
    pub request: &'a PlanRequest,
    /// Where source chunks differ in length.
    pub cuts: &'a Cuts<'a>,
    /// Whole source shards are fetched at once, not their chunks.
    reads_shards: bool,
    fixed_bytes: u64,
    /// What tasks may hold together, bytes (one task's box in box mode).
    pub limit_bytes: u64,
    /// The draft seen so far that needs the least budget, and that.
    least: RefCell<Option<(Draft, u64)>>,
}

impl<'a> Sizing<'a> {
    fn new(request: &'a PlanRequest, cuts: &'a Cuts<'a>, reads_shards: bool) -> Self {
        let fixed = fixed_bytes(request);
        let limit = match request.budget.box_bytes {
            Some(box_bytes) => box_bytes,
            None => request.budget.memory_bytes.saturating_sub(fixed),
        };
        let least = RefCell::new(None);
        Self { request, cuts, reads_shards, fixed_bytes: fixed, limit_bytes: limit, least }
    }

    /// Whole source shards are fetched at once.
    pub(crate) fn reads_shards(&self) -> bool {
        self.reads_shards
    }

    /// What the first stage reads.
    pub(crate) fn read_input(&self) -> StageInput {
        if self.reads_shards { StageInput::SourceShards } else { StageInput::SourceChunks }
    }

    /// Shape of what the first stage fetches at a time, elements.
    pub(crate) fn read_unit(&self) -> &'a [u64] {
        let source = &self.request.source;
        if self.reads_shards { source.commit_shape() } else { &source.chunk_shape }
    }

    /// Number of what the first stage fetches along `axis`.
    pub(crate) fn inputs_along(&self, axis: usize) -> u64 {
        let extent = self.request.shape[axis].max(1);
        self.cuts
            .axis(axis)
            .map_or_else(|| extent.div_ceil(self.read_unit()[axis]), AxisCuts::count)
    }

    /// At least as many of them as a tile of `extent` meets.
    pub(crate) fn whole_step(&self, axis: usize, extent: u64) -> u64 {
        let all = || extent.div_ceil(self.read_unit()[axis]).saturating_add(1);
        self.cuts.axis(axis).map_or_else(all, AxisCuts::count)
    }

    /// The least budget with which some draft seen so far would have fitted.
    fn minimum_bytes(&self) -> u64 {
        self.least.borrow().as_ref().map_or(u64::MAX, |(_, bytes)| *bytes)
    }

    fn is_box(&self) -> bool {
        self.request.budget.box_bytes.is_some()
    }

    fn needs(&self, figures: &Figures, parallel: Parallel) -> u64 {
        if self.is_box() {
            // What the box itself holds, as other planners count it: without padding.
            return figures.resident_bytes.min(figures.tile_bytes);
        }
        let lanes = u64::from(parallel.lanes).saturating_mul(figures.lane_bytes);
        let tasks = u64::from(parallel.tasks_at_once).min(figures.tasks.max(1));
        figures.held_bytes().saturating_add(lanes).saturating_mul(tasks)
    }

    /// What intermediates that are held in memory take beyond one array of elements, bytes: the
    /// tails of pieces, and the intermediates of further passes.
    fn kept_bytes(&self, draft: &Draft) -> u64 {
        let request = self.request;
        if !request.intermediate_in_memory || self.is_box() {
            return 0;
        }
        let written = draft.stages.iter().fold(0_u64, |sum, stage| {
            let figures = stage.figures(request, self.cuts);
            sum.saturating_add(figures.traffic.intermediate.written_bytes)
        });
        let elements = request.shape.iter().fold(request.item_bytes, |n, &m| n.saturating_mul(m));
        written.saturating_sub(elements)
    }

    /// A draft that was not searched for: what it needs counts for the minimum all the same.
    pub(crate) fn noted(&self, draft: Draft) -> Draft {
        self.cost(&draft);
        draft
    }

    /// Predicted seconds of a draft with the memory divided anew for each stage; if that does not fit,
    /// [`INFEASIBLE`] times how much too large it is.
    pub(crate) fn cost(&self, draft: &Draft) -> f64 {
        let single = Parallel { tasks_at_once: 1, lanes: 1 };
        let kept_bytes = self.kept_bytes(draft);
        let limit_bytes = self.limit_bytes.saturating_sub(kept_bytes);
        let (mut seconds, mut over, mut least) = (0.0, 0.0, 0);
        for stage in &draft.stages {
            let figures = stage.figures(self.request, self.cuts);
            let needs = self.needs(&figures, single);
            least = least.max(needs);
            if needs > limit_bytes {
                over += needs as f64 / limit_bytes.max(1) as f64;
            } else {
                seconds += self.fastest(&figures, limit_bytes);
            }
        }
        let fixed_bytes = self.fixed_bytes.saturating_add(kept_bytes);
        let least = if self.is_box() { least } else { least.saturating_add(fixed_bytes) };
        if least < self.minimum_bytes() {
            self.least.replace(Some((draft.clone(), least)));
        }
        if over > 0.0 { INFEASIBLE * (1.0 + over) } else { seconds }
    }

    /// Seconds of a stage with as many lanes as fit beside one task, or beside one per thread: more
    /// are never slower.
    fn fastest(&self, figures: &Figures, limit_bytes: u64) -> f64 {
        let threads = self.request.budget.threads;
        let lanes_max = self.request.requests_at_once().max(threads);
        let mut seconds = f64::INFINITY;
        for tasks_at_once in [1, threads] {
            let tasks = u64::from(tasks_at_once).min(figures.tasks.max(1));
            let room = (limit_bytes / tasks).saturating_sub(figures.held_bytes());
            let lanes = u32::try_from(room / figures.lane_bytes.max(1)).unwrap_or(u32::MAX);
            let lanes = if self.is_box() { threads } else { lanes.min(lanes_max) };
            if lanes > 0 && u64::from(tasks_at_once) <= figures.tasks.max(1) {
                let parallel = Parallel { tasks_at_once, lanes };
                seconds = seconds.min(price(self.request, figures, parallel).0);
            }
        }
        seconds
    }

    /// The best division of memory for each stage, and with it the plan; `None` if none fits.
    fn finish(&self, family: Family, draft: &Draft) -> Result<Option<Plan>, PlanError> {
        let request = self.request;
        let mut estimate = Estimate::default();
        let mut stages = Vec::with_capacity(draft.stages.len());
        let mut peak = 0;
        let kept_bytes = self.kept_bytes(draft);
        let fixed_bytes = self.fixed_bytes.saturating_add(kept_bytes);
        let limit_bytes = self.limit_bytes.saturating_sub(kept_bytes);
        for (position, stage) in draft.stages.iter().enumerate() {
            let figures = stage.figures(request, self.cuts);
            let Some((parallel, cost)) = self.allocate(&figures, limit_bytes) else {
                return Ok(None);
            };
            estimate.add(&figures.traffic.clone().priced(cost));
            let lanes_bytes = figures.lane_bytes.saturating_mul(u64::from(parallel.lanes));
            let task_bytes = figures.held_bytes().saturating_add(lanes_bytes);
            peak = peak.max(task_bytes.saturating_mul(u64::from(parallel.tasks_at_once)));
            stages.push(Stage {
                name: stage_name(position, draft.stages.len(), &stage.output).to_owned(),
                input: stage.input.clone(),
                output: stage.output.clone(),
                passthrough: stage.passthrough,
                copied_by_store: stage.copied_by_store,
                tile: stage.tile.clone(),
                box_shape: stage.box_shape.clone(),
                step_chunks: stage.step_chunks.clone(),
                step_axes: stage.step_axes.clone(),
                tasks: figures.tasks,
                tasks_at_once: parallel.tasks_at_once,
                lanes: parallel.lanes,
                resident_bytes: figures.resident_bytes,
                shard_state_bytes: figures.shard_state_bytes,
                target_shard_bytes: figures.target_shard_bytes,
                lane_bytes: figures.lane_bytes,
                is_stepped: figures.is_stepped,
                task_bytes,
                runs: None,
            });
        }
        let mut plan = Plan {
            version: PLAN_VERSION,
            kind: family.label(self, draft),
            shape: request.shape.clone(),
            item_bytes: request.item_bytes,
            source_chunk: request.source.chunk_shape.clone(),
            source_edges: request.source.edges.clone(),
            target_chunk: request.target.chunk_shape.clone(),
            source_shard: request.source.shard_shape().map(<[u64]>::to_vec),
            target_shard: request.target.shard_shape().map(<[u64]>::to_vec),
            source_runs: None,
            target_runs: None,
            keeps_absence: request.keeps_absence && stages.len() > 1,
            stages,
            memory: PlanMemory {
                budget_bytes: request.budget.memory_bytes,
                planned_peak_bytes: peak.saturating_add(fixed_bytes),
                fixed_bytes,
            },
            threads: request.budget.threads,
            estimate,
            priced_by: Some(request.profile.names()),
            target_uploads: request.target_uploads(),
            intermediate_uploads: request.intermediate_uploads().filter(|_| draft.stages.len() > 1),
            fingerprint: String::new(),
        };
        for stage in 0..plan.stages.len() {
            plan.geometry(stage)?;
        }
        plan.fingerprint = crate::fingerprint::of(&plan);
        Ok(Some(plan))
    }

    /// Tasks at once and lanes within `limit_bytes`: the least memory within 2 % of the fastest
    /// division that fits.
    fn allocate(&self, figures: &Figures, limit_bytes: u64) -> Option<(Parallel, (f64, Price))> {
        const LANES: [u32; 13] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256];
        let threads = self.request.budget.threads;
        let lanes_max = self.request.requests_at_once().max(threads);
        let mut options = Vec::new();
        let mut tasks = 1;
        loop {
            let tasks_at_once = tasks.min(threads);
            for lanes in LANES.into_iter().filter(|&l| l <= lanes_max).chain([threads]) {
                let parallel = Parallel { tasks_at_once, lanes };
                let useful = u64::from(tasks_at_once) <= figures.tasks.max(1);
                if useful && self.needs(figures, parallel) <= limit_bytes {
                    options.push((parallel, price(self.request, figures, parallel)));
                }
            }
            if tasks_at_once == threads {
                break;
            }
            tasks *= 2;
        }
        let fastest = options.iter().map(|option| option.1.0).fold(f64::INFINITY, f64::min);
        options
            .into_iter()
            .filter(|option| option.1.0 <= fastest * 1.02)
            .min_by_key(|option| self.needs(figures, option.0))
    }
}

fn stage_name(position: usize, stages: usize, output: &StageOutput) -> &'static str {
    match (position, stages, output) {
        (0, 1, _) => "copy",
        (0, _, _) => "push",
        (_, _, StageOutput::Pieces { .. }) => "pass",
        _ => "pull",
    }
}
