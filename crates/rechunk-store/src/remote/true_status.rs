//! Finds the meaning of an answer, where its status says something else.

use bytes::Bytes;
use object_store::client::{HttpError, HttpRequest, HttpResponse};

use super::{Like, Scheme};

/// Headers that make a PUT a copy.
const COPY_SOURCES: [&str; 2] = ["x-amz-copy-source", "x-goog-copy-source"];
/// Documents that end a copy, of an object or into a part of one.
const COPIED: [&str; 2] = ["CopyObjectResult", "CopyPartResult"];
/// Codes for an object that a store does not have.
const NO_OBJECT: [&str; 3] = ["NoSuchKey", "BlobNotFound", "PathNotFound"];

/// Whether a request asks for a copy inside the store.
pub(super) fn is_copy(request: &HttpRequest) -> bool {
    COPY_SOURCES.iter().any(|name| request.headers().contains_key(*name))
}

/// Properties of a request by which the status of its answer is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    scheme: Scheme,
    is_copy: bool,
    /// Of an object's bytes.
    is_read: bool,
    is_whole: bool,
}

impl Asked {
    pub(super) fn of(request: &HttpRequest, scheme: Scheme) -> Self {
        let is_get = request.method() == "GET";
        Self {
            scheme,
            is_copy: is_copy(request),
            is_read: is_get && request.extensions().get::<Like>().is_some(),
            is_whole: is_get && !request.headers().contains_key("range"),
        }
    }

    /// The status that is known before the body. Without it, that of an object of another length
    /// would be taken for the object.
    pub(super) fn of_head(self, status: u16) -> u16 {
        match status {
            // A part, of which nobody asked.
            206 if self.is_whole => 502,
            // The library below takes it for an object that is not there. (Many servers refuse to
            // HEAD: what is asked for so is not read as missing.)
            405 if self.is_read => 403,
            status => status,
        }
    }

    /// The status that `body` says. That of an object is not asked for.
    fn of_body(self, status: u16, body: &Bytes) -> u16 {
        match status {
            200..300 if self.is_copy && !is_copied(body) => 500,
            // Not implemented: final, though it is tried again like any other 5xx.
            501 if self.is_copy => 405,
            404 if self.is_read => self.of_what_is_missing(body),
            status => status,
        }
    }

    /// Where an object is missing, its elements have the fill value: whoever else says 404 must not
    /// be believed. S3 and Azure always say what they do not have, except where an answer has no
    /// body.
    fn of_what_is_missing(self, body: &Bytes) -> u16 {
        let text = String::from_utf8_lossy(body);
        let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
        match (self.scheme, code) {
            (Scheme::Http | Scheme::Datastore, _) => 404,
            (_, Some((code, _))) if NO_OBJECT.contains(&code.trim()) => 404,
            // The bucket is not there, for example: as final as a denial.
            (_, Some(_)) => 410,
            // Somebody on the way there.
            (Scheme::S3 | Scheme::Azure, None) if !text.trim().is_empty() => 502,
            _ => 404,
        }
    }

    /// The answer, with the status that it means. The bodies of objects are not looked at.
    pub(super) async fn with_true_status(
        self,
        answer: HttpResponse,
    ) -> Result<HttpResponse, HttpError> {
        let (mut head, mut body) = answer.into_parts();
        let status = head.status.as_u16();
        let mut code = self.of_head(status);
        if self.is_copy || self.is_read && status == 404 {
            let bytes = body.bytes().await?;
            code = self.of_body(code, &bytes);
            body = bytes.into();
        } else if code != status {
            body = Bytes::new().into();
        }
        if let Ok(code) = code.try_into() {
            head.status = code;
        }
        Ok(HttpResponse::from_parts(head, body))
    }
}

