//! The S3 server.

use std::time::Duration;

use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};
use rechunk_testkit::{Operation, S3Server, ServerOptions};

use crate::contract::{bytes, check};
use crate::stores::{once, s3};

#[tokio::test]
async fn s3_does_what_a_store_has_to() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    check(&s3(&server, once())).await;
    assert_eq!(server.unfinished_uploads().unwrap(), 0);
    let wrong = server.requests().into_iter().find(|r| r.fault.is_some() || r.ended.is_none());
    assert_eq!(wrong, None);
}

#[tokio::test]
async fn the_log_says_what_was_asked() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = s3(&server, once());
    let (key, data) = (Path::parse("a/é b").unwrap(), bytes(1000));
    store.put(&key, data.into()).await.unwrap();
    store.get_range(&key, 10..30).await.unwrap();
    store.head(&Path::from("none")).await.unwrap_err();
    let mut upload = store.put_multipart(&key).await.unwrap();
    upload.put_part("part".into()).await.unwrap();
    assert_eq!(server.unfinished_uploads().unwrap(), 1);
    upload.complete().await.unwrap();
    let log = server.requests();
    let operations: Vec<Operation> = log.iter().map(|r| r.operation).collect();
    let expected = [
        Operation::Put,
        Operation::Get,
        Operation::Head,
        Operation::CreateUpload,
        Operation::UploadPart,
        Operation::CompleteUpload,
    ];
    assert_eq!(operations, expected);
    let (put, get, head) = (&log[0], &log[1], &log[2]);
    assert_eq!((put.number, put.method.as_str(), put.key.as_str()), (1, "PUT", "a/é b"));
    assert_eq!((put.bucket.as_str(), put.request_body_bytes), (S3Server::BUCKET, 1000));
    assert_eq!((get.range.as_deref(), get.response_body_bytes), (Some("bytes=10-29"), 20));
    assert_eq!((put.status, get.status, head.status), (Some(200), Some(206), Some(404)));
    assert!(log.iter().all(|r| r.executions == 1 && r.ended > Some(r.started)));
    assert_eq!(server.max_in_flight(), 1);
    server.clear_requests();
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn requests_in_flight_are_counted() {
    let options = ServerOptions { latency: Duration::from_millis(500), ..Default::default() };
    let server = S3Server::start(&options).unwrap();
    let store = s3(&server, once());
    let keys: Vec<Path> = (0..5).map(|at| Path::from(format!("{at}"))).collect();
    let puts = keys.iter().map(|key| store.put(key, "x".into()));
    futures::future::try_join_all(puts).await.unwrap();
    assert_eq!(server.max_in_flight(), 5);
    let times = server.in_flight_times();
    assert_eq!(times.len(), 6);
    assert!(times[5] >= Duration::from_millis(10), "{times:?}");
}

#[tokio::test]
async fn unsigned_requests_and_wrong_keys_are_refused() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let builder = object_store::aws::AmazonS3Builder::new()
        .with_endpoint(server.endpoint())
        .with_bucket_name(S3Server::BUCKET)
        .with_region(S3Server::REGION)
        .with_client_options(crate::stores::client())
        .with_retry(once());
    let unsigned = builder.clone().with_skip_signature(true).build().unwrap();
    let wrong = builder.with_access_key_id("test").with_secret_access_key("x").build().unwrap();
    for store in [unsigned, wrong] {
        let error = store.put(&Path::from("a"), "x".into()).await.unwrap_err();
        assert!(matches!(error, Error::PermissionDenied { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_outage_refuses_until_the_restart() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = s3(&server, once());
    let key = Path::from("a");
    store.put(&key, "x".into()).await.unwrap();
    server.stop();
    // A client of its own: the other one may first find that its connection is gone.
    let error = s3(&server, once()).get(&key).await.unwrap_err();
    let causes = format!("{error:?}");
    assert!(causes.contains("ConnectionRefused"), "{causes}");
    server.restart().unwrap();
    assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap(), "x");
}

#[test]
fn a_given_directory_stays_and_another_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let options = ServerOptions { root: Some(root.path().join("s3")), ..Default::default() };
    drop(S3Server::start(&options).unwrap());
    assert!(root.path().join("s3").join(S3Server::BUCKET).is_dir());
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let own = server.root().to_owned();
    assert!(own.join(S3Server::BUCKET).is_dir());
    drop(server);
    assert!(!own.exists());
}
