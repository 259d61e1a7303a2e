//! Rows 27 to 33, and 35 to 37: bodies and paths that lie. Nothing of such a request is stored.

use std::time::Duration;

use rechunk_serve::DatastoreOptions;
use serde_json::json;

use crate::harness::{ABSENT, Store, block, description, wire};

const PAIR: &str = "1/1/1/0/0/0/0/0/0/0/1/0/0/0/0/0";

/// Sends two blocks, of which the first is right.
async fn refused(second: &[u8], what: &str) {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let first = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, PAIR, &[&first, second].concat()).await, 400, "{what}");
    assert_eq!(store.read(&id, PAIR).await, [ABSENT, ABSENT].concat(), "{what}");
    // The server lives, and takes what is right.
    let both = [first, block([36, 64, 60], 2, 2)].concat();
    assert_eq!(store.write(&id, PAIR, &both).await, 200, "{what}");
}

#[tokio::test]
async fn row_27_a_block_larger_than_the_level_has_is_refused() {
    refused(&block([65, 1, 1], 2, 1), "65 along x").await;
    refused(&block([1, 1, 65], 2, 1), "65 along z").await;
}

#[tokio::test]
async fn row_28_negative_sizes_are_refused() {
    refused(&wire([-1, -1, -1], &[]), "absent").await;
    refused(&wire([1, i32::MIN, 1], &[0, 0]), "least").await;
}

#[tokio::test]
async fn row_29_a_body_that_is_too_short_is_refused() {
    let whole = block([36, 64, 60], 2, 2);
    refused(&whole[..whole.len() - 1], "one byte").await;
    refused(&whole[..12], "all elements").await;
}

#[tokio::test]
async fn row_30_surplus_bytes_are_refused() {
    refused(&[&block([36, 64, 60], 2, 2)[..], &[0]].concat(), "one byte").await;
    refused(&[block([1, 1, 1], 2, 2), block([1, 1, 1], 2, 2)].concat(), "a block").await;
}

#[tokio::test]
async fn row_31_a_header_that_is_cut_is_refused() {
    refused(&[], "no header").await;
    refused(&wire([1, 1, 1], &[])[..11], "11 bytes").await;
}

#[tokio::test]
async fn row_32_half_a_position_is_refused() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let sent = block([1, 1, 1], 2, 1);
    for (path, wanted) in [
        ("0/0/0/0/0", 400),
        ("0/0/0/0/0/0/1", 400),
        ("0/0/0/0/0/0/1/0/0/0/0", 400),
        ("-1/0/0/0/0/0", 400),
        ("0/0/0/0/0/0/0/-7/0/0/0/0", 400),
        ("99999999999999999999/0/0/0/0/0", 400),
        ("a/0/0/0/0/0", 404),
        ("0//0/0/0/0", 404),
        ("+1/0/0/0/0/0", 404),
    ] {
        assert_eq!(store.write(&id, &format!("1/1/1/0/{path}"), &sent).await, wanted, "{path}");
        assert_eq!(store.get(&format!("/datasets/{id}/1/1/1/0/{path}")).await.0, wanted, "{path}");
    }
    // Beyond the grid nothing belongs to the image.
    assert_eq!(store.write(&id, "1/1/1/0/2/0/0/0/0/0", &sent).await, 400);
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
}

#[tokio::test]
async fn row_33_views_that_are_not_there_are_404() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let sent = block([1, 1, 1], 2, 1);
    for view in ["2/0/0", "0/2/0", "0/0/1"] {
        let pair = format!("1/1/1/0/0/0/0/0/0/0/0/0/0/{view}");
        assert_eq!(store.get(&format!("/datasets/{id}/{pair}")).await.0, 404, "{view}");
        assert_eq!(store.write(&id, &pair, &[&sent[..], &sent].concat()).await, 404, "{view}");
    }
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
}

#[tokio::test]
async fn row_35_another_type_of_body_is_refused() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let path = format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0");
    for media in ["text/plain", "application/json", "multipart/form-data"] {
        assert_eq!(store.post(&path, media, block([1, 1, 1], 2, 1)).await.0, 415, "{media}");
    }
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
}

#[tokio::test]
async fn row_36_a_body_above_the_limit_is_413() {
    let options = DatastoreOptions { body_bytes_max: 100_000, ..DatastoreOptions::default() };
    let store = Store::with(options).await;
    let id = store.create(&description(&json!({}))).await;
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &block([64, 64, 60], 2, 1)).await, 413);
    // One whose length is not said, too.
    let mut chunked = format!(
        "POST /datasets/{id}/1/1/1/0/0/0/0/0/0/0 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\
         Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n78000\r\n"
    )
    .into_bytes();
    chunked.extend(
        block([64, 64, 60], 2, 1).into_iter().chain(std::iter::repeat_n(0, 1 << 15)).take(0x78000),
    );
    chunked.extend(b"\r\n0\r\n\r\n");
    let said = store.served.raw_bytes(chunked).await;
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 413"), "{said}");
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &block([40, 40, 30], 2, 1)).await, 200);
    // A claim is refused before any byte of it.
    let head = format!(
        "POST /datasets/{id}/1/1/1/0/0/0/0/0/0/0 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\
         Content-Type: application/octet-stream\r\nContent-Length: 9223372036854775807\r\n\r\n"
    );
    let said = store.served.raw_bytes(head.into_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 413"), "{said}");
}

#[tokio::test]
async fn row_37_a_size_that_is_claimed_is_not_believed() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    for sizes in [[i32::MAX; 3], [i32::MAX, 1, 1], [64, 64, i32::MAX]] {
        assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &wire(sizes, &[1, 2, 3])).await, 400);
    }
    // The largest block that a data set may have: nothing is reserved for what does not come.
    let level = json!([{"resolutions": [1, 1, 1], "blockDimensions": [1024, 1024, 512]}]);
    let given = json!({"resolutionLevels": level, "dimensions": [1024, 1024, 512]});
    let id = store.create(&description(&given)).await;
    assert_eq!(
        store.write(&id, "1/1/1/0/0/0/0/0/0/0", &wire([1024, 1024, 512], &[1, 2])).await,
        400
    );
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let options =
        DatastoreOptions { stall_time: Duration::from_millis(300), ..DatastoreOptions::default() };
    let store = Store::with(options).await;
    let id = store.create(&description(&json!({}))).await;
    let head = format!(
        "POST /datasets/{id}/1/1/1/0/0/0/0/0/0/0 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\
         Content-Type: application/octet-stream\r\nContent-Length: 1000\r\n\r\n1234"
    );
    let said = store.served.raw_bytes(head.into_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
}

#[tokio::test]
async fn row_61_names_that_are_none_are_404() {
    let store = Store::new().await;
    for target in [
        "/datasets/%00",
        "/datasets/a%00b",
        "/datasets//",
        "/datasets/%2e%2e/1/1/1/0/0/0/0/0/0/0",
        "/datasets/..%2f..%2fetc/channels",
        "/datasets/%ff",
        "/datasets/.datastore/channels",
    ] {
        let said = store.served.raw("GET", target).await;
        assert!(said.starts_with("HTTP/1.1 4"), "{target}: {said}");
    }
    let long = format!("/datasets/{}", "x".repeat(4000));
    assert_eq!(store.get(&long).await.0, 404);
    for (method, path) in
        [("PUT", "/datasets/x/y"), ("POST", "/datasets/x/y"), ("POST", "/elsewhere")]
    {
        assert_eq!(store.ask(method, path).await.0, 404, "{method} {path}");
    }
}
