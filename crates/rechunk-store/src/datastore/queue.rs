//! Blocks that wait to be sent together: a request takes all that wait when it can go.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most characters of the path of a request behind that of its level. Other clients keep to 2 000
/// in all, and servers take so many.
const PATH_MAX: usize = 1_800;
/// Most blocks of a request.
const BLOCKS_MAX: usize = 256;
/// Bytes of blocks beyond which no further one goes into a request: smaller servers take 10 MB.
const BYTES_MAX: u64 = 8 << 20;

/// Something that waits to be sent.
pub(super) trait Waiting {
    /// The block, as it stands in a path.
    fn address(&self) -> &str;
    /// Bytes that it adds to a request or to its answer, at most.
    fn bytes(&self) -> u64;
    /// False if nobody waits for it any more.
    fn is_wanted(&self) -> bool;
}

/// Things that wait, and how many requests carry some.
#[derive(Debug)]
pub(super) struct Queue<W> {
    state: Mutex<State<W>>,
    carriers_max: usize,
}

#[derive(Debug)]
struct State<W> {
    waiting: VecDeque<W>,
    carriers: usize,
}

/// The right to send what waits. It ends when nothing does.
#[derive(Debug)]
pub(super) struct Carrier<W> {
    queue: Arc<Queue<W>>,
    has_ended: bool,
}

impl<W: Waiting> Queue<W> {
    /// A queue that so many requests at once are sent from.
    pub(super) fn new(carriers_max: usize) -> Arc<Self> {
        let state = State { waiting: VecDeque::new(), carriers: 0 };
        Arc::new(Self { state: Mutex::new(state), carriers_max })
    }

    /// Adds something. Returns a carrier if there may be one more: whoever gets it sends.
    pub(super) fn push(self: &Arc<Self>, wish: W) -> Option<Carrier<W>> {
        let mut state = self.state();
        state.waiting.push_back(wish);
        if state.carriers >= self.carriers_max {
            return None;
        }
        state.carriers += 1;
        Some(Carrier { queue: Arc::clone(self), has_ended: false })
    }
}

impl<W> Queue<W> {
    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Waiting> Carrier<W> {
    /// Takes what goes into the next request; nothing when nothing waits, and the carrier ends.
    pub(super) fn take(&mut self) -> Vec<W> {
        let mut state = self.queue.state();
        let (mut taken, mut path, mut bytes) = (Vec::new(), 0, 0_u64);
        while let Some(next) = state.waiting.pop_front() {
            if !next.is_wanted() {
                continue;
            }
            path += next.address().len() + 1;
            bytes = bytes.saturating_add(next.bytes());
            let is_full = taken.len() == BLOCKS_MAX || path > PATH_MAX || bytes > BYTES_MAX;
            if is_full && !taken.is_empty() {
                state.waiting.push_front(next);
                break;
            }
            taken.push(next);
        }
        if taken.is_empty() {
            state.carriers -= 1;
            self.has_ended = true;
        }
        taken
    }
}

impl<W> Drop for Carrier<W> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.queue.state().carriers -= 1;
        }
    }
}

/// The path of some blocks.
pub(super) fn path<W: Waiting>(wishes: &[W]) -> String {
    wishes.iter().map(Waiting::address).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wish(String, u64, bool);

    impl Waiting for Wish {
        fn address(&self) -> &str {
            &self.0
        }
        fn bytes(&self) -> u64 {
            self.1
        }
        fn is_wanted(&self) -> bool {
            self.2
        }
    }

    #[test]
    fn what_waits_goes_together_within_the_limits() {
        let queue = Queue::new(1);
        let push = |bytes: u64, wanted: bool| queue.push(Wish("1/2/3/0/0/0".into(), bytes, wanted));
        let mut carrier = push(100, true).unwrap();
        assert!(push(100, false).is_none());
        for _ in 0..300 {
            assert!(push(100, true).is_none());
        }
        let counts: Vec<usize> =
            std::iter::from_fn(|| Some(carrier.take().len()).filter(|count| *count > 0)).collect();
        assert_eq!(counts, [150, 150, 1]); // by their path; what nobody waits for is left out
        let mut carrier = push(BYTES_MAX * 3, true).unwrap();
        push(BYTES_MAX / 2, true);
        push(BYTES_MAX / 2, true);
        push(1, true);
        let counts: Vec<usize> =
            std::iter::from_fn(|| Some(carrier.take().len()).filter(|count| *count > 0)).collect();
        assert_eq!(counts, [1, 2, 1]);
        drop(push(1, true)); // one that is given up makes room for another
        assert!(push(1, true).is_some());
    }
}
