//! A server of this process, and clients of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use axum::Router;
use rechunk_serve::{Limits, Server};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server that answers until this is dropped.
pub(crate) struct Served {
    pub address: SocketAddr,
    pub base: String,
    pub client: reqwest::Client,
    pub stop: CancellationToken,
    pub task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Served {
    pub(crate) async fn with(router: Router) -> Self {
        Self::within(router, Limits::default()).await
    }

    pub(crate) async fn within(router: Router, limits: Limits) -> Self {
        let server = Server::bind("127.0.0.1:0", limits).await.unwrap();
        let address = server.address();
        let stop = CancellationToken::new();
        let task = tokio::spawn(server.run(router, stop.clone()));
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        Self { address, base: format!("http://{address}"), client, stop, task }
    }

    pub(crate) fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.base))
    }

    pub(crate) fn head(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.head(format!("{}{path}", self.base))
    }

    /// The whole answer to a request whose target is sent as it is: no client of HTTP does that.
    pub(crate) async fn raw(&self, method: &str, target: &str) -> String {
        let text = format!("{method} {target} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
        self.raw_bytes(text.into_bytes()).await
    }

    /// Everything that the server says to some bytes, until it closes.
    pub(crate) async fn raw_bytes(&self, sent: Vec<u8>) -> String {
        let address = self.address;
        tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            // The server may have answered, and closed, before it has read all.
            let _ = stream.write_all(&sent);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8_lossy(&answer).into_owned()
        })
        .await
        .unwrap()
    }
}

/// A header of an answer, as text.
pub(crate) fn header<'a>(response: &'a reqwest::Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}
