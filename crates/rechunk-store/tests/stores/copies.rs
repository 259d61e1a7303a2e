//! Objects that a store copies itself: on servers that count, fail and refuse.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::ops::Deref;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use rechunk_store::{Copied, Meter, Role, RoleTraffic, Store, StoreError, StoreOptions, Stores};
use rechunk_testkit::{Fault, Filter, GcsServer, Operation, S3Server, Server, ServerOptions};

/// A server that copies objects itself.
enum Kind {
    S3(S3Server),
    Gcs(GcsServer),
}

impl Deref for Kind {
    type Target = Server;

    fn deref(&self) -> &Server {
        match self {
            Self::S3(server) => server,
            Self::Gcs(server) => server,
        }
    }
}

impl Kind {
    fn both() -> [Self; 2] {
        let options = ServerOptions::default();
        let s3 = S3Server::start(&options).unwrap();
        [Self::S3(s3), Self::Gcs(GcsServer::start(&options).unwrap())]
    }

    fn options(&self, max_retries: u32) -> StoreOptions {
        let mut options = StoreOptions::default().with_max_retries(max_retries);
        let said = match self {
            Self::S3(server) => server.store_options().to_vec(),
            Self::Gcs(server) => {
                vec![format!("service_account_key={}", server.service_account_key())]
            }
        };
        for option in said {
            options.add(&option).unwrap();
        }
        options
    }

    fn url(&self, key: &str) -> String {
        match self {
            Self::S3(server) => server.url(key),
            Self::Gcs(server) => server.url(key),
        }
    }

    /// The bucket on the disk.
    fn disk(&self, key: &str) -> PathBuf {
        match self {
            Self::S3(server) => server.root().join(S3Server::BUCKET).join(key),
            Self::Gcs(server) => server.root().join(GcsServer::BUCKET).join(key),
        }
    }

    /// Source and target in one bucket, counted from here on.
    fn pair(&self, max_retries: u32) -> (Store, Store) {
        let stores = Stores::new(self.options(max_retries)).with_meter(&Meter::new());
        let open = |key, role| stores.open(&self.url(key)).unwrap().with_role(role);
        (open("from/a b", Role::Source), open("to", Role::Target))
    }

    fn count(&self, operation: Operation) -> usize {
        self.requests().iter().filter(|request| request.operation == operation).count()
    }
}

const KEY: &str = "c/0/ä+1";

async fn put(store: &Store, key: &str) {
    let control = store.with_role(Role::Control);
    control.put(key, vec![Bytes::from_static(b"an object")]).await.unwrap();
}

async fn assert_there(store: &Store, key: &str) {
    let control = store.with_role(Role::Control);
    assert_eq!(control.get(key, 100).await.unwrap().unwrap(), "an object");
}

#[tokio::test]
async fn a_copy_is_one_request_and_no_bytes() {
    for server in Kind::both() {
        let (source, target) = server.pair(0);
        assert!(target.can_copy_from(&source));
        put(&source, KEY).await;
        server.clear_requests();
        let copied = target.copy_from(&source, KEY, "c.0.1").await.unwrap();
        assert!(matches!(copied, Copied::Done), "{copied:?}");
        let requests = server.requests();
        assert_eq!((requests.len(), server.count(Operation::Copy)), (1, 1));
        assert_eq!(requests[0].request_body_bytes, 0);
        let traffic = target.meter().traffic();
        let one = RoleTraffic { copy_requests: 1, objects: 1, ..RoleTraffic::default() };
        assert_eq!(traffic.target, RoleTraffic { http_attempts: 1, ..one });
        assert_eq!(traffic.source, RoleTraffic::default());
        assert_there(&target, "c.0.1").await;
        // Again, in place of what is there.
        target.copy_from(&source, KEY, "c.0.1").await.unwrap();
        assert_there(&target, "c.0.1").await;
    }
}

#[tokio::test]
async fn what_is_missing_stays_missing() {
    for server in Kind::both() {
        let (source, target) = server.pair(3);
        let copied = target.copy_from(&source, KEY, "k").await.unwrap();
        assert!(matches!(copied, Copied::Missing), "{copied:?}");
        let traffic = target.meter().traffic();
        assert_eq!((traffic.source.get_missing, traffic.source.get_requests), (1, 0));
        assert_eq!((traffic.target.copy_requests, traffic.target.objects), (0, 0));
        assert_eq!(traffic.control.head, 1, "it is looked at before it is said to be missing");
        assert!(!target.exists("k").await.unwrap());
    }
}

