//! Plans of raw files on both sides: one pass in runs of bytes, by a schedule of the keep
//! strategy ([`rechunk_plan::keep`]). One task, one buffer after the other; parallel are the runs.

use rechunk_plan::count::{cells_touched_max, pairs_along, product};
use rechunk_plan::keep::{
    Baseline, Counts, Found, KeepError, Model, Problem, Schedule, SideCounts,
};
use rechunk_plan::{
    ArrayRole, Estimate, Figures, Kernel, PLAN_VERSION, Parallel, Plan, PlanArray, PlanMemory,
    PlanRequest, RoleEstimate, RunsSide, Side, Stage, StageInput, StageOutput, Strategy, Unit, Way,
    fixed_bytes, keep_problem, price, priced, units_state_bytes,
};

use crate::arrays::{read_by, written_by};
use crate::choice::NEAR;
use crate::{Candidate, CandidateOutcome, PlanError, Planned};

/// Bytes that a lane has to move runs through: so many that bytes, not calls, take the time.
pub const BOUNCE_BYTES: u64 = 1 << 20;

/// The sides of a request whose files are read and written in runs, if that is asked for.
pub(crate) fn sides(request: &PlanRequest) -> Option<(&RunsSide, &RunsSide)> {
    let is_asked = matches!(request.strategy, Strategy::Auto | Strategy::Keep);
    let sides = request.source.runs.as_ref().zip(request.target.runs.as_ref());
    sides.filter(|_| is_asked)
}

/// Schedule of a strategy of the literature for raw files, with its costs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunsBaseline {
    /// Its schedule.
    pub schedule: Schedule,
    /// Bound of the bytes that the schedule holds.
    pub memory_bytes: u64,
    /// Traffic of the schedule.
    pub estimate: Estimate,
}

/// The schedule of a strategy of the literature, which may hold `memory_bytes`, lanes and all else
/// not counted; `None` where the strategy has no answer.
pub fn runs_baseline(
    baseline: Baseline,
    shape: &[u64],
    item_bytes: u64,
    (source, target): (&RunsSide, &RunsSide),
    memory_bytes: u64,
) -> Result<Option<RunsBaseline>, PlanError> {
    let problem = keep_problem(shape, item_bytes, source, target, memory_bytes);
    let model = Model::new(&problem).map_err(refused)?;
    Ok(baseline.schedule(&model).map(|schedule| RunsBaseline {
        memory_bytes: model.bytes(model.memory_bound(&schedule)),
        estimate: estimate(&problem, (source, target), &model.counts(&schedule)),
        schedule,
    }))
}

/// Plans raw files on both sides.
pub(crate) fn plan(
    request: &PlanRequest,
    (source, target): (&RunsSide, &RunsSide),
) -> Result<Planned, PlanError> {
    let fixed_bytes = fixed_bytes(request);
    let bounce_bytes = BOUNCE_BYTES.max(request.item_bytes);
    let minimum_bytes = fixed_bytes.saturating_add(bounce_bytes).saturating_add(request.item_bytes);
    let budget_bytes = request.budget.memory_bytes;
    let is_box = request.budget.box_bytes.is_some();
    if budget_bytes < minimum_bytes && !is_box {
        return Err(PlanError::DoesNotFit {
            strategy: request.strategy,
            budget_bytes,
            minimum_bytes,
        });
    }
    let room_bytes = budget_bytes.saturating_sub(fixed_bytes);
    let lanes = lanes(request, room_bytes / bounce_bytes);
    let lanes_bytes = u64::from(lanes).saturating_mul(bounce_bytes);
    let held_max = request.budget.box_bytes.unwrap_or(room_bytes.saturating_sub(lanes_bytes));
    let holding = |held_bytes| of_memory(request, (source, target), lanes, held_bytes);
    let mut best = holding(held_max)?;
    if !is_box
        && best.fresh_seconds() > LOOKED_FOR_SECONDS
        && let Ok(half) = holding(held_max / 2)
        && half.is_better_than(&best)
    {
        best = half;
    }
    let Scheduled { found, resident_bytes, estimate } = best;
    let stage = Stage {
        lanes,
        resident_bytes,
        lane_bytes: bounce_bytes,
        task_bytes: resident_bytes.saturating_add(lanes_bytes),
        ..stage(request, found.schedule)
    };
    let memory = PlanMemory {
        budget_bytes,
        planned_peak_bytes: stage.task_bytes.saturating_add(fixed_bytes),
        fixed_bytes,
    };
    planned(request, (source, target), stage, memory, estimate)
}

