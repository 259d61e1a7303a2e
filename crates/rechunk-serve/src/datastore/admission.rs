//! Admits requests of clients that have not had too many. Behind the answer to each that changes
//! something is a line of the audit log, with the name of its token.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::middleware::Next;
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use tokio::time::Instant;

use super::failure::text;
use super::rate::Client;
use super::state::Face;
use crate::listener::Peer;

/// A change that a request has asked for; among the extensions of the answer.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// The change in a word or two.
    pub action: &'static str,
    /// The data set that it is about.
    pub dataset: Option<String>,
}

impl Change {
    /// The answer to a request that asked for a change, whether or not it was made.
    pub(super) fn noted(self, mut response: Response<Body>) -> Response<Body> {
        response.extensions_mut().insert(self);
        response
    }
}

/// The answer to a request of a client that has not had too many.
pub(super) async fn admitted(
    State(face): State<Arc<Face>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let token = face.token_name(request.headers()).await;
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    if let Some(rate) = &face.rate {
        let address = || Client::at(peer.unwrap_or(IpAddr::from([0; 4])));
        let client = token.clone().map_or_else(address, Client::Token);
        if let Err(wait) = rate.take(client, Instant::now()) {
            return too_many(wait);
        }
    }
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    if let Some(Change { action, dataset }) = response.extensions().get::<Change>() {
        tracing::info!(
            target: "rechunk_serve::audit",
            by = token.as_deref().unwrap_or("anybody"),
            peer = peer.map(tracing::field::display),
            action,
            dataset,
            path,
            status = response.status().as_u16(),
        );
    }
    response
}

fn too_many(wait: Duration) -> Response<Body> {
    // Whole seconds, and never none.
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
    let reason = "too many requests: wait a little, or ask for several blocks at once";
    let mut response = text(StatusCode::TOO_MANY_REQUESTS, reason);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}
