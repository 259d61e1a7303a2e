//! Sizes drafts: what they need of the budget, how memory is best divided among tasks and lanes,
//! and the plan that comes of it.

use std::cell::RefCell;

use rechunk_plan::{
    DraftOutput, Estimate, Figures, Kernel, PLAN_VERSION, Parallel, Plan, PlanMemory, Price, Stage,
    StageInput, StageOutput, Strategy, fixed_bytes, price, priced,
};

use crate::PlanError;
use crate::arrays::{arrays, read_by, written_by};
use crate::draft::Draft;
use crate::inputs::Inputs;
use crate::search::INFEASIBLE;

/// The least that a stage can run with.
const SINGLE: Parallel = Parallel { tasks_at_once: 1, lanes: 1 };

/// Sizes and prices drafts within the budget.
#[derive(Debug)]
pub(crate) struct Sizing<'a> {
    pub inputs: Inputs<'a>,
    fixed_bytes: u64,
    /// Bytes that drafts may need.
    pub budget_bytes: u64,
    /// Bytes that tasks may hold together (one task's box in box mode).
    pub limit_bytes: u64,
    /// The draft seen so far that needs the least budget, and that.
    least: RefCell<Option<(Draft, u64)>>,
}

impl<'a> Sizing<'a> {
    /// Within the budget of the request.
    pub(crate) fn new(inputs: Inputs<'a>) -> Self {
        let budget = &inputs.request.budget;
        Self::within(inputs, budget.box_bytes.unwrap_or(budget.memory_bytes))
    }

    /// Within `budget_bytes`, whatever the request says; of one task's box, in box mode.
    pub(crate) fn within(inputs: Inputs<'a>, budget_bytes: u64) -> Self {
        let request = inputs.request;
        let fixed_bytes = fixed_bytes(request);
        let outside_bytes = if request.budget.box_bytes.is_some() { 0 } else { fixed_bytes };
        let limit_bytes = budget_bytes.saturating_sub(outside_bytes);
        let least = RefCell::new(None);
        Self { inputs, fixed_bytes, budget_bytes, limit_bytes, least }
    }

    /// The least budget with which some draft seen so far would have fitted.
    pub(crate) fn minimum_bytes(&self) -> u64 {
        self.least.borrow().as_ref().map_or(u64::MAX, |(_, bytes)| *bytes)
    }

    /// The draft seen so far that needs least, and how much, bytes.
    pub(crate) fn into_least(self) -> Option<(Draft, u64)> {
        self.least.into_inner()
    }

    fn is_box(&self) -> bool {
        self.inputs.request.budget.box_bytes.is_some()
    }

    fn needs(&self, figures: &Figures, parallel: Parallel) -> u64 {
        if self.is_box() {
            // What the box itself holds, as other planners count it: without padding.
            return figures.resident_bytes.min(figures.tile_bytes);
        }
        let tasks = u64::from(parallel.tasks_at_once).min(figures.tasks.max(1));
        let lanes = u64::from(parallel.lanes).saturating_mul(tasks);
        let workers = self.workers(lanes);
        let (lane_bytes, worker_bytes) = figures.lane.divided(lanes, workers);
        let held_bytes = figures.held_bytes().saturating_mul(tasks);
        let moving = lane_bytes.saturating_mul(lanes);
        held_bytes.saturating_add(moving).saturating_add(worker_bytes.saturating_mul(workers))
    }

    /// Most tasks at once. Where sizes are expected, one has all memory that the others would
    /// reserve.
    fn tasks_most(&self) -> u32 {
        if self.inputs.request.is_variable { 1 } else { u32::MAX }
    }

    /// Threads that `lanes` lanes can keep busy.
    fn workers(&self, lanes: u64) -> u64 {
        u64::from(self.inputs.request.budget.threads).max(1).min(lanes)
    }

    /// The most lanes of each of `tasks` tasks within `limit_bytes`.
    fn lanes_max(&self, figures: &Figures, tasks: u64, limit_bytes: u64) -> u64 {
        let held_bytes = figures.held_bytes();
        let fit = |bytes: u64, each: u64| (bytes / tasks).saturating_sub(held_bytes) / each.max(1);
        let workers = self.workers(u64::MAX).saturating_mul(figures.lane.worker);
        let shared = fit(limit_bytes.saturating_sub(workers), figures.lane.shared);
        fit(limit_bytes, figures.lane.alone).max(shared)
    }

