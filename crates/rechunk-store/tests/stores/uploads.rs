//! Objects sent in parts, to a server that fails at each of the requests.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use rechunk_store::{PartSizes, Role, Store, StoreError, StoreOptions, Stores};
use rechunk_testkit::{Fault, Filter, Operation, S3Server, ServerOptions};

/// The least that S3 takes.
const PART_BYTES: u64 = 5 << 20;
/// Two parts and a bit.
const BYTES: u64 = 11 << 20;

fn open(server: &S3Server, max_retries: u32) -> Store {
    let mut options = StoreOptions::default().with_max_retries(max_retries);
    for option in server.store_options() {
        options.add(&option).unwrap();
    }
    let sizes = PartSizes {
        threshold_bytes: PART_BYTES,
        part_bytes: PART_BYTES,
        log_part_bytes: PART_BYTES,
    };
    let store = Stores::new(options).open(&server.url("array")).unwrap();
    store.with_part_sizes(sizes).with_role(Role::Target)
}

/// Made once: the tests write it hundreds of times.
fn body() -> Bytes {
    static BODY: LazyLock<Bytes> =
        LazyLock::new(|| (0..BYTES).map(|n| u8::try_from(n * 7 % 251).unwrap()).collect());
    BODY.clone()
}

/// Way in which an object is written.
#[derive(Debug, Clone, Copy)]
enum Way {
    Whole,
    Log { head_bytes: u64 },
}

const WAYS: [Way; 3] = [Way::Whole, Way::Log { head_bytes: 0 }, Way::Log { head_bytes: 30 }];

async fn write(store: &Store, way: Way) -> Result<(), StoreError> {
    let body = body();
    let Way::Log { head_bytes } = way else { return store.put("c/0", vec![body]).await };
    let object = store.begin("c/0", head_bytes)?;
    let mut offset = head_bytes;
    while offset < BYTES {
        let end = (offset + 700_001).min(BYTES);
        let piece = body.slice(usize::try_from(offset).unwrap()..usize::try_from(end).unwrap());
        object.write_at(offset, piece).await?;
        offset = end;
    }
    if head_bytes > 0 {
        object.write_at(0, body.slice(..usize::try_from(head_bytes).unwrap())).await?;
    }
    object.finish(BYTES).await
}

async fn assert_written(store: &Store) {
    let found = store.get("c/0", BYTES).await.unwrap().unwrap();
    assert!(found == body(), "other bytes");
}

fn count(server: &S3Server, operation: Operation) -> usize {
    server.requests().iter().filter(|request| request.operation == operation).count()
}

/// Waits for what is given up in the background.
async fn assert_no_uploads(server: &S3Server, what: &str) {
    for _ in 0..200 {
        if server.unfinished_uploads().unwrap() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}: {} uploads were left", server.unfinished_uploads().unwrap());
}

#[tokio::test]
async fn all_parts_but_the_last_are_of_one_size() {
    for way in WAYS {
        let server = S3Server::start(&ServerOptions::default()).unwrap();
        let store = open(&server, 0);
        write(&store, way).await.unwrap();
        let parts = server.requests();
        let parts = parts.iter().filter(|request| request.operation == Operation::UploadPart);
        let mut sizes: Vec<u64> = parts.map(|part| part.request_body_bytes).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1 << 20, 5 << 20, 5 << 20], "{way:?}");
        assert_eq!(count(&server, Operation::CreateUpload), 1);
        assert_eq!(count(&server, Operation::CompleteUpload), 1);
        assert_eq!(count(&server, Operation::Put), 0);
        assert_written(&store).await;
        assert_eq!(server.unfinished_uploads().unwrap(), 0);
        let traffic = store.meter().traffic().target;
        assert_eq!((traffic.put_requests, traffic.part_requests), (1, 4));
        // Every request of it is counted on the wire too.
        assert_eq!(traffic.http_attempts, 6, "{way:?}: 5 and the one that read it");
    }
}

#[tokio::test]
async fn every_request_of_an_upload_may_fail_for_a_moment() {
    let faults = [
        Fault::InternalError,
        Fault::InternalErrorAfter,
        Fault::SlowDown,
        Fault::RequestTimeout,
        Fault::ResetBefore,
        Fault::ResetAfter,
        Fault::Duplicate,
        Fault::ErrorInOk,
    ];
    let requests = [
        (Operation::CreateUpload, 1),
        (Operation::UploadPart, 1),
        (Operation::UploadPart, 3),
        (Operation::CompleteUpload, 1),
    ];
    // Most of it is waiting for the next attempt: the ways wait beside each other.
    join_all(WAYS.map(|way| async move {
        let server = S3Server::start(&ServerOptions::default()).unwrap();
        let store = open(&server, 3);
        let mut unknown = 0;
        for fault in faults {
            for (operation, nth) in requests {
                if !fault.can_befall(operation) {
                    continue;
                }
                let what = format!("{way:?}, {fault:?} at {operation:?} {nth}");
                server.clear_requests();
                server.fail_nth(Filter::any().operation(operation), nth, fault);
                write(&store, way).await.unwrap_or_else(|error| panic!("{what}: {error}"));
                let hit = server.requests().iter().any(|request| request.fault == Some(fault));
                assert!(hit, "{what} did not happen");
                assert_written(&store).await;
                store.delete("c/0").await.unwrap();
                // An upload whose name nobody was told cannot be given up. It has no parts.
                let begun_twice = [Fault::InternalErrorAfter, Fault::ResetAfter, Fault::Duplicate];
                let is_lost = operation == Operation::CreateUpload && begun_twice.contains(&fault);
                unknown += usize::from(is_lost);
                assert_eq!(server.unfinished_uploads().unwrap(), unknown, "{what}");
            }
        }
    }))
    .await;
}

