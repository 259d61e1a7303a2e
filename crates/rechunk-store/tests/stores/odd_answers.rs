//! Servers that answer as no store should, and what stands between them and us.
#![expect(clippy::disallowed_methods, reason = "a server that answers late")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::error::Error;
use std::iter::successors;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rechunk_store::{PartSizes, Store, StoreOptions, Stores};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Answer of a store about an object that it does not have.
const NO_SUCH_KEY: &str = "<Error><Code>NoSuchKey</Code><Message>none</Message></Error>";

/// A header of answers after which nothing comes any more.
const HELD: &str = "X-Held";

/// An answer: its status line, its headers, its body.
type Answer = (&'static str, String, String);

/// Gives each request, by its method and path, an answer; the requests, and where it is. On a
/// thread of its own: an answer may sleep, and then holds up nobody who looks at the clock.
async fn answering(
    answer: impl Fn(&str) -> Answer + Send + 'static,
) -> (Arc<Mutex<Vec<String>>>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&requests);
    let listener = listener.into_std().unwrap();
    let serving = async move {
        let listener = TcpListener::from_std(listener).unwrap();
        let mut held = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = request(&mut stream).await;
            let (status, head, body) = answer(&request);
            seen.lock().unwrap().push(request);
            let text = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{head}\r\n{body}");
            let _ = stream.write_all(text.as_bytes()).await;
            if head.contains(HELD) {
                held.push(stream);
            }
        }
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(serving)
    });
    (requests, format!("http://127.0.0.1:{port}"))
}

/// Reads a request; its method and path.
async fn request(stream: &mut TcpStream) -> String {
    let (mut read, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if read.len() >= head.len() + 4 + length {
                return head.split(" HTTP/").next().unwrap_or_default().to_owned();
            }
        }
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return String::new(),
            Ok(count) => read.extend_from_slice(&part[..count]),
        }
    }
}

fn said(status: &'static str, body: &str) -> Answer {
    (status, format!("Content-Length: {}\r\n", body.len()), body.to_owned())
}

fn s3(endpoint: &str, timeout: Duration) -> Store {
    s3_again(endpoint, timeout, 0)
}

fn s3_again(endpoint: &str, timeout: Duration, retries: u32) -> Store {
    let mut options = StoreOptions::default().with_max_retries(retries).with_timeout(timeout);
    for pair in [
        &format!("endpoint={endpoint}"),
        "region=us-east-1",
        "access_key_id=test",
        "secret_access_key=test",
    ] {
        options.add(pair).unwrap();
    }
    Stores::new(options).open("s3://bucket/place").unwrap()
}

const PATIENCE: Duration = Duration::from_secs(20);