/// Seconds that a byte of memory takes when it is first used, about a microsecond for each page.
const FRESH_SECONDS: f64 = 0.25e-9;

/// A schedule whose memory takes longer than that is looked for once more, with half of it: about
/// what the search takes.
const LOOKED_FOR_SECONDS: f64 = 4e-3;

/// A schedule, what it holds and what it costs.
struct Scheduled {
    found: Found,
    resident_bytes: u64,
    estimate: Estimate,
}

impl Scheduled {
    /// Seconds that its memory takes when it is first used: buffers are used again after that.
    fn fresh_seconds(&self) -> f64 {
        self.resident_bytes as f64 * FRESH_SECONDS
    }

    /// It takes less time, that of its memory included, by more than is the same to a model; and
    /// costs no more.
    fn is_better_than(&self, other: &Self) -> bool {
        let seconds = |of: &Self| of.estimate.seconds + of.fresh_seconds();
        seconds(self) * NEAR < seconds(other) && self.estimate.usd <= other.estimate.usd
    }
}

/// The best schedule that holds at most `held_bytes`.
fn of_memory(
    request: &PlanRequest,
    (source, target): (&RunsSide, &RunsSide),
    lanes: u32,
    held_bytes: u64,
) -> Result<Scheduled, PlanError> {
    let problem = keep_problem(&request.shape, request.item_bytes, source, target, held_bytes);
    let (found, resident_bytes) = schedule(&problem)?;
    let traffic = estimate(&problem, (source, target), &found.counts);
    let figures = Figures {
        tasks: 1,
        traffic: traffic.clone(),
        reading: found.counts.source.runs,
        decoding: found.counts.source.runs,
        writing: found.counts.target.runs,
        putting: found.counts.target.runs,
        ..Figures::default()
    };
    let parallel = Parallel { tasks_at_once: 1, lanes };
    let estimate = priced(&traffic, price(request, &figures, parallel));
    Ok(Scheduled { found, resident_bytes, estimate })
}

/// Runs in flight: as many as the stores take, within a small part of the memory.
fn lanes(request: &PlanRequest, most: u64) -> u32 {
    /// Of the memory, one part in so many may be spent on lanes.
    const LANES_PART: u64 = 8;
    let lanes = u64::from(request.requests_at_once()).min(most / LANES_PART).max(1);
    u32::try_from(lanes).unwrap_or(1)
}

/// The best schedule, and what it holds with what finds its pieces, bytes.
fn schedule(problem: &Problem) -> Result<(Found, u64), PlanError> {
    /// Times less memory is tried because of pieces that take more than their elements.
    const TRIES: usize = 6;
    let mut of_elements = problem.clone();
    for _ in 0..TRIES {
        let model = Model::new(&of_elements).map_err(refused)?;
        let found = model.search();
        let pieces = pieces_max(problem, &model, &found.schedule);
        let state_bytes = units_state_bytes(pieces, problem.shape.len());
        let held_bytes = found.memory_bytes.saturating_add(state_bytes);
        if held_bytes <= problem.memory_bytes {
            return Ok((found, held_bytes));
        }
        let over = problem.memory_bytes.saturating_sub(state_bytes);
        of_elements.memory_bytes = over.max(of_elements.memory_bytes / 4);
    }
    // A part of a row that is written through has no pieces to speak of.
    of_elements.memory_bytes = problem.item_bytes.saturating_mul(1 << 10).min(problem.memory_bytes);
    let found = Model::new(&of_elements).map_err(refused)?.search();
    let held_bytes = found.memory_bytes;
    Ok((found, held_bytes))
}

fn refused(error: KeepError) -> PlanError {
    match error {
        KeepError::Grid(error) => PlanError::Grid(error),
        KeepError::NoElementFits { memory_bytes, item_bytes } => PlanError::DoesNotFit {
            strategy: Strategy::Keep,
            budget_bytes: memory_bytes,
            minimum_bytes: item_bytes,
        },
        // It is about axes whatever else it says: extents and memory are above.
        _ => PlanError::OutOfRange { what: "the storage order", range: "every axis once" },
    }
}

