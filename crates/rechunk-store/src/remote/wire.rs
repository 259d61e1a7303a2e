//! What goes over the wire: every attempt is counted here, retries of the library below included,
//! and what answers say of the server is noticed.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::{ClientOptions, Extensions};
use tokio::time::Instant;

use super::copy_answer::{is_copy, with_true_status};
use super::hedge::Hedge;
use super::{Like, Limiter};
use crate::watch::ServerClock;
use crate::{Meter, Role};

/// Whose attempt it is; travels with a request.
#[derive(Clone)]
struct Attempts {
    meter: Arc<Meter>,
    role: Role,
}

/// Extensions of a request, so that its attempts count in `meter` as `role`.
pub(crate) fn attempts_of(meter: &Arc<Meter>, role: Role) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Attempts { meter: Arc::clone(meter), role });
    extensions
}

/// The same for a read, which is sent again if it is much slower than those like it.
pub(crate) fn read_like(like: Like, mut extensions: Extensions) -> Extensions {
    extensions.insert(like);
    extensions
}

tokio::task_local! {
    /// For requests that take no extensions.
    static ATTEMPTS: Attempts;
}

/// Runs what sends requests that take no extensions, so that their attempts count in `meter` as
/// `role`.
pub(crate) async fn with_attempts<F: Future>(meter: &Arc<Meter>, role: Role, work: F) -> F::Output {
    ATTEMPTS.scope(Attempts { meter: Arc::clone(meter), role }, work).await
}

/// Makes clients that count attempts and notice when a store is busy.
#[derive(Debug)]
pub(crate) struct Connector {
    limiter: Arc<Limiter>,
    hedge: Arc<Hedge>,
    clock: Arc<ServerClock>,
}

impl Connector {
    pub(crate) fn new(limiter: &Arc<Limiter>, clock: &Arc<ServerClock>) -> Self {
        let hedge = Hedge::new(limiter);
        Self { limiter: Arc::clone(limiter), hedge, clock: Arc::clone(clock) }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let inner = ReqwestConnector::default().connect(options)?;
        let (limiter, clock) = (Arc::clone(&self.limiter), Arc::clone(&self.clock));
        Ok(HttpClient::new(Wire { inner, limiter, hedge: Arc::clone(&self.hedge), clock }))
    }
}

#[derive(Debug)]
struct Wire {
    inner: HttpClient,
    limiter: Arc<Limiter>,
    hedge: Arc<Hedge>,
    clock: Arc<ServerClock>,
}

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Some(&like) = request.extensions().get::<Like>() else {
            return self.send(request).await;
        };
        self.hedge.send(like, || self.send(request.clone()), is_answer).await
    }
}

/// The store has said what it was asked, and not that it cannot.
fn is_answer(response: &HttpResponse) -> bool {
    let status = response.status();
    !(status.is_server_error() || matches!(status.as_u16(), 408 | 429))
}

/// A server whose certificate is not trusted has the same one when it is asked again.
fn final_if_untrusted(error: HttpError) -> HttpError {
    if crate::error::is_untrusted(&error) {
        HttpError::new(HttpErrorKind::Unknown, error)
    } else {
        error
    }
}

impl Wire {
    /// One attempt, until the head of its answer.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let of_request = request.extensions().get::<Attempts>().cloned();
        if let Some(attempts) = of_request.or_else(|| ATTEMPTS.try_with(Clone::clone).ok()) {
            attempts.meter.count_attempt(attempts.role);
        }
        let is_copy = is_copy(&request);
        let sent = Instant::now();
        let mut response = self.inner.execute(request).await.map_err(final_if_untrusted)?;
        if is_copy {
            response = with_true_status(response).await?;
        }
        let date = response.headers().get("date").and_then(|date| date.to_str().ok());
        if let Some(date) = date.and_then(|date| httpdate::parse_http_date(date).ok()) {
            self.clock.heard(date);
        }
        match response.status().as_u16() {
            429 | 503 => self.limiter.slow_down(sent),
            200..300 => self.limiter.succeeded(),
            _ => {}
        }
        Ok(response)
    }
}
