//! What a protocol has to say for itself; faults, log and sockets are the same for all.

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};

use crate::Operation;
use crate::body::{BoxError, PlainBody, full};

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) bucket: String,
    pub(crate) key: String,
    pub(crate) operation: Operation,
}

/// A store behind HTTP that answers truthfully.
pub(crate) trait Backend: Send + Sync + 'static {
    /// What the request is about, from its head alone.
    fn subject(&self, head: &Parts) -> Subject;

    /// Executes the request. An error closes the connection.
    fn answer(
        &self,
        subject: Subject,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<PlainBody>, BoxError>>;
}

/// An error answer as S3 and Google write it.
pub(crate) fn error_answer(status: StatusCode, code: &str, message: &str) -> Response<PlainBody> {
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <Error><Code>{code}</Code><Message>{}</Message></Error>",
        escape(message)
    );
    let mut response = Response::new(full(xml));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    response
}

/// Text as it stands in XML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
