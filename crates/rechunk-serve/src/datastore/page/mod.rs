//! The page for people: data sets, and a viewer of their slices. Its files are in the program.

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::routing::get;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

use super::failure::Failure;
use crate::typed::typed;

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Files of the page by their names: type and text.
const FILES: [(&str, &str, &str); 10] = [
    ("api.js", JAVASCRIPT, include_str!("api.js")),
    ("blocks.js", JAVASCRIPT, include_str!("blocks.js")),
    ("elements.js", JAVASCRIPT, include_str!("elements.js")),
    ("gestures.js", JAVASCRIPT, include_str!("gestures.js")),
    ("icon.svg", "image/svg+xml", include_str!("icon.svg")),
    ("main.js", JAVASCRIPT, include_str!("main.js")),
    ("painter.js", JAVASCRIPT, include_str!("painter.js")),
    ("slice.js", JAVASCRIPT, include_str!("slice.js")),
    ("style.css", "text/css; charset=utf-8", include_str!("style.css")),
    ("viewer.js", JAVASCRIPT, include_str!("viewer.js")),
];
const INDEX: &str = include_str!("index.html");

/// Nothing is fetched but from this server, nothing is run that is not in a file of it, and no
/// other page shows this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";
const HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    // Another program may be at this address tomorrow.
    (CACHE_CONTROL, "no-cache"),
];

/// `/`, and the files that it asks for. Who has no token may see them: they have no data.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(|| async { sent("text/html; charset=utf-8", INDEX) }))
        .route("/page/{name}", get(file))
}

async fn file(Path(name): Path<String>) -> Response<Body> {
    let found = FILES.into_iter().find(|(own, ..)| *own == name);
    found.map_or_else(|| Failure::no_resource().answer(), |(_, kind, text)| sent(kind, text))
}

fn sent(kind: &'static str, text: &'static str) -> Response<Body> {
    let mut response = typed(StatusCode::OK, kind, text);
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
