//! What the answer to a copy inside a store means, beyond its status.
//!
//! S3 begins to answer while it copies: 200, and then a document that says how it ended, which may be
//! an error (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html>). `object_store`
//! looks for two of the errors there can be; any other would be taken for a copy that is there.

use bytes::Bytes;
use object_store::client::{HttpError, HttpRequest, HttpResponse};

/// Headers that make a PUT a copy.
const COPY_SOURCES: [&str; 2] = ["x-amz-copy-source", "x-goog-copy-source"];

/// Whether a request asks for a copy inside the store.
pub(super) fn is_copy(request: &HttpRequest) -> bool {
    COPY_SOURCES.iter().any(|name| request.headers().contains_key(*name))
}

/// The answer to a copy, with the status that its document says.
pub(super) async fn with_true_status(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (mut head, body) = answer.into_parts();
    let body = body.bytes().await?;
    let code = match head.status.as_u16() {
        200..300 if is_error(&body) => 500,
        // Not implemented: final, though it is tried again like any other 5xx.
        501 => 405,
        _ => return Ok(HttpResponse::from_parts(head, body.into())),
    };
    if let Ok(status) = code.try_into() {
        head.status = status;
    }
    Ok(HttpResponse::from_parts(head, body.into()))
}

/// A document whose root is an error.
fn is_error(body: &Bytes) -> bool {
    let text = String::from_utf8_lossy(body);
    let root = text.trim_start().trim_start_matches("<?xml");
    let root = root.split_once("?>").map_or(root, |(_, root)| root).trim_start();
    root.strip_prefix("<Error").is_some_and(|rest| rest.starts_with(['>', ' ', '/']))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn status_of(code: u16, body: &str) -> u16 {
        let mut answer = HttpResponse::new(Bytes::copy_from_slice(body.as_bytes()).into());
        *answer.status_mut() = code.try_into().unwrap();
        let answer = with_true_status(answer).await.unwrap();
        let code = answer.status().as_u16();
        assert_eq!(answer.into_body().bytes().await.unwrap(), body);
        code
    }

    #[tokio::test]
    async fn an_error_that_begins_with_200_is_an_error() {
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
        let copied = "<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>";
        let error = "<Error><Code>ServiceUnavailable</Code></Error>";
        for body in [error.to_owned(), format!("{xml}{error}"), format!("   \n{xml}\n{error}")] {
            assert_eq!(status_of(200, &body).await, 500, "{body}");
            assert_eq!(status_of(404, &body).await, 404, "{body}");
        }
        for body in [copied.to_owned(), format!("{xml}{copied}"), String::new()] {
            assert_eq!(status_of(200, &body).await, 200, "{body}");
        }
        assert_eq!(status_of(200, "<ErrorFree/>").await, 200);
        assert_eq!(status_of(501, error).await, 405);
        assert_eq!(status_of(503, error).await, 503);
    }
}
