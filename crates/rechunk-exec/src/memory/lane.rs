//! A place for one chunk on its way in or out.

use bytes::Bytes;
use rechunk_kernel::wide;

use crate::memory::pool::BufferPool;
use crate::units::unit::Finished;

/// Memory that one lane keeps between two chunks, and that a chunk goes through.
///
/// There are as many as the plan has lanes, those for reading ahead, and those that others lend;
/// whoever handles a chunk holds one: so never more chunks are in flight than memory was reserved
/// for.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// The stored form of the chunk: fetched, or to be stored.
    pub encoded: Vec<u8>,
    /// Its elements, where a decoder needs a place for them (see [`crate::memory::workers`]).
    pub scratch: Vec<u8>,
    /// Most bytes it may hold, if another lane has lent them (see [`crate::steps::loans`]).
    pub lent_bytes: Option<u64>,
}

impl Lane {
    /// One that may hold `lent_bytes`, which another lane lends.
    pub(crate) fn borrowed(lent_bytes: u64) -> Self {
        Self { lent_bytes: Some(lent_bytes), ..Self::default() }
    }

    /// The stored form of its chunk, to be handed to a store.
    pub(crate) fn take_encoded(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.encoded))
    }

    /// Takes that buffer back, unless the store has kept it.
    pub(crate) fn recycle(&mut self, bytes: Bytes) {
        if bytes.is_unique() {
            self.encoded = Vec::from(bytes);
        }
    }

    /// One lane with the larger buffers of two; the smaller ones stay in `buffers` while those have
    /// room.
    pub(crate) fn joined(mut self, mut other: Self, buffers: &BufferPool) -> Self {
        for (own, others) in
            [(&mut self.encoded, &mut other.encoded), (&mut self.scratch, &mut other.scratch)]
        {
            if own.capacity() < others.capacity() {
                std::mem::swap(own, others);
            }
            buffers.keep(std::mem::take(others));
        }
        self
    }

    /// Gives up buffers that would not fit beside what the next chunk needs: its stored form, room
    /// to decode in, and what else. A lane is paid for the way in or the way out, whichever holds
    /// more, and its buffers serve both. What is given up stays in `buffers` while those have room
    /// for it, and comes back from there: pages that are new take as long as decoding into them.
    pub(crate) fn make_room(&mut self, needs: LaneNeeds, lane_bytes: u64, buffers: &BufferPool) {
        let LaneNeeds { encoded_bytes, scratch_bytes, held_bytes } = needs;
        let lane_bytes = self.lent_bytes.unwrap_or(lane_bytes);
        let holds = |lane: &Self| {
            let encoded = wide(lane.encoded.capacity()).max(encoded_bytes);
            let scratch = wide(lane.scratch.capacity()).max(scratch_bytes);
            encoded.saturating_add(scratch).saturating_add(held_bytes)
        };
        if holds(self) > lane_bytes && wide(self.scratch.capacity()) > scratch_bytes {
            buffers.keep(std::mem::take(&mut self.scratch));
        }
        if holds(self) > lane_bytes && wide(self.encoded.capacity()) > encoded_bytes {
            buffers.keep(std::mem::take(&mut self.encoded));
        }
        let left = |other: &Vec<u8>, other_bytes: u64| {
            let others_bytes = wide(other.capacity()).max(other_bytes).saturating_add(held_bytes);
            lane_bytes.saturating_sub(others_bytes)
        };
        let bytes_max = left(&self.encoded, encoded_bytes);
        buffers.exchange(&mut self.scratch, scratch_bytes, bytes_max);
        let bytes_max = left(&self.scratch, scratch_bytes);
        buffers.exchange(&mut self.encoded, encoded_bytes, bytes_max);
    }
}

/// Most bytes that the next chunk of a lane needs.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "names carry their unit")]
pub(crate) struct LaneNeeds {
    /// Of its stored form.
    pub encoded_bytes: u64,
    /// To decode it.
    pub scratch_bytes: u64,
    /// Of all else.
    pub held_bytes: u64,
}

/// Results of a lane's work, and the lane.
pub(crate) struct LaneDone {
    pub lane: Lane,
    /// Units that got their last input.
    pub finished: Vec<Finished>,
    /// Units that got it and were sent out at once, without their elements.
    pub sent: Vec<Finished>,
}
