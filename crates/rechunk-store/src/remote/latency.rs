//! Times that requests like each other take until an answer begins.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Answers that are remembered of each kind of request.
const REMEMBERED: usize = 128;
/// Fewer say nothing.
const FEWEST: usize = 20;

/// Kind of a request, as far as its time depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Like {
    /// Metadata of an object.
    Head,
    /// Bytes of an object: the power of four that they, or the most there may be, come to.
    Read(u32),
}

impl Like {
    /// A read of so many bytes, or of no more than that.
    pub(crate) fn read(bytes: u64) -> Self {
        Self::Read(bytes.max(1).ilog2() / 2)
    }
}

/// The times of the last requests of each kind; at most one kind for each power of four.
#[derive(Debug, Default)]
pub(crate) struct Latencies(BTreeMap<Like, VecDeque<Duration>>);

impl Latencies {
    /// A request took that long, or was given up after it.
    pub(crate) fn record(&mut self, like: Like, time: Duration) {
        let times = self.0.entry(like).or_default();
        if times.len() == REMEMBERED {
            times.pop_front();
        }
        times.push_back(time);
    }

    /// Time that 95 of 100 took at most; `None` while too few are known.
    pub(crate) fn p95(&self, like: Like) -> Option<Duration> {
        let times = self.0.get(&like).filter(|times| times.len() >= FEWEST)?;
        let mut sorted: Vec<Duration> = times.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get((sorted.len() - 1) * 95 / 100).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_of_a_hundred_are_slower_and_the_old_are_forgotten() {
        let mut latencies = Latencies::default();
        let (like, second) = (Like::read(5000), Duration::from_secs(1));
        for number in 1..=19 {
            latencies.record(like, second * number);
        }
        assert_eq!(latencies.p95(like), None, "too few");
        latencies.record(like, second * 20);
        assert_eq!(latencies.p95(like), Some(second * 19));
        assert_eq!(latencies.p95(Like::read(50_000)), None, "others are not like it");
        assert_eq!(latencies.p95(Like::Head), None);
        for _ in 0..REMEMBERED {
            latencies.record(Like::read(6000), second);
        }
        assert_eq!(latencies.p95(like), Some(second));
    }
}
