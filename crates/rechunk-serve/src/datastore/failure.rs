//! Requests that are refused, or fail: a status and a sentence.

use axum::body::Body;
use hyper::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use rechunk_datastore::DatastoreError;

use crate::typed::{TEXT, typed};

/// Seconds after which a client may try again what is not available.
const RETRY_SECONDS: u64 = 5;

/// An answer, or why there is none.
pub(super) type Answer = Result<Response<Body>, Failure>;

/// Why a request is not answered as its client hoped.
#[derive(Debug)]
pub(super) struct Failure {
    pub status: StatusCode,
    pub reason: String,
    allow: Option<&'static str>,
    retry_after_seconds: Option<u64>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), allow: None, retry_after_seconds: None }
    }

    /// There is nothing at the path.
    pub(super) fn no_resource() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is no such resource")
    }

    /// Other methods are of use there.
    pub(super) fn method(allow: &'static str) -> Self {
        let failure = Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("this takes {allow}"));
        Self { allow: Some(allow), ..failure }
    }

    /// Says that it may be done later: something that it needs is away.
    fn later(reason: String) -> Self {
        let failure = Self::new(StatusCode::SERVICE_UNAVAILABLE, reason);
        Self { retry_after_seconds: Some(RETRY_SECONDS), ..failure }
    }

    pub(super) fn answer(self) -> Response<Body> {
        let mut response = text(self.status, &self.reason);
        if let Some(allow) = self.allow {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
        }
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<DatastoreError> for Failure {
    fn from(error: DatastoreError) -> Self {
        let status = match &error {
            DatastoreError::Field { .. } | DatastoreError::Senseless(_) => StatusCode::BAD_REQUEST,
            DatastoreError::Unknown(_) => StatusCode::NOT_FOUND,
            DatastoreError::Exists(_) => StatusCode::CONFLICT,
            DatastoreError::Unacceptable(_) => StatusCode::NOT_ACCEPTABLE,
            DatastoreError::ReadOnly => StatusCode::FORBIDDEN,
            DatastoreError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            DatastoreError::Unavailable(_) => return Self::later(error.to_string()),
            _ if error.is_store_away() => {
                tracing::warn!(%error, "the store does not answer");
                return Self::later("the store does not answer: try again later".to_owned());
            }
            _ if error.is_no_space() => {
                tracing::error!(%error, "the disk is full");
                let reason = "the disk of the datastore is full: send it again when there is room";
                return Self::new(StatusCode::INSUFFICIENT_STORAGE, reason);
            }
            _ => {
                // Places on our disks are no affair of clients.
                tracing::error!(%error, "a request failed");
                let reason = "the store has failed; the server's log says why";
                return Self::new(StatusCode::INTERNAL_SERVER_ERROR, reason);
            }
        };
        Self::new(status, error.to_string())
    }
}

/// An answer of a sentence.
pub(super) fn text(status: StatusCode, text: &str) -> Response<Body> {
    plain(status, Body::from(text.to_owned()))
}

/// An answer of text.
pub(super) fn plain(status: StatusCode, body: Body) -> Response<Body> {
    typed(status, TEXT, body)
}
