//! Requests are in flight while a store answers late: as many as `--concurrency` says, nearly all
//! of the time.

use std::time::{Duration, Instant};

use rechunk_testkit::{Operation, RequestRecord, in_flight_times};

use super::S3;
use crate::arrays::RawArray;
use crate::report::{assert_done, text};

const CONCURRENCY: usize = 16;
/// Time by which the server answers each request later.
const LATENCY: Duration = Duration::from_millis(30);
/// Requests at the beginning and at the end that are not looked at.
const ENDS: usize = 2 * CONCURRENCY;

/// Chunk by chunk. (What is not recoded the store copies itself.)
pub(super) const RECODED: &str = "--chunks keep --codec gzip:1 --strategy direct";

/// Whether it moves chunks, or pieces of an intermediate.
pub(super) fn is_data(request: &RequestRecord) -> bool {
    let is_chunk = request.key.contains("/c/") || request.key.contains(".rechunk/intermediate/");
    is_chunk && matches!(request.operation, Operation::Get | Operation::Put)
}

/// Times at which each number of the requests was in flight, between the first few and the last
/// few.
fn histogram(requests: &[RequestRecord]) -> Vec<Duration> {
    let (from, to) = (requests[ENDS].started, requests[requests.len() - ENDS].started);
    let now = Instant::now();
    let clipped = requests.iter().cloned().filter_map(|mut request| {
        let ended = request.ended.unwrap_or(now);
        (request.started, request.ended) = (request.started.max(from), Some(ended.min(to)));
        (request.started < to && ended > from).then_some(request)
    });
    in_flight_times(&clipped.collect::<Vec<_>>(), to)
}

/// The share of `most` requests that is in flight in the mean.
fn busy_share(times: &[Duration], most: usize) -> f64 {
    let all: f64 = times.iter().map(Duration::as_secs_f64).sum();
    let used = times.iter().zip(0_u32..).map(|(time, n)| time.as_secs_f64() * f64::from(n));
    used.sum::<f64>() / (all * most as f64)
}

fn print(name: &str, times: &[Duration]) {
    let all: f64 = times.iter().map(Duration::as_secs_f64).sum();
    println!("{name}: {all:.1} s, {:.1} % busy", 100.0 * busy_share(times, CONCURRENCY));
    for (in_flight, time) in times.iter().enumerate() {
        let percent = 100.0 * time.as_secs_f64() / all;
        let length = (1..=100).take_while(|&mark| f64::from(mark) <= percent).count();
        println!("{in_flight:4} in flight {percent:5.1} % {}", "#".repeat(length));
    }
}

/// Copies an array of `chunks` chunks, and looks at what is in flight meanwhile. `options` say
/// where they go; the plan is of that kind.
fn copy_is_busy(chunks: u64, options: &str, kind: &str, least_share: f64) {
    // Chunks of 4 KiB, 100 or fewer in a row.
    let row = (chunks / 10).min(100);
    let s3 = S3::with(&RawArray::v3(&[chunks / row * 32, row * 32], &[32, 32]));
    s3.server.set_latency(LATENCY);
    let concurrency = CONCURRENCY.to_string();
    let mut arguments = vec!["--concurrency", &concurrency];
    arguments.extend(options.split_whitespace());
    let report = s3.copy("t.zarr", &arguments).go().ok().json();
    s3.server.set_latency(Duration::ZERO);
    assert_done(&report);
    assert_eq!(text(&report, "plan.kind"), kind);
    let requests: Vec<_> = s3.server.requests().into_iter().filter(is_data).collect();
    for operation in [Operation::Get, Operation::Put] {
        let of: Vec<_> = requests.iter().filter(|r| r.operation == operation).cloned().collect();
        print(&format!("{operation:?}"), &histogram(&of));
    }
    let times = histogram(&requests);
    print(&format!("{kind}, {} requests", requests.len()), &times);
    // Reads and writes together are as many as were asked for, and one that was sent again.
    assert!(times.len() <= CONCURRENCY + 2, "more in flight than allowed");
    let share = busy_share(&times, CONCURRENCY);
    assert!(share >= least_share, "{share} of {CONCURRENCY} requests were in flight");
    s3.assert_copied("t.zarr");
}

/// Demands less than there is, because the machine may have much else to do. One request after the
/// other would be a share of 0.06.
#[test]
fn a_thousand_chunks_keep_requests_busy() {
    copy_is_busy(1_000, RECODED, "direct", 0.4);
    copy_is_busy(1_000, "--chunks 64,160 --strategy keep", "keep", 0.4);
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn ten_thousand_chunks_one_by_one_keep_requests_busy() {
    copy_is_busy(10_000, RECODED, "direct", 0.9);
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn ten_thousand_chunks_kept_keep_requests_busy() {
    copy_is_busy(10_000, "--chunks 48,40 --strategy keep", "keep", 0.9);
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn ten_thousand_chunks_pulled_keep_requests_busy() {
    copy_is_busy(10_000, "--chunks 16,64 --strategy pull", "pull", 0.9);
}

/// `just test-cloud`. Between the stages one large object is written, by one request.
#[test]
#[ignore = "long"]
fn ten_thousand_chunks_in_two_stages_keep_requests_busy() {
    copy_is_busy(10_000, "--chunks 3200,2 --strategy push-pull", "push-pull", 0.9);
}
