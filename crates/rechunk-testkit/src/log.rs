//! The log of requests, and how many were in flight at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::RequestRecord;
use crate::throttle::Serving;

/// A lock that a panicking test does not take from the others.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Shared = Arc<Mutex<RequestRecord>>;

/// All requests since the start or the last [`RequestLog::clear`].
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    records: Mutex<Vec<Shared>>,
}

impl RequestLog {
    /// Begins a request, which is served (or refused, without `serving`) until its end.
    pub(crate) fn begin(&self, record: RequestRecord, serving: Option<Serving>) -> Entry {
        let record = Arc::new(Mutex::new(record));
        lock(&self.records).push(Arc::clone(&record));
        Entry { record, _serving: serving }
    }

    pub(crate) fn records(&self) -> Vec<RequestRecord> {
        lock(&self.records).iter().map(|record| lock(record).clone()).collect()
    }

    pub(crate) fn clear(&self) {
        lock(&self.records).clear();
    }
}

/// The record of a request in flight. Dropping it ends the request, also if its client went away.
#[derive(Debug)]
pub(crate) struct Entry {
    record: Shared,
    _serving: Option<Serving>,
}

impl Entry {
    pub(crate) fn update(&self, change: impl FnOnce(&mut RequestRecord)) {
        change(&mut lock(&self.record));
    }

    pub(crate) fn snapshot(&self) -> RequestRecord {
        lock(&self.record).clone()
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.update(|record| record.ended = Some(Instant::now()));
    }
}

/// Times for which so many requests were in flight. Element `n` is the time with exactly `n`, from
/// the first request's start to the last one's end, or to `now` if one is still in flight.
pub fn in_flight_times(records: &[RequestRecord], now: Instant) -> Vec<Duration> {
    let mut changes: Vec<(Instant, bool)> = Vec::with_capacity(2 * records.len());
    for record in records {
        changes.push((record.started, true));
        changes.push((record.ended.unwrap_or(now), false));
    }
    // At one instant ends come first: two requests of which one follows the other never overlap.
    changes.sort_unstable();
    let (mut times, mut in_flight) = (Vec::new(), 0_usize);
    let mut since = changes.first().map_or(now, |(at, _)| *at);
    for (at, is_start) in changes {
        if times.len() <= in_flight {
            times.resize(in_flight + 1, Duration::ZERO);
        }
        times[in_flight] += at.saturating_duration_since(since);
        since = at;
        in_flight = if is_start { in_flight + 1 } else { in_flight.saturating_sub(1) };
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn record(start: Instant, from_ms: u64, to_ms: Option<u64>) -> RequestRecord {
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        RequestRecord {
            number: 1,
            method: "GET".into(),
            bucket: String::new(),
            key: String::new(),
            query: String::new(),
            operation: Operation::Get,
            range: None,
            status: None,
            request_body_bytes: 0,
            response_body_bytes: 0,
            fault: None,
            executions: 0,
            started: at(from_ms),
            ended: to_ms.map(at),
        }
    }

    #[test]
    fn times_in_flight_are_weighted() {
        let start = Instant::now();
        let records = [
            record(start, 0, Some(10)),
            record(start, 4, Some(6)),
            record(start, 10, Some(15)),
            record(start, 20, None),
        ];
        let times = in_flight_times(&records, start + Duration::from_millis(21));
        let milliseconds: Vec<u128> = times.iter().map(Duration::as_millis).collect();
        // 15..20 nobody; 0..4, 6..15 and 20..21 one; 4..6 two.
        assert_eq!(milliseconds, [5, 14, 2]);
    }

    #[test]
    fn nothing_in_flight_is_no_time() {
        assert_eq!(in_flight_times(&[], Instant::now()), Vec::<Duration>::new());
    }
}
