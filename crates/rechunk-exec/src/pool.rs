//! Unit buffers that are used again instead of being returned to the allocator.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Byte buffers of one task slot. What is in use and what lies idle stay within a limit together:
/// the bytes the plan reserved for the output units of a task.
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
    idle: Vec<Vec<u8>>,
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
        // Sizes repeat (whole units), so one of the last few given back is almost always it.
        let recent = state.idle.iter().rev().take(8);
        if let Some(back) = recent.enumerate().find(|(_, b)| b.len() == bytes).map(|(at, _)| at) {
            let at = state.idle.len() - 1 - back;
            state.idle_bytes -= bytes;
            return Some(state.idle.swap_remove(at));
        }
        while state.in_use_bytes.saturating_add(state.idle_bytes) > self.limit_bytes
            && let Some(dropped) = state.idle.pop()
        {
            state.idle_bytes -= dropped.len();
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
            state.idle.push(buffer);
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
    fn a_buffer_of_the_same_size_is_used_again() {
        let pool = BufferPool::new(100, 100);
        let mut buffer = pool.take(10).unwrap();
        buffer[0] = 7;
        pool.give(buffer);
        assert_eq!(pool.take(10).unwrap()[0], 7);
    }
}