#[tokio::test]
async fn an_upload_that_fails_is_given_up() {
    for way in WAYS {
        let server = S3Server::start(&ServerOptions::default()).unwrap();
        let store = open(&server, 0);
        for (operation, nth) in [
            (Operation::CreateUpload, 1),
            (Operation::UploadPart, 1),
            (Operation::UploadPart, 3),
            (Operation::CompleteUpload, 1),
        ] {
            server.fail_nth(Filter::any().operation(operation), nth, Fault::InternalError);
            let error = write(&store, way).await.unwrap_err();
            assert!(error.to_string().contains("c/0"), "{error}");
            assert_eq!(server.unfinished_uploads().unwrap(), 0, "{way:?} {operation:?} {nth}");
            assert!(!store.exists("c/0").await.unwrap());
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_for_ever_is_looked_up() {
    for way in WAYS {
        let server = S3Server::start(&ServerOptions::default()).unwrap();
        let store = open(&server, 1);
        let complete = || Filter::any().operation(Operation::CompleteUpload);
        server.fail_nth(complete(), 1, Fault::ResetAfter);
        server.clear_requests();
        write(&store, way).await.unwrap();
        assert_eq!(count(&server, Operation::CompleteUpload), 2);
        assert_eq!(count(&server, Operation::Head), 1);
        assert_written(&store).await;
    }
}

#[tokio::test]
async fn an_upload_that_is_dropped_is_given_up() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = open(&server, 0);
    let object = store.begin("c/0", 0).unwrap();
    object.write_at(0, body()).await.unwrap();
    assert_eq!(server.unfinished_uploads().unwrap(), 1);
    drop(object);
    assert_no_uploads(&server, "dropped").await;

    // A future that is dropped while parts are on their way.
    let hold = server.hold_nth(
        Filter::any().operation(Operation::UploadPart),
        2,
        rechunk_testkit::Moment::Before,
    );
    let put = tokio::time::timeout(Duration::from_millis(300), write(&store, Way::Whole)).await;
    assert!(put.is_err(), "nothing was held");
    hold.abandon();
    assert_no_uploads(&server, "cancelled").await;
    assert!(!store.exists("c/0").await.unwrap());
}

#[tokio::test]
async fn an_upload_that_somebody_else_has_given_up_is_an_error_that_says_so() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = open(&server, 2);
    let notes = store.child("work/uploads").unwrap().with_role(Role::Control);
    let store = store.with_upload_records(&notes);
    let object = store.begin("c/0", 0).unwrap();
    object.write_at(0, body()).await.unwrap();
    assert_eq!(notes.abort_uploads().await.unwrap(), 1);
    let error = object.finish(BYTES).await.unwrap_err();
    assert!(error.to_string().contains("given it up") && !error.is_not_found(), "{error}");
    assert_eq!(server.unfinished_uploads().unwrap(), 0);
    assert!(!store.exists("c/0").await.unwrap());
}

#[tokio::test]
async fn uploads_of_a_process_that_is_gone_are_given_up_by_their_notes() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = open(&server, 0);
    let notes = store.parent().unwrap().unwrap().0.child("array.work/uploads").unwrap();
    let notes = notes.with_role(Role::Control);
    let store = store.with_upload_records(&notes);
    write(&store, Way::Whole).await.unwrap();
    write(&store, Way::Log { head_bytes: 0 }).await.unwrap();
    assert!(notes.is_empty().await.unwrap(), "a note outlives its upload");
    for key in ["c/1", "c/2"] {
        let object = store.begin(key, 0).unwrap();
        object.write_at(0, body()).await.unwrap();
        std::mem::forget(object); // as if the process were killed
    }
    assert_eq!(server.unfinished_uploads().unwrap(), 2);
    // What is no note does no harm.
    notes.put("other", vec![Bytes::from_static(b"{}")]).await.unwrap();
    assert_eq!(notes.abort_uploads().await.unwrap(), 2);
    assert_eq!(server.unfinished_uploads().unwrap(), 0);
    assert!(notes.is_empty().await.unwrap());
    assert_eq!(notes.abort_uploads().await.unwrap(), 0);
}
