//! Who holds a target keeps it while he lives, and not longer.

use std::time::Duration;

use bytes::Bytes;
use rechunk::{Class, Existing, Strategy};
use rechunk_testkit::{SimEnd, SimFaults};
use tokio::time::{Instant, sleep};

use crate::sim::array::{METADATA, check_complete, disk, watch};
use crate::sim::process::{clean, copy, copy_by, copy_to};

/// Where intermediates go.
const TEMP: &str = "scratch";
/// How long one way to the store takes at most: a copy takes some seconds.
const LATENCY: Duration = Duration::from_millis(200);

#[tokio::test(start_paused = true)]
async fn of_two_at_once_one_is_refused() {
    let disk = disk(1);
    disk.set_faults(SimFaults::NONE, LATENCY);
    let findings = watch(&disk);
    let (first, second) = (disk.client(), disk.client());
    let second = async {
        sleep(Duration::from_millis(1200)).await;
        copy(&second, Strategy::Pull).await
    };
    let (first, second) = tokio::join!(copy(&first, Strategy::Pull), second);
    first.unwrap();
    let refused = second.unwrap_err();
    assert_eq!(refused.class(), Class::Target, "{refused}");
    assert!(refused.to_string().contains("is being written by another process"), "{refused}");
    check_complete(&disk).unwrap();
    assert!(findings.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_process_holds_is_taken_over_after_60_seconds() {
    let disk = disk(2);
    disk.set_faults(SimFaults::NONE, LATENCY);
    let dead = disk.client();
    dead.die_at(SimEnd::After(60));
    tokio::select! {
        () = dead.died() => {}
        ended = copy(&dead, Strategy::Pull) => panic!("it has ended: {ended:?}"),
    }
    let died = Instant::now();
    loop {
        match copy(&disk.client(), Strategy::Pull).await {
            Ok(report) => break assert!(report.tasks.unwrap().resumed < 100),
            Err(error) => assert!(error.to_string().contains("last heard of"), "{error}"),
        }
        assert!(died.elapsed() < Duration::from_secs(90), "not taken over in time");
        sleep(Duration::from_secs(1)).await;
    }
    assert!(died.elapsed() > Duration::from_secs(50), "taken from one that may live");
    check_complete(&disk).unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_was_paused_too_long_writes_no_metadata() {
    // Of the 66 calls before it is made known: while it looks around, as it takes the target, while
    // it copies.
    for calls in [20, 26, 28, 29, 30, 31, 32, 33, 34, 36, 40, 44, 48, 50, 55, 60, 65] {
        let disk = disk(calls);
        disk.set_faults(SimFaults::NONE, LATENCY);
        let findings = watch(&disk);
        let slow = disk.client();
        let paused = async {
            while slow.calls() < calls && disk.object(METADATA).is_none() {
                sleep(Duration::from_millis(1)).await;
            }
            let had_ended = disk.object(METADATA).is_some();
            slow.pause();
            sleep(Duration::from_secs(75)).await;
            let other = copy(&disk.client(), Strategy::Pull).await;
            slow.resume();
            (had_ended, other)
        };
        let (slow, (had_ended, other)) = tokio::join!(copy(&slow, Strategy::Pull), paused);
        if had_ended {
            continue; // it was done before it was paused
        }
        other.unwrap();
        match slow {
            // Paused before it had the target, it may find that it is complete.
            Ok(report) => assert!(calls <= 30 && report.already_complete, "at {calls}"),
            Err(lost) => {
                let said = lost.to_string();
                let is_clear = said.contains("taken over by another run")
                    || (calls <= 30 && said.contains("exists and is not empty"));
                assert!(is_clear && lost.class() == Class::Target, "at {calls}: {said}");
            }
        }
        check_complete(&disk).unwrap();
        assert!(findings.lock().unwrap().is_empty(), "{findings:?}");
        // What it had sent when it was paused may have come last: the next run takes it away. Its
        // job it sends when it has just taken the target: that looks as if it were still to be
        // done.
        let left = || disk.keys().into_iter().filter(|key| key.contains("rechunk"));
        let is_late = |key: String| key.contains("/segments/") || key.ends_with("/job.json");
        assert!(left().all(is_late), "{:?}", left().collect::<Vec<_>>());
        if left().any(|key| key.ends_with("/job.json")) {
            clean(&disk.client()).await.unwrap();
            check_complete(&disk).unwrap();
            assert_eq!(left().count(), 0, "at {calls}");
        } else if left().count() > 0 {
            copy(&disk.client(), Strategy::Pull).await.unwrap();
            assert_eq!(left().count(), 0, "at {calls}");
        }
    }
}

/// Its objects may be another's by then.
#[tokio::test(start_paused = true)]
async fn who_was_paused_too_long_deletes_no_more() {
    /// Objects of the array that is to be replaced, in names before those of chunks.
    const OLD: usize = 200;
    let disk = disk(7);
    disk.set_faults(SimFaults::NONE, LATENCY);
    copy(&disk.client(), Strategy::Pull).await.unwrap();
    for number in 0..OLD {
        disk.put(&format!("target.zarr/-/{number}"), Bytes::from_static(b"old"));
    }
    let old = || disk.keys().iter().filter(|key| key.contains("/-/")).count();
    let slow = disk.client();
    let paused = async {
        while old() > OLD - 50 {
            sleep(LATENCY / 2).await;
        }
        slow.pause();
        sleep(Duration::from_secs(75)).await;
        copy(&disk.client(), Strategy::Pull).await.unwrap();
        slow.resume();
        slow.calls()
    };
    let overwriting = copy_to(&slow, Strategy::Pull, Existing::Overwrite);
    let (lost, calls) = tokio::join!(overwriting, paused);
    let said = lost.unwrap_err().to_string();
    assert!(said.contains("taken over by another run"), "{said}");
    assert!(slow.calls() - calls < 50, "{} calls more", slow.calls() - calls);
    check_complete(&disk).unwrap();
    assert_eq!(old(), 0);
}

/// What is there then may be another one's.
#[tokio::test(start_paused = true)]
async fn nothing_is_listed_and_deleted_when_the_lock_is_gone() {
    let disk = disk(3);
    disk.set_faults(SimFaults::NONE, LATENCY);
    let dead = disk.client();
    dead.die_at(SimEnd::After(60));
    tokio::select! {
        () = dead.died() => {}
        ended = copy(&dead, Strategy::Pull) => panic!("it has ended: {ended:?}"),
    }
    disk.put("target.zarr.rechunk/stray", Bytes::from_static(b"of an older version"));
    sleep(Duration::from_secs(75)).await;
    disk.keep_log();
    clean(&disk.client()).await.unwrap();
    let log = disk.log();
    // What was the dead one's lock has been deleted before.
    let unlocked = log.iter().rposition(|line| line.contains("delete target.zarr.rechunk/lock "));
    let mut after = log[unlocked.unwrap()..].iter();
    let is_fine = |line: &String| line.contains("/lock ") || line.contains("/done.json ");
    assert!(after.all(is_fine), "{log:#?}");
    assert!(disk.keys().iter().all(|key| !key.contains("rechunk")), "{:?}", disk.keys());
}

/// An object of an intermediate elsewhere that was on its way when its run was paused comes when
/// the other run has ended, and nothing says any more that it is there.
#[tokio::test(start_paused = true)]
async fn what_comes_too_late_to_an_intermediate_elsewhere_is_removed() {
    let mut was_paused = 0;
    for calls in [34, 38, 42, 46, 50] {
        let disk = disk(calls);
        disk.set_faults(SimFaults::NONE, LATENCY);
        let slow = disk.client();
        let paused = async {
            while slow.calls() < calls && disk.object(METADATA).is_none() {
                sleep(Duration::from_millis(1)).await;
            }
            slow.pause();
            sleep(Duration::from_secs(75)).await;
            copy_by(&disk.client(), TEMP).await.unwrap();
            slow.resume();
        };
        let (lost, ()) = tokio::join!(copy_by(&slow, TEMP), paused);
        was_paused += u32::from(lost.is_err());
        sleep(Duration::from_mins(2)).await;
        let left: Vec<String> = disk.keys().into_iter().filter(|key| key.contains(TEMP)).collect();
        assert_eq!(left, [""; 0], "at {calls}");
        check_complete(&disk).unwrap();
    }
    assert!(was_paused > 0, "none was taken over: this tests nothing");
}
