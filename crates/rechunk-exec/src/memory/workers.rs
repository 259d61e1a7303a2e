//! Memory of the pool's threads while they decode and encode, where the plan gives it to them and
//! not to the lanes. Of many chunks in flight, most only wait for a store.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rechunk_kernel::wide;
use rechunk_plan::Stage;

use crate::memory::lane::{Lane, LaneNeeds};
use crate::memory::pool::BufferPool;

/// Rooms to decode in, one for each thread at most; lanes borrow them.
#[derive(Debug)]
pub(crate) struct Workers {
    /// Bytes that each thread may hold, with the codec's allocations; 0 where they are the lanes'.
    worker_bytes: u64,
    /// Bytes that a lane may hold.
    lane_bytes: u64,
    idle: Mutex<Vec<Vec<u8>>>,
}

/// Bytes that decoding or encoding a chunk takes beside its stored form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs {
    /// Room for decoded elements.
    pub scratch_bytes: u64,
    /// Allocations of the codec.
    pub workspace_bytes: u64,
}

impl Needs {
    /// Of what is only copied.
    pub(crate) const NONE: Self = Self { scratch_bytes: 0, workspace_bytes: 0 };

    /// Returns the larger of both, each part for itself.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            scratch_bytes: self.scratch_bytes.max(other.scratch_bytes),
            workspace_bytes: self.workspace_bytes.max(other.workspace_bytes),
        }
    }
}

impl Workers {
    pub(crate) fn new(stage: &Stage) -> Self {
        let Stage { worker_bytes, lane_bytes, .. } = *stage;
        Self { worker_bytes, lane_bytes, idle: Mutex::default() }
    }

    /// Bytes of a lane that are left for a stored form, where it also holds `held_bytes` of
    /// something else.
    pub(crate) fn room_bytes(&self, needs: Needs, held_bytes: u64) -> u64 {
        self.lane_bytes.saturating_sub(self.beside(needs)).saturating_sub(held_bytes)
    }

    /// Gives up, to `buffers`, a lane's buffers that would not fit beside the needs of its next
    /// chunk. These are a stored form of up to `encoded_bytes`, and `held_bytes` of something else.
    pub(crate) fn make_room(
        &self,
        lane: &mut Lane,
        encoded_bytes: u64,
        needs: Needs,
        held_bytes: u64,
        buffers: &BufferPool,
    ) {
        let scratch_bytes = if self.are_paid() { 0 } else { needs.scratch_bytes };
        let beside = self.beside(needs).saturating_sub(scratch_bytes);
        let held_bytes = beside.saturating_add(held_bytes);
        let needs = LaneNeeds { encoded_bytes, scratch_bytes, held_bytes };
        lane.make_room(needs, self.lane_bytes, buffers);
    }

    /// Does `work`, on a thread of the pool, in a lane that has room to decode in.
    pub(crate) fn serve<T>(
        &self,
        lane: &mut Lane,
        needs: Needs,
        work: impl FnOnce(&mut Lane) -> T,
    ) -> T {
        if !self.are_paid() {
            return work(lane);
        }
        // Also who encodes takes one: what lies idle counts for its thread.
        lane.scratch = self.lock().pop().unwrap_or_default();
        let holds = wide(lane.scratch.capacity());
        let all_bytes = holds.max(needs.scratch_bytes).saturating_add(needs.workspace_bytes);
        if all_bytes > self.worker_bytes && holds > needs.scratch_bytes {
            lane.scratch = Vec::new();
        }
        let done = work(lane);
        let scratch = std::mem::take(&mut lane.scratch);
        if scratch.capacity() > 0 {
            self.lock().push(scratch);
        }
        done
    }

    /// Threads pay for what decoding and encoding take.
    fn are_paid(&self) -> bool {
        self.worker_bytes > 0
    }

    /// Bytes of `needs` that are the lane's.
    pub(crate) fn beside(&self, needs: Needs) -> u64 {
        if self.are_paid() {
            return 0;
        }
        needs.scratch_bytes.saturating_add(needs.workspace_bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        // Taking and giving cannot panic half-way.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(worker_bytes: u64, lane_bytes: u64) -> Workers {
        Workers { worker_bytes, lane_bytes, idle: Mutex::default() }
    }

    const NEEDS: Needs = Needs { scratch_bytes: 100, workspace_bytes: 50 };

    #[test]
    fn a_room_is_lent_and_comes_back() {
        let workers = workers(150, 80);
        let [mut lane, mut other] = [Lane::default(), Lane::default()];
        workers.serve(&mut lane, NEEDS, |lane| {
            lane.scratch.reserve_exact(100);
            workers.serve(&mut other, NEEDS, |other| assert_eq!(other.scratch.capacity(), 0));
        });
        assert_eq!((lane.scratch.capacity(), other.scratch.capacity()), (0, 0));
        workers.serve(&mut other, NEEDS, |other| assert_eq!(other.scratch.capacity(), 100));
        // What allocates more than is left beside the room gives it up.
        let encoding = Needs { scratch_bytes: 0, workspace_bytes: 51 };
        workers.serve(&mut other, encoding, |other| assert_eq!(other.scratch.capacity(), 0));
        workers.serve(&mut other, NEEDS, |other| assert_eq!(other.scratch.capacity(), 0));
    }

    #[test]
    fn a_lane_has_room_for_what_it_pays_for() {
        let buffers = BufferPool::new(0, 0);
        let lane = |encoded| Lane { encoded: Vec::with_capacity(encoded), ..Lane::default() };
        for (of, room) in [(workers(150, 80), 70), (workers(0, 230), 70)] {
            assert_eq!(of.room_bytes(NEEDS, 10), room);
            let mut fits = lane(70);
            of.make_room(&mut fits, 60, NEEDS, 10, &buffers);
            assert_eq!(fits.encoded.capacity(), 70);
            let mut is_large = lane(71);
            of.make_room(&mut is_large, 60, NEEDS, 10, &buffers);
            assert_eq!(is_large.encoded.capacity(), 0);
        }
        // A lane that pays for all keeps its room.
        let mut own = Lane { scratch: Vec::with_capacity(100), ..Lane::default() };
        workers(0, 230).serve(&mut own, NEEDS, |lane| assert_eq!(lane.scratch.capacity(), 100));
        assert_eq!(own.scratch.capacity(), 100);
    }
}
