//! A store that is gone for good in the middle of a copy, and comes back.

use std::time::{Duration, Instant};

use rechunk_testkit::{Filter, Moment};

use super::{S3, small};
use crate::arrays::RawArray;
use crate::harness::Done;
use crate::report::number;

/// Time for which the copies here are patient.
const TIMEOUT: Duration = Duration::from_secs(6);
/// Time beyond it that they may take until they say so.
const GRACE: Duration = Duration::from_secs(10);

fn options() -> [&'static str; 8] {
    ["--chunks", "24,8,16", "--strategy", "push-pull", "--timeout", "6", "--concurrency", "2"]
}

/// A copy while which the server stops at the `nth` write of a chunk, and how long it took to end.
fn copy_into_outage(s3: &S3, nth: u64) -> (Done, Duration) {
    let hold =
        s3.server.hold_nth(Filter::any().method("PUT").key("t.zarr/c/*"), nth, Moment::Before);
    let copy = s3.copy("t.zarr", &options());
    std::thread::scope(|scope| {
        let copying = scope.spawn(|| copy.go());
        hold.wait(Duration::from_mins(1)).expect("a chunk is written");
        hold.abandon();
        s3.server.stop();
        let stopped = Instant::now();
        (copying.join().unwrap(), stopped.elapsed())
    })
}

#[test]
fn an_outage_ends_the_run_in_time_and_the_next_goes_on() {
    let s3 = S3::with(&small());
    let (done, took) = copy_into_outage(&s3, 8);
    let done = done.ends_with(1).says(&["--resume", "t.zarr"]);
    assert!(took < TIMEOUT + GRACE, "{took:?} until it said: {}", done.stderr);
    // While it lasts, nothing else can be said.
    let started = Instant::now();
    s3.copy("t.zarr", &[&options()[..], &["--resume"]].concat()).go().fails();
    assert!(started.elapsed() < TIMEOUT + GRACE);
    s3.server.restart().unwrap();
    s3.server.clear_requests();
    let report = s3.copy("t.zarr", &[&options()[..], &["--resume"]].concat()).go().ok().json();
    s3.assert_copied("t.zarr");
    assert!(number(&report, "tasks.resumed") > 0, "what was done is done again");
    let whole = number(&report, "estimate.source.get_requests");
    assert!(number(&report, "traffic.source.get_requests") < whole, "all is read again");
}

/// A server that takes connections and says nothing.
#[test]
fn a_store_that_hangs_is_an_outage() {
    let s3 = S3::with(&RawArray::v3(&[4, 4], &[2, 4]));
    s3.server.set_latency(Duration::from_hours(1));
    let started = Instant::now();
    s3.copy("t.zarr", &["--timeout", "2"]).go().fails().says(&["source.zarr"]);
    assert!(started.elapsed() < Duration::from_secs(2) + GRACE, "{:?}", started.elapsed());
}

/// A short one is waited out.
#[test]
fn a_short_outage_is_waited_out() {
    let s3 = S3::with(&small());
    let hold = s3.server.hold_nth(Filter::any().method("PUT").key("t.zarr/c/*"), 3, Moment::Before);
    let copy = s3.copy("t.zarr", &["--chunks", "24,8,16", "--timeout", "60"]);
    std::thread::scope(|scope| {
        let copying = scope.spawn(|| copy.go());
        hold.wait(Duration::from_mins(1)).expect("a chunk is written");
        hold.abandon();
        s3.server.stop();
        std::thread::sleep(Duration::from_secs(2));
        s3.server.restart().unwrap();
        copying.join().unwrap().ok();
    });
    s3.assert_copied("t.zarr");
}