fn text_of(error: &dyn Error) -> String {
    let texts = successors(Some(error), |error| (*error).source());
    texts.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[tokio::test]
async fn only_the_store_itself_says_that_an_object_is_missing() {
    for (body, text) in [
        (NO_SUCH_KEY, None),
        ("", None),
        ("default backend - 404", Some("default backend")),
        ("<Error><Code>NoSuchBucket</Code></Error>", Some("NoSuchBucket")),
    ] {
        let (_, endpoint) = answering(move |_| said("404 Not Found", body)).await;
        let found = s3(&endpoint, PATIENCE).get("c/0", 100).await;
        match text {
            None => assert_eq!(found.unwrap(), None, "{body}"),
            Some(text) => {
                let error = text_of(&found.unwrap_err());
                assert!(error.contains("c/0") && error.contains(text), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn a_web_server_that_refuses_has_not_said_that_a_file_is_missing() {
    for (status, is_missing) in [("404 Not Found", true), ("405 Method Not Allowed", false)] {
        let (_, root) = answering(move |_| said(status, "no")).await;
        let options = StoreOptions::default().with_max_retries(0);
        let store = Stores::new(options).open(&format!("{root}/data")).unwrap();
        assert_eq!(
            store.get("zarr.json", 100).await.is_ok_and(|found| found.is_none()),
            is_missing
        );
        assert_eq!(store.head("zarr.json").await.unwrap(), None, "many cannot do it");
    }
}

#[tokio::test]
async fn a_part_that_nobody_asked_for_is_not_the_object() {
    let head = "Content-Length: 4\r\nContent-Range: bytes 0-3/100\r\n";
    let answer = move |_: &str| ("206 Partial Content", head.to_owned(), "part".to_owned());
    let (_, root) = answering(answer).await;
    let options = StoreOptions::default().with_max_retries(0);
    let store = Stores::new(options).open(&format!("{root}/data")).unwrap();
    let error = text_of(&store.get("c/0", 100).await.unwrap_err());
    assert!(error.contains("502"), "{error}");
    assert_eq!(store.get_range("c/0", 0, 4).await.unwrap(), "part");
}

/// A page that names an object of the place, and one that is not below it.
fn listing(other: &str) -> String {
    let object = |key: &str| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <ETag>\"1\"</ETag><Size>1</Size></Contents>"
        )
    };
    format!(
        "<ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated>{}{}\
         </ListBucketResult>",
        object("place/c/0"),
        object(other)
    )
}

#[tokio::test]
async fn what_a_listing_has_no_business_to_name_is_not_deleted() {
    for (other, is_fine) in [("place/c/1", true), ("another/zarr.json", false), ("places", false)] {
        let answer = move |request: &str| match request {
            get if get.starts_with("GET") => said("200 OK", &listing(other)),
            _ => said("200 OK", "<DeleteResult><Deleted><Key>k</Key></Deleted></DeleteResult>"),
        };
        let (requests, endpoint) = answering(answer).await;
        let store = s3(&endpoint, PATIENCE);
        for deleted in [store.delete_prefix("").await, store.delete_all_but(&[]).await] {
            assert_eq!(deleted.is_ok(), is_fine, "{other}: {deleted:?}");
            if let Err(error) = deleted {
                let error = text_of(&error);
                assert!(error.contains(other) && error.contains("not below"), "{error}");
            }
        }
        let requests = requests.lock().unwrap();
        let posts = requests.iter().filter(|request| request.starts_with("POST")).count();
        assert_eq!(posts, if is_fine { 2 } else { 0 }, "{other}");
    }
}

#[tokio::test]
async fn an_answer_that_names_what_was_not_to_be_deleted_is_an_error() {
    let answer = |_: &str| {
        let error = "<Error><Key></Key><Code>AccessDenied</Code><Message>m</Message></Error>";
        said("200 OK", &format!("<DeleteResult>{error}</DeleteResult>"))
    };
    let (_, endpoint) = answering(answer).await;
    let deleted = s3(&endpoint, PATIENCE).delete_keys(["a".to_owned()]).await;
    let error = text_of(&deleted.unwrap_err());
    assert!(error.contains("makes no sense"), "{error}");
}

#[tokio::test]
async fn a_lease_is_not_longer_than_was_said() {
    let answer = |_: &str| {
        let head = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\
                    Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"1\"\r\n";
        ("200 OK", head.to_owned(), format!("10000\r\n{}\r\n0\r\n\r\n", "x".repeat(1 << 16)))
    };
    let (_, endpoint) = answering(answer).await;
    let error = s3(&endpoint, PATIENCE).snapshot("lock", 1 << 10).await.unwrap_err();
    assert!(text_of(&error).contains("lock"), "{error}");
}

#[tokio::test]
async fn an_upload_without_a_name_is_not_begun() {
    let answer = |_: &str| {
        said(
            "200 OK",
            "<InitiateMultipartUploadResult><UploadId></UploadId></InitiateMultipartUploadResult>",
        )
    };
    let (requests, endpoint) = answering(answer).await;
    let part_bytes = 5 << 20;
    let sizes = PartSizes { threshold_bytes: part_bytes, part_bytes, log_part_bytes: part_bytes };
    let store = s3(&endpoint, PATIENCE).with_part_sizes(sizes);
    let body = Bytes::from(vec![0; 6 << 20]);
    let error = text_of(&store.put("c/0", vec![body]).await.unwrap_err());
    assert!(error.contains("no name"), "{error}");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let requests = requests.lock().unwrap();
    assert!(requests.iter().all(|request| !request.contains("uploadId=")), "{requests:?}");
}

/// It takes as long to send a large body as the line does.
#[tokio::test]
async fn a_write_has_the_time_that_its_bytes_take() {
    let answer = |request: &str| {
        if request.starts_with("PUT") {
            std::thread::sleep(Duration::from_millis(1500));
        }
        ("200 OK", "Content-Length: 0\r\nETag: \"1\"\r\n".to_owned(), String::new())
    };
    for (bytes, is_sent) in [(1 << 20, true), (1 << 10, false)] {
        let (_, endpoint) = answering(answer).await;
        let store = s3(&endpoint, Duration::from_secs(1));
        let put = store.put("c/0", vec![Bytes::from(vec![0; bytes])]).await;
        assert_eq!(put.is_ok(), is_sent, "{bytes}: {put:?}");
    }
}

#[tokio::test]
async fn an_answer_to_a_write_that_stops_is_not_waited_for() {
    let answer =
        |_: &str| ("200 OK", format!("{HELD}: yes\r\nContent-Length: 100\r\n"), "<Del".to_owned());
    let (_, endpoint) = answering(answer).await;
    let store = s3(&endpoint, Duration::from_secs(1));
    let deleted = store.delete_keys(["a".to_owned()]);
    let error = tokio::time::timeout(PATIENCE, deleted).await.unwrap().unwrap_err();
    assert!(text_of(&error).contains("no answer within 1 s"), "{}", text_of(&error));
}

/// An upload that the store does not know any more has become the object, or somebody has given it
/// up.
#[tokio::test]
async fn an_object_from_before_an_upload_is_not_what_was_uploaded() {
    const BYTES: usize = 6 << 20;
    for (written, is_done) in [("10:00:00", false), ("12:00:00", true)] {
        let answer = move |request: &str| {
            let date = "Date: Thu, 01 Jan 2026 12:00:00 GMT\r\n";
            let head = format!("{date}Content-Length: 0\r\nETag: \"1\"\r\n");
            match request.split_once(' ').unwrap() {
                ("POST", path) if path.contains("uploads") => {
                    let id = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
                    ("200 OK", format!("{date}Content-Length: {}\r\n", id.len()), id.to_owned())
                }
                ("POST", _) => said("404 Not Found", "<Error><Code>NoSuchUpload</Code></Error>"),
                ("HEAD", _) => {
                    let modified = format!("Last-Modified: Thu, 01 Jan 2026 {written} GMT\r\n");
                    let head =
                        format!("{date}{modified}Content-Length: {BYTES}\r\nETag: \"1\"\r\n");
                    ("200 OK", head, String::new())
                }
                _ => ("200 OK", head, String::new()),
            }
        };
        let (_, endpoint) = answering(answer).await;
        let part_bytes = 5 << 20;
        let sizes =
            PartSizes { threshold_bytes: part_bytes, part_bytes, log_part_bytes: part_bytes };
        let store = s3(&endpoint, PATIENCE).with_part_sizes(sizes);
        let put = store.put("c/0", vec![Bytes::from(vec![0; BYTES])]).await;
        assert_eq!(put.is_ok(), is_done, "{written}: {put:?}");
    }
}

#[tokio::test]
async fn a_busy_store_is_asked_again_when_it_has_said() {
    let times = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&times);
    let (_, endpoint) = answering(move |_| {
        let mut asked = asked.lock().unwrap();
        asked.push(std::time::Instant::now());
        if asked.len() > 1 {
            return said("200 OK", "there");
        }
        let (status, head, body) = said("503 Slow Down", "busy");
        (status, format!("Retry-After: 1\r\n{head}"), body)
    })
    .await;
    let store = s3_again(&endpoint, PATIENCE, 1);
    assert_eq!(store.get("x", 1 << 20).await.unwrap().as_deref(), Some(&b"there"[..]));
    let times = times.lock().unwrap();
    let [first, second] = times[..] else { panic!("{} requests", times.len()) };
    assert!(second - first >= Duration::from_secs(1), "{:?}", second - first);
}
