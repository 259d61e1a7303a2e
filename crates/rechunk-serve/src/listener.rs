//! Connections: accepted within limits, timed, and ended gracefully.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;

use crate::{Limits, ServeError, access_log};

/// Wait after the system has refused a connection, for lack of descriptors perhaps.
const REFUSED_WAIT: Duration = Duration::from_millis(50);

/// A listener on an address, before it answers.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl Server {
    /// Listens on `address`, such as `127.0.0.1:9081`; port 0 picks a free one. Clients that come
    /// before [`Server::run`] wait.
    pub async fn bind(address: &str, limits: Limits) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address: address.to_owned(), source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, limits })
    }

    /// The address that clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers with `router` until `stop` is cancelled. Requests that are under way then are
    /// finished, within [`Limits::stop_time`]; idle connections are closed.
    pub async fn run(self, router: Router, stop: CancellationToken) {
        let places = Arc::new(Semaphore::new(self.limits.connections));
        let graceful = GracefulShutdown::new();
        loop {
            let accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                () = stop.cancelled() => break,
                both = accepted => both,
            };
            match (place, accepted) {
                (Ok(place), Ok((stream, peer))) => {
                    self.answer(stream, peer, &router, place, &graceful);
                }
                // The client has gone again, or there are no descriptors for now.
                (_, Err(error)) => {
                    tracing::debug!(%error, "a connection was not accepted");
                    tokio::time::sleep(REFUSED_WAIT).await;
                }
                // Nobody closes the semaphore.
                (Err(_), _) => break,
            }
        }
        drop(self.listener);
        let (time, ended) = (self.limits.stop_time, graceful.shutdown());
        if tokio::time::timeout(time, ended).await.is_err() {
            tracing::warn!("requests were still under way after {} s: cut off", time.as_secs());
        }
    }

    /// Starts the task of one connection, which keeps its `place` until it is closed.
    fn answer(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        router: &Router,
        place: OwnedSemaphorePermit,
        graceful: &GracefulShutdown,
    ) {
        // Small answers are not held back for more; without it they are late, and no worse.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(self.limits.stall_time));
        let router = router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let router = router.clone();
            async move { Ok::<_, Infallible>(respond(router, request, peer).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_time)
            .max_buf_size(self.limits.head_bytes.max(MIN_BUFFER_BYTES))
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(%peer, %error, "a connection ended");
            }
            drop(place);
        });
    }
}

/// Smaller buffers are none to hyper.
const MIN_BUFFER_BYTES: usize = 8 << 10;

/// The answer of the router, written into the access log.
async fn respond(router: Router, request: Request<Incoming>, peer: SocketAddr) -> Response<Body> {
    access_log::logged(router, request.map(Body::new), peer).await
}
