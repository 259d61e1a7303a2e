//! A pyramid in the report: its levels, and the passes that write them.

use rechunk_plan::{PassInput, Plan, PyramidWork};
use rechunk_planner::{CandidateOutcome, Planned};
use serde::{Deserialize, Serialize};

use super::PyramidRequest;
use super::plan::PyramidJob;
use rechunk_image::{Dialect, Level};

/// A pyramid: its levels, and the passes that write them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PyramidReport {
    /// Rule by which elements become fewer.
    pub method: String,
    /// Size of a level where factors do not divide the source: `floor` or `ceil`.
    pub size: String,
    /// Array from which a level is computed: `s0` or `previous`.
    pub from: String,
    /// Rule by which means become integers.
    pub rounding: String,
    /// Rule for chunks that are not stored.
    pub missing: String,
    /// Metadata that is written.
    pub dialect: String,
    /// Levels that are written, finest first.
    pub levels: Vec<ResolutionReport>,
    /// Passes over the data, in order.
    pub passes: Vec<PassReport>,
    /// Reason for these passes, in a sentence.
    pub reason: String,
}

/// A level of a pyramid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResolutionReport {
    /// Path of its array; of several, the first.
    pub path: String,
    /// Number of its arrays: one, or one for each channel and time.
    pub arrays: u64,
    /// Source elements of a cell along each axis, slowest first.
    pub factors: Vec<u64>,
    /// Shape, elements.
    pub shape: Vec<u64>,
    /// Shape of a chunk, elements.
    pub chunk_shape: Vec<u64>,
    /// Shape of a shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_shape: Option<Vec<u64>>,
    /// Distance of neighbours, in the units of the axes.
    pub scale: Vec<f64>,
    /// Place of element 0, in the units of the axes.
    pub translation: Vec<f64>,
}

/// A pass over the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PassReport {
    /// Array that it reads: `source`, `sums of PATH`, or the path of a level.
    pub reads: String,
    /// Paths of the levels that it writes.
    pub writes: Vec<String>,
    /// Box of its input that a task owns, elements.
    pub tile: Vec<u64>,
    /// Box of its input that is read at once, elements.
    pub step: Vec<u64>,
    /// Number of tasks.
    pub tasks: u64,
}

impl PyramidReport {
    /// Of a job that is planned, with the places of its levels.
    pub(super) fn of(
        request: &PyramidRequest,
        dialect: Dialect,
        job: &PyramidJob,
        (planned, levels): (&Planned, &[Level]),
    ) -> Self {
        let plan = &planned.plan;
        let work = plan.pyramid.as_deref();
        let of_level = |(number, level): (usize, &Level)| {
            let array = work.and_then(|work| work.levels.get(number));
            let array = array.map(|level| plan.array(level.array));
            ResolutionReport {
                path: level.path.clone(),
                arrays: job.levels.get(number).map_or(1, |level| level.members.len() as u64),
                factors: level.factors.clone(),
                shape: level.shape.clone(),
                chunk_shape: array.map(|array| array.chunk.clone()).unwrap_or_default(),
                shard_shape: array.and_then(|array| array.shard.clone()),
                scale: level.scale.clone(),
                translation: level.translation.clone(),
            }
        };
        Self {
            method: job.method.name().to_owned(),
            size: request.size.name().to_owned(),
            from: request.from.name().to_owned(),
            rounding: request.rounding.name().to_owned(),
            missing: request.missing.name().to_owned(),
            dialect: dialect.name().to_owned(),
            levels: levels.iter().enumerate().map(of_level).collect(),
            passes: work.map(|work| passes(plan, work, levels)).unwrap_or_default(),
            reason: reason(planned),
        }
    }
}

fn passes(plan: &Plan, work: &PyramidWork, levels: &[Level]) -> Vec<PassReport> {
    let path =
        |level: usize| levels.get(level).map_or_else(String::new, |level| level.path.clone());
    let passes = work.passes.iter().zip(&plan.stages);
    let pass = passes.map(|(pass, stage)| PassReport {
        reads: match pass.input {
            PassInput::Source => "source".to_owned(),
            PassInput::Blocks(level) if work.method.is_summed() => {
                format!("sums of {}", path(level))
            }
            PassInput::Blocks(level) => format!("blocks of {}", path(level)),
            PassInput::Level(level) => path(level),
        },
        writes: (pass.first..pass.end).map(path).collect(),
        tile: stage.tile.clone(),
        step: stage.filled().to_vec(),
        tasks: stage.tasks,
    });
    pass.collect()
}

/// Why the levels are divided among passes as they are.
fn reason(planned: &Planned) -> String {
    let chosen = planned.plan.stages.len();
    let one = planned.candidates.iter().find(|candidate| candidate.passes == 1);
    let seconds = |outcome: &CandidateOutcome| match outcome {
        CandidateOutcome::Chosen { estimate, .. } | CandidateOutcome::Dearer { estimate, .. } => {
            Some(estimate.seconds)
        }
        CandidateOutcome::DoesNotFit { .. } | CandidateOutcome::NotApplicable { .. } => None,
    };
    let own = planned.plan.estimate.seconds;
    match (chosen, one.and_then(|one| seconds(&one.outcome))) {
        (1, _) => "one read of the source writes all levels".to_owned(),
        (_, Some(one)) if one <= own => format!(
            "one read would take about {one:.1} s, not {own:.1} s, and have so few tasks that a kill \
             costs much"
        ),
        (_, Some(one)) => {
            format!("one read for all levels would take about {one:.1} s, not {own:.1} s")
        }
        (_, None) => "one read for all levels does not fit the memory, or cannot be".to_owned(),
    }
}
