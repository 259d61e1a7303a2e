//! More and more requests in flight, until throughput stops growing.

use std::future::Future;
use std::time::{Duration, Instant};

use rechunk_store::StoreError;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Requests in flight that are tried, in this order.
pub(super) const IN_FLIGHT: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Throughput has stopped growing when so many rungs have not made it greater by [`GROWTH`].
const FLAT_RUNGS: usize = 2;
const GROWTH: f64 = 1.1;

/// Results of a number of requests in flight.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rung {
    /// Requests in flight.
    pub concurrency: u32,
    /// Requests that were answered.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Time they took together, seconds.
    pub seconds: f64,
    /// Time one of them took, the median, seconds.
    pub median_seconds: f64,
}

impl Rung {
    /// Requests answered in a second.
    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    /// Bytes moved in a second.
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }
}

/// Limits to climbing a ladder.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// Bytes of one request.
    pub request_bytes: u64,
    /// Most bytes of all rungs together.
    pub bytes: u64,
    /// Time for one rung; a rung takes as long as its slowest request.
    pub rung: Duration,
    pub cancel: CancellationToken,
}

/// Climbs: `request` is asked with the number of the slot it is in. A slot asks one request after
/// the other.
pub(super) async fn climb<F>(
    limits: &Limits,
    request: impl Fn(u32) -> F + Clone + Send + 'static,
) -> Result<Vec<Rung>, StoreError>
where
    F: Future<Output = Result<(), StoreError>> + Send,
{
    let mut rungs: Vec<Rung> = Vec::new();
    let mut left = limits.bytes / limits.request_bytes.max(1);
    for concurrency in IN_FLIGHT {
        let share = (limits.bytes / limits.request_bytes.max(1) / IN_FLIGHT.len() as u64).min(left);
        let is_too_dear =
            share < u64::from(concurrency) || is_too_slow(limits, &rungs, concurrency);
        if limits.cancel.is_cancelled() || has_stopped_growing(&rungs) {
            break;
        }
        if is_too_dear && !rungs.is_empty() {
            break;
        }
        let rung = rung(limits, concurrency, share.max(1), request.clone()).await?;
        left = left.saturating_sub(rung.requests);
        rungs.push(rung);
    }
    Ok(rungs)
}

/// So many requests would not be answered in a few times the time of a rung.
fn is_too_slow(limits: &Limits, rungs: &[Rung], concurrency: u32) -> bool {
    const PATIENCE: f64 = 4.0;
    let best = rungs.iter().map(Rung::requests_per_second).fold(0.0, f64::max);
    best > 0.0 && f64::from(concurrency) / best > limits.rung.as_secs_f64() * PATIENCE
}

fn has_stopped_growing(rungs: &[Rung]) -> bool {
    let Some(before) = rungs.len().checked_sub(FLAT_RUNGS).filter(|&before| before > 0) else {
        return false;
    };
    let best = |rungs: &[Rung]| rungs.iter().map(Rung::requests_per_second).fold(0.0, f64::max);
    best(&rungs[before..]) < best(&rungs[..before]) * GROWTH
}

/// The fewest requests in flight that come within a tenth of the best throughput.
pub(super) fn enough(rungs: &[Rung]) -> Option<u32> {
    let best = rungs.iter().map(Rung::requests_per_second).fold(0.0, f64::max);
    rungs.iter().find(|rung| rung.requests_per_second() * GROWTH >= best).map(|r| r.concurrency)
}

