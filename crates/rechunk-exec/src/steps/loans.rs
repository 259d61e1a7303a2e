//! Lanes that only wait for a write lend what they do not need meanwhile.
//!
//! A lane of a task that is taken in steps pays for a unit's buffer, its stored form and what else
//! encoding takes. While the stored form is written past the page cache, which takes a thread of
//! its own, the rest is free: enough to take an input in, if that needs no more. So threads that
//! decode have something to do though every lane of the plan is in use.

use rechunk_kernel::wide;

use crate::memory::lane::Lane;
use crate::memory::pool::BufferPool;
use crate::stage::in_place::SENT_AT_ONCE_BYTES;
use crate::stage::stage_run::StageRun;
use crate::stage::way_out::WayOut;

/// Loans of the lanes of a task.
///
/// As many lanes are borrowed, in use or not, as lanes lend or are owed, at most; and one that is
/// owed is not used before that is back.
pub(crate) struct Loans {
    /// Bytes of its unit that a lane lends; 0 if they do not lend.
    each_bytes: usize,
    /// Bytes that a borrowed lane may hold: the unit's, and the rest of what encoding takes.
    lent_bytes: u64,
    /// Lanes that lend and write.
    lenders: usize,
    /// Borrowed lanes that are in use, and those that wait for their next use.
    borrowers: usize,
    idle: Vec<Lane>,
    /// Lanes that have written, and wait for what they have lent.
    owed: Vec<Lane>,
}

impl Loans {
    pub(crate) fn new(stage: &StageRun) -> Self {
        let each_bytes = if is_possible(stage) { stage.target_chunk_bytes() } else { 0 };
        Self::of(each_bytes, lent_bytes(stage))
    }

    fn of(each_bytes: u64, lent_bytes: u64) -> Self {
        let each_bytes = usize::try_from(each_bytes).unwrap_or(0);
        let (idle, owed) = (Vec::new(), Vec::new());
        Self { each_bytes, lent_bytes, lenders: 0, borrowers: 0, idle, owed }
    }

    /// A lane that only waits for its write lends.
    pub(crate) fn lend(&mut self) {
        self.lenders += 1;
    }

    /// Somebody lends a lane that is not in use.
    pub(crate) fn may_borrow(&self) -> bool {
        let is_left = self.borrowers < self.lenders + self.owed.len();
        self.each_bytes > 0 && (is_left || !self.idle.is_empty())
    }

    /// A borrowed lane to take an input in, if there is one.
    pub(crate) fn borrow(&mut self, buffers: &BufferPool) -> Option<Lane> {
        if !self.may_borrow() {
            return None;
        }
        self.borrowers += 1;
        self.idle.pop().or_else(|| {
            buffers.lend(self.each_bytes);
            Some(Lane::borrowed(self.lent_bytes))
        })
    }

    /// A borrowed lane has taken its input in. The lane that it was lent by, if that has waited for
    /// it.
    pub(crate) fn returned(&mut self, borrowed: Lane, buffers: &BufferPool) -> Option<Lane> {
        self.borrowers -= 1;
        if let Some(lane) = self.owed.pop() {
            return Some(self.joined(lane, borrowed, buffers));
        }
        self.idle.push(borrowed);
        None
    }

    /// A lane that has lent has written; it again, unless it has to wait for what it has lent.
    pub(crate) fn written(&mut self, lane: Lane, buffers: &BufferPool) -> Option<Lane> {
        self.lenders -= 1;
        if self.borrowers + self.idle.len() <= self.lenders + self.owed.len() {
            return Some(lane);
        }
        if let Some(borrowed) = self.idle.pop() {
            return Some(self.joined(lane, borrowed, buffers));
        }
        self.owed.push(lane);
        None
    }

    /// The loan is over: one lane with the larger buffers of both.
    fn joined(&self, lane: Lane, borrowed: Lane, buffers: &BufferPool) -> Lane {
        buffers.gone(self.each_bytes);
        lane.joined(borrowed, buffers)
    }

    /// All that was lent is back.
    pub(crate) fn are_over(&self) -> bool {
        self.lenders == 0 && self.borrowers == 0 && self.idle.is_empty() && self.owed.is_empty()
    }
}

/// Whether lanes lend: where a lane pays for its unit, gives that up before it writes, and an input
/// needs no more.
fn is_possible(stage: &StageRun) -> bool {
    let Ok(decoding) = stage.decoding() else { return false };
    let fetched_bytes = stage.way_in.fetched_bytes_max(&stage.run.execution.source);
    let takes_bytes = fetched_bytes.saturating_add(stage.workers.beside(decoding));
    let unit_bytes = stage.target_chunk_bytes();
    // What is sent by the job that completes it takes a lane of its own.
    let is_sent_apart = unit_bytes > wide(SENT_AT_ONCE_BYTES);
    // What stays of the target is read before a unit is encoded; an uncompressed one is written
    // itself.
    let is_given_up = stage.way_out == WayOut::Write
        && stage.held.is_none()
        && !stage.target().layout().codec_cost().is_raw;
    stage.stage.is_stepped
        && stage.way_in.takes_chunks()
        && is_sent_apart
        && is_given_up
        && takes_bytes <= lent_bytes(stage)
}

