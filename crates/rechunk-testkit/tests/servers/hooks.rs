//! The n-th request is met exactly.

use std::sync::mpsc;
use std::time::Duration;

use object_store::ObjectStoreExt;
use object_store::path::Path;
use rechunk_testkit::{
    Fault, Faults, Filter, Hold, Moment, RequestRecord, S3Server, ServerOptions,
};

use crate::stores::{once, s3};

const PATIENCE: Duration = Duration::from_secs(10);

fn is_there(server: &S3Server, key: &str) -> bool {
    server.root().join(S3Server::BUCKET).join(key).exists()
}

#[tokio::test]
async fn exactly_the_nth_request_of_the_filter_fails() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = s3(&server, once());
    server.fail_nth(Filter::any().method("PUT").key("c/*"), 3, Fault::SlowDown);
    for name in ["c/1", "other", "c/2", "c/3", "c/4"] {
        let put = store.put(&Path::from(name), "x".into()).await;
        assert_eq!(put.is_err(), name == "c/3", "{name}");
    }
}

/// Waits for a hold beside the client that is to be held.
async fn wait(hold: Hold) -> (Hold, Option<RequestRecord>) {
    let waiting = tokio::task::spawn_blocking(move || {
        let held = hold.wait(PATIENCE);
        (hold, held)
    });
    waiting.await.unwrap()
}

/// Effect of a held request on the store, for each moment and end of the hold.
#[tokio::test(flavor = "multi_thread")]
async fn a_held_request_goes_on_or_is_abandoned() {
    for (moment, is_released, succeeds, is_done) in [
        (Moment::Before, true, true, true),
        (Moment::After, true, true, true),
        (Moment::Before, false, false, false),
        (Moment::After, false, false, true),
    ] {
        let server = S3Server::start(&ServerOptions::default()).unwrap();
        let store = s3(&server, once());
        let hold = server.hold_nth(Filter::any(), 2, moment);
        store.put(&Path::from("first"), "x".into()).await.unwrap();
        let put = tokio::spawn(async move { store.put(&Path::from("new"), "x".into()).await });
        let (hold, held) = wait(hold).await;
        assert_eq!(held.unwrap().key, "new");
        assert!(!put.is_finished());
        assert_eq!(is_there(&server, "new"), moment == Moment::After);
        if is_released {
            hold.release();
        } else {
            hold.abandon();
        }
        assert_eq!(put.await.unwrap().is_ok(), succeeds, "{moment:?} {is_released}");
        assert_eq!(is_there(&server, "new"), is_done, "{moment:?} {is_released}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_reset_is_met_at_both_moments() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    for seed in 0..4 {
        server.set_faults(Faults::none().with(Fault::ResetBefore, 1.0).seed(seed));
        for moment in [Moment::Before, Moment::After] {
            let (store, hold) = (s3(&server, once()), server.hold_nth(Filter::any(), 1, moment));
            let put = tokio::spawn(async move { store.put(&Path::from("new"), "x".into()).await });
            let (hold, held) = wait(hold).await;
            assert_eq!(held.unwrap().key, "new", "seed {seed} {moment:?}");
            hold.release();
            put.await.unwrap().unwrap_err();
        }
    }
    assert!(!is_there(&server, "new"));
}

#[tokio::test]
async fn a_hold_nobody_waits_for_lets_the_request_go_on() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    drop(server.hold_nth(Filter::any(), 1, Moment::Before));
    s3(&server, once()).put(&Path::from("new"), "x".into()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_dies_before_the_execution_leaves_nothing() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = s3(&server, once());
    let hold = server.hold_nth(Filter::any(), 1, Moment::Before);
    let put = tokio::spawn(async move { store.put(&Path::from("new"), "x".into()).await });
    let (hold, held) = wait(hold).await;
    assert_eq!(held.unwrap().key, "new");
    put.abort();
    assert!(put.await.unwrap_err().is_cancelled());
    hold.abandon();
    server.stop();
    assert!(!is_there(&server, "new"));
    assert!(server.requests()[0].ended.is_some());
}

#[tokio::test]
async fn a_callback_sees_its_request_before_or_after() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = s3(&server, once());
    let (sender, calls) = mpsc::channel();
    for moment in [Moment::Before, Moment::After] {
        let (sender, path) = (sender.clone(), server.root().join(S3Server::BUCKET).join("b"));
        server.call_at_nth(Filter::any(), 2, moment, move |request| {
            sender.send((request.key.clone(), path.exists())).unwrap();
        });
    }
    for name in ["a", "b", "c"] {
        store.put(&Path::from(name), "x".into()).await.unwrap();
    }
    let calls: Vec<_> = calls.try_iter().collect();
    assert_eq!(calls, [("b".to_owned(), false), ("b".to_owned(), true)]);
}

#[test]
fn a_server_can_be_dropped_while_a_request_is_held() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let store = s3(&server, once());
    let hold = server.hold_nth(Filter::any(), 1, Moment::Before);
    let client = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(store.put(&Path::from("new"), "x".into()))
    });
    hold.wait(PATIENCE).unwrap();
    drop(server);
    assert!(client.join().unwrap().is_err());
}
