//! Lanes that only wait for a write lend what they do not need meanwhile.
//!
//! A lane of a task that is taken in steps pays for a unit's buffer, its stored form and what else encoding
//! takes. While the stored form is written past the page cache, which takes a thread of its own, all but
//! that is free: enough to take an input in, if that needs no more than the unit did. So threads that
//! decode have something to do though every lane of the plan is in use.

use rechunk_plan::StageInput;

use crate::Sink;
use crate::frame::wide;
use crate::in_place::SENT_AT_ONCE_BYTES;
use crate::pool::BufferPool;
use crate::stage_run::StageRun;
use crate::task::Lane;

/// What lanes of a task have lent.
pub(crate) struct Loans {
    is_possible: bool,
    /// Lanes that lend.
    lenders: usize,
    /// Borrowed lanes that are in use, and those that wait for their next use.
    borrowers: usize,
    idle: Vec<Lane>,
    /// Lanes that have written, and wait for what they have lent.
    owed: Vec<Lane>,
}

impl Loans {
    pub(crate) fn new(stage: &StageRun) -> Self {
        let is_possible = is_possible(stage);
        Self { is_possible, lenders: 0, borrowers: 0, idle: Vec::new(), owed: Vec::new() }
    }

    /// A lane that only waits for its write lends.
    pub(crate) fn lend(&mut self) {
        self.lenders += 1;
    }

    /// A borrowed lane to take an input in, if somebody lends one.
    pub(crate) fn borrow(&mut self) -> Option<Lane> {
        if !self.is_possible || self.borrowers >= self.lenders {
            return None;
        }
        self.borrowers += 1;
        Some(self.idle.pop().unwrap_or_default())
    }

    /// There was nothing to do for a borrowed lane, or it has done it. The lane that it was lent by, if that
    /// has waited for it.
    pub(crate) fn returned(&mut self, borrowed: Lane, buffers: &BufferPool) -> Option<Lane> {
        self.borrowers -= 1;
        if let Some(lane) = self.owed.pop() {
            return Some(lane.joined(borrowed, buffers));
        }
        self.idle.push(borrowed);
        None
    }

    /// A lane that has lent has written; it again, unless it has to wait for what it has lent.
    pub(crate) fn written(&mut self, lane: Lane, buffers: &BufferPool) -> Option<Lane> {
        self.lenders -= 1;
        if self.borrowers + self.idle.len() <= self.lenders {
            return Some(lane);
        }
        if let Some(borrowed) = self.idle.pop() {
            return Some(lane.joined(borrowed, buffers));
        }
        self.owed.push(lane);
        None
    }
}

/// Whether lanes lend: where a lane pays for its unit, gives that up before it writes, and an input needs
/// no more.
fn is_possible(stage: &StageRun) -> bool {
    let Ok(needs) = stage.decoding() else { return false };
    let scratch_bytes = if stage.workers.are_paid() { 0 } else { needs.scratch_bytes };
    let encoded_bytes = stage.run.execution.source.layout().codec_cost().encoded_bytes_max;
    let unit_bytes = stage.target_chunk_bytes();
    // What is sent by the job that completes it takes a lane of its own.
    let is_sent_apart = unit_bytes > wide(SENT_AT_ONCE_BYTES);
    // What stays of the target is read before a unit is encoded; an uncompressed one is written itself.
    let is_given_up = matches!(stage.run.execution.sink, Sink::Write(_))
        && stage.held.is_none()
        && !stage.target().layout().codec_cost().is_raw;
    stage.stage.is_stepped
        && stage.stage.input == StageInput::SourceChunks
        && is_sent_apart
        && is_given_up
        && encoded_bytes.saturating_add(scratch_bytes) <= unit_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loans() -> Loans {
        Loans { is_possible: true, lenders: 0, borrowers: 0, idle: Vec::new(), owed: Vec::new() }
    }

    fn lane(encoded: usize, scratch: usize) -> Lane {
        Lane { encoded: Vec::with_capacity(encoded), scratch: Vec::with_capacity(scratch) }
    }

    #[test]
    fn as_many_borrow_as_lend() {
        let (mut loans, buffers) = (loans(), BufferPool::new(0, 0));
        assert!(loans.borrow().is_none());
        loans.lend();
        let first = loans.borrow().unwrap();
        assert!(loans.borrow().is_none());
        loans.lend();
        let second = loans.borrow().unwrap();
        assert!(loans.written(lane(9, 0), &buffers).is_none(), "what it has lent is in use");
        assert!(loans.borrow().is_none());
        assert!(loans.returned(first, &buffers).is_some());
        assert!(loans.returned(second, &buffers).is_none(), "its lender writes");
        assert!(loans.borrow().is_some());
    }

    #[test]
    fn a_lane_goes_on_with_the_buffers_of_the_one_it_has_lent() {
        let (mut loans, buffers) = (loans(), BufferPool::new(100, 100));
        loans.lend();
        loans.borrow().unwrap();
        loans.returned(lane(5, 7), &buffers);
        let lane = loans.written(lane(9, 0), &buffers).unwrap();
        assert_eq!((lane.encoded.capacity(), lane.scratch.capacity()), (9, 7));
        let mut other = Vec::new();
        buffers.exchange(&mut other, 100);
        assert_eq!(other.capacity(), 5, "nothing is thrown away");
    }
}
