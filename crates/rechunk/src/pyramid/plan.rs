//! The plan of a pyramid, and the arrays that its run writes.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_exec::LevelArrays;
use rechunk_format::Layout;
use rechunk_grid::{ArraySpec, Region};
use rechunk_plan::{
    ArrayRole, Estimate, LevelsFrom, MissingCells, PLAN_VERSION, Plan, PlanArray, PlanMemory,
    PlanRequest, PyramidWork, Side, Strategy,
};
use rechunk_planner::{Planned, PyramidPlanRequest, PyramidTarget, plan_pyramid};
use rechunk_reduce::{Method, Rounding};
use rechunk_store::{Role, Stores};

use crate::Error;
use crate::plan_request::{array_at, side};
use crate::target::open_target;
use crate::work_dir::WorkDir;

/// Levels that a job writes; none: only its own document, chunks are another job's.
#[derive(Debug, Clone)]
pub(crate) struct PyramidJob {
    pub method: Method,
    pub rounding: Rounding,
    pub from: LevelsFrom,
    pub missing: MissingCells,
    /// Finest first. The first array of the first is the target of the job.
    pub levels: Vec<JobLevel>,
}

/// A level of a pyramid.
#[derive(Debug, Clone)]
pub(crate) struct JobLevel {
    /// Source elements of a cell along each axis.
    pub factors: Vec<u64>,
    /// Shape of all of its arrays together, elements.
    pub shape: Vec<u64>,
    /// First axes that its arrays do not have.
    pub split_axes: usize,
    /// Locations of its arrays.
    pub members: Vec<String>,
    /// Layout of each of them.
    pub layout: Arc<dyn Layout>,
}

impl PyramidJob {
    /// Plans the levels; `request` is that of a copy from the source to the first array.
    pub(crate) fn plan(&self, request: &PlanRequest, source: &ArraySpec) -> Result<Planned, Error> {
        if self.levels.is_empty() {
            let plan = empty_plan(self, request);
            return Ok(Planned { plan, candidates: Vec::new() });
        }
        self.method.check(source.data_type).map_err(|error| Error::Usage {
            message: error.to_string(),
            hint: (!source.data_type.is_variable())
                .then(|| "`stride` takes elements of every fixed size".into()),
        })?;
        let ratio = ratio(&request.target, request.item_bytes);
        let levels: Vec<PyramidTarget> =
            self.levels.iter().map(|level| level.target(ratio)).collect();
        let asked = PyramidPlanRequest {
            request,
            levels: &levels,
            data_type: source.data_type,
            method: self.method,
            rounding: self.rounding,
            from: self.from,
            missing: self.missing,
        };
        plan_pyramid(&asked).map_err(|error| Error::no_plan(request.budget.memory_bytes, error))
    }

    /// The arrays of the levels, the first of them `first`. `work` notes uploads.
    pub(crate) fn arrays(
        &self,
        first: &Array,
        stores: &Stores,
        work: Option<&WorkDir>,
    ) -> Result<Vec<LevelArrays>, Error> {
        let mut levels = Vec::with_capacity(self.levels.len());
        for (number, level) in self.levels.iter().enumerate() {
            let mut arrays = Vec::with_capacity(level.members.len());
            for location in &level.members {
                if number == 0 && arrays.is_empty() {
                    arrays.push(first.clone());
                    continue;
                }
                let mut store = open_target(location, stores)?;
                if let Some(work) = work {
                    store = work.noting_uploads(&store)?;
                }
                arrays.push(array_at(&level.layout, &store, Role::Target));
            }
            levels.push(LevelArrays { arrays, split_axes: level.split_axes });
        }
        Ok(levels)
    }

    /// Removes what killed writes have left of levels beside the first array.
    pub(crate) async fn sweep(&self, stores: &Stores) -> Result<(), Error> {
        let members = self.levels.iter().flat_map(|level| &level.members).skip(1);
        for location in members {
            let store = open_target(location, stores)?;
            let swept = store.remove_staging().await;
            swept.map_err(|source| crate::error::store_error("sweep", location, source))?;
        }
        Ok(())
    }
}

/// Encoded over decoded bytes that a side is expected to have.
fn ratio(side: &Side, item_bytes: u64) -> f64 {
    let chunk = side.chunk_shape.iter().fold(item_bytes, |bytes, &n| bytes.saturating_mul(n));
    side.encoded_bytes_expected as f64 / chunk.max(1) as f64
}

impl JobLevel {
    /// The level as the planner sees it: all of its arrays as one.
    fn target(&self, ratio: f64) -> PyramidTarget {
        let mut side = side(self.layout.as_ref(), ratio);
        let ones = vec![1; self.split_axes];
        side.chunk_shape.splice(0..0, ones.iter().copied());
        if let Some(shard) = &mut side.shard {
            shard.shape.splice(0..0, ones);
        }
        PyramidTarget { factors: self.factors.clone(), shape: self.shape.clone(), side }
    }
}

/// A plan without passes: another job writes the chunks.
fn empty_plan(job: &PyramidJob, request: &PlanRequest) -> Plan {
    let fixed_bytes = rechunk_plan::fixed_bytes(request);
    let array = |role, side: &Side, shape: &[u64]| {
        PlanArray::of_side(role, shape.to_vec(), request.item_bytes, side)
    };
    let target_shape = Region::whole(&request.target.chunk_shape).shape;
    let mut plan = Plan {
        version: PLAN_VERSION,
        kind: Strategy::Pyramid,
        arrays: vec![
            array(ArrayRole::Source, &request.source, &request.shape),
            array(ArrayRole::Target, &request.target, &target_shape),
        ],
        keeps_absence: false,
        stages: Vec::new(),
        apply: None,
        pyramid: Some(Box::new(PyramidWork {
            method: job.method,
            rounding: job.rounding,
            from: job.from,
            missing: job.missing,
            extent: request.shape.clone(),
            levels: Vec::new(),
            passes: Vec::new(),
            transfer_bytes: 0,
        })),
        memory: PlanMemory {
            budget_bytes: request.budget.memory_bytes,
            planned_peak_bytes: fixed_bytes,
            fixed_bytes,
        },
        threads: request.budget.threads,
        estimate: Estimate::default(),
        priced_by: None,
        fingerprint: String::new(),
    };
    plan.fingerprint = plan.computed_fingerprint();
    plan
}
