//! The server of Google's XML API.

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{CopyMode, CopyOptions, Error, ObjectStore, ObjectStoreExt};
use rechunk_testkit::{Fault, Faults, Filter, GcsServer, Operation, ServerOptions};

use crate::contract::{bytes, check};
use crate::stores::{gcs, once, retries};

#[tokio::test]
async fn google_does_what_a_store_has_to() {
    let server = GcsServer::start(&ServerOptions::default()).unwrap();
    check(&gcs(&server, once())).await;
    assert_eq!(server.unfinished_uploads(), 0);
    let wrong = server.requests().into_iter().find(|r| r.fault.is_some() || r.ended.is_none());
    assert_eq!(wrong, None);
}

#[tokio::test]
async fn generations_and_absence_are_googles() {
    let server = GcsServer::start(&ServerOptions::default()).unwrap();
    let store = gcs(&server, once());
    let (from, to) = (Path::from("from"), Path::from("to"));
    let put = store.put(&from, "x".into()).await.unwrap();
    let head = store.head(&from).await.unwrap();
    assert!(put.version.is_some());
    assert_eq!((head.version, head.e_tag), (put.version, put.e_tag));
    let if_absent = || CopyOptions { mode: CopyMode::Create, ..CopyOptions::default() };
    store.copy_opts(&from, &to, if_absent()).await.unwrap();
    let again = store.copy_opts(&from, &to, if_absent()).await.unwrap_err();
    assert!(matches!(again, Error::AlreadyExists { .. }), "{again:?}");
    store.delete(&from).await.unwrap();
    // Google says so, S3 does not.
    let absent = store.delete(&from).await.unwrap_err();
    assert!(matches!(absent, Error::NotFound { .. }), "{absent:?}");
    let mut upload = store.put_multipart(&from).await.unwrap();
    upload.put_part("x".into()).await.unwrap();
    assert_eq!(server.unfinished_uploads(), 1);
}

#[tokio::test]
async fn the_same_faults_befall_google() {
    let server = GcsServer::start(&ServerOptions::default()).unwrap();
    let (store, data) = (gcs(&server, retries(10)), bytes(50_000));
    for fault in [Fault::SlowDown, Fault::ResetAfter, Fault::InternalError] {
        server.fail_nth(Filter::any().operation(Operation::Put), 1, fault);
        store.put(&Path::from("a"), data.clone().into()).await.unwrap();
        let log = server.requests();
        assert_eq!(log[log.len() - 2].fault, Some(fault));
    }
    server.fail_nth(Filter::any().method("GET"), 1, Fault::TruncatedBody);
    let got = store.get(&Path::from("a")).await.unwrap().bytes().await.unwrap();
    assert_eq!(got, data);
    let minute = std::time::Duration::from_mins(1);
    server.set_faults(Faults::none().with(Fault::StaleList(minute), 1.0));
    let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
    assert!(listed.is_empty());
}

#[tokio::test]
async fn objects_outlive_their_server() {
    let root = tempfile::tempdir().unwrap();
    let options = ServerOptions { root: Some(root.path().into()), ..Default::default() };
    let server = GcsServer::start(&options).unwrap();
    let key = Path::from("a/b");
    let put = gcs(&server, once()).put(&key, "x".into()).await.unwrap();
    drop(server);
    let server = GcsServer::start(&options).unwrap();
    let head = gcs(&server, once()).head(&key).await.unwrap();
    assert_eq!((head.version, head.e_tag), (put.version, put.e_tag));
}