/// Measures one rung. Requests under way when the time is up, or when one fails, are waited for, so
/// that nothing is written after the end.
#[expect(clippy::disallowed_methods, reason = "it measures")]
async fn rung<F>(
    limits: &Limits,
    concurrency: u32,
    requests_max: u64,
    request: impl Fn(u32) -> F + Clone + Send + 'static,
) -> Result<Rung, StoreError>
where
    F: Future<Output = Result<(), StoreError>> + Send,
{
    let started = Instant::now();
    let deadline = started + limits.rung;
    let mut slots = JoinSet::new();
    for slot in 0..concurrency {
        let (request, cancel) = (request.clone(), limits.cancel.clone());
        let slots_max = u64::from(concurrency);
        let most = requests_max / slots_max + u64::from(u64::from(slot) < requests_max % slots_max);
        slots.spawn(async move {
            let mut each = Vec::new();
            while (each.len() as u64) < most && !cancel.is_cancelled() {
                let began = Instant::now();
                request(slot).await?;
                each.push(began.elapsed().as_secs_f64());
                if Instant::now() >= deadline {
                    break;
                }
            }
            Ok(each)
        });
    }
    let mut each: Vec<f64> = Vec::new();
    let mut failed = None;
    while let Some(slot) = slots.join_next().await {
        match slot {
            Ok(Ok(times)) => each.extend(times),
            Ok(Err(error)) => failed = failed.or(Some(error)),
            Err(error) => tracing::debug!(%error, "a slot of the probe ended early"),
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let requests = each.len() as u64;
    Ok(Rung {
        concurrency,
        requests,
        bytes: requests.saturating_mul(limits.request_bytes),
        seconds: started.elapsed().as_secs_f64().max(f64::MIN_POSITIVE),
        median_seconds: median(&mut each).unwrap_or(0.0),
    })
}

/// The median; `None` of nothing.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn limits(bytes: u64) -> Limits {
        Limits {
            request_bytes: 10,
            bytes,
            rung: Duration::from_millis(40),
            cancel: CancellationToken::new(),
        }
    }

    /// Rungs that answered so many requests in a second.
    fn answered(requests: &[u64]) -> Vec<Rung> {
        let rung = |(&concurrency, &requests): (&u32, &u64)| Rung {
            concurrency,
            requests,
            bytes: requests * 10,
            seconds: 1.0,
            median_seconds: 0.1,
        };
        IN_FLIGHT.iter().zip(requests).map(rung).collect()
    }

    #[test]
    fn a_ladder_ends_where_nothing_grows() {
        assert!(!has_stopped_growing(&answered(&[100, 100])));
        assert!(has_stopped_growing(&answered(&[100, 101, 102])));
        assert!(!has_stopped_growing(&answered(&[100, 90, 120])));
        assert!(!has_stopped_growing(&answered(&[100, 200, 400, 410])));
        assert!(has_stopped_growing(&answered(&[100, 200, 400, 410, 420])));
    }

    #[test]
    fn enough_is_the_fewest_that_are_nearly_the_best() {
        assert_eq!(enough(&answered(&[100, 200, 400, 410, 420])), Some(4));
        assert_eq!(enough(&answered(&[100, 101, 99])), Some(1));
        assert_eq!(enough(&answered(&[100, 200, 300, 400])), Some(8));
        assert_eq!(enough(&[]), None);
    }

    #[test]
    fn what_would_take_too_long_is_not_begun() {
        let limits = limits(1 << 40); // rungs of 40 ms: 160 ms are too long
        assert!(!is_too_slow(&limits, &answered(&[100]), 16));
        assert!(is_too_slow(&limits, &answered(&[100]), 17));
    }

    #[tokio::test]
    async fn requests_that_wait_are_faster_together() {
        let wait = |_| async {
            tokio::time::sleep(Duration::from_millis(4)).await;
            Ok(())
        };
        let rungs = climb(&limits(1 << 40), wait).await.unwrap();
        assert!(rungs[0].median_seconds >= 0.004, "{rungs:?}");
        let best = rungs.iter().map(Rung::requests_per_second).fold(0.0, f64::max);
        assert!(best > rungs[0].requests_per_second() * 3.0, "{rungs:?}");
    }

    #[tokio::test]
    async fn bytes_bound_the_requests() {
        let asked = Arc::new(AtomicU32::new(0));
        let count = {
            let asked = Arc::clone(&asked);
            move |_| {
                asked.fetch_add(1, Ordering::Relaxed);
                async { Ok(()) }
            }
        };
        climb(&limits(1000), count).await.unwrap();
        let asked = asked.load(Ordering::Relaxed);
        assert!((10..=100).contains(&asked), "{asked} requests of 10 bytes");
    }

    #[tokio::test]
    async fn a_failure_waits_for_the_others() {
        let done = Arc::new(AtomicU32::new(0));
        let fails = {
            let done = Arc::clone(&done);
            move |slot| {
                let done = Arc::clone(&done);
                async move {
                    if slot == 1 {
                        let (location, key) = ("x".to_owned(), "y".to_owned());
                        return Err(StoreError::NotFound { location, key });
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    done.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                }
            }
        };
        assert!(rung(&limits(1 << 40), 2, 1 << 20, fails).await.is_err());
        assert!(done.load(Ordering::Relaxed) >= 1);
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut []), None);
    }
}
