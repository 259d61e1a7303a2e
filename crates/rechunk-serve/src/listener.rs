//! Connections: accepted within limits, timed, and ended gracefully.

use std::convert::Infallible;
use std::error::Error;
use std::io;
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
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::{Certificate, Limits, ServeError, access_log};

/// Wait after the system has refused a connection, for lack of descriptors perhaps.
const REFUSED_WAIT: Duration = Duration::from_millis(50);

/// A listener on an address, before it answers.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
    certificate: Option<Arc<Certificate>>,
}

impl Server {
    /// Listens on `address`, such as `127.0.0.1:9081`; port 0 picks a free one. Clients that come
    /// before [`Server::run`] wait.
    pub async fn bind(address: &str, limits: Limits) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address: address.to_owned(), source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, limits, certificate: None })
    }

    /// The address that clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers by TLS only, with this certificate.
    #[must_use]
    pub fn with_certificate(self, certificate: Certificate) -> Self {
        Self { certificate: Some(Arc::new(certificate)), ..self }
    }

    /// The URL of its root, without a slash at the end.
    pub fn url(&self) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
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
                    self.answer(stream, peer, &router, place, (graceful.watcher(), stop.clone()));
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
        (watcher, stop): (Watcher, CancellationToken),
    ) {
        // Small answers are not held back for more; without it they are late, and no worse.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(self.limits.stall_time));
        let stream = Box::pin(stream);
        let connection = Connection { peer, router: router.clone(), limits: self.limits };
        let certificate = self.certificate.clone();
        tokio::spawn(async move {
            let ended = match certificate {
                None => connection.serve(stream, watcher).await,
                Some(certificate) => tokio::select! {
                    // Who has not greeted yet has no request under way.
                    () = stop.cancelled() => Ok(()),
                    greeted = connection.greet(stream, &certificate) => match greeted {
                        Ok(stream) => connection.serve(stream, watcher).await,
                        Err(error) => Err(error.into()),
                    },
                },
            };
            if let Err(error) = ended {
                tracing::debug!(%peer, %error, "a connection ended");
            }
            drop(place);
        });
    }
}

/// A client of a server.
struct Connection {
    peer: SocketAddr,
    router: Router,
    limits: Limits,
}

impl Connection {
    /// The stream behind the handshake of TLS, which has the time of a head.
    async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        certificate: &Certificate,
    ) -> io::Result<TlsStream<S>> {
        let greeted = TlsAcceptor::from(certificate.current().await).accept(stream);
        tokio::time::timeout(self.limits.head_time, greeted).await?
    }

    /// Answers requests until the client or the server closes.
    async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        &self,
        stream: S,
        watcher: Watcher,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (router, peer) = (self.router.clone(), self.peer);
        let service = service_fn(move |request: Request<Incoming>| {
            let router = router.clone();
            async move { Ok::<_, Infallible>(respond(router, request, peer).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_time)
            .max_buf_size(self.limits.head_bytes.max(MIN_BUFFER_BYTES))
            .serve_connection(TokioIo::new(stream), service);
        Ok(watcher.watch(connection).await?)
    }
}

/// Smaller buffers are none to hyper.
const MIN_BUFFER_BYTES: usize = 8 << 10;

/// The address of a request's client, or of its proxy; among the extensions of the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub SocketAddr);

/// The answer of the router, written into the access log.
async fn respond(
    router: Router,
    mut request: Request<Incoming>,
    peer: SocketAddr,
) -> Response<Body> {
    request.extensions_mut().insert(Peer(peer));
    access_log::logged(router, request.map(Body::new), peer).await
}
