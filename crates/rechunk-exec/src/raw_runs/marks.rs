//! Which buffers are done with.

use std::time::Instant;

use crate::journal::{Mark, STEP_MARK_INTERVAL};
use crate::stage::stage_run::StageRun;

/// Marks buffers in the journal as the steps of their task, not too often.
#[derive(Debug)]
pub(super) struct Marks<'a> {
    stage: &'a StageRun,
    task: u64,
    last: Instant,
    /// Write blocks have been written since the last mark.
    is_new: bool,
}

impl<'a> Marks<'a> {
    #[expect(clippy::disallowed_methods, reason = "a mark is due by the clock")]
    pub(super) fn new(stage: &'a StageRun, task: u64) -> Self {
        Self { stage, task, last: Instant::now(), is_new: false }
    }

    /// Everything that `buffer` and those before it complete is written, `blocks` of it now.
    #[expect(clippy::disallowed_methods, reason = "a mark is due by the clock")]
    pub(super) fn done(&mut self, buffer: u64, blocks: u64) {
        self.is_new |= blocks > 0;
        if !self.is_new || self.last.elapsed() < STEP_MARK_INTERVAL {
            return;
        }
        (self.last, self.is_new) = (Instant::now(), false);
        self.stage.run.mark(Mark::steps(self.stage.number, self.task, buffer + 1));
    }
}
