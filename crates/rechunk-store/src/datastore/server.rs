//! Requests to the server of a data set.

use std::fmt;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody, HttpResponse};
use object_store::{Extensions, HeaderValue, PutPayload};

use super::fault::{Fault, Shared};
use crate::remote::answered;

/// Largest description that is read, bytes: a line for each of many timepoints and versions.
const DESCRIPTION_BYTES_MAX: usize = 4 << 20;
/// Most bytes of what an error says.
const SAID_BYTES_MAX: usize = 64 << 10;

/// A server, and the token that it is shown.
pub(super) struct Server {
    http: HttpClient,
    token: Option<String>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("has_token", &self.token.is_some()).finish_non_exhaustive()
    }
}

impl Server {
    /// A server that is shown `token`, which may stand in a header.
    pub(super) fn new(http: HttpClient, token: Option<String>) -> Self {
        Self { http, token }
    }

    /// Sends a GET; an error unless the answer is one of success. Redirects are followed by the
    /// client, which shows the token to no other host.
    pub(super) async fn get(
        &self,
        url: &str,
        extensions: Extensions,
    ) -> Result<HttpResponse, Shared> {
        let mut request = request("GET", url, HttpRequestBody::empty())?;
        *request.extensions_mut() = extensions;
        self.send(request).await
    }

    /// Sends blocks.
    pub(super) async fn post(
        &self,
        url: &str,
        parts: Vec<Bytes>,
        extensions: Extensions,
    ) -> Result<(), Shared> {
        let payload = PutPayload::from_iter(parts);
        let length = payload.content_length().to_string();
        let mut request = request("POST", url, payload.into())?;
        for (name, value) in
            [("content-type", "application/octet-stream"), ("content-length", length.as_str())]
        {
            let value = value.parse().map_err(|_| Fault::Unsupported("such a body"))?;
            request.headers_mut().insert(name, value);
        }
        *request.extensions_mut() = extensions;
        self.send(request).await.map(drop)
    }

    /// The whole document at `url`; `None` if there is none.
    pub(super) async fn document(
        &self,
        url: &str,
        extensions: Extensions,
    ) -> Result<Option<Bytes>, Shared> {
        let mut request = request("GET", url, HttpRequestBody::empty())?;
        *request.extensions_mut() = extensions;
        let answer = self.execute(request).await?;
        if answer.status().as_u16() == 404 {
            return Ok(None);
        }
        let answer = success(answer).await?;
        let mut parts = answer.into_body().bytes_stream();
        let mut document = Vec::new();
        while let Some(part) = parts.try_next().await? {
            if part.len() > DESCRIPTION_BYTES_MAX - document.len() {
                let reason = format!("it has more than {DESCRIPTION_BYTES_MAX} bytes");
                return Err(Fault::NotDescribed { url: url.to_owned(), reason }.into());
            }
            document.extend_from_slice(&part);
        }
        Ok(Some(document.into()))
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Shared> {
        success(self.execute(request).await?).await
    }

    async fn execute(&self, mut request: HttpRequest) -> Result<HttpResponse, Shared> {
        if let Some(token) = &self.token
            && let Ok(mut value) = format!("Bearer {token}").parse::<HeaderValue>()
        {
            value.set_sensitive(true);
            request.headers_mut().insert("authorization", value);
        }
        Ok(self.http.execute(request).await?)
    }
}

fn request(method: &str, url: &str, body: HttpRequestBody) -> Result<HttpRequest, Fault> {
    let mut request = HttpRequest::new(body);
    *request.method_mut() = method.parse().map_err(|_| Fault::Unsupported("such a request"))?;
    *request.uri_mut() = url.parse().map_err(|_| Fault::Unsupported("a request of such a URL"))?;
    Ok(request)
}

/// An answer of success; another as an error with what it says.
async fn success(answer: HttpResponse) -> Result<HttpResponse, Shared> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let (mut said, mut parts) = (Vec::new(), answer.into_body().bytes_stream());
    while let Some(Ok(part)) = parts.next().await {
        let room = SAID_BYTES_MAX - said.len();
        said.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() >= room {
            break;
        }
    }
    Err(Shared::new(answered(status.as_u16(), &String::from_utf8_lossy(&said))))
}
