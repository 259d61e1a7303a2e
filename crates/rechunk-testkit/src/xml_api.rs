//! Common parts of the XML APIs of S3 and Google.

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Response, StatusCode};

use crate::Operation;
use crate::body::{PlainBody, full};
use crate::uri::parameter;

/// Operation of a request.
pub(crate) fn operation(
    method: &Method,
    query: &str,
    key: &str,
    has_copy_source: bool,
) -> Operation {
    let has = |name| parameter(query, name).is_some();
    match (method, key.is_empty()) {
        (&Method::GET, true) if !has("location") && !has("uploads") => Operation::List,
        (&Method::POST, true) if has("delete") => Operation::DeleteMany,
        (&Method::POST, false) if has("uploads") => Operation::CreateUpload,
        (&Method::POST, false) if has("uploadId") => Operation::CompleteUpload,
        (&Method::PUT, false) if has("uploadId") => Operation::UploadPart,
        (&Method::PUT, false) if has_copy_source => Operation::Copy,
        (&Method::PUT, false) => Operation::Put,
        (&Method::DELETE, false) if has("uploadId") => Operation::AbortUpload,
        (&Method::DELETE, false) => Operation::Delete,
        (&Method::GET, false) if !has("uploadId") => Operation::Get,
        (&Method::HEAD, false) => Operation::Head,
        _ => Operation::Other,
    }
}

/// A document as an answer.
pub(crate) fn xml_answer(document: impl Into<bytes::Bytes>) -> Response<PlainBody> {
    let mut response = Response::new(full(document));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    response
}

/// An error as an answer.
pub(crate) fn error_answer(status: StatusCode, code: &str, message: &str) -> Response<PlainBody> {
    let mut response = xml_answer(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <Error><Code>{code}</Code><Message>{}</Message></Error>",
        escape(message)
    ));
    *response.status_mut() = status;
    response
}

const ENTITIES: [(&str, &str); 5] =
    [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'")];

/// Text as it stands in XML.
pub(crate) fn escape(text: &str) -> String {
    ENTITIES.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(plain, entity))
}

/// The texts of all elements of that name, which have neither attributes nor elements in them.
pub(crate) fn values(xml: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let elements = xml.split(&open).skip(1);
    elements.filter_map(|rest| Some(unescape(rest.split_once(&close)?.0))).collect()
}

fn unescape(text: &str) -> String {
    // `&amp;` last: `&amp;lt;` is the text `&lt;`.
    ENTITIES.iter().rev().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_found_again() {
        let text = "a&lt;<b>\"c'&amp;";
        let xml = format!("<A><Key>{}</Key><B/><Key></Key></A>", escape(text));
        assert!(!escape(text).contains('<'));
        assert_eq!(values(&xml, "Key"), [text, ""]);
        assert_eq!(values("<Key>open", "Key"), Vec::<String>::new());
    }
}
