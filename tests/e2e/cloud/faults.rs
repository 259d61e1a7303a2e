//! Stores that fail some of the time: the target is right, and it does not cost much more.

use rechunk_testkit::{Fault, Faults, Filter};
use std::time::Duration;

use super::{S3, assert_same, small};
use crate::arrays::RawArray;
use crate::harness::on_two_threads;
use crate::memory::BEYOND_BYTES;
use crate::report::number;

/// Seeds of each kind of fault in the normal run.
const SEEDS: u64 = 3;
/// Largest factor of requests beyond those that have to be repeated.
const OVERHEAD: f64 = 1.6;
const MIB: u64 = 1 << 20;

const PUSH_PULL: [&str; 6] = ["--chunks", "24,8,16", "--strategy", "push-pull", "--timeout", "120"];

/// A copy while `faults` befall its requests; how many there were, and how many of these were
/// faulty.
fn requests_under(s3: &S3, faults: Faults, options: &[&str]) -> (f64, f64) {
    s3.server.clear_requests();
    s3.server.set_faults(faults);
    s3.copy("t.zarr", options).go().ok();
    s3.server.set_faults(Faults::none());
    let requests = s3.server.requests();
    let faulty = requests.iter().filter(|request| request.fault.is_some()).count();
    s3.assert_copied("t.zarr");
    s3.forget("t.zarr");
    (requests.len() as f64, faulty as f64)
}

/// Copies that succeed whatever the seed, with few more requests than faults make necessary.
fn survives(faults: &Faults, seeds: u64) {
    let s3 = S3::with(&small());
    let (clean, _) = requests_under(&s3, Faults::none(), &PUSH_PULL);
    let (mut all, mut all_faulty) = (0.0, 0.0);
    for seed in 1..=seeds {
        let (requests, faulty) = requests_under(&s3, faults.clone().seed(seed), &PUSH_PULL);
        assert!(faulty > 0.0, "seed {seed}: nothing was faulty");
        (all, all_faulty) = (all + requests, all_faulty + faulty);
    }
    let (mean, rate) = (all / seeds as f64, all_faulty / all);
    println!("{clean} requests without faults, {mean:.0} with {:.1} % faulty", 100.0 * rate);
    assert!(mean <= OVERHEAD * clean / (1.0 - rate), "{mean} requests instead of {clean}, {rate}");
}

#[test]
fn three_requests_of_ten_may_fail() {
    survives(&Faults::rate(0.3), SEEDS);
}

#[test]
fn bad_days_are_survived() {
    survives(&Faults::medium(), SEEDS);
    survives(&Faults::hard(), SEEDS);
}

/// Every fault that an honest store can make, at each request of a small copy in turn.
fn kinds() -> Vec<Fault> {
    let more = [
        Fault::TruncatedBody,
        Fault::StalledBody(Some(Duration::from_millis(50))),
        Fault::Duplicate,
        Fault::Delay(Duration::from_millis(50)),
        Fault::StaleList(Duration::from_hours(1)),
        Fault::ErrorInOk,
    ];
    Fault::MOMENTARY.into_iter().chain(more).collect()
}

