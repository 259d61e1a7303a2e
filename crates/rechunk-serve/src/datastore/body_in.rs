//! Bodies of requests, within limits of bytes and time.

use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use hyper::{HeaderMap, StatusCode};

use super::failure::Failure;
use super::options::DatastoreOptions;

/// Refuses a body that says to be of another type than `wanted`.
pub(super) fn check_type(headers: &HeaderMap, wanted: &str) -> Result<(), Failure> {
    let Some(said) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let said = said.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if said.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    let reason = format!("the body is {said:?}, this takes {wanted}");
    Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason))
}

/// A body that is taken piece by piece.
pub(super) struct Incoming {
    body: Body,
    limit_bytes: u64,
    bytes_max: u64,
    taken: u64,
    stall_time: Duration,
    end: tokio::time::Instant,
}

impl Incoming {
    /// Takes a body of at most `limit_bytes`, unless its length is said to be more.
    pub(super) fn new(
        body: Body,
        headers: &HeaderMap,
        limit_bytes: u64,
        options: &DatastoreOptions,
    ) -> Result<Self, Failure> {
        let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        let said = said.and_then(|length| length.parse::<u64>().ok());
        let least = HttpBody::size_hint(&body).lower();
        if said.unwrap_or(0).max(least) > limit_bytes {
            return Err(too_large(limit_bytes));
        }
        let bytes_max = said.unwrap_or(limit_bytes);
        let end = tokio::time::Instant::now() + options.body_time;
        Ok(Self { body, limit_bytes, bytes_max, taken: 0, stall_time: options.stall_time, end })
    }

    /// Most bytes that it has: those it says, or else may have.
    pub(super) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let wait = self.end.min(tokio::time::Instant::now() + self.stall_time);
            let frame = pin!(self.body.frame());
            let frame = tokio::time::timeout_at(wait, frame).await.map_err(|_| {
                let reason = "the body did not come in time";
                Failure::new(StatusCode::REQUEST_TIMEOUT, reason)
            })?;
            let frame = match frame {
                None => return Ok(None),
                Some(Ok(frame)) => frame,
                Some(Err(error)) => {
                    let reason = format!("the body broke off: {error}");
                    return Err(Failure::new(StatusCode::BAD_REQUEST, reason));
                }
            };
            let Ok(bytes) = frame.into_data() else { continue };
            self.taken = self.taken.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            if self.taken > self.limit_bytes {
                return Err(too_large(self.limit_bytes));
            }
            return Ok(Some(bytes));
        }
    }

    /// All of it.
    pub(super) async fn whole(mut self) -> Result<Vec<u8>, Failure> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    /// Takes what is left and forgets it: clients read an answer when they have sent all.
    pub(super) async fn drain(mut self) {
        while let Ok(Some(_)) = self.next().await {}
    }
}

fn too_large(limit_bytes: u64) -> Failure {
    let reason = format!("the body has more than {limit_bytes} bytes");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
}
