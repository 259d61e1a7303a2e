//! Clients that ask too often.

use std::num::NonZeroU32;

use rechunk_serve::{DatastoreOptions, Role, TokenFile};

use crate::harness::{Store, header};

fn options(per_second: u32) -> DatastoreOptions {
    DatastoreOptions { rate: NonZeroU32::new(per_second), ..DatastoreOptions::default() }
}

/// Statuses of some requests, one behind the other.
async fn statuses(store: &Store, token: Option<&str>, count: usize) -> Vec<u16> {
    let mut all = Vec::new();
    for _ in 0..count {
        let mut request = store.served.get("/datasets/nothing");
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        all.push(request.send().await.unwrap().status().as_u16());
    }
    all
}

#[tokio::test]
async fn an_address_that_asks_too_often_is_told_when_to_come_again() {
    let store = Store::with(options(1)).await;
    assert_eq!(statuses(&store, None, 3).await, [404, 429, 429]);
    let answer = store.served.get("/datasets/nothing").send().await.unwrap();
    assert_eq!((answer.status().as_u16(), header(&answer, "retry-after")), (429, "1"));
    // Whether it is alive may be asked as often as one likes.
    for _ in 0..5 {
        assert_eq!(store.get("/healthz").await.0, 200);
    }
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let numbers = String::from_utf8(store.get("/metrics").await.1.to_vec()).unwrap();
    assert!(numbers.contains("requests_total{method=\"GET\",status=\"429\"} 3"), "{numbers}");
}

#[tokio::test]
async fn tokens_do_not_use_up_the_requests_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json").to_str().unwrap().to_owned();
    let file = TokenFile::at(&path).unwrap();
    let ada = file.add("ada", Role::Admin, None).await.unwrap();
    let bo = file.add("bo", Role::Admin, None).await.unwrap();
    let tokens = Some(TokenFile::at(&path).unwrap());
    let store = Store::with(DatastoreOptions { tokens, ..options(2) }).await;
    assert_eq!(statuses(&store, Some(&ada), 4).await[..3], [404, 404, 429]);
    assert_eq!(statuses(&store, Some(&bo), 2).await, [404, 404]);
    // Who tries tokens is counted by address.
    assert_eq!(statuses(&store, Some("rck_wrong"), 4).await[..3], [403, 403, 429]);
}
