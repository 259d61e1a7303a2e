//! A process that dies at any point, and what comes after it. `RECHUNK_GROWTH_EVERY=1` tries every
//! call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rechunk::Existing;
use rechunk_testkit::{SimEnd, SimFaults, SimStore};
use tokio::time::sleep;

use crate::growth::array::{Expected, Plain};
use crate::growth::oracle::Stored;
use crate::growth::process::{append, clean, every, fresh, read, region, resume, run};

const BEFORE: [u64; 2] = [7, 6];
const CHUNK: [u64; 2] = [4, 4];

/// A store with an array that is to grow, and what it is to grow by.
async fn begun(stored: Stored) -> (SimStore, Expected, Expected) {
    let disk = SimStore::new(3);
    let first = Plain::new(&BEFORE, &[3, 6]);
    first.write(&disk, "first.zarr");
    fresh(&disk, stored.make(&CHUNK)).await.unwrap();
    let more = Plain::new(&[6, 6], &[2, 5]).at(&[BEFORE[0], 0]);
    more.write(&disk, "more.zarr");
    let before = Expected::of(&first);
    let mut after = before.clone();
    after.append(&more, 0);
    (disk, before, after)
}

/// What of the work is left beside the target.
fn left(disk: &SimStore) -> Vec<String> {
    let of_work = |key: &String| key.contains(".rechunk/") && !key.ends_with(".rechunk/lock");
    disk.keys().into_iter().filter(of_work).collect()
}

/// Runs until it dies at that call; true if it came to its end.
async fn dies(disk: &SimStore, request: &rechunk::CopyRequest, end: SimEnd) -> bool {
    let client = disk.client();
    client.die_at(end);
    let ended = tokio::select! {
        () = client.died() => false,
        ended = run(&client, request.clone(), Existing::Refuse, false) => ended.is_ok(),
    };
    client.die();
    ended
}

