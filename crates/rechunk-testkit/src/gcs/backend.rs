//! Requests of Google's XML API.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::header::{ETAG, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};

use super::objects::Objects;
use super::uploads::{UploadError, Uploads};
use crate::Operation;
use crate::backend::{AsOf, Backend, Subject};
use crate::body::{BoxError, PlainBody, full};
use crate::file_answer::{Style, e_tag, file_answer, generation};
use crate::history::History;
use crate::key_locks::KeyLocks;
use crate::listing::{ListQuery, scan, stat};
use crate::root::object_path;
use crate::uri::{bucket_and_key, decode, parameter};
use crate::xml_api::{error_answer, escape, operation, xml_answer};

const GENERATION: &str = "x-goog-generation";
const GENERATION_MATCH: &str = "x-goog-if-generation-match";
const COPY_SOURCE: &str = "x-goog-copy-source";

type Answer = Result<Response<PlainBody>, BoxError>;

pub(super) struct GcsBackend {
    root: PathBuf,
    objects: Objects,
    uploads: Arc<Uploads>,
    locks: KeyLocks,
    history: History,
}

impl GcsBackend {
    pub(super) fn new(root: &Path, uploads: Arc<Uploads>) -> Self {
        Self {
            root: root.to_owned(),
            objects: Objects::new(root),
            uploads,
            locks: KeyLocks::default(),
            history: History::default(),
        }
    }

    async fn call(&self, subject: Subject, request: Request<Bytes>) -> Answer {
        let Subject { bucket, key, operation } = subject;
        let _key = self.locks.lock(&key, operation).await;
        let bucket_path = self.root.join(&bucket);
        if bucket.contains('/') || bucket.starts_with('.') || !bucket_path.is_dir() {
            return Ok(no_such("Bucket"));
        }
        if operation == Operation::List {
            return self.list(&bucket, &request);
        }
        let Some(path) = object_path(&bucket_path, &key) else {
            let message = "Keys are names with `/` between them.";
            return Ok(error_answer(StatusCode::BAD_REQUEST, "InvalidArgument", message));
        };
        if matches!(operation, Operation::Get | Operation::Head) {
            return read(&path, &request).await;
        }
        if let Some(answer) = unmet(&path, &request) {
            return Ok(answer);
        }
        let id = parameter(request.uri().query().unwrap_or_default(), "uploadId");
        match (operation, id) {
            (Operation::Put, _) => self.put(&key, &path, request.body()),
            (Operation::Copy, _) => self.copy(&key, &path, &request).await,
            (Operation::Delete, _) => self.delete(&key, &path),
            (Operation::CreateUpload, _) => Ok(self.begin(&bucket, &key)),
            (Operation::UploadPart, Some(id)) => self.put_part(&id, &(bucket, key), request),
            (Operation::CompleteUpload, Some(id)) => {
                self.complete(&id, &(bucket, key), &path, request.body())
            }
            (Operation::AbortUpload, Some(id)) => Ok(self.abort(&id, &(bucket, key))),
            _ => {
                let message = format!("{} is not served.", request.method());
                Ok(error_answer(StatusCode::NOT_IMPLEMENTED, "NotImplemented", &message))
            }
        }
    }

    fn list(&self, bucket: &str, request: &Request<Bytes>) -> Answer {
        let path = self.root.join(bucket);
        let mut listing = scan(&path)?;
        if let Some(AsOf(age)) = request.extensions().get() {
            listing = self.history.as_of(listing, *age);
        }
        let query = ListQuery::parse(request.uri().query().unwrap_or_default());
        Ok(xml_answer(query.document(bucket, &listing)))
    }

    /// Makes the object be these bytes.
    fn store(&self, key: &str, path: &Path, bytes: &[u8]) -> Result<Metadata, BoxError> {
        self.history.record(key, stat(path));
        Ok(self.objects.write(path, bytes)?)
    }

    fn put(&self, key: &str, path: &Path, bytes: &[u8]) -> Answer {
        let written = self.store(key, path, bytes)?;
        tagged(Response::new(full("")), &written)
    }

    async fn copy(&self, key: &str, path: &Path, request: &Request<Bytes>) -> Answer {
        let source = request.headers().get(COPY_SOURCE).map(HeaderValue::as_bytes);
        let source = decode(&String::from_utf8_lossy(source.unwrap_or_default()));
        let source = object_path(&self.root, source.trim_start_matches('/'));
        let bytes = match source {
            Some(source) if source.is_file() => tokio::fs::read(source).await?,
            _ => return Ok(no_such("Key")),
        };
        let written = self.store(key, path, &bytes)?;
        let tag = escape(&e_tag(&written));
        let document = format!("<CopyObjectResult><ETag>{tag}</ETag></CopyObjectResult>");
        tagged(xml_answer(document), &written)
    }

