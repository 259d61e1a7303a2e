//! Answers with a file or a directory: conditions and ranges of RFC 9110.

use std::ops::Range;
use std::time::SystemTime;

use axum::body::Body;
use cap_std::fs::ReadDir;
use headers::{
    AcceptRanges, ContentLength, ContentRange, ETag, HeaderMapExt, IfMatch, IfModifiedSince,
    IfNoneMatch, IfRange, IfUnmodifiedSince, LastModified,
};
use hyper::header::{CONTENT_TYPE, HeaderValue, RANGE};
use hyper::{HeaderMap, Method, Response, StatusCode};

use super::body::body;
use super::found::OpenFile;
use super::listing::listing;
use super::media_type::media_type;
use super::plain::plain;
use super::range::{Part, part};
use super::target::Target;
use crate::typed::typed;

/// Marks that tell one state of a file from another.
struct Validators {
    etag: Option<ETag>,
    modified: Option<SystemTime>,
}

impl Validators {
    fn of(file: &OpenFile) -> Self {
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
        let nanoseconds = file.modified.and_then(since).map_or(0, |since| since.as_nanos());
        let text = format!("\"{nanoseconds:x}-{:x}-{:x}\"", file.bytes, file.number);
        Self { etag: text.parse().ok(), modified: file.modified }
    }

    /// The status that conditions of the request lead to, if they have it end here.
    fn refuse(&self, headers: &HeaderMap) -> Option<StatusCode> {
        let etag = self.etag.as_ref();
        let holds = match (headers.typed_get::<IfMatch>(), etag) {
            (Some(wanted), Some(etag)) => wanted.precondition_passes(etag),
            (Some(_), None) => false,
            (None, _) => match (headers.typed_get::<IfUnmodifiedSince>(), self.modified) {
                (Some(since), Some(modified)) => since.precondition_passes(modified),
                _ => true,
            },
        };
        if !holds {
            return Some(StatusCode::PRECONDITION_FAILED);
        }
        let is_new = match (headers.typed_get::<IfNoneMatch>(), etag) {
            (Some(known), Some(etag)) => known.precondition_passes(etag),
            (Some(_), None) => true,
            (None, _) => match (headers.typed_get::<IfModifiedSince>(), self.modified) {
                (Some(since), Some(modified)) => since.is_modified(modified),
                _ => true,
            },
        };
        (!is_new).then_some(StatusCode::NOT_MODIFIED)
    }

    /// The part of a file of `bytes` that is to be sent.
    fn part(&self, headers: &HeaderMap, bytes: u64) -> Part {
        let modified = self.modified.map(LastModified::from);
        let is_other = headers
            .typed_get::<IfRange>()
            .is_some_and(|state| state.is_modified(self.etag.as_ref(), modified.as_ref()));
        let range = headers.get(RANGE).and_then(|range| range.to_str().ok());
        part(range.filter(|_| !is_other), bytes)
    }

    fn describe(&self, headers: &mut HeaderMap) {
        if let Some(etag) = &self.etag {
            headers.typed_insert(etag.clone());
        }
        if let Some(modified) = self.modified {
            headers.typed_insert(LastModified::from(modified));
        }
    }
}

/// The answer with a file, or a part of it.
pub(super) async fn file(
    file: OpenFile,
    path: &str,
    method: &Method,
    headers: &HeaderMap,
) -> Response<Body> {
    let validators = Validators::of(&file);
    let mut response = if let Some(status) = validators.refuse(headers) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        response
    } else {
        // Ranges are of GET alone.
        let part = match *method {
            Method::GET => validators.part(headers, file.bytes),
            _ => Part::Whole,
        };
        let (bytes, is_head) = (file.bytes, method == Method::HEAD);
        match part {
            Part::Whole => send(file, 0..bytes, is_head, path).await,
            Part::Bytes(range) => {
                let mut response = send(file, range.clone(), is_head, path).await;
                if let (StatusCode::OK, Ok(of)) =
                    (response.status(), ContentRange::bytes(range, bytes))
                {
                    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                    response.headers_mut().typed_insert(of);
                }
                response
            }
            Part::Beyond => {
                let mut response =
                    plain(StatusCode::RANGE_NOT_SATISFIABLE, "the file has no such bytes");
                response.headers_mut().typed_insert(ContentRange::unsatisfied_bytes(bytes));
                response
            }
        }
    };
    validators.describe(response.headers_mut());
    response.headers_mut().typed_insert(AcceptRanges::bytes());
    response
}

async fn send(file: OpenFile, range: Range<u64>, is_head: bool, path: &str) -> Response<Body> {
    let length = range.end.saturating_sub(range.start);
    let sent = if is_head { Ok(Body::empty()) } else { body(file.file, range).await };
    let mut response = match sent {
        Ok(body) => Response::new(body),
        Err(error) => {
            tracing::warn!(%error, path, "a file could not be read");
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "this could not be read");
        }
    };
    let headers = response.headers_mut();
    headers.typed_insert(ContentLength(length));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(path)));
    response
}

/// The answer with the names in a directory.
pub(super) fn directory(names: ReadDir, target: &Target, method: &Method) -> Response<Body> {
    let body = if method == Method::HEAD { Body::empty() } else { listing(names, target) };
    typed(StatusCode::OK, "text/html; charset=utf-8", body)
}