#[tokio::test]
async fn a_copy_that_fails_for_a_moment_is_made_again() {
    let more = [Fault::Duplicate, Fault::ErrorInOk];
    for server in Kind::both() {
        let (source, target) = server.pair(3);
        put(&source, KEY).await;
        for (number, fault) in (1..).zip(Fault::MOMENTARY.into_iter().chain(more)) {
            server.clear_requests();
            server.fail_nth(Filter::any().operation(Operation::Copy), 1, fault);
            let key = format!("k/{number}");
            let copied = target.copy_from(&source, KEY, &key).await;
            let copied = copied.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
            assert!(matches!(copied, Copied::Done), "{fault:?}: {copied:?}");
            assert_there(&target, &key).await;
            let traffic = target.meter().traffic().target;
            assert_eq!((traffic.copy_requests, traffic.objects), (number, number), "{fault:?}");
            let again = usize::from(fault != Fault::Duplicate);
            assert_eq!(server.count(Operation::Copy), 1 + again, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn a_copy_that_keeps_failing_is_an_error_and_not_missing() {
    for server in Kind::both() {
        let (source, target) = server.pair(1);
        put(&source, KEY).await;
        server.set_faults(rechunk_testkit::Faults::none().with(Fault::InternalError, 1.0));
        let error = target.copy_from(&source, KEY, "k").await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        assert!(error.to_string().contains("cannot copy inside the store to k in"), "{error}");
        assert_eq!(target.meter().traffic().target.objects, 0);
    }
}

#[tokio::test]
async fn what_a_store_does_not_copy_is_said_at_once() {
    for server in Kind::both() {
        let (source, target) = server.pair(5);
        put(&source, KEY).await;
        for (fault, said) in [(Fault::AccessDenied, "403"), (Fault::NotImplemented, "405")] {
            server.clear_requests();
            server.fail_nth(Filter::any().operation(Operation::Copy), 1, fault);
            let copied = target.copy_from(&source, KEY, "k").await.unwrap();
            let Copied::Refused(error) = copied else { panic!("{fault:?}: {copied:?}") };
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(server.count(Operation::Copy), 1, "{fault:?} is final");
            assert!(!target.exists("k").await.unwrap());
        }
    }
}

/// Other buckets, credentials and kinds of stores.
#[tokio::test]
async fn only_one_store_copies() {
    let [s3, gcs] = Kind::both();
    let (source, target) = s3.pair(0);
    let elsewhere = Stores::new(s3.options(0));
    let same = elsewhere.open(&s3.url("from")).unwrap();
    assert!(!target.can_copy_from(&same), "its credentials may be others");
    assert!(!target.can_copy_from(&elsewhere.open("s3://other/from").unwrap()));
    assert!(!target.can_copy_from(&gcs.pair(0).0));
    assert!(source.can_copy_from(&target));
    // A part of a bucket with options of its own.
    let mut options = s3.options(0);
    options.add(&format!("{},virtual_hosted_style_request=false", s3.url("from"))).unwrap();
    let stores = Stores::new(options);
    let (from, to) = (stores.open(&s3.url("from/a")).unwrap(), stores.open(&s3.url("to")).unwrap());
    assert!(!to.can_copy_from(&from));

    let directory = tempfile::tempdir().unwrap();
    let local = stores.open(directory.path().to_str().unwrap()).unwrap();
    let (a, b) = (local.child("a").unwrap(), local.child("b").unwrap());
    assert!(!b.can_copy_from(&a), "hard links");
    put(&a, "c").await;
    let refused = b.copy_from(&a, "c", "c").await.unwrap();
    assert!(matches!(refused, Copied::Refused(_)), "{refused:?}");
    assert!(!b.exists("c").await.unwrap());
    let memory = stores.open("memory:").unwrap();
    assert!(!memory.can_copy_from(&memory));
    for location in ["https://127.0.0.1:9/", "az://account-container/a"] {
        if let Ok(store) = stores.open(location) {
            assert!(!store.can_copy_from(&store), "{location}");
        }
    }
    let objects = Store::objects_in_memory();
    assert!(objects.child("a").unwrap().can_copy_from(&objects));
}

/// Lists say fractions of a second, and the clock that is known of a server does not.
#[tokio::test]
async fn what_was_written_right_before_is_not_written_since() {
    for server in Kind::both() {
        for _ in 0..20 {
            let (source, _) = server.pair(0);
            put(&source, "c/0").await;
            source.exists("c/0").await.unwrap(); // what the clock is known by
            let now = SystemTime::now();
            source.watched(now, now).check_unchanged_objects(9, |_| true).await.unwrap();
            tokio::time::sleep(Duration::from_millis(83)).await;
        }
    }
}

/// Objects that were copied unseen are looked at afterwards.
#[tokio::test]
async fn objects_that_were_written_since_are_found() {
    for server in Kind::both() {
        let (source, _) = server.pair(0);
        for key in ["c/0", "c/1", "other"] {
            put(&source, key).await;
        }
        let at = |key: &str, seconds_ago: u64| {
            let path = server.disk("from/a b").join(key);
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds_ago)).unwrap();
        };
        let ago = |seconds| SystemTime::now() - Duration::from_secs(seconds);
        let is_chunk = |key: &str| key.starts_with("c/");
        for (key, seconds_ago) in [("c/0", 5000), ("c/1", 5000), ("other", 50)] {
            at(key, seconds_ago);
        }
        let watched = source.watched(ago(2000), ago(1000));
        watched.check_unchanged_objects(9, is_chunk).await.unwrap();
        assert_eq!(watched.late_objects(), 0);
        at("c/0", 1500);
        watched.check_unchanged_objects(9, is_chunk).await.unwrap();
        assert_eq!(watched.late_objects(), 1);
        at("c/1", 50);
        let error = watched.check_unchanged_objects(9, is_chunk).await.unwrap_err();
        assert!(matches!(&error, StoreError::Changed { key, .. } if key == "c/1"), "{error}");
        source.check_unchanged_objects(9, is_chunk).await.unwrap(); // nobody watches
    }
}
