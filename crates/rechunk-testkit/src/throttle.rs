//! A store that takes so many requests and refuses the others.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Load that a server takes before it answers 503 SlowDown; the default is everything. Refused
/// requests are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Most requests that are served at once.
    pub most_in_flight: Option<u32>,
    /// Most requests that are served within any second.
    pub most_per_second: Option<u32>,
}

/// Requests that a server is serving.
#[derive(Debug, Default)]
pub(crate) struct Load {
    pub(crate) throttle: Throttle,
    in_flight: Arc<AtomicU32>,
    /// When those of the last second came, where they are counted.
    recent: VecDeque<Instant>,
}

/// A request that is served, until this is dropped.
#[derive(Debug)]
pub(crate) struct Serving(Arc<AtomicU32>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Load {
    /// Takes a request that comes now, or refuses it.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<Serving> {
        let Throttle { most_in_flight, most_per_second } = self.throttle;
        if most_in_flight.is_some_and(|most| self.in_flight.load(Ordering::Acquire) >= most) {
            return None;
        }
        if let Some(most) = most_per_second {
            let is_old =
                |at: &Instant| now.saturating_duration_since(*at) >= Duration::from_secs(1);
            while self.recent.pop_front_if(|at| is_old(at)).is_some() {}
            if self.recent.len() as u64 >= u64::from(most) {
                return None;
            }
            self.recent.push_back(now);
        }
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        Some(Serving(Arc::clone(&self.in_flight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_so_many_a_second() {
        let (mut load, now) = (Load::default(), Instant::now());
        let one = load.admit(now);
        load.throttle = Throttle { most_in_flight: Some(2), most_per_second: None };
        let two = load.admit(now);
        assert!(two.is_some() && load.admit(now).is_none(), "those before count");
        drop(one);
        assert!(load.admit(now).is_some() && load.admit(now).is_some(), "nobody keeps them");
        load.throttle = Throttle { most_in_flight: None, most_per_second: Some(3) };
        let at = |milliseconds| now + Duration::from_millis(milliseconds);
        let taken =
            [0, 400, 500, 600, 999, 1000, 1001, 1400].map(|ms| load.admit(at(ms)).is_some());
        assert_eq!(taken, [true, true, true, false, false, true, false, true]);
        load.throttle = Throttle::default();
        assert!((0..100).all(|_| load.admit(now).is_some()));
    }
}