/// The smallest copy that has an intermediate.
fn smallest() -> (S3, [&'static str; 4]) {
    let s3 = S3::with(&RawArray::v3(&[4, 4, 8], &[2, 4, 8]));
    (s3, ["--chunks", "4,4,4", "--strategy", "push-pull"])
}

fn each_request_fails_once(faults: &[Fault], step: usize) {
    let counts = on_two_threads(faults, |&fault| {
        let (s3, options) = smallest();
        s3.copy("t.zarr", &options).go().ok();
        let requests = s3.server.requests();
        s3.forget("t.zarr");
        let befallen = (1..).zip(&requests).filter(|(_, r)| fault.can_befall(r.operation));
        let befallen: Vec<u64> = befallen.map(|(nth, _)| nth).step_by(step).collect();
        for &nth in &befallen {
            s3.server.fail_nth(Filter::any(), nth, fault);
            let done = s3.copy("t.zarr", &options).go();
            assert_eq!(done.code, 0, "{fault:?} at request {nth}: {}", done.stderr);
            s3.server.clear_hooks();
            s3.assert_copied("t.zarr");
            s3.forget("t.zarr");
        }
        befallen.len()
    });
    println!("{:?} requests failed once", counts.iter().sum::<usize>());
}

#[test]
fn every_kind_of_fault_may_befall_every_request() {
    each_request_fails_once(&kinds(), 4);
}

/// Wrong bits and wrong ETags from a store do not lead to a wrong array. Read again and compared,
/// they are found out before the array is one.
fn each_request_is_a_lie_once(step: usize) {
    on_two_threads(&[Fault::CorruptedBody, Fault::WrongETag], |&fault| {
        let (s3, options) = smallest();
        let options = [&options[..], &["--verify"]].concat();
        s3.copy("t.zarr", &options).go().ok();
        let requests = s3.server.requests();
        // What a source without checksums says is what there is: it is read once.
        let is_told = |key: &str| !key.starts_with("source.zarr/c/");
        let befallen =
            (1..).zip(&requests).filter(|(_, r)| fault.can_befall(r.operation) && is_told(&r.key));
        let befallen: Vec<u64> = befallen.map(|(nth, _)| nth).step_by(step).collect();
        let mut refused = 0;
        for nth in befallen {
            s3.forget("t.zarr");
            s3.server.fail_nth(Filter::any(), nth, fault);
            let done = s3.copy("t.zarr", &options).go();
            s3.server.clear_hooks();
            if done.code == 0 {
                assert_same(&s3.disk("source.zarr"), &s3.disk("t.zarr"));
            } else {
                refused += 1;
                let said = done.fails().stderr;
                assert!(!s3.disk("t.zarr/zarr.json").exists(), "{fault:?} at {nth}: {said}");
            }
        }
        println!("{fault:?}: {refused} runs were refused");
    });
}

#[test]
fn a_lie_is_found_out_or_does_no_harm() {
    each_request_is_a_lie_once(2);
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn every_lie_is_found_out_or_does_no_harm() {
    each_request_is_a_lie_once(1);
}

/// `just test-cloud`: as long as a connection may say nothing.
#[test]
#[ignore = "long"]
fn a_body_that_stops_for_ever_is_asked_for_again() {
    let (s3, options) = smallest();
    let chunks = Filter::any().method("GET").key("source.zarr/c/*");
    s3.server.fail_nth(chunks, 2, Fault::StalledBody(None));
    s3.copy("t.zarr", &options).go().ok();
    s3.assert_copied("t.zarr");
}

/// Memory does not grow because a request is tried again.
#[test]
fn memory_is_bounded_under_faults() {
    // 32 MiB, of which 8 are allowed beside the program.
    let s3 = S3::with(&RawArray::v3(&[128, 256, 256], &[4, 256, 256]));
    s3.server.set_faults(Faults::hard().seed(1));
    let budget_bytes = 64 * MIB;
    let budget = budget_bytes.to_string();
    let options = ["--chunks", "128,32,64", "--strategy", "push-pull", "--max-mem", &budget];
    let (done, peak_bytes) = s3.copy("t.zarr", &options).go_measured();
    let report = done.ok().json();
    s3.server.set_faults(Faults::none());
    s3.assert_copied("t.zarr");
    println!(
        "{} MiB allowed, {} planned, {} at its peak",
        budget_bytes / MIB,
        number(&report, "memory.planned_peak_bytes") / MIB,
        peak_bytes / MIB
    );
    assert!(peak_bytes <= budget_bytes + BEYOND_BYTES, "{peak_bytes} bytes at its peak");
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn thirty_seeds_of_every_kind_of_day() {
    survives(&Faults::rate(0.3), 30);
    survives(&Faults::medium(), 30);
    survives(&Faults::hard(), 30);
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn every_kind_of_fault_befalls_every_request() {
    each_request_fails_once(&kinds(), 1);
}
