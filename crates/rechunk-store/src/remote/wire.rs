//! Requests on the wire: every attempt is counted here, retries of the library below included, and
//! answers are read for news of the server.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::{ClientOptions, Extensions};
use rustls::crypto::{CryptoProvider, ring};
use tokio::time::{Instant, sleep, timeout};

use super::hedge::Hedge;
use super::listing_page::{Pages, asks_for_more_than_there_is, is_listing};
use super::retry_after::asked_pause;
use super::true_status::{Asked, is_copy};
use super::{Like, Limiter, Scheme};
use crate::length::wide;
use crate::server_clock::ServerClock;
use crate::{Meter, Role};

/// Time for which a connection may say nothing in the middle of an answer.
pub(super) const SILENCE: Duration = Duration::from_secs(30);
/// Most bytes of what an error says that are read.
const ERROR_BYTES_MAX: usize = 64 << 10;
/// Bytes per second that are sent at least, of each of many requests at once: slower ones are given
/// up.
const SENT_BYTES_MIN: u64 = 128 << 10;
/// Most bytes of a page of a listing, of at most 5000 names of 1 KiB, and of the answer to as many
/// removals.
const PAGE_BYTES_MAX: usize = 32 << 20;
/// Most bytes of another answer that is read as a whole.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Counters of an attempt; travels with a request.
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

/// Adds to a request's extensions that it is a read, sent again if it is much slower than those
/// like it.
pub(crate) fn read_like(like: Like, mut extensions: Extensions) -> Extensions {
    extensions.insert(like);
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
    scheme: Scheme,
    /// Time that a write may take, beside the time of sending it.
    timeout: Duration,
    limiter: Arc<Limiter>,
    hedge: Arc<Hedge>,
    clock: Arc<ServerClock>,
}

impl Connector {
    pub(crate) fn new(
        (scheme, timeout): (Scheme, Duration),
        limiter: &Arc<Limiter>,
        clock: &Arc<ServerClock>,
    ) -> Self {
        let hedge = Hedge::new(limiter);
        Self { scheme, timeout, limiter: Arc::clone(limiter), hedge, clock: Arc::clone(clock) }
    }
}

/// Has clients use ring for TLS, if the process has not chosen another implementation before.
fn choose_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // Refused where another thread was first, which is as good.
        let _ = ring::default_provider().install_default();
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        choose_cryptography();
        let connector = ReqwestConnector::default();
        // A client that bounds silence takes a request that is still being sent for a silent
        // answer.
        let sending = options.clone().with_read_timeout_disabled().with_timeout_disabled();
        let (reads, writes) = (connector.connect(options)?, connector.connect(&sending)?);
        let (limiter, clock) = (Arc::clone(&self.limiter), Arc::clone(&self.clock));
        let (hedge, pages) = (Arc::clone(&self.hedge), Pages::default());
        let (scheme, timeout) = (self.scheme, self.timeout);
        Ok(HttpClient::new(Wire { scheme, timeout, reads, writes, limiter, hedge, clock, pages }))
    }
}

#[derive(Debug)]
struct Wire {
    scheme: Scheme,
    timeout: Duration,
    reads: HttpClient,
    writes: HttpClient,
    limiter: Arc<Limiter>,
    hedge: Arc<Hedge>,
    clock: Arc<ServerClock>,
    pages: Pages,
}

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = match request.extensions().get::<Like>() {
            Some(&like) => self.hedge.send(like, || self.send(request.clone()), is_answer).await,
            None => self.send(request).await,
        }?;
        // Whoever tries again, the library below or this one, does so after the answer.
        if let Some(pause) = asked_pause(&answer, self.timeout) {
            tracing::debug!(?pause, "the store is busy, and says for how long");
            sleep(pause).await;
        }
        Ok(answer)
    }
}

/// The store has said what it was asked, and not that it cannot.
fn is_answer(response: &HttpResponse) -> bool {
    let status = response.status();
    !(status.is_server_error() || matches!(status.as_u16(), 408 | 429))
}

/// The body of the answer is an object, which is read as it comes. Others are read as a whole by
/// the library below, however long they are: pages of listings, and what is said of writes and
/// removals.
fn is_streamed(request: &HttpRequest) -> bool {
    request.method() == "GET" && !request.uri().query().is_some_and(is_listing)
}

/// True for a part, the end or the giving up of an upload without a name. Without that it is a
/// request for the object itself, which some stores take it for.
fn names_no_upload(query: &str) -> bool {
    query.split('&').any(|pair| matches!(pair, "uploadId" | "uploadId="))
}

/// Shortens the body of an error to as much as somebody would read: the rest of an answer without
/// end is left.
async fn with_a_short_body(answer: HttpResponse) -> HttpResponse {
    let (head, body) = answer.into_parts();
    let (mut said, mut parts) = (Vec::new(), body.bytes_stream());
    while let Some(Ok(part)) = parts.next().await {
        let room = ERROR_BYTES_MAX - said.len();
        said.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() >= room {
            break;
        }
    }
    HttpResponse::from_parts(head, said.into())
}

/// The whole answer; an error if it is longer than any that makes sense.
async fn with_a_whole_body(
    answer: HttpResponse,
    bytes_max: usize,
) -> Result<HttpResponse, HttpError> {
    let (head, body) = answer.into_parts();
    let (mut read, mut parts) = (Vec::new(), body.bytes_stream());
    while let Some(part) = parts.next().await {
        let part = part?;
        if part.len() > bytes_max - read.len() {
            return Err(refused(format!("its answer has more than {bytes_max} bytes")));
        }
        read.extend_from_slice(&part);
    }
    Ok(HttpResponse::from_parts(head, read.into()))
}

