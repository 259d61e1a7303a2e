//! Unit buffers that are used again instead of being returned to the allocator.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rechunk_kernel::narrow;

/// Most idle buffers that are looked at for one of the wanted size.
const SEARCHED_MAX: usize = 64;

/// Most times that a unit's buffer may be larger than a lane needs. A larger one is of more use to
/// a unit.
const LARGER_MAX: usize = 4;

/// Byte buffers of one task slot. What is in use and what lies idle stay within a limit together:
/// the bytes the plan reserved for the output units of a task, and for pieces of raw files what it
/// leaves of the budget. While units need less than that, buffers that lanes have to give up lie
/// here, too.
#[derive(Debug)]
pub(crate) struct BufferPool {
    limit_bytes: usize,
    /// Most bytes that buffers have when one is kept that is given back.
    kept_bytes: usize,
    /// Bytes beyond the limit that buffers may take by being larger than requested.
    spare_bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes that were asked for.
    in_use_bytes: usize,
    /// Bytes by which buffers in use are larger than requested.
    over_bytes: usize,
    idle_bytes: usize,
    /// Those given back last are last.
    idle: VecDeque<Vec<u8>>,
    /// Buffers that lanes have given up, of any capacity; counted as idle.
    given_up: Vec<Vec<u8>>,
    /// Nothing is kept.
    is_closed: bool,
}

impl BufferPool {
    /// A pool of at most `limit_bytes`, and not more than `kept_bytes` when nothing is on its way
    /// out.
    pub(crate) fn new(limit_bytes: u64, kept_bytes: u64) -> Self {
        let [limit_bytes, kept_bytes] = [limit_bytes, kept_bytes].map(narrow);
        Self { limit_bytes, kept_bytes, spare_bytes: 0, state: Mutex::default() }
    }

    /// Creates a pool of at most `limit_bytes` for buffers of many sizes. Beside them are
    /// `spare_bytes` for buffers that lie idle, or are larger than requested.
    pub(crate) fn of_many_sizes(limit_bytes: u64, spare_bytes: u64) -> Self {
        let kept_bytes = limit_bytes.saturating_add(spare_bytes);
        let spare_bytes = narrow(spare_bytes);
        Self { spare_bytes, ..Self::new(limit_bytes, kept_bytes) }
    }

    /// A buffer of `bytes` bytes with any contents; `None` where what is in use would exceed the
    /// limit: the plan has reserved too little.
    pub(crate) fn take(&self, bytes: usize) -> Option<Vec<u8>> {
        self.reserve(bytes).then(|| self.reserved(bytes))
    }

    /// Counts `bytes` more bytes as in use, for buffers that are asked for later; `false`, and
    /// nothing is counted, where that would exceed the limit.
    pub(crate) fn reserve(&self, bytes: usize) -> bool {
        let mut state = self.lock();
        let in_use_bytes = state.in_use_bytes.saturating_add(bytes);
        let fits = in_use_bytes <= self.limit_bytes;
        if fits {
            state.in_use_bytes = in_use_bytes;
        }
        fits
    }

    /// A buffer of `bytes` bytes that were reserved, with any contents.
    pub(crate) fn reserved(&self, bytes: usize) -> Vec<u8> {
        let mut state = self.lock();
        if let Some(mut buffer) = state.take_idle(bytes, self.spare_bytes) {
            drop(state);
            buffer.resize(bytes, 0);
            return buffer;
        }
        state.shrink(self.limit_bytes.saturating_add(self.spare_bytes));
        drop(state);
        vec![0; bytes]
    }

    /// Counts `bytes` bytes as in use that somebody else uses, until they are [`BufferPool::gone`].
    pub(crate) fn lend(&self, bytes: usize) {
        let mut state = self.lock();
        state.in_use_bytes = state.in_use_bytes.saturating_add(bytes);
        state.shrink(self.limit_bytes.saturating_add(self.spare_bytes));
    }

    /// Says whether buffers will be asked for. If not, what is given back from now on goes at once,
    /// on the threads that give it: the system takes about a tenth of a second for a gigabyte, and
    /// later that would be one thread's.
    pub(crate) fn set_open(&self, is_open: bool) {
        let mut state = self.lock();
        state.is_closed = !is_open;
        if !is_open {
            let idle = (std::mem::take(&mut state.idle), std::mem::take(&mut state.given_up));
            state.idle_bytes = 0;
            drop(state);
            drop(idle);
        }
    }

