//! A line for each request, with fields: who asked for what, and what became of it.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use hyper::header::CONTENT_LENGTH;
use hyper::{Request, Response};
use tower_service::Service;

/// The answer of `router` to a request of `peer`. Bytes are those of the answer's body, where they
/// are known before it is sent; milliseconds end where its head is sent.
pub(crate) async fn logged(
    mut router: Router,
    request: Request<Body>,
    peer: SocketAddr,
) -> Response<Body> {
    let started = tokio::time::Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let Ok(response) = router.call(request).await;
    let length = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let bytes = length.and_then(|length| length.parse::<u64>().ok());
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    tracing::info!(
        target: "rechunk_serve::access",
        %peer,
        %method,
        path,
        status = response.status().as_u16(),
        bytes,
        milliseconds,
    );
    response
}
