//! Which steps of a task have begun, and whether the next one may.
//!
//! Where a step has a few large inputs, threads would wait at its end for the last of them. So the
//! next one begins before that, if what the plan has reserved has room for the units that both have
//! to do with: it is reserved for the step that needs most, and others leave some.

use std::collections::VecDeque;

use rechunk_grid::Region;
use rechunk_kernel::{narrow, wide};
use rechunk_plan::units_within;

use crate::stage::task::TaskRun;

/// Steps from the first some of whose inputs are not in to the one that began last.
pub(crate) struct BegunSteps {
    first: u64,
    /// Inputs of each that are on their way; those that one job takes in count as one. Of the last
    /// step others may follow.
    on_their_way: VecDeque<usize>,
    /// A bound of the units that these steps and those before them have met, without those that a
    /// lane pays for or that are written.
    units: u64,
    /// So many are reserved; 0 where steps do not overlap.
    units_max: u64,
}

impl BegunSteps {
    pub(crate) fn new(task: &TaskRun) -> Self {
        Self { first: 0, on_their_way: VecDeque::new(), units: 0, units_max: units_max(task) }
    }

    /// All inputs of the steps before this one are in.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The step that began last, counted from 0.
    pub(crate) fn last(&self) -> u64 {
        self.first + wide(self.on_their_way.len()).saturating_sub(1)
    }

    /// The next step begins, with these inputs, as a box of indices; `asked` of them are on their
    /// way. So many units are finished and wait for a lane.
    pub(crate) fn begin(&mut self, task: &TaskRun, inputs: &Region, asked: usize, waiting: usize) {
        if self.may_overlap() {
            if !self.any_taken_in() {
                self.units = task.units.count() + wide(waiting);
            }
            self.units += task.stage.geometry.units_begun(&task.tile, inputs);
        }
        self.on_their_way.push_back(asked);
        self.forget_taken();
    }

    /// An input of the step that began last, or what else has to end before that does, is on its
    /// way. That step.
    pub(crate) fn take_in(&mut self) -> u64 {
        if let Some(count) = self.on_their_way.back_mut() {
            *count += 1;
        }
        self.last()
    }

    /// That has ended, or there is nothing of it.
    pub(crate) fn taken(&mut self, step: u64) {
        let at = narrow(step - self.first);
        if let Some(count) = self.on_their_way.get_mut(at) {
            *count -= 1;
        }
        self.forget_taken();
    }

    fn forget_taken(&mut self) {
        while self.on_their_way.len() > 1 && self.on_their_way.front() == Some(&0) {
            self.on_their_way.pop_front();
            self.first += 1;
        }
    }

    /// Inputs are on their way.
    pub(crate) fn any_taken_in(&self) -> bool {
        // Of steps that are not here any more, none is.
        self.on_their_way.iter().any(|&count| count > 0)
    }

    /// A unit is in a lane that pays for it.
    pub(crate) fn leaves(&mut self) {
        self.units = self.units.saturating_sub(1);
    }

    /// Steps may begin before those before them have ended.
    pub(crate) fn may_overlap(&self) -> bool {
        self.units_max > 0
    }

    /// At least `count` units were counted that no lane pays for.
    pub(crate) fn counts(&self, count: u64) -> bool {
        !self.may_overlap() || count <= self.units
    }

    /// There is room for all units that a step with these inputs meets first.
    pub(crate) fn has_room_for(&self, task: &TaskRun, inputs: &Region) -> bool {
        let more = task.stage.geometry.units_begun(&task.tile, inputs);
        self.units.saturating_add(more) <= self.units_max
    }
}

/// The units for which the plan has reserved memory beside the lanes; 0 where steps are not to
/// overlap.
fn units_max(task: &TaskRun) -> u64 {
    let stage = &task.stage.stage;
    if !stage.steps_overlap() {
        return 0;
    }
    units_within(stage.resident_bytes, task.stage.target_chunk_bytes(), task.tile.rank())
}