/// Pieces (a buffer's part of a write block) in memory at once, at most: the bound of the memory,
/// counted in pieces.
fn pieces_max(problem: &Problem, model: &Model, schedule: &Schedule) -> u64 {
    let carries = model.carries(&schedule.buffer);
    let (mut held, mut faster) = (1_u64, 1_u64);
    for &axis in schedule.step_axes.iter().rev() {
        let (extent, buffer) = (problem.shape[axis], schedule.buffer[axis]);
        let block = problem.target_block[axis];
        let carried = if schedule.kept[axis] { carries[axis].div_ceil(buffer) } else { 0 };
        held = held
            .saturating_mul(cells_touched_max(buffer, buffer, block))
            .saturating_add(carried.saturating_mul(faster));
        faster = faster.saturating_mul(pairs_along(extent, buffer, block));
    }
    held
}

fn stage(request: &PlanRequest, schedule: Schedule) -> Stage {
    let tile: Vec<u64> = request.shape.iter().map(|&extent| extent.max(1)).collect();
    let chunks = tile.iter().zip(&request.source.chunk_shape);
    let input = StageInput::new(read_by(0), Unit::Chunk);
    let output = StageOutput::new(written_by(0), Unit::Chunk);
    Stage {
        step_chunks: chunks.map(|(&extent, &chunk)| extent.div_ceil(chunk)).collect(),
        step_axes: schedule.step_axes.clone(),
        ..Stage::new(
            "copy",
            Kernel::Copy(Way::Runs(schedule)),
            (vec![input], vec![output]),
            (request.shape.clone(), tile),
        )
    }
}

/// Traffic at the files: every byte moves once.
fn estimate(
    problem: &Problem,
    (source, target): (&RunsSide, &RunsSide),
    counts: &Counts,
) -> Estimate {
    let array_bytes = product(problem.shape.iter().copied()).saturating_mul(problem.item_bytes);
    let read = RoleEstimate {
        get_requests: counts.source.runs,
        decoded_read_bytes: array_bytes,
        read_bytes: array_bytes,
        ..runs_estimate(source, &counts.source)
    };
    let written = RoleEstimate {
        put_requests: counts.target.runs,
        decoded_written_bytes: array_bytes,
        written_bytes: array_bytes,
        objects: counts.target.files,
        ..runs_estimate(target, &counts.target)
    };
    Estimate { source: read, target: written, ..Estimate::default() }
}

/// Opens, runs and seeks. A file that was just opened is at its first byte, so that the one run of
/// each that begins there needs no seek, if no header lies before.
fn runs_estimate(side: &RunsSide, counts: &SideCounts) -> RoleEstimate {
    let at_start = if side.offset_bytes == 0 { counts.files } else { 0 };
    RoleEstimate {
        opens: counts.opens,
        runs: counts.runs,
        seeks: counts.runs.saturating_sub(at_start),
        ..RoleEstimate::default()
    }
}

fn planned(
    request: &PlanRequest,
    (source, target): (&RunsSide, &RunsSide),
    stage: Stage,
    memory: PlanMemory,
    estimate: Estimate,
) -> Result<Planned, PlanError> {
    let buffer = stage.schedule().map(|schedule| schedule.buffer.clone()).unwrap_or_default();
    let array = |role, side: &Side, runs: &RunsSide| {
        let chunk = side.chunk_shape.clone();
        let array = PlanArray::new(role, request.shape.clone(), request.item_bytes, chunk);
        PlanArray { runs: Some(runs.clone()), ..array }
    };
    let mut plan = Plan {
        pyramid: None,
        apply: None,
        version: PLAN_VERSION,
        kind: Strategy::Keep,
        arrays: vec![
            array(ArrayRole::Source, &request.source, source),
            array(ArrayRole::Target, &request.target, target),
        ],
        keeps_absence: false,
        stages: vec![stage],
        memory,
        threads: request.budget.threads,
        estimate,
        priced_by: Some(request.profile.names()),
        fingerprint: String::new(),
    };
    plan.geometry(0)?;
    plan.fingerprint = plan.computed_fingerprint();
    let outcome = CandidateOutcome::Chosen {
        estimate: plan.estimate.clone(),
        memory_bytes: plan.memory.planned_peak_bytes,
    };
    let candidate = Candidate { kind: Strategy::Keep, boxes: vec![buffer], passes: 1, outcome };
    Ok(Planned { plan, candidates: vec![candidate] })
}
