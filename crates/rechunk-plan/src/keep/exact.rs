//! Computes the most elements that a schedule holds, exactly.

use super::{Model, Schedule};

/// Schedules with more buffers are not looked at exactly.
pub(crate) const EXACT_BUFFERS_MAX: u64 = 4096;

/// Elements of one axis by where they lie, seen from one buffer of that axis. `b` is the buffer of
/// an element, `l` the last buffer that its write block meets.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// `b` is this buffer and so is `l`.
    here_ends: u64,
    /// `b` is this buffer, `l` a later one.
    here_goes_on: u64,
    /// `b` is an earlier buffer, `l` is this one.
    before_ends: u64,
    /// `b` is an earlier buffer, `l` a later one.
    before_goes_on: u64,
    /// `b` is this buffer.
    here: u64,
    /// `b` is an earlier buffer.
    before: u64,
    /// `l` is this buffer.
    ends: u64,
    /// `l` is a later buffer.
    goes_on: u64,
}

/// Counts of elements on the axes seen so far, slowest first. They are by how buffer and last
/// buffer compare with the buffer that is read, in the order of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    here_ends: u64,
    before_ends: u64,
    here_goes_on: u64,
    before_goes_on: u64,
}

impl State {
    const START: Self = Self { here_ends: 1, before_ends: 0, here_goes_on: 0, before_goes_on: 0 };

    fn on(self, seen: &Seen, extent: u64) -> Self {
        Self {
            here_ends: self.here_ends * seen.here_ends,
            before_ends: self.here_ends * seen.before_ends + self.before_ends * seen.ends,
            here_goes_on: self.here_ends * seen.here_goes_on + self.here_goes_on * seen.here,
            before_goes_on: self.here_ends * seen.before_goes_on
                + self.before_ends * seen.goes_on
                + self.here_goes_on * seen.before
                + self.before_goes_on * extent,
        }
    }

    /// The buffer, and what was carried to it.
    fn held(self) -> u64 {
        self.here_ends + self.here_goes_on + self.before_ends + self.before_goes_on
    }

    fn is_covered_by(self, other: &Self) -> bool {
        self.here_ends <= other.here_ends
            && self.before_ends <= other.before_ends
            && self.here_goes_on <= other.here_goes_on
            && self.before_goes_on <= other.before_goes_on
    }
}

impl Model {
    /// Most elements that a schedule holds, exactly: the buffer that is read and all that was
    /// carried to it. `None` if there are more than `buffers_max` buffers to look at.
    pub fn memory_exact(&self, schedule: &Schedule, buffers_max: u64) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        if self.buffers(schedule) > buffers_max {
            return None;
        }
        let mut states = vec![State::START];
        for &axis in &schedule.step_axes {
            let buffers = self.shape[axis].div_ceil(schedule.buffer[axis]);
            let mut next = Vec::new();
            for position in 0..buffers {
                let seen = self.seen(schedule, axis, position);
                next.extend(states.iter().map(|state| state.on(&seen, self.shape[axis])));
            }
            states = uncovered(next);
        }
        states.into_iter().map(State::held).max()
    }

    /// Elements that are held at the buffer that carries most on every axis: at most
    /// [`Model::memory_exact`].
    pub(super) fn memory_at_most_carried(&self, schedule: &Schedule) -> u64 {
        let mut state = State::START;
        for &axis in &schedule.step_axes {
            let seen = self.seen(schedule, axis, self.most_carried(schedule, axis));
            state = state.on(&seen, self.shape[axis]);
        }
        state.held()
    }

    /// The buffer of an axis that most is carried to.
    fn most_carried(&self, schedule: &Schedule, axis: usize) -> u64 {
        const LOOKED_AT_MAX: u64 = 256;
        let (buffer, block) = (schedule.buffer[axis], self.target.block[axis]);
        if !schedule.kept[axis] {
            return 0;
        }
        let buffers = self.shape[axis].div_ceil(buffer).min(LOOKED_AT_MAX);
        (0..buffers).max_by_key(|position| position * buffer % block).unwrap_or(0)
    }

    fn seen(&self, schedule: &Schedule, axis: usize, position: u64) -> Seen {
        let (extent, buffer) = (self.shape[axis], schedule.buffer[axis]);
        let start = position * buffer;
        let end = extent.min(start + buffer);
        let here = end - start;
        if !schedule.kept[axis] {
            // Write blocks end where buffers do.
            return Seen {
                here_ends: here,
                here_goes_on: 0,
                before_ends: 0,
                before_goes_on: 0,
                here,
                before: start,
                ends: here,
                goes_on: extent - end,
            };
        }
        let block = self.target.block[axis];
        // Blocks whose last element lies in this buffer are those that end in (start, end].
        let ended_before = start / block * block;
        let ended = if end == extent { extent } else { end / block * block };
        let ended = ended.max(ended_before);
        Seen {
            here_ends: ended.max(start) - start,
            here_goes_on: end - ended.max(start),
            before_ends: ended.min(start) - ended_before,
            before_goes_on: start - ended.min(start),
            here,
            before: start,
            ends: ended - ended_before,
            goes_on: extent - ended,
        }
    }
}

/// The states that no other is at least as large as in every part: growth is monotone, so the
/// maximum comes from one of them.
fn uncovered(mut states: Vec<State>) -> Vec<State> {
    states.sort_unstable_by(|a, b| b.cmp(a));
    states.dedup();
    let mut kept: Vec<State> = Vec::new();
    for state in states {
        if !kept.iter().any(|other| state.is_covered_by(other)) {
            kept.push(state);
        }
    }
    kept
}
