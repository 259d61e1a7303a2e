//! Every kind of store, held to the contract of a store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use rechunk_conformance::stores::{OBJECTS, check_reading, check_store};
use rechunk_store::{Store, StoreOptions, Stores};
use rechunk_testkit::{GcsServer, HttpServer, S3Server, ServerOptions, SimFaults, SimStore};
use tempfile::TempDir;

/// Opens `url` with options and without retries: what fails here is to fail at once.
fn open(url: &str, said: &[String]) -> Store {
    let mut options = StoreOptions::default().with_max_retries(0);
    for option in said {
        options.add(option).unwrap();
    }
    Stores::new(options).open(url).unwrap()
}

#[tokio::test]
async fn a_local_directory() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("new/data.zarr");
    let store = Store::open(root.to_str().unwrap()).unwrap();
    check_store(&store).await.unwrap();
    check_store(&store.child("below it").unwrap()).await.unwrap();
    check_store(&store.with_retries(0, Duration::from_secs(9))).await.unwrap();
}

#[tokio::test]
async fn memory() {
    let store = Store::open("memory:").unwrap();
    check_store(&store).await.unwrap();
    check_store(&store.child("a/b").unwrap()).await.unwrap();
    check_store(&Store::objects_in_memory()).await.unwrap();
}

#[tokio::test]
async fn s3() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    check_store(&open(&server.url("data/a b"), &server.store_options())).await.unwrap();
}

#[tokio::test]
async fn gcs() {
    let server = GcsServer::start(&ServerOptions::default()).unwrap();
    let said = [format!("service_account_key={}", server.service_account_key())];
    check_store(&open(&server.url("data/a b"), &said)).await.unwrap();
}

#[tokio::test]
async fn a_web_server() {
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    for (key, bytes) in OBJECTS {
        let path = server.root().join("data").join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    check_reading(&open(&server.url("data"), &[])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_simulated_store() {
    let disk = SimStore::new(1);
    disk.set_faults(SimFaults::NONE, Duration::from_millis(10));
    let store = Store::from_object_store(Arc::new(disk.client()), "sim://disk");
    check_store(&store.with_retries(0, Duration::from_hours(1))).await.unwrap();
}
