//! Row 40, and what else is on the disk: the blocks as others read them.

use std::fs;

use rechunk_serve::{Database, DatastoreOptions, open_read_only, open_writable};
use serde_json::json;

use crate::harness::{Store, block, description};

/// The bytes of an N5 block, written here after the specification: mode, rank, sizes, elements.
fn n5_block(wire: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 3][..], &wire[..12], &wire[12..]].concat()
}

#[tokio::test]
async fn row_40_the_file_of_a_block_is_as_n5_specifies() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"compression": "raw", "angles": 2}))).await;
    let sent = block([36, 16, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/0/1/1/0/1/1/0", &sent).await, 200);
    // Channel 1 at angle 0 of 2 is setup 2.
    let file = store.path(&format!("{id}/0/export.n5/setup2/timepoint1/s0/1/1/0"));
    assert_eq!(fs::read(&file).unwrap(), n5_block(&sent));
    // A block that another program has written is read.
    let other = block([36, 16, 60], 2, 2);
    fs::write(&file, n5_block(&other)).unwrap();
    assert_eq!(store.read(&id, "1/1/1/0/1/1/0/1/1/0").await, other);
}

#[tokio::test]
async fn a_damaged_block_is_an_error_and_never_absent() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let sent = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &sent).await, 200);
    let file = store.path(&format!("{id}/0/export.n5/setup0/timepoint0/s0/0/0/0"));
    let stored = fs::read(&file).unwrap();
    let mut larger = stored.clone();
    larger[4..8].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
    for damaged in [&stored[..stored.len() / 2], &stored[..3], b"", &larger] {
        fs::write(&file, damaged).unwrap();
        let (status, said) = store.get(&format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0")).await;
        assert_eq!(status, 500, "{said:?}");
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains(store.folder.path().to_str().unwrap()), "{said}");
    }
}

#[tokio::test]
async fn what_a_killed_server_has_left_is_removed_at_the_next_start() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let folder = store.close().await;
    let left = folder.path().join(".datastore/under-way/half/0/export.n5");
    fs::create_dir_all(&left).unwrap();
    let store = Store::at(folder, true, DatastoreOptions::default()).await;
    assert!(!left.exists());
    assert_eq!(store.versions(&id).await, json!([0]));
}

#[tokio::test]
async fn one_process_writes() {
    let store = Store::new().await;
    let root = rechunk_store::Store::open(store.folder.path().to_str().unwrap()).unwrap();
    let database = Database::in_root(store.folder.path());
    let error = open_writable(root.clone(), &database).await.unwrap_err();
    assert!(error.to_string().contains("another process writes"), "{error}");
    open_read_only(root, &database).await.unwrap();
    let nowhere = rechunk_store::Store::open("/nowhere/at/all").unwrap();
    let database = Database::in_root("/nowhere/at/all".as_ref());
    open_read_only(nowhere, &database).await.unwrap_err();
}

#[tokio::test]
async fn numbers_are_those_of_what_was_done() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let sent = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &sent).await, 200);
    store.read(&id, "1/1/1/0/0/0/0/0/0/0/1/0/0/0/0/0").await;
    let (status, text) = store.get("/metrics").await;
    let text = String::from_utf8_lossy(&text);
    assert_eq!(status, 200);
    for line in [
        "rechunk_datastore_blocks_read_total 2",
        "rechunk_datastore_blocks_written_total 1",
        &format!("rechunk_datastore_block_bytes_written_total {}", sent.len()),
        &format!("rechunk_datastore_block_bytes_read_total {}", sent.len() + 12),
        "rechunk_datastore_requests_total{method=\"POST\",status=\"200\"} 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert_eq!(store.get("/healthz").await, (200, "ok\n".into()));
    assert_eq!(store.get("/hello").await.0, 200);
}
