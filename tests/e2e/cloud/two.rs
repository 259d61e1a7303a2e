//! Two runs of one target at once: one writes, the other is told who does.

use super::{S3, small};
use crate::harness::{Done, Run};

/// Rounds of the normal run.
const ROUNDS: usize = 10;

/// Makes two runs of one target at once: one of them writes it, and who does not is refused. How
/// many were.
pub(super) fn refused_of(one: Run, other: Run, round: usize) -> usize {
    let done: Vec<Done> = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| one.go()), scope.spawn(|| other.go()));
        vec![one.join().unwrap(), other.join().unwrap()]
    });
    assert!(done.iter().any(|done| done.code == 0), "round {round}: {done:?}");
    let refused: Vec<&Done> = done.iter().filter(|done| done.code != 0).collect();
    for loser in &refused {
        assert_eq!(loser.code, 4, "round {round}: {loser:?}");
    }
    refused.len()
}

fn two_at_once(rounds: usize) {
    let s3 = S3::with(&small());
    let mut refused = 0;
    for round in 0..rounds {
        let options = ["--chunks", "24,8,16", "--strategy", "push-pull"];
        let resume: &[&str] = if round % 2 == 0 { &[] } else { &["--resume"] };
        let copy = || s3.copy("t.zarr", &[&options[..], resume].concat());
        refused += refused_of(copy(), copy(), round);
        s3.assert_copied("t.zarr");
        s3.forget("t.zarr");
    }
    println!("{refused} of {rounds} were refused");
    assert!(refused > 0, "they never met: this tests nothing");
}

#[test]
fn one_of_two_writes() {
    two_at_once(ROUNDS);
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn one_of_two_writes_a_hundred_times() {
    two_at_once(100);
}

/// The one that comes while another writes is told who that is, at once, and leaves it alone.
#[test]
fn the_holder_is_named() {
    use rechunk_testkit::{Filter, Moment};
    use std::time::{Duration, Instant};

    let s3 = S3::with(&small());
    let hold = s3.server.hold_nth(Filter::any().method("PUT").key("t.zarr/c/*"), 2, Moment::Before);
    let options = ["--chunks", "24,8,16", "--strategy", "pull"];
    let copy = s3.copy("t.zarr", &options);
    std::thread::scope(|scope| {
        let mut first = copy.start();
        hold.wait(Duration::from_mins(1)).expect("a chunk is written");
        let pid = first.id().to_string();
        for more in [&["--resume"][..], &["--overwrite"]] {
            let started = Instant::now();
            let done = s3.copy("t.zarr", &[&options[..], more].concat()).go();
            assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
            done.ends_with(4).says(&["another process", &pid, "last heard of"]);
        }
        // Without either, what is said first is that there is a run.
        s3.copy("t.zarr", &options).go().ends_with(4).says(&["--resume"]);
        hold.release();
        scope.spawn(move || assert!(first.wait().unwrap().success())).join().unwrap();
    });
    s3.assert_copied("t.zarr");
}