/// Reads the body of an answer: all of it, or as much of an error as somebody would read.
async fn with_body(answer: HttpResponse, bytes_max: usize) -> Result<HttpResponse, HttpError> {
    if answer.status().is_success() {
        with_a_whole_body(answer, bytes_max).await
    } else {
        Ok(with_a_short_body(answer).await)
    }
}

/// An answer that would be the same if it were asked for again.
fn refused(reason: String) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(reason))
}

/// A server whose certificate is not trusted has the same one when it is asked again.
fn final_if_untrusted(error: HttpError) -> HttpError {
    if crate::error::is_untrusted(&error) {
        HttpError::new(HttpErrorKind::Unknown, error)
    } else {
        error
    }
}

impl Wire {
    /// The page of a listing that `query` asked for; an error if that does not come to an end.
    async fn page(&self, query: &str, answer: HttpResponse) -> Result<HttpResponse, HttpError> {
        let (head, body) = answer.into_parts();
        let body = body.bytes().await?;
        let page = self.pages.read(query, body).map_err(refused)?;
        Ok(HttpResponse::from_parts(head, page.into()))
    }

    /// Sends a request that is no read, and reads what is said of it.
    async fn write(
        &self,
        request: HttpRequest,
        bytes_max: usize,
    ) -> Result<HttpResponse, HttpError> {
        let sending = wide(request.body().content_length()) / SENT_BYTES_MIN;
        // An object may take long to be copied, or joined of its parts, and many to be removed.
        let is_work = request.method() == "POST" || is_copy(&request);
        let silence = if is_work { self.timeout } else { SILENCE.min(self.timeout) };
        let limit = silence.saturating_add(Duration::from_secs(sending));
        let answer = async { with_body(self.writes.execute(request).await?, bytes_max).await };
        timeout(limit, answer).await.unwrap_or_else(|_| {
            let reason = format!("no answer within {} s", limit.as_secs());
            let error = std::io::Error::new(std::io::ErrorKind::TimedOut, reason);
            Err(HttpError::new(HttpErrorKind::Timeout, error))
        })
    }

    /// One attempt, until the head of its answer; where that is no object, until its end.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let of_request = request.extensions().get::<Attempts>().cloned();
        if let Some(attempts) = of_request.or_else(|| ATTEMPTS.try_with(Clone::clone).ok()) {
            attempts.meter.count_attempt(attempts.role);
        }
        let (asked, is_streamed) = (Asked::of(&request, self.scheme), is_streamed(&request));
        let listing = request.uri().query().filter(|query| is_listing(query)).map(str::to_owned);
        if let Some(fault) = listing.as_deref().and_then(asks_for_more_than_there_is) {
            return Err(refused(fault));
        }
        if request.uri().query().is_some_and(names_no_upload) {
            return Err(refused("the store has given the upload no name".to_owned()));
        }
        // What removes many objects at once is a POST.
        let is_long = listing.is_some() || request.method() == "POST";
        let bytes_max = if is_long { PAGE_BYTES_MAX } else { ANSWER_BYTES_MAX };
        let sent = Instant::now();
        let is_read = matches!(request.method().as_str(), "GET" | "HEAD");
        let answer = if is_read {
            self.reads.execute(request).await
        } else {
            self.write(request, bytes_max).await
        };
        let mut response = answer.map_err(final_if_untrusted)?;
        if is_read && !(is_streamed && response.status().is_success()) {
            response = with_body(response, bytes_max).await?;
        }
        if let Some(query) = listing.filter(|_| response.status().is_success()) {
            response = self.page(&query, response).await?;
        }
        let response = asked.with_true_status(response).await?;
        let date = response.headers().get("date").and_then(|date| date.to_str().ok());
        // Not of errors: they may be somebody else's, on the way there.
        if let Some(date) = date.and_then(|date| httpdate::parse_http_date(date).ok())
            && response.status().is_success()
        {
            self.clock.heard(date);
        }
        match response.status().as_u16() {
            429 | 503 => self.limiter.slow_down(sent),
            200..300 => self.limiter.succeeded(),
            _ => {}
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, bytes: usize) -> HttpResponse {
        let mut answer = HttpResponse::new(vec![b'x'; bytes].into());
        *answer.status_mut() = status.try_into().unwrap();
        answer
    }

    #[tokio::test]
    async fn answers_without_end_are_not_held() {
        for (bytes, kept) in [(0, 0), (100, 100), (ERROR_BYTES_MAX + 1, ERROR_BYTES_MAX)] {
            let short = with_a_short_body(answer(403, bytes)).await;
            assert_eq!(short.status().as_u16(), 403);
            assert_eq!(short.into_body().bytes().await.unwrap().len(), kept);
        }
        let whole = with_a_whole_body(answer(200, 1 << 20), 1 << 20).await.unwrap();
        assert_eq!(whole.into_body().bytes().await.unwrap().len(), 1 << 20);
        let error = with_a_whole_body(answer(200, 101), 100).await.unwrap_err();
        assert!(error.to_string().contains("more than"), "{error}");
    }

    #[test]
    fn objects_are_streamed_and_pages_are_not() {
        let request = |method: &str, uri: &str| {
            let mut request = HttpRequest::new(Vec::new().into());
            *request.method_mut() = method.parse().unwrap();
            *request.uri_mut() = uri.parse().unwrap();
            is_streamed(&request)
        };
        assert!(request("GET", "http://h/b/c/0/0") && request("GET", "http://h/b/k?versionId=1"));
        assert!(!request("GET", "http://h/b?list-type=2&prefix=a"));
        assert!(!request("GET", "http://h/c?restype=container&comp=list"));
        assert!(!request("POST", "http://h/b?delete") && !request("PUT", "http://h/b/k"));
    }
}
