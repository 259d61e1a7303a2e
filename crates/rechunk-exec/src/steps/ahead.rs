//! Reads ahead: fetches inputs while earlier ones are decoded, and inputs of later steps while the
//! last of a step are on their way. So as many requests are in flight as the plan has lanes, nearly
//! all of the time.
//!
//! What is fetched for a later step waits in its lane, encoded, until that begins: only then does
//! it become part of units, for which memory is reserved step by step. Such lanes are beside those
//! of the plan, and are paid for by what the plan leaves of the budget. Requests in flight are not
//! more than the plan has lanes: a lane that waits or decodes asks for nothing.

use std::collections::{BTreeMap, VecDeque};

use rechunk_grid::{IndexIter, Region};
use rechunk_plan::{Stage, Steps};

use crate::execution::Execution;
use crate::stage::task::TaskRun;
use crate::stage::way_in::WayIn;
use crate::ways_in::gather::Fetched;

/// Number of lanes that a task of the stage has for reading ahead: at most as many as for all else.
/// None where a store answers at once, or where what is fetched holds more than a lane.
pub(crate) fn lanes(execution: &Execution, stage: &Stage, way_in: &WayIn) -> u32 {
    let source = &execution.source;
    let is_late = match way_in {
        WayIn::Chunks | WayIn::Plain(_) => {
            source.layout().shards().is_none() && source.store().answers_late()
        }
        WayIn::Pieces => {
            execution.intermediate.as_ref().is_some_and(rechunk_store::Store::answers_late)
        }
        WayIn::Shards(_)
        | WayIn::StoredChunks
        | WayIn::StoredShards(_)
        | WayIn::Runs
        | WayIn::Variable => false,
    };
    if !is_late {
        return 0;
    }
    let each_bytes = stage.lane_bytes.saturating_mul(u64::from(stage.tasks_at_once)).max(1);
    u32::try_from(execution.spare_bytes() / each_bytes).unwrap_or(u32::MAX).min(stage.lanes)
}

/// The steps of a task that have not begun.
pub(crate) struct Ahead {
    steps: Steps,
    /// Those that were looked at, from the next one on.
    seen: VecDeque<Step>,
    /// Inputs that were fetched, by their step.
    held: BTreeMap<u64, Vec<Fetched>>,
    /// Inputs of steps that have not begun: held, or on their way.
    asked: usize,
    asked_max: usize,
}

/// A step that begins.
pub(crate) struct Step {
    /// Its inputs, as a box of indices.
    pub region: Region,
    /// Those that nobody has asked for.
    pub inputs: IndexIter,
    /// Number of inputs that were requested.
    pub asked: usize,
}

impl From<Region> for Step {
    fn from(inputs: Region) -> Self {
        Self { inputs: inputs.positions(), region: inputs, asked: 0 }
    }
}

impl Ahead {
    pub(crate) fn new(task: &TaskRun) -> Self {
        Self {
            steps: task.stage.geometry.steps(&task.tile),
            seen: VecDeque::new(),
            held: BTreeMap::new(),
            asked: 0,
            asked_max: usize::try_from(task.stage.ahead_lanes).unwrap_or(0),
        }
    }

    /// The next step begins; `None` if there is none.
    pub(crate) fn begin(&mut self) -> Option<Step> {
        let step = self.seen.pop_front().or_else(|| self.steps.next().map(Step::from))?;
        self.asked -= step.asked;
        Some(step)
    }

    /// The inputs of the next step, as a box of indices; `None` if there is none.
    pub(crate) fn peek(&mut self) -> Option<&Region> {
        if self.seen.is_empty() {
            self.seen.push_back(self.steps.next()?.into());
        }
        self.seen.front().map(|step| &step.region)
    }

    /// An input to fetch while step `position` is taken in, with the step it is for; `None` if
    /// there is no lane for one.
    pub(crate) fn next_input(&mut self, task: &TaskRun, position: u64) -> Option<(u64, Vec<u64>)> {
        if self.asked >= self.asked_max {
            return None;
        }
        for (at, later) in (0..self.asked_max).zip(position + 1..) {
            if at == self.seen.len() {
                self.seen.push_back(self.steps.next()?.into());
            }
            let step = self.seen.get_mut(at)?;
            if let Some(index) = step.inputs.find(|index| task.wants(later, index)) {
                step.asked += 1;
                self.asked += 1;
                return Some((later, index));
            }
        }
        None
    }

    /// Keeps what was fetched for step `position`.
    pub(crate) fn hold(&mut self, position: u64, fetched: Fetched) {
        self.held.entry(position).or_default().push(fetched);
    }

    /// Something that was fetched for a step up to `last`, all of which have begun; and that step.
    pub(crate) fn take(&mut self, last: u64) -> Option<(u64, Fetched)> {
        let mut held = self.held.first_entry().filter(|held| *held.key() <= last)?;
        let step = *held.key();
        let fetched = held.get_mut().pop();
        if held.get().is_empty() {
            held.remove();
        }
        Some((step, fetched?))
    }

    /// Something was fetched for a step up to `last`.
    pub(crate) fn holds(&self, last: u64) -> bool {
        self.held.first_key_value().is_some_and(|(&step, _)| step <= last)
    }
}
