//! Rows 59 and 60: many at once.

use std::sync::Arc;

use serde_json::json;

use crate::harness::{ABSENT, Store, block, description};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_59_and_60_every_block_that_is_read_while_it_is_written_is_a_whole_one() {
    let store = Arc::new(Store::new().await);
    let id = store.create(&description(&json!({"compression": "lz4"}))).await;
    let all: Arc<Vec<Vec<u8>>> =
        Arc::new((0..4).map(|seed| block([64, 64, 60], 2, seed)).collect());
    let path = "1/1/1/0/0/0/0/0/0/0";
    let writers = (0..4).map(|writer| {
        let (store, all, id) = (Arc::clone(&store), Arc::clone(&all), id.clone());
        tokio::spawn(async move {
            for _ in 0..10 {
                assert_eq!(store.write(&id, path, &all[writer]).await, 200);
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let readers = (0..100).map(|_| {
        let (store, all, id) = (Arc::clone(&store), Arc::clone(&all), id.clone());
        tokio::spawn(async move {
            for _ in 0..3 {
                let found = store.read(&id, path).await;
                assert!(
                    found == ABSENT || all.iter().any(|block| *block == found),
                    "{} bytes",
                    found.len()
                );
            }
        })
    });
    for task in readers.collect::<Vec<_>>().into_iter().chain(writers) {
        task.await.unwrap();
    }
    let last = store.read(&id, path).await;
    assert!(all.iter().any(|block| *block == last));
}