async fn dies_anywhere(stored: Stored, step: usize) {
    for call in (1..).step_by(every(step)) {
        for cleans in [false, true] {
            let (disk, before, after) = begun(stored).await;
            let request = append("more.zarr", stored.path(), "0");
            let end = if call % 2 == 0 { SimEnd::Before(call) } else { SimEnd::After(call) };
            let ended = dies(&disk, &request, end).await;
            // Whoever reads sees all or nothing.
            let seen = read(&disk, stored.path()).await;
            assert!(seen == before || seen == after, "{stored:?} at {call}");
            let was_known = seen == after;
            if cleans {
                clean(&disk, stored.path()).await.unwrap();
                assert_eq!(read(&disk, stored.path()).await, seen, "{stored:?} cleaned at {call}");
                assert_eq!(left(&disk), [""; 0], "{stored:?} cleaned at {call}");
                if !was_known {
                    fresh(&disk, request.clone()).await.unwrap();
                }
            } else if !resume(&disk, &request).await.unwrap() && !was_known {
                fresh(&disk, request.clone()).await.unwrap();
            }
            assert_eq!(read(&disk, stored.path()).await, after, "{stored:?} at {call}");
            // Once more changes nothing.
            assert!(!resume(&disk, &request).await.unwrap(), "{stored:?} at {call}");
            assert_eq!(left(&disk), [""; 0], "{stored:?} at {call}");
            if ended {
                return;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_may_die_at_many_calls() {
    Box::pin(dies_anywhere(Stored::V2, 3)).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_may_die_at_many_calls_with_shards() {
    Box::pin(dies_anywhere(Stored::Sharded, 7)).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_may_die_at_many_calls_with_n5() {
    Box::pin(dies_anywhere(Stored::N5, 7)).await;
}

/// A region is written again until all of it is there; around it nothing ever changes.
#[tokio::test(start_paused = true)]
async fn a_region_may_be_interrupted_at_many_calls() {
    for call in (1..).step_by(every(5)) {
        let (disk, before, _) = begun(Stored::V2).await;
        let part = Plain::new(&[3, 4], &[2, 2]).at(&[70, 70]);
        part.write(&disk, "part.zarr");
        let request = region("part.zarr", "target.zarr", "2:5,1:5");
        let mut after = before.clone();
        after.put(&part, &[2, 1]);
        let ended = dies(&disk, &request, SimEnd::Before(call)).await;
        let seen = read(&disk, "target.zarr").await;
        let is_between = |at: usize| {
            let element = seen.elements[at];
            element == before.elements[at] || element == after.elements[at]
        };
        assert!((0..seen.elements.len()).all(is_between), "at {call}");
        if !resume(&disk, &request).await.unwrap() && seen != after {
            fresh(&disk, request.clone()).await.unwrap();
        }
        assert_eq!(read(&disk, "target.zarr").await, after, "at {call}");
        if ended {
            return;
        }
    }
}

/// No chunk is ever written, at any time, in which an old element is another.
#[tokio::test(start_paused = true)]
async fn old_elements_are_never_touched() {
    let (disk, before, after) = begun(Stored::V2).await;
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let (found, old) = (Arc::clone(&wrong), before.clone());
    disk.watch(move |_, key, bytes| {
        let Some(index) = key.strip_prefix("target.zarr/").and_then(|key| key.split_once('.'))
        else {
            return;
        };
        let (Ok(row), Ok(column)) = (index.0.parse::<u64>(), index.1.parse::<u64>()) else {
            return;
        };
        for (number, two) in bytes.chunks(2).enumerate() {
            let at = [
                row * CHUNK[0] + number as u64 / CHUNK[1],
                column * CHUNK[1] + number as u64 % CHUNK[1],
            ];
            let is_old = at[0] < BEFORE[0] && at[1] < BEFORE[1];
            let place = usize::try_from(at[0] * BEFORE[1] + at[1]).unwrap();
            if is_old && old.elements[place].to_le_bytes() != two {
                found.lock().unwrap().push(format!("{key} at {at:?}"));
            }
        }
    });
    fresh(&disk, append("more.zarr", "target.zarr", "0")).await.unwrap();
    assert_eq!(read(&disk, "target.zarr").await, after);
    assert_eq!(*wrong.lock().unwrap(), [""; 0]);
}

/// Two processes append at once: one after the other, or one is refused; never one over the other.
#[tokio::test(start_paused = true)]
async fn two_appends_at_once_are_not_one() {
    for pause in [0, 200, 400, 600, 800, 1000, 1500, 2000, 3000, 5000] {
        let (disk, before, _) = begun(Stored::V2).await;
        disk.set_faults(SimFaults::NONE, Duration::from_millis(100));
        let parts = [("one.zarr", 100), ("two.zarr", 200)].map(|(path, start)| {
            let part = Plain::new(&[5, 6], &[2, 5]).at(&[start, 0]);
            part.write(&disk, path);
            (path, part)
        });
        let clients = [disk.client(), disk.client()];
        let run = async |number: usize, after: u64| {
            sleep(Duration::from_millis(after)).await;
            let request = append(parts[number].0, "target.zarr", "0");
            run(&clients[number], request, Existing::Refuse, false).await
        };
        let (one, two) = tokio::join!(Box::pin(run(0, 0)), Box::pin(run(1, pause)));
        let after = |order: &[usize]| {
            let mut expected = before.clone();
            for &part in order {
                expected.append(&parts[part].1, 0);
            }
            expected
        };
        let right = match (&one, &two) {
            (Ok(_), Ok(_)) => vec![after(&[0, 1]), after(&[1, 0])],
            (Ok(_), Err(_)) => vec![after(&[0])],
            (Err(_), Ok(_)) => vec![after(&[1])],
            (Err(one), Err(two)) => panic!("both are refused: {one} {two}"),
        };
        let found = read(&disk, "target.zarr").await;
        assert!(right.contains(&found), "after {pause} ms");
    }
}
