//! Numbers for Prometheus.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::middleware::Next;
use hyper::{Request, Response, StatusCode};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::failure::text;
use crate::typed::typed;

type Labels = Vec<(&'static str, String)>;

/// Counts since the server began.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    /// Blocks that were asked for, also those that are not there.
    pub blocks_read: Counter,
    /// Blocks that were stored.
    pub blocks_written: Counter,
    /// Bytes of blocks on the wire, out.
    pub bytes_read: Counter,
    /// Bytes of blocks on the wire, in.
    pub bytes_written: Counter,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("rechunk_datastore"),
            requests: Family::default(),
            blocks_read: Counter::default(),
            blocks_written: Counter::default(),
            bytes_read: Counter::default(),
            bytes_written: Counter::default(),
        };
        let registry = &mut metrics.registry;
        let requests = "Requests that were answered, by method and status";
        registry.register("requests", requests, metrics.requests.clone());
        for (name, help, counter) in [
            ("blocks_read", "Blocks that were asked for", &metrics.blocks_read),
            ("blocks_written", "Blocks that were stored", &metrics.blocks_written),
            ("block_bytes_read", "Bytes of blocks that were sent", &metrics.bytes_read),
            ("block_bytes_written", "Bytes of blocks that were stored", &metrics.bytes_written),
        ] {
            registry.register(name, help, counter.clone());
        }
        metrics
    }

    pub(super) fn answer(&self) -> Response<Body> {
        let mut said = String::new();
        if encode(&mut said, &self.registry).is_err() {
            return text(StatusCode::INTERNAL_SERVER_ERROR, "the numbers cannot be written");
        }
        typed(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", said)
    }
}

/// Counts the answer to a request.
pub(super) async fn counted(
    State(metrics): State<Arc<Metrics>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    // Methods that somebody makes up are one, or they would fill the memory.
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
    let method = known.into_iter().find(|known| request.method().as_str() == *known);
    let method = method.unwrap_or("other").to_owned();
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    metrics.requests.get_or_create(&vec![("method", method), ("status", status)]).inc();
    response
}
