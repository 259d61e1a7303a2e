//! A part of a stage, for a run that is to do no more.

use std::ops::Range;

/// Tasks of one stage, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRange {
    /// Number of the stage in the plan.
    pub stage: usize,
    /// The first task.
    pub start: u64,
    /// One past the last task.
    pub end: u64,
}

impl TaskRange {
    /// The tasks `tasks` of stage `stage`.
    ///
    /// ```
    /// use rechunk_exec::TaskRange;
    ///
    /// assert_eq!(TaskRange::new(1, 10..25).len(), 15);
    /// ```
    pub fn new(stage: usize, tasks: Range<u64>) -> Self {
        let Range { start, end } = tasks;
        Self { stage, start, end }
    }

    /// Number of tasks.
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// True if it has no task.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
