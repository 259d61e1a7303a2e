//! Segments of the journal that come when their writer is gone.

use bytes::Bytes;
use rechunk_exec::{Journal, JournalHeader};
use rechunk_testkit::SimStore;

use crate::expected::place;

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
    drop(Journal::create(&store, header.clone(), "first").await.unwrap());
    let journal = Journal::create(&store, header, "second").await.unwrap();
    assert!(journal.done().is_empty());
    let other = JournalHeader::new("another plan", serde_json::json!({}));
    let error = Journal::create(&store, other, "third").await.unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
}
