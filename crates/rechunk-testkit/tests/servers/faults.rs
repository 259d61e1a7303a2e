//! Each fault is seen as it should be.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
};
use rechunk_testkit::{Fault, Faults, Filter, Operation, RequestRecord, S3Server, ServerOptions};

use crate::contract::bytes;
use crate::stores::{TIMEOUT, once, retries, s3};

struct Case {
    server: S3Server,
    store: object_store::aws::AmazonS3,
    data: Bytes,
}

/// A server with one object, `old`, and an empty log.
async fn case(retry: RetryConfig) -> Case {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let (store, data) = (s3(&server, retry), bytes(50_000));
    store.put(&Path::from("old"), data.clone().into()).await.unwrap();
    server.clear_requests();
    Case { server, store, data }
}

impl Case {
    fn next_fails(&self, fault: Fault) {
        self.server.fail_nth(Filter::any(), 1, fault);
    }

    async fn get(&self) -> object_store::Result<Bytes> {
        self.store.get(&Path::from("old")).await?.bytes().await
    }

    async fn put(&self) -> object_store::Result<object_store::PutResult> {
        self.store.put(&Path::from("new"), "x".into()).await
    }

    fn is_there(&self, key: &str) -> bool {
        self.server.root().join(S3Server::BUCKET).join(key).exists()
    }

    fn first(&self) -> RequestRecord {
        self.server.requests()[0].clone()
    }
}

#[tokio::test]
async fn refusals_have_their_status_and_nothing_is_executed() {
    for (fault, status, code) in [
        (Fault::InternalError, 500, "InternalError"),
        (Fault::SlowDown, 503, "SlowDown"),
        (Fault::TooManyRequests, 429, "TooManyRequests"),
        (Fault::RequestTimeout, 400, "RequestTimeout"),
    ] {
        let case = case(once()).await;
        case.next_fails(fault);
        let error = format!("{:?}", case.put().await.unwrap_err());
        assert!(error.contains(code), "{error}");
        let record = case.first();
        assert_eq!((record.status, record.fault), (Some(status), Some(fault)));
        assert_eq!((record.executions, record.request_body_bytes), (0, 1));
        assert!(!case.is_there("new"));
        case.put().await.unwrap();
    }
}

#[tokio::test]
async fn a_reset_before_leaves_nothing_and_one_after_the_object() {
    for (fault, is_done) in [(Fault::ResetBefore, false), (Fault::ResetAfter, true)] {
        let case = case(once()).await;
        case.next_fails(fault);
        let error = format!("{:?}", case.put().await.unwrap_err());
        assert!(error.contains("ConnectionReset"), "{error}");
        assert_eq!(case.is_there("new"), is_done);
        let record = case.first();
        assert_eq!((record.status, record.fault), (None, Some(fault)));
        assert_eq!(record.executions, u32::from(is_done));
        assert!(record.ended.is_some());
    }
}

#[tokio::test]
async fn an_error_after_leaves_the_object_too() {
    let case = case(once()).await;
    case.next_fails(Fault::InternalErrorAfter);
    case.put().await.unwrap_err();
    assert!(case.is_there("new"));
    assert_eq!((case.first().status, case.first().executions), (Some(500), 1));
}

#[tokio::test]
async fn a_lost_answer_to_a_create_looks_like_another_ones_object() {
    let case = case(retries(3)).await;
    case.server.fail_nth(Filter::any(), 1, Fault::InternalErrorAfter);
    let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    let error = case.store.put_opts(&Path::from("new"), "x".into(), options).await.unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error:?}");
}

#[tokio::test]
async fn a_short_body_is_an_error_or_taken_up_again() {
    let without = case(once()).await;
    without.next_fails(Fault::TruncatedBody);
    without.get().await.unwrap_err();
    let record = without.first();
    assert_eq!((record.status, record.fault), (Some(200), Some(Fault::TruncatedBody)));
    assert!(record.response_body_bytes < 50_000);
    // With retries the client asks for the rest.
    let with = case(retries(3)).await;
    with.next_fails(Fault::TruncatedBody);
    assert_eq!(with.get().await.unwrap(), with.data);
    let log = with.server.requests();
    assert_eq!(log.len(), 2);
    let got_bytes = log[0].response_body_bytes;
    let rest = format!("bytes={got_bytes}-49999");
    assert_eq!(log[1].range.as_deref(), Some(rest.as_str()), "what was sent has arrived");
}

