//! Conditional writes on a store where answers and parts of bodies are lost.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rechunk_testkit::{SimFaults, SimStore};

use crate::Store;

fn store(disk: &SimStore) -> Store {
    let store = Store::from_object_store(Arc::new(disk.client()), "sim://disk");
    store.with_retries(50, Duration::from_hours(1))
}

#[tokio::test(start_paused = true)]
async fn a_part_of_an_object_is_not_another_one() {
    for seed in 0..50 {
        let disk = SimStore::new(seed);
        let faults = SimFaults { answer_lost: 50, short: 50, ..SimFaults::NONE };
        disk.set_faults(faults, Duration::from_millis(10));
        let created = store(&disk).create("a", Bytes::from_static(b"of the first")).await.unwrap();
        assert!(created.is_some(), "seed {seed}: its own object is taken for that of another");
        let seen = store(&disk).snapshot("a", 100).await.unwrap().unwrap();
        assert_eq!(seen.bytes, "of the first", "seed {seed}");
        let other = store(&disk).create("a", Bytes::from_static(b"of the second")).await.unwrap();
        assert!(other.is_none(), "seed {seed}");
    }
}

/// A question for the time may be removed, too, by a program that clears the place up.
#[tokio::test(start_paused = true)]
async fn the_time_is_asked_for_again() {
    for removed in [1, 2] {
        let disk = SimStore::new(7);
        let (client, mut left) = (store(&disk), removed);
        disk.watch(move |_, key, _| {
            if key == "clock" && left > 0 {
                left -= 1;
                let client = client.clone();
                tokio::spawn(async move { client.delete("clock").await });
            }
        });
        disk.set_faults(SimFaults::NONE, Duration::from_millis(10));
        store(&disk).clock_seconds("clock").await.unwrap();
        assert!(disk.object("clock").is_none());
    }
}
