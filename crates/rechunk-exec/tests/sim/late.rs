//! Segments of the journal that come when their writer is gone.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rechunk_exec::{Journal, JournalHeader, NullObserver, run};
use rechunk_testkit::{SimFaults, SimStore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::expected::{Expected, execution, place};
use crate::scenario::Scenario;

/// A segment as a writer would send it.
fn segment(number: u64, writer: &str, marks: &str) -> Bytes {
    let line = |json: String| format!("{json} #{:08x}\n", crc32c::crc32c(json.as_bytes()));
    let head = line(format!(r#"{{"segment":{number},"writer":"{writer}"}}"#));
    Bytes::from(head + &line(marks.to_owned()))
}

#[tokio::test]
async fn what_an_earlier_writer_still_sends_takes_no_number_from_a_later_one() {
    let store = place(&SimStore::new(0).observer(), "work");
    let header = JournalHeader::new("plan", serde_json::json!({}));
    drop(Journal::create(&store, header, "first").await.unwrap());
    let journal = Journal::open(&store, "second").await.unwrap();
    assert!(journal.done().is_empty());
    let late = segment(1, "first", r#"{"stage":0,"task":7}"#);
    assert!(store.create("segments/00000001", late).await.unwrap().is_none());
    assert!(Journal::read(&store).await.unwrap().done.is_empty());
}

#[tokio::test]
async fn what_came_before_a_journal_is_opened_is_in_it() {
    let store = place(&SimStore::new(0).observer(), "work");
    let header = JournalHeader::new("plan", serde_json::json!({}));
    drop(Journal::create(&store, header, "first").await.unwrap());
    let late = segment(1, "first", r#"{"stage":0,"task":7}"#);
    store.create("segments/00000001", late).await.unwrap().unwrap();
    let journal = Journal::open(&store, "second").await.unwrap();
    assert!(journal.done().contains(0, 7));
}

#[tokio::test]
async fn a_journal_that_was_begun_unheard_is_gone_on_with() {
    let store = place(&SimStore::new(0).observer(), "work");
    let header = JournalHeader::new("plan", serde_json::json!({}));
    // By a program whose plans have another form, too.
    let old = JournalHeader { plan_version: header.plan_version - 1, ..header.clone() };
    drop(Journal::create(&store, old, "first").await.unwrap());
    let journal = Journal::create(&store, header, "second").await.unwrap();
    assert!(journal.done().is_empty());
    let other = JournalHeader::new("another plan", serde_json::json!({}));
    let error = Journal::create(&store, other, "third").await.unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_writes_no_more() {
    for seed in 0..200 {
        let scenario = Scenario::new(seed);
        let disk = SimStore::new(seed);
        Expected::new(&scenario, &disk).await;
        let client = disk.client();
        let at = |prefix| place(&client, prefix);
        let header = JournalHeader::new(&scenario.plan.fingerprint, serde_json::json!({}));
        let journal = Journal::create(&at("work"), header, "first").await.unwrap();
        disk.set_faults(SimFaults::NONE, Duration::from_millis(300));
        let execution = execution(&scenario, &at);
        let token = CancellationToken::new();
        let run = run(Arc::new(execution), Some(journal), Arc::new(NullObserver), token);
        drop(timeout(Duration::from_millis(100 * (seed % 30)), run).await);
        let calls = client.calls();
        sleep(Duration::from_mins(5)).await;
        assert_eq!(client.calls(), calls, "seed {seed}");
    }
}
