//! Unit buffers that are used again instead of being returned to the allocator.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many idle buffers are looked at for one of the size that is wanted.
const SEARCHED_MAX: usize = 64;

/// Byte buffers of one task slot. What is in use and what lies idle stay within a limit together:
/// the bytes the plan reserved for the output units of a task. While units need less than that, buffers
/// that lanes have to give up lie here, too.
#[derive(Debug)]
pub(crate) struct BufferPool {
    limit_bytes: usize,
    /// Most bytes that buffers have when one is kept that is given back.
    kept_bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    in_use_bytes: usize,
    idle_bytes: usize,
    /// Those given back last are last.
    idle: VecDeque<Vec<u8>>,
    /// What lanes have given up, of any capacity; counted as idle.
    given_up: Vec<Vec<u8>>,
}

impl BufferPool {
    /// A pool of at most `limit_bytes`, and not more than `kept_bytes` when nothing is on its way out.
    pub(crate) fn new(limit_bytes: u64, kept_bytes: u64) -> Self {
        let [limit_bytes, kept_bytes] =
            [limit_bytes, kept_bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        Self { limit_bytes, kept_bytes, state: Mutex::default() }
    }

    /// A buffer of `bytes` bytes with any contents; `None` where what is in use would exceed the limit:
    /// the plan has reserved too little.
    pub(crate) fn take(&self, bytes: usize) -> Option<Vec<u8>> {
        let mut state = self.lock();
        let in_use_bytes = state.in_use_bytes.checked_add(bytes);
        state.in_use_bytes = in_use_bytes.filter(|&in_use| in_use <= self.limit_bytes)?;
        // Sizes repeat: whole units are all alike, and of pieces of them there are a few kinds.
        let from = state.idle.len().saturating_sub(SEARCHED_MAX);
        if let Some(at) = state.idle.range(from..).rposition(|buffer| buffer.len() == bytes) {
            state.idle_bytes -= bytes;
            return state.idle.remove(from + at);
        }
        while state.in_use_bytes.saturating_add(state.idle_bytes) > self.limit_bytes
            && let Some(dropped) = state.given_up.pop().or_else(|| state.idle.pop_front())
        {
            state.idle_bytes -= dropped.capacity();
        }
        drop(state);
        Some(vec![0; bytes]) // asks the system for zeroed pages: nothing is written here
    }

    /// Takes a buffer back.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        let mut state = self.lock();
        state.in_use_bytes = state.in_use_bytes.saturating_sub(buffer.len());
        let all_bytes = state.in_use_bytes + state.idle_bytes + buffer.len();
        // An encoder may have handed back something larger than it was given.
        if buffer.capacity() == buffer.len() && !buffer.is_empty() && all_bytes <= self.kept_bytes {
            state.idle_bytes += buffer.len();
            state.idle.push_back(buffer);
        }
    }

    /// Keeps a buffer that a lane has no room for now, while nobody else needs its place.
    pub(crate) fn keep(&self, buffer: Vec<u8>) {
        self.lock().keep(buffer, self.kept_bytes);
    }

    /// Exchanges a lane's buffer for one that was given up and is larger, though not larger than
    /// `bytes_max`, if there is one.
    pub(crate) fn exchange(&self, buffer: &mut Vec<u8>, bytes_max: usize) {
        let mut state = self.lock();
        let is_better =
            |other: &Vec<u8>| other.capacity() > buffer.capacity() && other.capacity() <= bytes_max;
        let better = state.given_up.iter().enumerate().filter(|(_, other)| is_better(other));
        let Some((at, _)) = better.max_by_key(|(_, other)| other.capacity()) else { return };
        let better = state.given_up.swap_remove(at);
        state.idle_bytes -= better.capacity();
        state.keep(std::mem::replace(buffer, better), self.kept_bytes);
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
    fn keep(&mut self, buffer: Vec<u8>, kept_bytes: usize) {
        let bytes = buffer.capacity();
        if bytes > 0 && self.in_use_bytes + self.idle_bytes + bytes <= kept_bytes {
            self.idle_bytes += bytes;
            self.given_up.push(buffer);
        }
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
        pool.exchange(&mut buffer, 29);
        assert_eq!(buffer.capacity(), 20, "there is only a larger one");
        pool.exchange(&mut buffer, 60);
        assert_eq!((buffer.capacity(), pool.lock().idle_bytes), (30, 20));
        pool.exchange(&mut buffer, 60);
        assert_eq!(buffer.capacity(), 30, "there is only a smaller one");
        let other = pool.take(50).unwrap();
        assert_eq!(pool.lock().idle_bytes, 0);
        assert!(pool.lock().given_up.is_empty());
        pool.give(other);
        pool.give(unit);
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
    fn a_buffer_of_the_same_size_is_used_again() {
        let pool = BufferPool::new(100, 100);
        let mut buffer = pool.take(10).unwrap();
        buffer[0] = 7;
        pool.give(buffer);
        assert_eq!(pool.take(10).unwrap()[0], 7);
    }
}
