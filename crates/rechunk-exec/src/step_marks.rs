//! Which steps of a task are done.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::frame::wide;
use crate::journal::Mark;
use crate::task::TaskRun;

/// Shortest time between two step marks of a task.
pub(crate) const STEP_MARK_INTERVAL: Duration = Duration::from_millis(100);

/// Marks the steps of a task in the journal, not too often: a step is done when the units
/// completed in it and before it have been written.
pub(crate) struct StepMarks<'a> {
    task: &'a TaskRun,
    is_begun: bool,
    /// Units still to be written of each step from the first that is not done, and of the step
    /// that is taken in, last.
    left: VecDeque<u64>,
    /// Steps that are done, and of these, those the journal was told of.
    done: u64,
    marked: u64,
    last: Instant,
    /// Units that have been written since the last mark.
    units: u64,
}

impl<'a> StepMarks<'a> {
    pub(crate) fn new(task: &'a TaskRun) -> Self {
        let (left, last) = (VecDeque::new(), Instant::now());
        let marked = task.steps_done;
        Self { task, is_begun: false, left, done: 0, marked, last, units: 0 }
    }

    /// A step has begun.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Step `position` begins, and all inputs of those before it are in.
    pub(crate) fn begin(&mut self, position: u64) {
        self.is_begun = true;
        self.left.push_back(0);
        self.advance(position);
    }

    /// Units were completed in the step that is taken in.
    pub(crate) fn sending(&mut self, units: u64) {
        if let Some(left) = self.left.back_mut() {
            *left += units;
        }
    }

    /// A unit that was completed in `step` is written.
    pub(crate) fn sent(&mut self, step: u64) {
        self.units += 1;
        let at = usize::try_from(step.saturating_sub(self.done)).unwrap_or(usize::MAX);
        if let Some(left) = self.left.get_mut(at) {
            *left -= 1;
        }
        let position = self.done + wide(self.left.len()).saturating_sub(1);
        self.advance(position);
    }

    /// Counts the steps before `position` that are done, and marks them.
    fn advance(&mut self, position: u64) {
        while self.done < position && self.left.front() == Some(&0) {
            self.left.pop_front();
            self.done += 1;
        }
        // Pieces become durable all together, with the task.
        let is_new = self.done > self.marked && self.units > 0;
        let waits = self.last.elapsed() < STEP_MARK_INTERVAL;
        // What is filled box by box is done as a whole.
        let stage = &self.task.stage;
        let has_no_marks = stage.geometry.writes_pieces() || stage.stage.box_shape.is_some();
        if !is_new || waits || has_no_marks {
            return;
        }
        (self.last, self.units, self.marked) = (Instant::now(), 0, self.done);
        let (stage, task) = (self.task.stage.number, self.task.number);
        self.task.stage.run.mark(Mark::steps(stage, task, self.done));
    }
}