#[tokio::test]
async fn a_stalled_body_is_late_or_never_comes() {
    let case = case(once()).await;
    let late = Fault::StalledBody(Some(Duration::from_millis(300)));
    case.next_fails(late);
    let start = Instant::now();
    assert_eq!(case.get().await.unwrap(), case.data);
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(case.first().fault, Some(late));
    case.next_fails(Fault::StalledBody(None));
    let start = Instant::now();
    case.get().await.unwrap_err();
    assert!(start.elapsed() >= TIMEOUT, "only the client's patience ends it");
}

#[tokio::test]
async fn a_corrupted_body_differs_in_one_bit() {
    let case = case(once()).await;
    case.next_fails(Fault::CorruptedBody);
    let got = case.get().await.unwrap();
    assert_eq!(got.len(), case.data.len());
    let differing: u32 = got.iter().zip(&case.data).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert_eq!(differing, 1);
    assert_eq!(case.first().fault, Some(Fault::CorruptedBody));
    assert_eq!(case.get().await.unwrap(), case.data);
}

#[tokio::test]
async fn a_duplicate_is_executed_twice() {
    let case = case(once()).await;
    case.next_fails(Fault::Duplicate);
    case.put().await.unwrap();
    assert_eq!((case.first().executions, case.first().status), (2, Some(200)));
    case.next_fails(Fault::Duplicate);
    let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    let error = case.store.put_opts(&Path::from("own"), "x".into(), options).await.unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error:?}");
    assert!(case.is_there("own"));
}

#[tokio::test]
async fn a_wrong_etag_is_another_one() {
    let case = case(once()).await;
    let true_one = case.store.head(&Path::from("old")).await.unwrap().e_tag;
    case.next_fails(Fault::WrongETag);
    let wrong = case.store.head(&Path::from("old")).await.unwrap().e_tag;
    assert!(wrong.is_some() && wrong != true_one);
    case.next_fails(Fault::WrongETag);
    case.get().await.unwrap();
    let faults = case.server.requests().iter().filter(|r| r.fault.is_some()).count();
    assert_eq!(faults, 2);
}

