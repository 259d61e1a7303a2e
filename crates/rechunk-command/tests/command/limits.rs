//! Retries, times, cancellation and how many programs run at once.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rechunk_command::{Answer, CommandError, Failure};

use crate::fixtures::{Bench, ends, failure, small};

#[test]
fn a_program_is_tried_again_in_a_new_directory() {
    let script = "echo ${1%/*} >> $3/tries; ls ${1%/*} >> $3/files; touch ${1%/*}/mess; \
                  [ $(wc -l < $3/tries) -ge 3 ] && cp $1 $2";
    let bench = Bench::shell(script, |spec| spec.retries = 2);
    assert_eq!(bench.run(&small()).unwrap(), Answer::Padded(small().bytes));
    let tries = bench.text("tries");
    let mut directories: Vec<_> = tries.lines().collect();
    directories.dedup();
    assert_eq!(directories.len(), 3);
    assert!(directories.iter().all(|directory| directory.contains("/task-3-0-")), "{tries}");
    assert_eq!(bench.text("files"), "in0.npy\ntask.json\n".repeat(3));
}

#[test]
fn attempts_end_and_are_counted() {
    let bench = Bench::shell(
        "grep -o '\"attempt\":[0-9]*' ${1%/*}/task.json >> $3/tries; exit 1",
        |spec| spec.retries = 2,
    );
    let failure = bench.fails();
    assert_eq!((failure.attempts, &failure.failure), (3, &Failure::Exit { code: 1 }));
    assert!(failure.to_string().contains(", the last of 3 attempts)"), "{failure}");
    assert_eq!(bench.text("tries"), "\"attempt\":1\n\"attempt\":2\n\"attempt\":3\n");
}

#[test]
fn a_timeout_kills_the_whole_group() {
    let script =
        "sleep 60 & echo $! > $3/child; trap '' TERM INT HUP; echo waiting >&2; wait; wait";
    let bench = Bench::shell(script, |spec| spec.timeout_milliseconds = Some(500));
    let started = Instant::now();
    let failure = bench.fails();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(failure.failure, Failure::TimedOut { limit: Duration::from_millis(500) });
    assert_eq!(failure.output, "waiting");
    assert!(failure.to_string().contains("ran for more than 500ms and was killed"), "{failure}");
    assert!(ends(&bench.text("child")));
}

#[test]
fn a_cancelled_run_kills_its_programs_and_starts_no_more() {
    let script = "echo $$ > $3/pid; sleep 60";
    let bench = Bench::shell(script, |spec| {
        spec.retries = 5;
        spec.jobs = Some(1);
    });
    let started = Instant::now();
    thread::scope(|scope| {
        let runs: Vec<_> = (0..3).map(|_| scope.spawn(|| bench.run(&small()))).collect();
        while bench.text("pid").is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        bench.cancel.store(true, Ordering::Relaxed);
        for run in runs {
            assert!(matches!(run.join().unwrap(), Err(CommandError::Cancelled)));
        }
    });
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(ends(&bench.text("pid")));
    assert!(matches!(bench.run(&small()), Err(CommandError::Cancelled)));
}

#[test]
fn no_more_programs_run_at_once_than_may() {
    // Each program counts those that have a directory here, itself included.
    let script = "mkdir -p $3/now; mkdir $3/now/$$; ls $3/now | wc -l >> $3/counts; sleep 0.1; \
                  ls $3/now | wc -l >> $3/counts; rmdir $3/now/$$; cp $1 $2";
    let bench = Bench::shell(script, |spec| spec.jobs = Some(2));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| bench.run(&small()).unwrap());
        }
    });
    let counts: Vec<u32> =
        bench.text("counts").lines().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(counts.len(), 12);
    assert_eq!(counts.into_iter().max(), Some(2));
}

#[test]
fn a_place_is_free_again_after_a_failure() {
    let bench = Bench::shell("exit 1", |spec| spec.jobs = Some(1));
    for _ in 0..3 {
        assert_eq!(failure(bench.run(&small()).unwrap_err()).failure, Failure::Exit { code: 1 });
    }
}
