mod directory_lock;
#[cfg(unix)]
mod held_directory;
mod local;
mod location;
mod operations;
mod runs;
mod simulated;
mod uploads;

use bytes::Bytes;
use futures::TryStreamExt;
use tempfile::TempDir;

use crate::Store;

/// A store in a directory that does not exist yet, and the directory to be held on to.
fn local() -> (TempDir, Store) {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("new/data.zarr");
    let store = Store::open(root.to_str().unwrap()).unwrap();
    (directory, store)
}

/// Runs `test` on each kind of store: all must do alike.
async fn on_each<F: AsyncFn(Store)>(test: F) {
    let (_directory, store) = local();
    test(store.clone()).await;
    test(store.child("below it").unwrap()).await;
    test(Store::open("memory:").unwrap()).await;
    test(Store::open("memory:").unwrap().child("a/b").unwrap()).await;
}

fn parts(text: &str) -> Vec<Bytes> {
    let middle = text.len() / 2;
    vec![
        Bytes::copy_from_slice(&text.as_bytes()[..middle]),
        Bytes::copy_from_slice(&text.as_bytes()[middle..]),
    ]
}

async fn list(store: &Store, prefix: &str) -> Vec<(String, u64)> {
    let mut all: Vec<_> = store.list(prefix).try_collect().await.unwrap();
    all.sort();
    all
}

async fn keys(store: &Store, prefix: &str) -> Vec<String> {
    list(store, prefix).await.into_iter().map(|(key, _)| key).collect()
}