#[tokio::test]
async fn a_delay_comes_before_the_execution() {
    let case = case(once()).await;
    case.next_fails(Fault::Delay(Duration::from_millis(200)));
    let start = Instant::now();
    case.put().await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn an_error_can_come_with_200() {
    let case = case(once()).await;
    case.server.fail_nth(Filter::any().operation(Operation::CompleteUpload), 1, Fault::ErrorInOk);
    let mut upload = case.store.put_multipart(&Path::from("new")).await.unwrap();
    upload.put_part("x".into()).await.unwrap();
    let error = format!("{:?}", upload.complete().await.unwrap_err());
    assert!(error.contains("InternalError"), "{error}");
    assert!(!case.is_there("new"));
    let last = case.server.requests().pop().unwrap();
    assert_eq!((last.status, last.fault), (Some(200), Some(Fault::ErrorInOk)));
}

#[tokio::test]
async fn a_stale_list_knows_what_was_there_some_time_ago() {
    let case = case(once()).await;
    let keys = async |prefix: &str| {
        let listed = case.store.list(Some(&Path::from(prefix)));
        let listed: Vec<_> = listed.try_collect().await.unwrap();
        listed.into_iter().map(|meta| meta.location.to_string()).collect::<Vec<_>>()
    };
    for name in ["1", "2", "3"] {
        case.store.put(&Path::from(format!("d/{name}")), "x".into()).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(1200)).await;
    case.store.put(&Path::from("d/4"), "x".into()).await.unwrap();
    case.store.delete(&Path::from("d/1")).await.unwrap();
    let stale = Fault::StaleList(Duration::from_secs(1));
    case.next_fails(stale);
    assert_eq!(keys("d").await, ["d/1", "d/2", "d/3"]);
    assert_eq!(case.server.requests().pop().unwrap().fault, Some(stale));
    assert_eq!(keys("d").await, ["d/2", "d/3", "d/4"]);
    case.next_fails(Fault::StaleList(Duration::from_mins(1)));
    let level = case.store.list_with_delimiter(None).await.unwrap();
    assert!(level.common_prefixes.is_empty() && level.objects.is_empty(), "{level:?}");
}

#[tokio::test]
async fn a_fault_that_finds_nothing_to_spoil_is_not_logged() {
    let case = case(once()).await;
    case.next_fails(Fault::CorruptedBody);
    case.put().await.unwrap();
    case.next_fails(Fault::Duplicate);
    case.get().await.unwrap();
    assert!(case.server.requests().iter().all(|r| r.fault.is_none() && r.executions == 1));
}

#[tokio::test]
async fn the_same_seed_spoils_the_same_requests() {
    let run = async |seed| {
        let case = case(once()).await;
        let only = Filter::any().method("get").key("o*");
        case.server.set_faults(Faults::rate(0.5).seed(seed).only(only));
        for _ in 0..40 {
            // Whether it succeeds is what is compared.
            let _ = case.get().await;
            case.put().await.unwrap();
        }
        let log = case.server.requests();
        log.iter().map(|r| (r.method.clone(), r.fault, r.response_body_bytes)).collect::<Vec<_>>()
    };
    let first = run(3).await;
    assert_eq!(first, run(3).await);
    assert_ne!(first, run(4).await);
    let spoilt = first.iter().filter(|(_, fault, _)| fault.is_some()).count();
    assert!((10..=30).contains(&spoilt), "{spoilt} of 40 at a rate of 0.5");
    assert!(first.iter().all(|(method, fault, _)| method == "GET" || fault.is_none()));
}

#[tokio::test]
async fn a_client_that_repeats_gets_through_a_tenth_of_faults() {
    let case = case(retries(10)).await;
    // What object_store repeats by itself: not 400 RequestTimeout.
    let mix = Faults::none()
        .with(Fault::InternalError, 0.03)
        .with(Fault::SlowDown, 0.03)
        .with(Fault::ResetBefore, 0.02)
        .with(Fault::TruncatedBody, 0.02);
    case.server.set_faults(mix.seed(5));
    for at in 0..100 {
        let key = Path::from(format!("many/{at}"));
        case.store.put(&key, case.data.clone().into()).await.unwrap();
        let got = case.store.get_opts(&key, GetOptions::default()).await.unwrap();
        assert_eq!(got.bytes().await.unwrap(), case.data);
    }
    let keys: Vec<_> = case.store.list(None).try_collect().await.unwrap();
    assert_eq!(keys.len(), 101);
    let log = case.server.requests();
    let faulty = log.iter().filter(|r| r.fault.is_some()).count();
    assert!((8..40).contains(&faulty), "{faulty} of {}", log.len());
}

/// Repeats a call until it is not refused, as a program does.
async fn insist<T>(mut ask: impl AsyncFnMut() -> object_store::Result<T>) -> T {
    for _ in 0..50 {
        if let Ok(answer) = ask().await {
            return answer;
        }
    }
    ask().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_get_through_a_third_of_faults() {
    let case = case(retries(2)).await;
    case.server.set_faults(Faults::rate(0.33).seed(9));
    let (store, data) = (&case.store, &case.data);
    futures::stream::iter(0..200)
        .for_each_concurrent(16, async |at| {
            let key = Path::from(format!("many/{at}"));
            insist(async || store.put(&key, data.clone().into()).await).await;
            let got = insist(async || store.get(&key).await?.bytes().await).await;
            assert_eq!(got, *data, "{key}");
        })
        .await;
    case.server.stop();
    let log = case.server.requests();
    let faulty: Vec<&RequestRecord> = log.iter().filter(|r| r.fault.is_some()).collect();
    let fraction = faulty.len() as f64 / log.len() as f64;
    assert!((0.28..0.38).contains(&fraction), "{} of {}", faulty.len(), log.len());
    assert!(log.iter().all(|r| r.ended.is_some() && (r.executions == 1 || r.fault.is_some())));
    assert!((2..=16).contains(&case.server.max_in_flight()));
    let numbers: Vec<u64> = log.iter().map(|r| r.number).collect();
    assert!(numbers.is_sorted());
}
