//! Directories that are held, alone or beside others.

use futures::future::try_join_all;

use super::{local, parts};
use crate::DirectoryLock;

#[tokio::test]
async fn a_directory_is_held_by_one_at_a_time() {
    let (_directory, store) = local();
    store.put("x", parts("x")).await.unwrap();
    let held = DirectoryLock::take(&store).await.unwrap();
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { DirectoryLock::take(&store).await.map(|_| ()) }
    });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    drop(held);
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_directory_is_shared_by_many_or_held_by_one() {
    let (_directory, store) = local();
    store.put("x", parts("x")).await.unwrap();
    let alone = DirectoryLock::try_take(&store).await.unwrap().unwrap();
    assert!(DirectoryLock::try_take(&store).await.unwrap().is_none());
    assert!(DirectoryLock::try_share(&store).await.unwrap().is_none());
    drop(alone);
    let shares = [(); 2].map(|()| DirectoryLock::try_share(&store));
    let shares = try_join_all(shares).await.unwrap();
    assert!(shares.iter().all(Option::is_some));
    assert!(DirectoryLock::try_take(&store).await.unwrap().is_none());
    drop(shares);
    assert!(DirectoryLock::try_take(&store).await.unwrap().is_some());
}