    fn delete(&self, key: &str, path: &Path) -> Answer {
        if !path.is_file() {
            return Ok(no_such("Key"));
        }
        self.history.record(key, stat(path));
        std::fs::remove_file(path)?;
        Ok(no_content())
    }

    fn begin(&self, bucket: &str, key: &str) -> Response<PlainBody> {
        let id = self.uploads.begin(bucket, key);
        xml_answer(format!(
            "<InitiateMultipartUploadResult><Bucket>{}</Bucket><Key>{}</Key>\
             <UploadId>{id}</UploadId></InitiateMultipartUploadResult>",
            escape(bucket),
            escape(key)
        ))
    }

    fn put_part(&self, id: &str, object: &(String, String), request: Request<Bytes>) -> Answer {
        let number = parameter(request.uri().query().unwrap_or_default(), "partNumber");
        let Some(number) = number.and_then(|number| number.parse().ok()) else {
            return Ok(refused(UploadError::InvalidPart));
        };
        match self.uploads.put(id, object, number, request.into_body()) {
            Ok(e_tag) => Ok(Response::builder().header(ETAG, e_tag).body(full(""))?),
            Err(error) => Ok(refused(error)),
        }
    }

    fn complete(
        &self,
        id: &str,
        object: &(String, String),
        path: &Path,
        document: &Bytes,
    ) -> Answer {
        let document = String::from_utf8_lossy(document);
        let bytes = match self.uploads.assemble(id, object, &document) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(refused(error)),
        };
        let written = self.store(&object.1, path, &bytes)?;
        self.uploads.end(id, object);
        let document = format!(
            "<CompleteMultipartUploadResult><Bucket>{}</Bucket><Key>{}</Key><ETag>{}</ETag>\
             </CompleteMultipartUploadResult>",
            escape(&object.0),
            escape(&object.1),
            escape(&e_tag(&written))
        );
        tagged(xml_answer(document), &written)
    }

    fn abort(&self, id: &str, object: &(String, String)) -> Response<PlainBody> {
        if self.uploads.end(id, object) { no_content() } else { refused(UploadError::NoSuchUpload) }
    }
}

async fn read(path: &Path, request: &Request<Bytes>) -> Answer {
    let style = Style { has_ranges: true, has_generation: true };
    let (method, query) = (request.method(), request.uri().query().unwrap_or_default());
    let asked = parameter(query, "generation");
    let is_other = asked.is_some_and(|asked| asked != Objects::generation(path).to_string());
    if is_other {
        return Ok(no_such("Key"));
    }
    let answer = file_answer(path, method, request.headers(), style).await?;
    Ok(answer.unwrap_or_else(|| no_such("Key")))
}

/// The answer to a write whose condition on the generation is not met: 0 stands for no object.
fn unmet(path: &Path, request: &Request<Bytes>) -> Option<Response<PlainBody>> {
    let expected = request.headers().get(GENERATION_MATCH)?;
    let present = Objects::generation(path).to_string();
    (expected.as_bytes() != present.as_bytes()).then(|| {
        let message = format!("The object's generation is {present}.");
        error_answer(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", &message)
    })
}

/// The answer with ETag and generation of what was written.
fn tagged(mut answer: Response<PlainBody>, written: &Metadata) -> Answer {
    answer.headers_mut().insert(ETAG, e_tag(written).parse()?);
    answer.headers_mut().insert(GENERATION, generation(written).into());
    Ok(answer)
}

fn no_content() -> Response<PlainBody> {
    let mut answer = Response::new(full(""));
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

fn no_such(what: &str) -> Response<PlainBody> {
    let message = "What was asked for does not exist.";
    error_answer(StatusCode::NOT_FOUND, &format!("NoSuch{what}"), message)
}

fn refused(error: UploadError) -> Response<PlainBody> {
    match error {
        UploadError::NoSuchUpload => no_such("Upload"),
        UploadError::InvalidPart => {
            let message = "A part that is named was not found or is another one.";
            error_answer(StatusCode::BAD_REQUEST, "InvalidPart", message)
        }
    }
}

impl Backend for GcsBackend {
    fn subject(&self, head: &Parts) -> Subject {
        let (bucket, key) = bucket_and_key(head.uri.path());
        let has_source = head.headers.contains_key(COPY_SOURCE);
        let operation =
            operation(&head.method, head.uri.query().unwrap_or_default(), &key, has_source);
        Subject { bucket, key, operation }
    }

    fn answer(&self, subject: Subject, request: Request<Bytes>) -> BoxFuture<'_, Answer> {
        let failed = |error: BoxError| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            error_answer(status, "InternalError", &error.to_string())
        };
        self.call(subject, request)
            .map(move |answer| answer.or_else(|error| Ok(failed(error))))
            .boxed()
    }
}
