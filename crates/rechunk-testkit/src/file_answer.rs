//! A file as the answer to GET and HEAD: ranges, conditions, ETag, Last-Modified.

use std::fs::Metadata;
use std::io::SeekFrom;
use std::path::Path;
use std::time::{Duration, SystemTime};

use futures::TryStreamExt;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH,
    LAST_MODIFIED, RANGE,
};
use hyper::{HeaderMap, Method, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use crate::body::{BoxError, PlainBody, full};
use crate::times::http_date;

/// Bytes of a file that are read at a time.
const READ_BYTES: usize = 256 << 10;

/// Differences between servers of files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Whether the `Range` header is heeded.
    pub(crate) has_ranges: bool,
    /// Whether the time of the last change is the object's generation.
    pub(crate) has_generation: bool,
}

/// The file, or the part of it that the headers ask for; `None` if there is no such file.
pub(crate) async fn file_answer(
    path: &Path,
    method: &Method,
    headers: &HeaderMap,
    style: Style,
) -> Result<Option<Response<PlainBody>>, BoxError> {
    // A name that goes through a file, or is too long for one, is no file either.
    let Ok(file) = tokio::fs::File::open(path).await else { return Ok(None) };
    let metadata = file.metadata().await?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let (size_bytes, e_tag) = (metadata.len(), e_tag(&metadata));
    let mut answer = Response::builder()
        .header(ETAG, &e_tag)
        .header(LAST_MODIFIED, http_date(modified(&metadata)))
        .header(CONTENT_TYPE, "application/octet-stream");
    if style.has_generation {
        answer = answer.header("x-goog-generation", generation(&metadata));
    }
    if style.has_ranges {
        answer = answer.header(ACCEPT_RANGES, "bytes");
    }
    if let Some(status) = condition(headers, &e_tag) {
        return Ok(Some(answer.status(status).body(full(""))?));
    }
    let range =
        headers.get(RANGE).filter(|_| style.has_ranges).and_then(|range| range.to_str().ok());
    let (start, end) = match range.and_then(|range| requested(range, size_bytes)) {
        None => (0, size_bytes),
        Some(Some((start, end))) => {
            let sent = format!("bytes {start}-{}/{size_bytes}", end - 1);
            answer = answer.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, sent);
            (start, end)
        }
        Some(None) => {
            let size = format!("bytes */{size_bytes}");
            let status = StatusCode::RANGE_NOT_SATISFIABLE;
            return Ok(Some(answer.status(status).header(CONTENT_RANGE, size).body(full(""))?));
        }
    };
    let length_bytes = end - start;
    let answer = answer.header(CONTENT_LENGTH, length_bytes);
    let is_empty = *method == Method::HEAD || length_bytes == 0;
    let body = if is_empty { full("") } else { part(file, start, length_bytes).await? };
    Ok(Some(answer.body(body)?))
}

/// Some bytes of a file as a body.
pub(crate) async fn part(
    mut file: tokio::fs::File,
    start: u64,
    length_bytes: u64,
) -> Result<PlainBody, BoxError> {
    file.seek(SeekFrom::Start(start)).await?;
    let bytes = ReaderStream::with_capacity(file.take(length_bytes), READ_BYTES);
    let frames = bytes.map_ok(Frame::data).map_err(BoxError::from);
    Ok(StreamBody::new(frames).boxed_unsync())
}

/// When it was changed; the epoch if the file system does not know.
pub(crate) fn modified(metadata: &Metadata) -> SystemTime {
    metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The time of the last change in microseconds: Google's generation.
pub(crate) fn generation(metadata: &Metadata) -> u64 {
    let since = modified(metadata).duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or(Duration::ZERO).as_micros()).unwrap_or(u64::MAX)
}

/// Changes whenever the file does.
pub(crate) fn e_tag(metadata: &Metadata) -> String {
    let since = modified(metadata).duration_since(SystemTime::UNIX_EPOCH);
    format!("\"{:x}-{:x}\"", since.unwrap_or(Duration::ZERO).as_nanos(), metadata.len())
}

/// The status of a request whose condition is not met (RFC 9110, 13.1).
fn condition(headers: &HeaderMap, e_tag: &str) -> Option<StatusCode> {
    let names = |name| {
        let tags = headers.get(name)?.to_str().ok()?;
        Some(tags.split(',').map(str::trim).any(|tag| tag == "*" || tag == e_tag))
    };
    if names(IF_MATCH) == Some(false) {
        return Some(StatusCode::PRECONDITION_FAILED);
    }
    (names(IF_NONE_MATCH) == Some(true)).then_some(StatusCode::NOT_MODIFIED)
}

/// Start and end of the range in a header. `Some(None)` if the file has no byte of it, `None` if
/// the header is none to be heeded (RFC 9110, 14.2).
#[expect(clippy::option_option, reason = "not asked for, and asked for what is not there, differ")]
fn requested(range: &str, size_bytes: u64) -> Option<Option<(u64, u64)>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (start, end) = if first.is_empty() {
        let length: u64 = last.parse().ok()?;
        (size_bytes.saturating_sub(length), if length == 0 { 0 } else { size_bytes })
    } else {
        let start: u64 = first.parse().ok()?;
        let last: u64 = if last.is_empty() { u64::MAX } else { last.parse().ok()? };
        if last < start {
            return None;
        }
        (start, last.saturating_add(1).min(size_bytes))
    };
    Some((start < end).then_some((start, end)))
}

#[cfg(test)]
mod tests {
    use super::requested;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (range, expected) in [
            ("bytes=0-9", Some(Some((0, 10)))),
            ("bytes=90-", Some(Some((90, 100)))),
            ("bytes=90-200", Some(Some((90, 100)))),
            ("bytes=-5", Some(Some((95, 100)))),
            ("bytes=-500", Some(Some((0, 100)))),
            ("bytes=0-18446744073709551615", Some(Some((0, 100)))),
            ("bytes=100-", Some(None)),
            ("bytes=-0", Some(None)),
            ("bytes=9-0", None),
            ("bytes=0-1,3-4", None),
            ("bytes=a-", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(requested(range, 100), expected, "{range}");
        }
        assert_eq!(requested("bytes=-5", 0), Some(None));
    }
}
