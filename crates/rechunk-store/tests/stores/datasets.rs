//! Servers of data sets that answer oddly, and blocks that are asked for together.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use rechunk_store::{Store, StoreOptions, Stores};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

/// A data set of 4 × 4 × 4 blocks of uint16.
const DESCRIPTION: &str = r#"{"voxelType": "uint16", "dimensions": [400, 400, 400], "versions": [0],
    "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]}]}"#;

/// Status and body of an answer.
type Answer = (u16, Vec<u8>);

/// A server, and what it was asked.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers requests for blocks, each a path of several.
    async fn blocks(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        Self::start(move |path| match path.strip_prefix("/datasets/x/1/1/1/0/") {
            Some(blocks) => answer(blocks),
            None => (200, DESCRIPTION.into()),
        })
        .await
    }

    async fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (answer, asked) = (Arc::new(answer), Arc::new(Mutex::new(Vec::new())));
        let paths = Arc::clone(&asked);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (answer, paths) = (Arc::clone(&answer), Arc::clone(&paths));
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    let (mut head, mut length) = (String::new(), 0);
                    while !head.ends_with("\r\n\r\n") {
                        if stream.read_line(&mut head).await.unwrap() == 0 {
                            return;
                        }
                    }
                    for line in head.to_lowercase().lines() {
                        if let Some(number) = line.strip_prefix("content-length: ") {
                            length = number.parse().unwrap();
                        }
                    }
                    stream.read_exact(&mut vec![0; length]).await.unwrap();
                    let path = head.split(' ').nth(1).unwrap();
                    paths.lock().unwrap().push(path.to_owned());
                    // Others gather meanwhile.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    let (status, body) = answer(path);
                    // Without a length: it ends where the connection does.
                    let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\n\r\n");
                    let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
                });
            }
        });
        Self { url: format!("datastore+http://127.0.0.1:{port}/datasets/x/1/1/1/0"), asked }
    }

    fn store(&self, retries: u32) -> Store {
        let options = StoreOptions::default().with_max_retries(retries);
        Stores::new(options).open(&self.url).unwrap()
    }

    /// Requests for blocks.
    fn requests(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|path| path.contains("/1/1/1/0/")).cloned().collect()
    }
}

fn header(sizes: [i32; 3]) -> Vec<u8> {
    sizes.map(i32::to_be_bytes).concat()
}

/// A block of one element, which says where it is.
fn block(x: u8) -> Vec<u8> {
    [header([1, 1, 1]), vec![0, x]].concat()
}

/// As N5 has it.
fn object(x: u8) -> Vec<u8> {
    vec![0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, x]
}

/// The x of each block of a path.
fn positions(path: &str) -> Vec<u8> {
    let numbers: Vec<&str> = path.split('/').collect();
    assert_eq!(numbers.len() % 6, 0, "{path}");
    numbers.chunks(6).map(|block| block[0].parse().unwrap()).collect()
}

#[tokio::test]
async fn blocks_that_wait_are_asked_for_together_and_come_in_their_order() {
    // Every third is not available.
    let server = Server::blocks(|path| {
        let blocks = positions(path).into_iter();
        let blocks = blocks.map(|x| if x % 3 == 0 { vec![0xff; 12] } else { block(x) });
        (200, blocks.flatten().collect())
    })
    .await;
    let store = server.store(0);
    let gets = (0..200_u8).map(|x| {
        let store = store.clone();
        async move { (x, store.get(&format!("{x}/0/0"), 1 << 20).await.unwrap()) }
    });
    for (x, found) in join_all(gets).await {
        let wanted = (x % 3 != 0).then(|| Bytes::from(object(x)));
        assert_eq!(found, wanted, "{x}");
    }
    let requests = server.requests();
    assert!(requests.len() < 30, "{} requests for 200 blocks", requests.len());
    assert!(requests.iter().all(|path| path.len() < 2000));
    assert_eq!(store.get("zarr.json", 9).await.unwrap(), None);
    assert_eq!(store.get("0/0", 9).await.unwrap(), None, "no block has two numbers");
    assert_eq!(server.requests().len(), requests.len(), "and nobody is asked for those");
}

