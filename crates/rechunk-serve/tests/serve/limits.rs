//! Clients that are slow, many or gone, and a server that is told to stop.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use rechunk_serve::{Limits, ServeError, Server};

use crate::harness::Served;

fn short() -> Limits {
    Limits {
        head_time: Duration::from_millis(500),
        stall_time: Duration::from_secs(1),
        stop_time: Duration::from_secs(10),
        ..Limits::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let served = Served::within(Router::new(), short()).await;
    let begun = Instant::now();
    // A server that waited would never say anything: the client's own limit is a minute.
    let answer = served.raw_bytes(b"GET / HTTP/1.1\r\nHost: h".to_vec()).await;
    assert!(begun.elapsed() < Duration::from_secs(50), "{answer}");
    let answer = served.raw_bytes(Vec::new()).await;
    assert!(begun.elapsed() < Duration::from_secs(50), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_large_is_refused() {
    let served = Served::within(Router::new(), short()).await;
    let head = format!("GET / HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n", "x".repeat(200_000));
    let answer = served.raw_bytes(head.into_bytes()).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    // A target of 16 KiB is none too large.
    let answer = served.get(&format!("/{}", "0/".repeat(8000))).send().await.unwrap();
    assert_eq!(answer.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_nothing_is_let_go() {
    let body = vec![0_u8; 64 << 20];
    let router = Router::new().route("/", get(move || async move { body }));
    let served = Served::within(router, short()).await;
    let address = served.address;
    let read = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        std::thread::sleep(Duration::from_secs(4));
        let mut taken = Vec::new();
        // What the system holds still comes; the rest does not.
        let _ = stream.read_to_end(&mut taken);
        taken.len()
    });
    assert!(read.await.unwrap() < 64 << 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_are_bounded_and_give_their_places_back() {
    let router = Router::new().route("/", get(|| async { "here" }));
    let served = Served::within(router, Limits { connections: 20, ..short() }).await;
    let idle: Vec<_> = (0..200).filter_map(|_| TcpStream::connect(served.address).ok()).collect();
    // They hold all places, for as long as a head is waited for.
    let answer = tokio::time::timeout(Duration::from_secs(50), served.get("/").send()).await;
    assert_eq!(answer.unwrap().unwrap().text().await.unwrap(), "here");
    drop(idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_under_way_end_before_the_server_does() {
    let slow = get(|| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        "whole"
    });
    let mut served = Served::with(Router::new().route("/slow", slow)).await;
    // An idle connection holds nothing up.
    let _idle = TcpStream::connect(served.address).unwrap();
    let request = tokio::spawn(served.get("/slow").send());
    tokio::time::sleep(Duration::from_millis(300)).await;
    served.stop.cancel();
    assert_eq!(request.await.unwrap().unwrap().text().await.unwrap(), "whole");
    let ended = tokio::time::timeout(Duration::from_secs(20), &mut served.task).await;
    ended.expect("the server has not ended").unwrap();
    assert!(served.get("/slow").send().await.is_err(), "somebody still answers");
}

#[tokio::test]
async fn an_address_that_is_taken_or_none_is_said() {
    let first = Server::bind("127.0.0.1:0", Limits::default()).await.unwrap();
    assert!(first.address().ip().is_loopback());
    for address in [first.address().to_string(), "nowhere".to_owned()] {
        let error = Server::bind(&address, Limits::default()).await.unwrap_err();
        let ServeError::Listen { address: said, .. } = error else { panic!("{error}") };
        assert_eq!(said, address);
    }
}
