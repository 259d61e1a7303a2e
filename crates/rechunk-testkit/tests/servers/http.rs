//! The web server.

use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use rechunk_testkit::{Fault, Filter, HttpServer, Operation, ServerOptions};

use crate::contract::bytes;
use crate::stores::{http, once, retries};

/// A server of one file, `a/b c`, of 100 kB.
fn server() -> HttpServer {
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    std::fs::create_dir(server.root().join("a")).unwrap();
    std::fs::write(server.root().join("a/b c"), bytes(100_000)).unwrap();
    server
}

#[tokio::test]
async fn files_are_read_whole_and_in_ranges() {
    let (server, data) = (server(), bytes(100_000));
    let (store, key) = (http(&server, once()), Path::from("a/b c"));
    let got = store.get(&key).await.unwrap();
    assert!(got.meta.e_tag.is_some() && got.meta.size == 100_000);
    let age = got.meta.last_modified.timestamp();
    assert!(age > 0);
    assert_eq!(got.bytes().await.unwrap(), data);
    assert_eq!(store.get_range(&key, 10..20).await.unwrap(), data[10..20]);
    let suffix = GetOptions { range: Some(GetRange::Suffix(16)), ..GetOptions::default() };
    let suffix = store.get_opts(&key, suffix).await.unwrap().bytes().await.unwrap();
    assert_eq!(suffix, data[99_984..]);
    assert_eq!(store.head(&key).await.unwrap().size, 100_000);
    for missing in ["a", "none", "a/b c/d"] {
        let error = store.get(&Path::from(missing)).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{missing}: {error:?}");
    }
    let log = server.requests();
    assert_eq!((log[0].key.as_str(), log[0].operation), ("a/b c", Operation::Get));
    assert_eq!((log[1].status, log[1].response_body_bytes), (Some(206), 10));
    assert_eq!((log[3].operation, log[3].response_body_bytes), (Operation::Head, 0));
}

#[tokio::test]
async fn conditions_hold() {
    let (server, key) = (server(), Path::from("a/b c"));
    let store = http(&server, once());
    let e_tag = store.head(&key).await.unwrap().e_tag;
    let same = GetOptions { if_none_match: e_tag.clone(), ..GetOptions::default() };
    let error = store.get_opts(&key, same).await.unwrap_err();
    assert!(matches!(error, Error::NotModified { .. }), "{error:?}");
    std::fs::write(server.root().join("a/b c"), "new").unwrap();
    let old = GetOptions { if_match: e_tag, ..GetOptions::default() };
    let error = store.get_opts(&key, old).await.unwrap_err();
    assert!(matches!(error, Error::Precondition { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_without_ranges_sends_the_whole_file() {
    let (server, key) = (server(), Path::from("a/b c"));
    let store = http(&server, once());
    server.set_ignore_ranges(true);
    store.get_range(&key, 10..20).await.unwrap_err();
    let log = server.requests();
    assert_eq!((log[0].status, log[0].range.as_deref()), (Some(200), Some("bytes=10-19")));
    server.set_ignore_ranges(false);
    assert_eq!(store.get_range(&key, 10..20).await.unwrap().len(), 10);
}

#[tokio::test]
async fn nothing_is_written_or_listed() {
    let server = server();
    let store = http(&server, once());
    store.put(&Path::from("new"), "x".into()).await.unwrap_err();
    assert!(store.list_with_delimiter(None).await.is_err());
    assert!(!server.root().join("new").exists());
    assert!(server.requests().iter().all(|r| r.status == Some(405)));
}

#[tokio::test]
async fn the_same_faults_befall_files() {
    let (server, key) = (server(), Path::from("a/b c"));
    let store = http(&server, retries(3));
    for fault in [Fault::ResetBefore, Fault::InternalError, Fault::TruncatedBody] {
        server.clear_requests();
        server.fail_nth(Filter::any(), 1, fault);
        let got = store.get(&key).await.unwrap().bytes().await.unwrap();
        assert_eq!(got, bytes(100_000));
        assert_eq!((server.requests()[0].fault, server.requests().len()), (Some(fault), 2));
    }
    server.fail_nth(Filter::any(), 1, Fault::CorruptedBody);
    assert_ne!(store.get(&key).await.unwrap().bytes().await.unwrap(), bytes(100_000));
}