    /// Takes a buffer back.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        let mut state = self.lock();
        let over_bytes = buffer.capacity() - buffer.len();
        state.in_use_bytes = state.in_use_bytes.saturating_sub(buffer.len());
        state.over_bytes = state.over_bytes.saturating_sub(over_bytes);
        let fits = state.all_bytes().saturating_add(buffer.capacity()) <= self.kept_bytes;
        // An encoder may have handed back something larger than it was given.
        let is_known = over_bytes <= self.spare_bytes;
        if is_known && !buffer.is_empty() && fits && !state.is_closed {
            state.idle_bytes += buffer.capacity();
            state.idle.push_back(buffer);
            return;
        }
        drop(state); // others need not wait until it is gone
        drop(buffer);
    }

    /// Takes a buffer back that was stored as it is, unless the store has kept it.
    pub(crate) fn recycle(&self, bytes: Bytes) {
        let length = bytes.len();
        if bytes.is_unique() {
            self.give(Vec::from(bytes));
        } else {
            self.gone(length);
        }
    }

    /// Keeps a buffer that a lane has no room for now, while nobody else needs its place.
    pub(crate) fn keep(&self, buffer: Vec<u8>) {
        let mut state = self.lock();
        let dropped = state.keep(buffer, self.kept_bytes);
        drop(state); // others need not wait until it is gone
        drop(dropped);
    }

    /// Exchanges a lane's buffer of less than `bytes` for a larger one. It takes one that was given
    /// up and has at least as many, or a unit's that lies idle, or else one that was given up and
    /// is larger. None has more than `bytes_max`.
    pub(crate) fn exchange(&self, buffer: &mut Vec<u8>, bytes: u64, bytes_max: u64) {
        let [bytes, bytes_max] = [bytes, bytes_max].map(narrow);
        if buffer.capacity() >= bytes {
            return; // as mostly: nobody has to wait for it
        }
        let mut state = self.lock();
        if let Some(better) = state.take_larger(buffer.capacity(), bytes, bytes_max) {
            let dropped = state.keep(std::mem::replace(buffer, better), self.kept_bytes);
            drop(state); // others need not wait until it is gone
            drop(dropped);
        }
    }

    /// Says that a buffer of `bytes` bytes that was taken is no more.
    pub(crate) fn gone(&self, bytes: usize) {
        let mut state = self.lock();
        state.in_use_bytes = state.in_use_bytes.saturating_sub(bytes);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The counts are changed without anything between them that could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Bytes of all buffers, in use or idle.
    fn all_bytes(&self) -> usize {
        let in_use_bytes = self.in_use_bytes.saturating_add(self.over_bytes);
        in_use_bytes.saturating_add(self.idle_bytes)
    }

    /// Takes an idle buffer of `bytes` bytes, or else the smallest larger one, or else one of that
    /// size that a lane has given up. A larger one only while all buffers together are at most
    /// `spare_bytes` larger than requested.
    fn take_idle(&mut self, bytes: usize, spare_bytes: usize) -> Option<Vec<u8>> {
        // Sizes repeat: whole units are all alike, and of pieces of them there are a few kinds.
        let from = self.idle.len().saturating_sub(SEARCHED_MAX);
        let spare_bytes = spare_bytes.saturating_sub(self.over_bytes);
        let over = |buffer: &Vec<u8>| {
            buffer.capacity().checked_sub(bytes).filter(|&over_bytes| over_bytes <= spare_bytes)
        };
        let fitting = self.idle.range(from..).enumerate().rev();
        let fitting = fitting.filter_map(|(at, buffer)| Some((over(buffer)?, from + at)));
        let best = fitting.min_by_key(|&(over_bytes, _)| over_bytes);
        let Some((over_bytes, at)) = best else { return self.take_given_up(bytes) };
        let buffer = self.idle.remove(at)?;
        self.idle_bytes -= buffer.capacity();
        self.over_bytes += over_bytes;
        Some(buffer)
    }

    /// One of the same size that a lane has had.
    fn take_given_up(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let at = self.given_up.iter().rposition(|buffer| buffer.capacity() == bytes)?;
        self.idle_bytes -= bytes;
        Some(self.given_up.swap_remove(at))
    }

    /// A buffer for a lane that has one of `held_bytes`, less than `bytes`: see
    /// [`BufferPool::exchange`].
    fn take_larger(
        &mut self,
        held_bytes: usize,
        bytes: usize,
        bytes_max: usize,
    ) -> Option<Vec<u8>> {
        let given_up = self.given_up.iter().map(Vec::capacity).enumerate().rev();
        let larger = given_up.filter(|&(_, has)| has > held_bytes && has <= bytes_max);
        // What is enough comes first.
        let best = larger.min_by_key(|&(_, has)| (has < bytes, has.abs_diff(bytes)));
        let units_max = bytes_max.min(bytes.saturating_mul(LARGER_MAX));
        let is_enough = |unit: &Vec<u8>| (bytes..=units_max).contains(&unit.capacity());
        let buffer = match best {
            Some((at, has)) if has >= bytes => self.given_up.swap_remove(at),
            _ if self.idle.back().is_some_and(is_enough) => self.idle.pop_back()?,
            _ => self.given_up.swap_remove(best?.0),
        };
        self.idle_bytes -= buffer.capacity();
        Some(buffer)
    }

    /// Drops what lies idle, until there are `most_bytes` at most, or nothing does.
    fn shrink(&mut self, most_bytes: usize) {
        while self.all_bytes() > most_bytes
            && let Some(dropped) = self.given_up.pop().or_else(|| self.idle.pop_front())
        {
            self.idle_bytes -= dropped.capacity();
        }
    }

    /// The buffer again if there is no place for it.
    fn keep(&mut self, buffer: Vec<u8>, kept_bytes: usize) -> Option<Vec<u8>> {
        let bytes = buffer.capacity();
        if bytes == 0 || self.all_bytes().saturating_add(bytes) > kept_bytes {
            return Some(buffer);
        }
        self.idle_bytes += bytes;
        self.given_up.push(buffer);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_buffers_make_room_for_others() {
        let pool = BufferPool::new(100, 100);
        let (a, b) = (pool.take(40).unwrap(), pool.take(40).unwrap());
        pool.give(a);
        pool.give(b);
        assert_eq!(pool.lock().idle_bytes, 80);
        let c = pool.take(70).unwrap(); // 70 + 40 + 40 would be over the limit
        assert_eq!(pool.lock().idle_bytes, 0);
        assert_eq!(pool.lock().in_use_bytes, 70);
        pool.gone(c.len());
        assert_eq!(pool.lock().in_use_bytes, 0);
    }

    #[test]
    fn nothing_lies_idle_when_no_more_is_asked_for() {
        let pool = BufferPool::new(100, 100);
        let bytes = || {
            let state = pool.lock();
            (state.idle_bytes, state.in_use_bytes, state.idle.len() + state.given_up.len())
        };
        let [a, b, c] = [30, 20, 10].map(|bytes| pool.take(bytes).unwrap());
        pool.give(a);
        pool.keep(vec![1; 5]);
        assert_eq!(bytes(), (35, 30, 2));
        pool.set_open(false);
        pool.give(b);
        assert_eq!(bytes(), (0, 10, 0));
        pool.set_open(true);
        pool.give(c);
        assert_eq!(bytes(), (10, 0, 1));
    }

    #[test]
    fn what_lanes_have_paid_for_is_not_kept() {
        let pool = BufferPool::new(100, 60);
        let [a, b, c] = [50, 40, 10].map(|bytes| pool.take(bytes).unwrap());
        pool.give(b);
        assert_eq!(pool.lock().idle_bytes, 0, "10 and 50 are in use");
        pool.give(c);
        assert_eq!(pool.lock().idle_bytes, 10);
        pool.give(a);
        assert_eq!(pool.lock().idle_bytes, 60);
    }

    #[test]
    fn the_limit_holds_for_what_is_in_use() {
        let pool = BufferPool::new(100, 100);
        let first = pool.take(60).unwrap();
        assert!(pool.take(41).is_none());
        assert!(pool.take(40).is_some());
        pool.give(first);
        assert!(pool.take(60).is_some());
    }

    #[test]
    fn what_lanes_give_up_makes_room_for_units() {
        let pool = BufferPool::new(100, 100);
        let unit = pool.take(40).unwrap();
        pool.keep(Vec::with_capacity(30));
        pool.keep(Vec::with_capacity(50)); // 40 + 30 + 50 would be over the limit
        assert_eq!(pool.lock().idle_bytes, 30);
        let mut buffer = Vec::with_capacity(20);
        pool.exchange(&mut buffer, 29, 29);
        assert_eq!(buffer.capacity(), 20, "there is only a larger one");
        pool.exchange(&mut buffer, 60, 60);
        assert_eq!((buffer.capacity(), pool.lock().idle_bytes), (30, 20));
        pool.exchange(&mut buffer, 60, 60);
        assert_eq!(buffer.capacity(), 30, "there is only a smaller one");
        let other = pool.take(50).unwrap();
        assert_eq!(pool.lock().idle_bytes, 0);
        assert!(pool.lock().given_up.is_empty());
        pool.give(other);
        pool.give(unit);
    }

    #[test]
    fn lanes_and_units_use_each_others_buffers() {
        let pool = BufferPool::new(100, 100);
        let units = [40, 40].map(|bytes| pool.take(bytes).unwrap());
        let places = [&units[0], &units[1]].map(Vec::as_ptr);
        for unit in units {
            pool.give(unit);
        }
        pool.keep(Vec::with_capacity(10));
        let [mut first, mut second] = [Vec::with_capacity(5), Vec::new()];
        pool.exchange(&mut first, 20, 39);
        assert_eq!(first.capacity(), 10, "a unit's is too large, another one better than none");
        pool.exchange(&mut second, 9, 40);
        assert_eq!(second.capacity(), 5, "a unit's has more than four times as much");
        pool.exchange(&mut second, 41, 50);
        assert_eq!(second.capacity(), 5, "a unit's would have to grow, and be lost");
        pool.exchange(&mut second, 20, 40);
        assert_eq!((second.as_ptr(), second.capacity()), (places[1], 40), "what was given last");
        assert_eq!(pool.lock().idle_bytes, 40 + 5);
        assert_eq!(pool.lock().given_up.len(), 1, "its own");
        pool.keep(second);
        let again = [40, 40].map(|bytes| pool.take(bytes).unwrap());
        assert_eq!([&again[0], &again[1]].map(Vec::as_ptr), [places[0], places[1]]);
        assert!(again.iter().all(|unit| unit.len() == 40));
    }

    #[test]
    fn sizes_that_come_again_find_their_buffer() {
        let pool = BufferPool::new(1000, 1000);
        for _ in 0..2 {
            let pieces: Vec<_> = (1..=20).map(|bytes| pool.take(bytes).unwrap()).collect();
            assert_eq!(pool.lock().idle_bytes, 0, "each has found its like");
            for piece in pieces {
                pool.give(piece);
            }
        }
        pool.take(900).unwrap(); // 100 are left: for those given back last
        let kept: Vec<_> = pool.lock().idle.iter().map(Vec::len).collect();
        assert_eq!(kept, [16, 17, 18, 19, 20]);
    }

    #[test]
    fn larger_buffers_are_used_as_far_as_there_is_room_to_spare() {
        let pool = BufferPool::of_many_sizes(100, 20);
        let (a, b) = (pool.take(40).unwrap(), pool.take(25).unwrap());
        let places = [a.as_ptr(), b.as_ptr()];
        pool.give(a);
        pool.give(b);
        let small = pool.take(20).unwrap();
        assert_eq!(
            (small.as_ptr(), small.len()),
            (places[1], 20),
            "the smallest that is large enough"
        );
        let large = pool.take(29).unwrap();
        assert_eq!((large.as_ptr(), large.len()), (places[0], 29));
        let counted = || {
            let state = pool.lock();
            [state.in_use_bytes, state.over_bytes, state.idle_bytes]
        };
        assert_eq!(counted(), [49, 16, 0]);
        assert!(pool.take(52).is_none(), "the limit is for what is asked for");
        pool.give(large);
        pool.give(small);
        assert_eq!(counted(), [0, 0, 65]);
        let other = pool.take(10).unwrap();
        assert_eq!((other.as_ptr(), other.capacity()), (places[1], 25));
        let other = pool.take(34).unwrap();
        assert_ne!(other.as_ptr(), places[0], "6 bytes over, beside 15");
    }

    #[test]
    fn all_of_many_sizes_stay_within_the_limit_and_what_is_to_spare() {
        let pool = BufferPool::of_many_sizes(100, 20);
        let mut buffers = Vec::new();
        // 100 at most are in use: of sizes that follow no order.
        for step in 0_usize..2000 {
            if let Some(buffer) = pool.take(step * step % 37 + 1) {
                buffers.push(buffer);
            }
            if step % 3 > 0 && !buffers.is_empty() {
                let given = buffers.swap_remove(step % buffers.len());
                pool.give(given);
            }
            let in_use: usize = buffers.iter().map(Vec::capacity).sum();
            let state = pool.lock();
            let idle: usize = state.idle.iter().map(Vec::capacity).sum();
            assert_eq!((state.in_use_bytes + state.over_bytes, state.idle_bytes), (in_use, idle));
            assert!(in_use + idle <= 120, "{in_use} + {idle}");
        }
    }

    #[test]
    fn a_buffer_of_the_same_size_is_used_again() {
        let pool = BufferPool::new(100, 100);
        let mut buffer = pool.take(10).unwrap();
        buffer[0] = 7;
        pool.give(buffer);
        assert_eq!(pool.take(10).unwrap()[0], 7);
    }
}
