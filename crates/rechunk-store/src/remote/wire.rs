//! What goes over the wire: every attempt is counted here, retries of the library below included.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{ClientOptions, Extensions};

use super::Limiter;
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
}

impl Connector {
    pub(crate) fn new(limiter: &Arc<Limiter>) -> Self {
        Self { limiter: Arc::clone(limiter) }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let inner = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Wire { inner, limiter: Arc::clone(&self.limiter) }))
    }
}

#[derive(Debug)]
struct Wire {
    inner: HttpClient,
    limiter: Arc<Limiter>,
}

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let of_request = request.extensions().get::<Attempts>().cloned();
        if let Some(attempts) = of_request.or_else(|| ATTEMPTS.try_with(Clone::clone).ok()) {
            attempts.meter.count_attempt(attempts.role);
        }
        let response = self.inner.execute(request).await?;
        match response.status().as_u16() {
            429 | 503 => self.limiter.slow_down(),
            200..300 => self.limiter.succeeded(),
            _ => {}
        }
        Ok(response)
    }
}
