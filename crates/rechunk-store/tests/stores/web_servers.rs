//! Web servers that send something else than the file they have.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::iter::successors;

use rechunk_store::Stores;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that gives each request the same answer; where it is.
async fn answering(head: &'static str, body: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n{head}\r\n"
            );
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(body).await;
        }
    });
    format!("http://127.0.0.1:{port}/data")
}

#[tokio::test]
async fn what_is_compressed_on_the_way_is_refused() {
    let location = answering("Content-Encoding: gzip\r\n", b"\x1f\x8b\x08 and so on").await;
    let store = Stores::default().open(&location).unwrap();
    let error = store.get("zarr.json", 1 << 20).await.unwrap_err();
    let texts = successors(Some(&error as &dyn Error), |error| (*error).source());
    let text = texts.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    assert!(text.contains("zarr.json") && text.contains("Content-Encoding: gzip"), "{text}");
}

#[tokio::test]
async fn what_is_sent_as_it_is_is_read() {
    for head in ["", "Content-Encoding: identity\r\n"] {
        let location = answering(head, b"{}").await;
        let store = Stores::default().open(&location).unwrap();
        assert_eq!(store.get("zarr.json", 1 << 20).await.unwrap().unwrap(), "{}");
    }
}
