//! Rows 41 to 49: versions.

use serde_json::json;

use crate::harness::{ABSENT, Store, block, description};

const A: &str = "0/0/0/0/0/0";
const B: &str = "1/0/0/0/0/0";

/// A data set with versions 0, 1 and 2, and three blocks.
async fn three() -> (Store, String, [Vec<u8>; 3]) {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    store.start(&id, "1/1/1/new/write").await;
    store.start(&id, "1/1/1/new/write").await;
    (store, id, [1, 2, 3].map(|seed| block([36, 64, 60], 2, seed)))
}

async fn write(store: &Store, id: &str, version: u32, at: &str, sent: &[u8]) {
    assert_eq!(store.write(id, &format!("1/1/1/{version}/{at}"), sent).await, 200);
}

#[tokio::test]
async fn row_41_mixed_latest_has_blocks_of_all_versions() {
    let (store, id, [a, b, _]) = three().await;
    write(&store, &id, 1, A, &a).await;
    write(&store, &id, 2, B, &b).await;
    assert_eq!(store.read(&id, &format!("1/1/1/mixedLatest/{A}/{B}")).await, [a, b].concat());
}

#[tokio::test]
async fn rows_42_and_43_mixed_latest_has_the_highest_version_that_is_left() {
    let (store, id, [first, second, _]) = three().await;
    write(&store, &id, 1, A, &first).await;
    write(&store, &id, 2, A, &second).await;
    let mixed = format!("1/1/1/mixedLatest/{A}");
    assert_eq!(store.read(&id, &mixed).await, second);
    assert_eq!(store.ask("DELETE", &format!("/datasets/{id}/2")).await.0, 200);
    assert_eq!(store.read(&id, &mixed).await, first);
}

#[tokio::test]
async fn row_44_latest_has_the_newest_alone() {
    let (store, id, [a, b, _]) = three().await;
    write(&store, &id, 1, A, &a).await;
    write(&store, &id, 2, B, &b).await;
    let (status, path) = store.start(&id, "1/1/1/latest/read").await;
    assert_eq!((status, path), (307, format!("/datasets/{id}/1/1/1/2/")));
    assert_eq!(store.read(&id, &format!("1/1/1/2/{A}/{B}")).await, [ABSENT, &b].concat());
}

#[tokio::test]
async fn row_45_an_old_version_may_be_written() {
    let (store, id, [newer, older, _]) = three().await;
    write(&store, &id, 2, A, &newer).await;
    write(&store, &id, 0, A, &older).await;
    assert_eq!(store.read(&id, &format!("1/1/1/0/{A}")).await, older);
    assert_eq!(store.read(&id, &format!("1/1/1/mixedLatest/{A}")).await, newer);
}

#[tokio::test]
async fn row_47_the_last_version_stays_and_a_request_is_done_whole_or_not() {
    let (store, id, _) = three().await;
    let path = format!("/datasets/{id}");
    for (versions, wanted) in
        [("1/7", 404), ("7", 404), ("0/1/2", 406), ("x", 400), ("1/latest", 400), ("-1", 400)]
    {
        assert_eq!(
            store.ask("DELETE", &format!("{path}/{versions}")).await.0,
            wanted,
            "{versions}"
        );
        assert_eq!(store.get(&format!("{path}/{versions}/delete")).await.0, wanted, "{versions}");
        assert_eq!(store.versions(&id).await, json!([0, 1, 2]), "{versions}");
    }
    assert_eq!(store.get(&format!("{path}/0/2/delete")).await.0, 200);
    assert_eq!(store.versions(&id).await, json!([1]));
    assert_eq!(store.ask("DELETE", &format!("{path}/1")).await.0, 406);
    assert_eq!(store.versions(&id).await, json!([1]));
}

#[tokio::test]
async fn row_48_a_gap_in_the_versions_stays() {
    let (store, id, [a, ..]) = three().await;
    assert_eq!(store.ask("DELETE", &format!("/datasets/{id}/1")).await.0, 200);
    assert_eq!(store.versions(&id).await, json!([0, 2]));
    assert_eq!(store.get(&format!("/datasets/{id}/1/1/1/1/{A}")).await.0, 404);
    assert_eq!(store.write(&id, &format!("1/1/1/1/{A}"), &a).await, 404);
    store.start(&id, "1/1/1/new/write").await;
    assert_eq!(store.versions(&id).await, json!([0, 2, 3]));
}

#[tokio::test]
async fn row_49_a_new_version_is_made_by_nothing_that_fails_or_only_asks() {
    let (store, id, _) = three().await;
    for (method, path) in [
        ("HEAD", "1/1/1/new/write"),
        ("GET", "3/3/3/new/write"),
        ("GET", "1/1/1/new/fly"),
        ("GET", "1/1/1/new/write?timeout=x"),
    ] {
        let status = store.ask(method, &format!("/datasets/{id}/{path}")).await.0;
        assert!((400..500).contains(&status), "{method} {path}: {status}");
    }
    // Nor by a link on a page of another site.
    let request = store.served.get(&format!("/datasets/{id}/1/1/1/new/write"));
    let answer = request.header("sec-fetch-site", "cross-site").send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert_eq!(store.versions(&id).await, json!([0, 1, 2]));
}
