use axum::body::Body;
use hyper::{Response, StatusCode};

use crate::typed::{TEXT, typed};

/// An answer of a sentence.
pub(super) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    typed(status, TEXT, format!("{text}\n"))
}
