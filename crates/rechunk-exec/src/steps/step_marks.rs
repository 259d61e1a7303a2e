//! Which steps of a task are done.

use std::collections::{BTreeMap, VecDeque};

use rechunk_kernel::Digest;
use tokio::time::Instant;

use crate::journal::{Mark, STEP_MARK_INTERVAL};
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;
use crate::units::unit::Finished;

/// Marks the steps of a task in the journal, not too often. A step is done when the units completed
/// in it and before it have been written.
pub(crate) struct StepMarks<'a> {
    task: &'a TaskRun,
    /// Number of units still to be written of each step, from the first that is not done to the
    /// last that began. Counts units that the step completes and that have all their inputs.
    left: VecDeque<u64>,
    /// All inputs of the steps before this one are in.
    taken: u64,
    /// Steps that are done, and of these, those the journal was told of.
    done: u64,
    marked: u64,
    last: Instant,
    /// Units that have been written since the last mark.
    units: u64,
    /// Digest of the units of steps that are done, those of earlier runs included; `None` if that
    /// is not known.
    digest: Option<Digest>,
    /// Of other units, by the step that completes what they become visible with.
    digests: BTreeMap<u64, Digest>,
}

impl<'a> StepMarks<'a> {
    pub(crate) fn new(task: &'a TaskRun) -> Self {
        let (left, last) = (VecDeque::new(), Instant::now());
        let marked = task.steps_done;
        let (digest, digests) = (task.digest_before, BTreeMap::new());
        Self { task, left, taken: 0, done: 0, marked, last, units: 0, digest, digests }
    }

    /// The next step begins.
    pub(crate) fn begin(&mut self) {
        self.left.push_back(0);
    }

    /// All inputs of the steps before this one, which has begun, are in.
    pub(crate) fn taken(&mut self, before: u64) {
        self.taken = before;
        self.advance();
    }

    /// Units have all their inputs.
    pub(crate) fn sending(&mut self, units: &[Finished]) {
        let (geometry, tile) = (&self.task.stage.geometry, &self.task.tile);
        for unit in units {
            if let Some(left) = self.left_of(unit.step) {
                *left += 1;
            }
            let commit = geometry.commit_region(&unit.index, tile);
            let last = commit.map_or(0, |commit| self.task.last_step(&commit));
            *self.digests.entry(last).or_default() += unit.digest;
        }
    }

    fn left_of(&mut self, step: u64) -> Option<&mut u64> {
        let at = usize::try_from(step.checked_sub(self.done)?).ok()?;
        self.left.get_mut(at)
    }

    /// The digest of all units, when all have been sent.
    pub(crate) fn digest(&self) -> Option<Digest> {
        self.digest.map(|digest| digest + self.digests.values().copied().sum())
    }

    /// A unit that `step` completes is written.
    pub(crate) fn sent(&mut self, step: u64) {
        self.units += 1;
        if let Some(left) = self.left_of(step) {
            *left -= 1;
        }
        self.advance();
    }

    /// Counts the steps that are done, and marks them.
    fn advance(&mut self) {
        while self.done < self.taken && self.left.front() == Some(&0) {
            self.left.pop_front();
            self.done += 1;
            while let Some(entry) = self.digests.first_entry().filter(|e| *e.key() < self.done) {
                let digest = entry.remove();
                self.digest = self.digest.map(|sum| sum + digest);
            }
        }
        // Pieces become durable all together, with the task.
        let is_new = self.done > self.marked && self.units > 0;
        let waits = self.last.elapsed() < STEP_MARK_INTERVAL;
        // What is filled box by box is done as a whole.
        let stage = &self.task.stage;
        let has_no_marks = stage.way_out == WayOut::Pieces || stage.stage.box_shape.is_some();
        if !is_new || waits || has_no_marks {
            return;
        }
        (self.last, self.units, self.marked) = (Instant::now(), 0, self.done);
        // Only where steps are planned for is the digest counted by unit.
        let is_taken = stage.digest.method().is_some() && stage.stage.is_stepped;
        let mark = Mark::steps(stage.number, self.task.number, self.done);
        stage.run.mark(mark.with_digest(self.digest.filter(|_| is_taken)));
    }
}