#[tokio::test]
async fn writes_that_wait_go_together_and_are_answered_alike() {
    let server = Server::blocks(|path| {
        let fails = positions(path).contains(&199);
        (if fails { 400 } else { 200 }, b"the last is refused".to_vec())
    })
    .await;
    let store = server.store(0);
    let puts = (0..200_u8).map(|x| {
        let store = store.clone();
        async move { store.put(&format!("{x}/0/0"), vec![object(x).into()]).await }
    });
    let failed = join_all(puts).await.into_iter().filter(Result::is_err).count();
    let requests = server.requests();
    let last = requests.iter().find(|path| path.contains("/199/0/0/")).unwrap();
    assert_eq!(failed, positions(last.strip_prefix("/datasets/x/1/1/1/0/").unwrap()).len());
    assert!(requests.len() < 30, "{} requests for 200 blocks", requests.len());
    for damaged in [&object(1)[..17], &[0, 1, 0, 3], &[&object(1)[..], b"x"].concat()] {
        let put = store.put("0/0/0", vec![Bytes::copy_from_slice(damaged)]).await;
        assert!(put.unwrap_err().to_string().contains("a block to be written"));
    }
    assert!(store.put("attributes.json", vec![Bytes::new()]).await.is_err());
    assert_eq!(server.requests().len(), requests.len(), "nothing of those is sent");
}

#[tokio::test]
async fn answers_that_lie_are_errors_and_nothing_is_allocated_for_them() {
    let cases: [(Vec<u8>, &str); 7] = [
        (header([i32::MAX; 3]), "of at most 4, 4 and 4"),
        (header([5, 1, 1]), "of at most 4, 4 and 4"),
        (header([-1, 4, 4]), "of at most 4, 4 and 4"),
        (b"<html>Sign in</html>".to_vec(), "of at most 4, 4 and 4"),
        ([block(1), block(2)].concat(), "more blocks than were asked for"),
        (block(1)[..13].to_vec(), "ended before its blocks"),
        (Vec::new(), "ended before its blocks"),
    ];
    for (body, wanted) in cases {
        let server = Server::blocks(move |_| (200, body.clone())).await;
        let error = server.store(0).get("1/0/0", 1 << 20).await.unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    // A block that was there before the answer broke off is not lost to those who got it.
    let server = Server::blocks(|path| {
        let all: Vec<u8> = positions(path).into_iter().flat_map(block).collect();
        let end = if positions(path).len() > 1 { all.len() - 1 } else { all.len() };
        (200, all[..end].to_vec())
    })
    .await;
    let store = server.store(0);
    let gets = (0..100_u8).map(|x| {
        let store = store.clone();
        async move { (x, store.get(&format!("{x}/0/0"), 1 << 20).await) }
    });
    let (whole, broken): (Vec<_>, Vec<_>) =
        join_all(gets).await.into_iter().partition(|(_, found)| found.is_ok());
    for (x, found) in &whole {
        assert_eq!(found.as_ref().unwrap().as_deref(), Some(&object(*x)[..]));
    }
    let blocks = |path: &String| positions(path.split_once("/1/1/1/0/").unwrap().1).len();
    let several = server.requests().iter().filter(|path| blocks(path) > 1).count();
    assert!(several > 0);
    assert_eq!(broken.len(), several, "the last of each answer to several");
}

#[tokio::test]
async fn what_passes_is_tried_again_and_what_does_not_is_said() {
    let times = Arc::new(AtomicUsize::new(0));
    for (status, tries) in [(503, 3), (429, 3), (400, 1), (403, 1), (404, 1), (413, 1)] {
        times.store(0, Ordering::Relaxed);
        let count = Arc::clone(&times);
        let server = Server::blocks(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            (status, b"no".to_vec())
        })
        .await;
        let error = server.store(2).get("1/0/0", 1 << 20).await.unwrap_err().to_string();
        assert!(error.contains(&format!("{status} (no)")), "{error}");
        assert_eq!(times.load(Ordering::Relaxed), tries, "{status}");
    }
    for (body, wanted) in [
        ("{}", "describes no data set"),
        ("<html>", "describes no data set"),
        (&DESCRIPTION.replace("uint16", "uint128"), "none of N5"),
        (&DESCRIPTION.replace("[4, 4, 4]", "[4, 4, 0]"), "an extent in it is none"),
        (&DESCRIPTION.replace("[4, 4, 4]", "[4, 4, 4000000000]"), "an extent in it is none"),
        (&DESCRIPTION.replace("[1, 1, 1]", "[2, 1, 1]"), "no level 1/1/1, but 2/1/1"),
        (&DESCRIPTION.replace("[0]", "[3, 1]"), "no version 0, but 1, 3"),
        (&format!("{{\"a\": \"{}\"}}", "x".repeat(5 << 20)), "more than 4194304 bytes"),
    ] {
        let body = body.as_bytes().to_vec();
        let server = Server::start(move |_| (200, body.clone())).await;
        let error = server.store(0).get("attributes.json", 1 << 20).await.unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
}