    /// Bytes that intermediates in memory take beyond one array of elements: the tails of pieces,
    /// and the intermediates of further passes.
    fn kept_bytes(&self, draft: &Draft) -> u64 {
        let request = self.inputs.request;
        if !request.intermediate_in_memory || self.is_box() {
            return 0;
        }
        let written = draft.stages.iter().fold(0_u64, |sum, stage| {
            let figures = stage.figures(request, self.inputs.cuts);
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

    /// Predicts the seconds of a draft, with the memory divided anew for each stage. If that does
    /// not fit, [`INFEASIBLE`] times how much too large it is.
    pub(crate) fn cost(&self, draft: &Draft) -> f64 {
        let kept_bytes = self.kept_bytes(draft);
        let limit_bytes = self.limit_bytes.saturating_sub(kept_bytes);
        let (mut seconds, mut over, mut least) = (0.0, 0.0, 0);
        for stage in &draft.stages {
            let figures = stage.figures(self.inputs.request, self.inputs.cuts);
            let needs = self.needs(&figures, SINGLE);
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

    /// Bytes that one task of a draft holds with one lane: of the stage that holds most.
    pub(crate) fn held_bytes(&self, draft: &Draft) -> u64 {
        let needs = draft
            .stages
            .iter()
            .map(|s| self.needs(&s.figures(self.inputs.request, self.inputs.cuts), SINGLE));
        needs.max().unwrap_or(0)
    }

    /// Seconds of a stage with as many lanes as fit beside one task, two, or one per thread: more
    /// are never slower.
    fn fastest(&self, figures: &Figures, limit_bytes: u64) -> f64 {
        let threads = self.inputs.request.budget.threads;
        let lanes_max = self.inputs.request.requests_at_once().max(threads);
        let mut seconds = f64::INFINITY;
        let tasks_max = u32::try_from(figures.tasks.max(1)).unwrap_or(u32::MAX).min(threads.max(1));
        let tasks_max = tasks_max.min(self.tasks_most());
        let fewer = [1, 2].into_iter().filter(|&tasks| tasks < tasks_max);
        for tasks_at_once in fewer.chain([tasks_max]) {
            let lanes = self.lanes_max(figures, u64::from(tasks_at_once), limit_bytes);
            let lanes = u32::try_from(lanes).unwrap_or(u32::MAX);
            let lanes = if self.is_box() { threads } else { lanes.min(lanes_max) };
            if lanes > 0 {
                let parallel = Parallel { tasks_at_once, lanes };
                seconds = seconds.min(price(self.inputs.request, figures, parallel).0);
            }
        }
        seconds
    }

    /// The best division of memory for each stage, and with it the plan of `kind`; `None` if none
    /// fits.
    pub(crate) fn finish(&self, kind: Strategy, draft: &Draft) -> Result<Option<Plan>, PlanError> {
        let request = self.inputs.request;
        let mut estimate = Estimate::default();
        let mut stages = Vec::with_capacity(draft.stages.len());
        let mut peak = 0;
        let kept_bytes = self.kept_bytes(draft);
        let fixed_bytes = self.fixed_bytes.saturating_add(kept_bytes);
        let limit_bytes = self.limit_bytes.saturating_sub(kept_bytes);
        for (position, stage) in draft.stages.iter().enumerate() {
            let figures = stage.figures(request, self.inputs.cuts);
            let Some((parallel, cost)) = self.allocate(&figures, limit_bytes) else {
                return Ok(None);
            };
            estimate.add(&priced(&figures.traffic, cost));
            let lanes = u64::from(parallel.lanes);
            let all_lanes = lanes.saturating_mul(u64::from(parallel.tasks_at_once));
            let (lane_bytes, worker_bytes) =
                figures.lane.divided(all_lanes, self.workers(all_lanes));
            let lanes_bytes = lane_bytes.saturating_mul(lanes);
            let stage = Stage {
                name: stage_name(position, draft.stages.len(), &stage.output).to_owned(),
                kernel: Kernel::Copy(stage.way.clone()),
                inputs: vec![StageInput::new(read_by(position), stage.input.unit())],
                outputs: vec![StageOutput::new(written_by(position), stage.output.unit())],
                shape: request.shape.clone(),
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
                lane_bytes,
                worker_bytes,
                is_stepped: figures.is_stepped,
                task_bytes: figures.held_bytes().saturating_add(lanes_bytes),
            };
            peak = peak.max(stage.peak_bytes(request.budget.threads));
            stages.push(stage);
        }
        let mut plan = Plan {
            pyramid: None,
            apply: None,
            version: PLAN_VERSION,
            kind,
            arrays: arrays(request, draft.stages.iter().map(|stage| &stage.tile[..])),
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
            fingerprint: String::new(),
        };
        for stage in 0..plan.stages.len() {
            plan.geometry(stage)?;
        }
        plan.fingerprint = plan.computed_fingerprint();
        Ok(Some(plan))
    }

    /// Tasks at once and lanes within `limit_bytes`: the least memory within 2 % of the fastest
    /// division that fits.
    fn allocate(&self, figures: &Figures, limit_bytes: u64) -> Option<(Parallel, (f64, Price))> {
        const LANES: [u32; 13] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256];
        let threads = self.inputs.request.budget.threads;
        let lanes_max = self.inputs.request.requests_at_once().max(threads);
        let mut options = Vec::new();
        let mut tasks = 1;
        loop {
            let tasks_at_once = tasks.min(threads).min(self.tasks_most());
            for lanes in LANES.into_iter().filter(|&l| l <= lanes_max).chain([threads]) {
                let parallel = Parallel { tasks_at_once, lanes };
                let useful = u64::from(tasks_at_once) <= figures.tasks.max(1);
                if useful && self.needs(figures, parallel) <= limit_bytes {
                    options.push((parallel, price(self.inputs.request, figures, parallel)));
                }
            }
            if tasks_at_once == threads.min(self.tasks_most()) {
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

fn stage_name(position: usize, stages: usize, output: &DraftOutput) -> &'static str {
    match (position, stages, output) {
        (0, 1, _) => "copy",
        (0, _, _) => "push",
        (_, _, DraftOutput::Pieces { .. }) => "pass",
        _ => "pull",
    }
}