/// Bytes of its memory that a lane leaves free while it only waits for its write.
fn lent_bytes(stage: &StageRun) -> u64 {
    stage.target_chunk_bytes().saturating_add(stage.workers.beside(stage.encoding()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::lane::LaneNeeds;

    fn lane(encoded: usize, scratch: usize) -> Lane {
        let (encoded, scratch) = (Vec::with_capacity(encoded), Vec::with_capacity(scratch));
        Lane { encoded, scratch, ..Lane::default() }
    }

    #[test]
    fn as_many_borrow_as_lend() {
        let (mut loans, buffers) = (Loans::of(10, 12), BufferPool::new(20, 20));
        assert!(loans.borrow(&buffers).is_none());
        loans.lend();
        let first = loans.borrow(&buffers).unwrap();
        assert!(loans.borrow(&buffers).is_none());
        loans.lend();
        let second = loans.borrow(&buffers).unwrap();
        assert!(buffers.take(1).is_none(), "both are in use, though not for units");
        assert!(loans.written(lane(9, 0), &buffers).is_none(), "what it has lent is in use");
        assert!(loans.borrow(&buffers).is_none());
        assert!(loans.returned(first, &buffers).is_some());
        assert!(loans.returned(second, &buffers).is_none(), "its lender writes");
        assert!(loans.borrow(&buffers).is_some());
    }

    #[test]
    fn a_lane_goes_on_with_the_buffers_of_the_one_it_has_lent() {
        let (mut loans, buffers) = (Loans::of(10, 12), BufferPool::new(100, 100));
        loans.lend();
        loans.borrow(&buffers).unwrap();
        loans.returned(lane(5, 7), &buffers);
        let lane = loans.written(lane(9, 0), &buffers).unwrap();
        assert_eq!((lane.encoded.capacity(), lane.scratch.capacity()), (9, 7));
        let mut other = Vec::new();
        buffers.exchange(&mut other, 100, 100);
        assert_eq!(other.capacity(), 5, "nothing is thrown away");
        assert!(loans.are_over());
    }

    #[test]
    fn a_borrowed_lane_holds_what_was_lent() {
        let (mut loans, buffers) = (Loans::of(10, 12), BufferPool::new(100, 100));
        let units = [10, 10].map(|bytes| buffers.take(bytes).unwrap());
        for unit in units {
            buffers.give(unit);
        }
        loans.lend();
        let (mut own, mut borrowed) = (Lane::default(), loans.borrow(&buffers).unwrap());
        let needs = LaneNeeds { encoded_bytes: 5, scratch_bytes: 5, held_bytes: 1 };
        borrowed.make_room(needs, 30, &buffers);
        assert_eq!(
            (borrowed.scratch.capacity(), borrowed.encoded.capacity()),
            (0, 0),
            "6 are left"
        );
        own.make_room(needs, 30, &buffers);
        assert_eq!((own.scratch.capacity(), own.encoded.capacity()), (10, 10));
    }

    proptest! {
        #[test]
        fn all_lanes_come_back(count in 1_usize..5, events in prop::collection::vec(0..4, 0..200)) {
            let (mut loans, buffers) = (Loans::of(10, 12), BufferPool::new(10 * 5, 0));
            let (mut lanes, mut writing, mut borrowed) = (count, 0, Vec::new());
            // Then all that is under way ends.
            for event in events.into_iter().chain([2; 10]).chain([3; 10]) {
                match event {
                    0 if lanes > 0 => {
                        loans.lend();
                        (lanes, writing) = (lanes - 1, writing + 1);
                    }
                    1 => borrowed.extend(loans.borrow(&buffers)),
                    2 if writing > 0 => {
                        writing -= 1;
                        lanes += usize::from(loans.written(Lane::default(), &buffers).is_some());
                    }
                    3 => {
                        let Some(lane) = borrowed.pop() else { continue };
                        lanes += usize::from(loans.returned(lane, &buffers).is_some());
                    }
                    _ => {}
                }
                // Whoever works, in a lane or a borrowed one, has one of the lanes for it.
                prop_assert!(lanes + writing.max(borrowed.len()) <= count);
            }
            prop_assert!(loans.are_over() && lanes == count);
            prop_assert!(buffers.take(10 * 5).is_some(), "nothing is counted as lent");
        }
    }
}