/// Nothing, or a document that says so. S3 begins to answer while it copies: 200, and then a
/// document that says how it ended, which may be an error
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html>). `object_store` looks
/// for two of the errors there can be; any other, and the page of somebody else, would be taken for
/// a copy that is there.
fn is_copied(body: &Bytes) -> bool {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let root = text.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
    let root = root.map_or(text, |(_, root)| root.trim_start());
    let name = root.strip_prefix('<').map(|rest| {
        let name = rest.split(['>', ' ', '/', '\t', '\r', '\n']).next().unwrap_or_default();
        name.rsplit(':').next().unwrap_or_default()
    });
    text.is_empty() || name.is_some_and(|name| COPIED.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(scheme: Scheme, method: &str, header: Option<&'static str>) -> Asked {
        let mut request = HttpRequest::new(Vec::new().into());
        *request.method_mut() = method.parse().unwrap();
        request.extensions_mut().insert(Like::Head);
        if let Some(header) = header {
            request.headers_mut().insert(header, "x".parse().unwrap());
        }
        Asked::of(&request, scheme)
    }

    async fn status_of(asked: Asked, code: u16, body: &str) -> u16 {
        let mut answer = HttpResponse::new(Bytes::copy_from_slice(body.as_bytes()).into());
        *answer.status_mut() = code.try_into().unwrap();
        let answer = asked.with_true_status(answer).await.unwrap();
        answer.status().as_u16()
    }

    #[tokio::test]
    async fn a_copy_is_done_if_its_document_says_so() {
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
        let copied = "<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>";
        let error = "<Error><Code>ServiceUnavailable</Code></Error>";
        for header in COPY_SOURCES {
            let copy = asked(Scheme::S3, "PUT", Some(header));
            let html = "<!DOCTYPE html><html>Sign in</html>".to_owned();
            let others = ["<s3:Error/>", "<!-- --><Error/>", "Copied", "<CopyObjectResults>"];
            let others = others.map(ToOwned::to_owned).into_iter().chain([html]);
            let errors = [error.to_owned(), format!("{xml}{error}"), format!("  \n{xml}\n{error}")];
            for body in errors.into_iter().chain(others) {
                assert_eq!(status_of(copy, 200, &body).await, 500, "{body}");
            }
            let part =
                "<CopyPartResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".to_owned();
            let prefixed = "\u{feff}<s3:CopyObjectResult/>".to_owned();
            for body in [copied.to_owned(), format!("{xml}{copied}"), String::new(), part, prefixed]
            {
                assert_eq!(status_of(copy, 200, &body).await, 200, "{body}");
            }
            assert_eq!(status_of(copy, 501, error).await, 405);
            assert_eq!(status_of(copy, 503, error).await, 503);
        }
        let put = asked(Scheme::S3, "PUT", None);
        assert_eq!(status_of(put, 200, error).await, 200);
        assert_eq!(status_of(put, 501, error).await, 501);
    }

    #[tokio::test]
    async fn what_is_missing_is_an_object() {
        let said = |code: &str| format!("<Error><Code>{code}</Code><Message>m</Message></Error>");
        for scheme in [Scheme::S3, Scheme::Gcs, Scheme::Azure] {
            let get = asked(scheme, "GET", Some("range"));
            for code in NO_OBJECT {
                assert_eq!(status_of(get, 404, &said(code)).await, 404);
            }
            assert_eq!(status_of(get, 404, "").await, 404);
            for code in ["NoSuchBucket", "ContainerNotFound"] {
                assert_eq!(status_of(get, 404, &said(code)).await, 410);
            }
        }
        let page = "default backend - 404";
        let statuses =
            [(Scheme::S3, 502), (Scheme::Azure, 502), (Scheme::Gcs, 404), (Scheme::Http, 404)];
        for (scheme, status) in statuses {
            assert_eq!(status_of(asked(scheme, "GET", None), 404, page).await, status);
        }
        let http = asked(Scheme::Http, "GET", None);
        assert_eq!(status_of(http, 404, &said("NoSuchBucket")).await, 404);
        assert_eq!(status_of(http, 405, "").await, 403);
        assert_eq!(status_of(asked(Scheme::Http, "HEAD", None), 405, "").await, 405);
    }

    #[tokio::test]
    async fn a_part_nobody_asked_for_is_no_object() {
        assert_eq!(status_of(asked(Scheme::Http, "GET", None), 206, "part").await, 502);
        for header in ["range", "Range"] {
            assert_eq!(
                status_of(asked(Scheme::Http, "GET", Some("range")), 206, header).await,
                206
            );
        }
    }
}
