//! The plan of a pyramid: which levels are written in one pass over which array.

mod pass;
mod search;
mod sizes;
mod traffic;

use rechunk_grid::DataType;
use rechunk_plan::{
    ArrayId, ArrayRole, Estimate, LevelsFrom, MissingCells, PLAN_VERSION, PassInput, Plan,
    PlanArray, PlanMemory, PlanRequest, PyramidLevel, PyramidPass, PyramidWork, Side, Stage,
    Strategy, fixed_bytes, parent_level,
};
use rechunk_reduce::{Method, Rounding};

use crate::planned::candidate;
use crate::{Candidate, CandidateOutcome, PlanError, Planned};
use search::{Course, courses};

/// A level that is to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct PyramidTarget {
    /// Source elements of a cell along each axis.
    pub factors: Vec<u64>,
    /// Shape, elements.
    pub shape: Vec<u64>,
    /// Layout.
    pub side: Side,
}

/// Request for the plan of a pyramid.
#[derive(Debug, Clone)]
pub struct PyramidPlanRequest<'a> {
    /// Source, stores and budget. Its target is the first level.
    pub request: &'a PlanRequest,
    /// The levels that are written, finest first.
    pub levels: &'a [PyramidTarget],
    /// Type of elements.
    pub data_type: DataType,
    /// Rule by which elements become fewer.
    pub method: Method,
    /// Rule by which means become integers.
    pub rounding: Rounding,
    /// Array from which a level is computed.
    pub from: LevelsFrom,
    /// Rule for chunks that are not stored.
    pub missing: MissingCells,
}

impl PyramidPlanRequest<'_> {
    /// Elements of the source that count: those that some cell of some level has.
    pub(crate) fn extent(&self) -> Vec<u64> {
        let axes = self.request.shape.iter().enumerate().map(|(axis, &extent)| {
            let reach = |level: &PyramidTarget| {
                level.shape[axis].saturating_mul(level.factors[axis]).min(extent)
            };
            self.levels.iter().map(reach).max().unwrap_or(extent)
        });
        axes.collect()
    }

    pub(crate) fn plan_levels(&self) -> Vec<PyramidLevel> {
        let levels = self.levels.iter().enumerate().map(|(number, level)| PyramidLevel {
            array: ArrayId(number + 1),
            factors: level.factors.clone(),
            shape: level.shape.clone(),
        });
        levels.collect()
    }

    /// Bytes of an element of blocks: results that are not rounded.
    pub(crate) fn block_item_bytes(&self) -> u64 {
        if self.method.is_summed() {
            rechunk_reduce::SumType::of(self.data_type).item_bytes()
        } else {
            self.data_type.item_bytes()
        }
    }
}

/// Plans a pyramid. The counts of what it reads are exact but for sources that are stored as they
/// are, and for levels of which chunks are left out.
pub fn plan_pyramid(asked: &PyramidPlanRequest<'_>) -> Result<Planned, PlanError> {
    let fixed_bytes = fixed_bytes(asked.request);
    let mut found = courses(asked, fixed_bytes)?;
    let seconds = |course: &Course| course.estimate.seconds;
    found.sort_by(|a, b| {
        (a.is_coarse, seconds(a)).partial_cmp(&(b.is_coarse, seconds(b))).unwrap_or(std::cmp::Ordering::Equal)
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
    Ok(Planned { plan: plan(asked, chosen, fixed_bytes), candidates })
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

fn plan(asked: &PyramidPlanRequest<'_>, course: Course, fixed_bytes: u64) -> Plan {
    let request = asked.request;
    let planned_peak_bytes = peak_bytes(&course, fixed_bytes);
    let side = |role, shape: &[u64], item_bytes, side: &Side| PlanArray {
        edges: side.edges.clone(),
        shard: side.shard_shape().map(<[u64]>::to_vec),
        ..PlanArray::new(role, shape.to_vec(), item_bytes, side.chunk_shape.clone())
    };
    let item_bytes = request.item_bytes;
    let mut arrays = vec![side(ArrayRole::Source, &request.shape, item_bytes, &request.source)];
    arrays.extend(asked.levels.iter().map(|level| PlanArray {
        uploads: request.target_uploads(),
        ..side(ArrayRole::Target, &level.shape, item_bytes, &level.side)
    }));
    arrays.extend(course.blocks.into_iter().map(|(shape, chunk)| PlanArray {
        uploads: request.intermediate_uploads(),
        ..PlanArray::new(ArrayRole::Intermediate, shape, asked.block_item_bytes(), chunk)
    }));
    let work = PyramidWork {
        method: asked.method,
        rounding: asked.rounding,
        from: asked.from,
        missing: asked.missing,
        extent: asked.extent(),
        levels: asked.plan_levels(),
        passes: course.passes,
        transfer_bytes: course.transfer_bytes,
    };
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

/// Whether a pass may write `levels` from what it reads.
pub(crate) fn follows(
    asked: &PyramidPlanRequest<'_>,
    levels: &[PyramidLevel],
    pass: &PyramidPass,
) -> bool {
    let input = match pass.input {
        // A level of the one before cannot be computed without that, if it is not in this pass.
        PassInput::Source => return is_first(asked, levels, pass),
        PassInput::Blocks(level) | PassInput::Level(level) => level,
    };
    let is_of_kind = match pass.input {
        PassInput::Blocks(_) => {
            asked.from == LevelsFrom::S0
                && (asked.method.is_summed() || asked.method.is_chained())
                && asked.missing == MissingCells::Fill
        }
        PassInput::Level(_) => {
            asked.from == LevelsFrom::Previous && asked.missing == MissingCells::Fill
        }
        PassInput::Source => true,
    };
    // A Gaussian looks at elements beside a step, which are not there of a level in memory.
    let is_alone = asked.method.halo(2) == 0
        || asked.from == LevelsFrom::S0
        || pass.end == pass.first + 1;
    is_of_kind
        && is_alone
        && (pass.first..pass.end).all(|level| {
            let parent = parent_level(levels, level, (asked.method, asked.from));
            let finer = &levels[input].factors;
            let divides = levels[level].factors.iter().zip(finer);
            parent.is_some_and(|parent| parent >= input)
                && divides.into_iter().all(|(own, finer)| own.is_multiple_of((*finer).max(1)))
        })
}

/// Whether a pass may write its levels from the source.
fn is_first(asked: &PyramidPlanRequest<'_>, levels: &[PyramidLevel], pass: &PyramidPass) -> bool {
    let coarser = levels[pass.first..pass.end].iter();
    let coarser = coarser.filter(|level| level.factors.iter().any(|&factor| factor > 1)).count();
    match asked.from {
        LevelsFrom::S0 => true,
        LevelsFrom::Previous => pass.first == 0 && (asked.method.halo(2) == 0 || coarser <= 1),
    }
}

/// A stage and what it costs.
pub(crate) struct Staged {
    pub stage: Stage,
    pub estimate: Estimate,
    /// Shape of the blocks that it leaves as an array, and of one block.
    pub blocks: Option<(Vec<u64>, Vec<u64>)>,
    /// Fewer tasks than a run should have that may be interrupted.
    pub is_coarse: bool,
    pub transfer_bytes: u64,
    pub reads_ahead: bool,
}
