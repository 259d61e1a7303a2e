//! s3s-fs behind the trait of a backend, corrected where it is not like S3.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderName};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;

use super::access::Access;
use crate::backend::{AsOf, Backend, Subject};
use crate::body::{BoxError, PlainBody};
use crate::file_answer::part;
use crate::history::History;
use crate::key_locks::KeyLocks;
use crate::listing::{ListQuery, scan, stat};
use crate::root::object_path;
use crate::uri::{bucket_and_key, parameter};
use crate::xml_api::{error_answer, operation, values, xml_answer};
use crate::{Operation, S3Server};

/// Beginning of the name that s3s-fs gives the file of an upload under way; the upload's id and
/// `.json` follow.
pub(super) const UPLOAD_PREFIX: &str = ".upload-";

pub(super) struct S3Backend {
    service: S3Service,
    root: PathBuf,
    locks: KeyLocks,
    history: History,
}

impl S3Backend {
    pub(super) fn new(root: &Path) -> Result<Self, s3s_fs::Error> {
        let mut builder = S3ServiceBuilder::new(FileSystem::new(root)?);
        builder.set_auth(SimpleAuth::from_single(
            S3Server::ACCESS_KEY_ID,
            S3Server::SECRET_ACCESS_KEY,
        ));
        builder.set_access(Access { root: root.to_owned() });
        Ok(Self {
            service: builder.build(),
            root: root.to_owned(),
            locks: KeyLocks::default(),
            history: History::default(),
        })
    }

    async fn call(
        &self,
        subject: Subject,
        request: Request<Bytes>,
    ) -> Result<Response<PlainBody>, BoxError> {
        // S3 decides and writes at once, and an answer's ETag is that of its bytes.
        let _key = self.locks.lock(&subject.key, subject.operation).await;
        let query = request.uri().query().unwrap_or_default().to_owned();
        if let Some(answer) = self.absent(&subject, &query) {
            return Ok(answer);
        }
        self.remember(&subject, request.body());
        let as_of = request.extensions().get::<AsOf>().copied();
        let response = self.service.call(request.map(s3s::Body::from)).await;
        let response = response.map_err(|error| format!("{error:?}"))?;
        match as_of {
            // The true answer says that the list is allowed; the bucket is the same as then.
            Some(AsOf(age)) if response.status().is_success() => {
                let listing = scan(&self.root.join(&subject.bucket))?;
                let listing = self.history.as_of(listing, age);
                let document = ListQuery::parse(&query);
                Ok(xml_answer(document.document(&subject.bucket, &listing)))
            }
            // s3s-fs knows no keys that end in a /.
            None if subject.operation == Operation::List && response.status().is_success() => {
                let listing = scan(&self.root.join(&subject.bucket))?;
                if !listing.keys().any(|key| key.ends_with('/')) {
                    return self.quicker(&subject, response.map(BodyExt::boxed_unsync)).await;
                }
                let document = ListQuery::parse(&query);
                Ok(xml_answer(document.document(&subject.bucket, &listing)))
            }
            _ => self.quicker(&subject, response.map(BodyExt::boxed_unsync)).await,
        }
    }

    /// Replaces an answer to a GET by one that is read in larger pieces. s3s-fs takes 4 KiB at a
    /// time, so that a test would measure the server. The key is locked, so it is the same file.
    async fn quicker(
        &self,
        subject: &Subject,
        answer: Response<PlainBody>,
    ) -> Result<Response<PlainBody>, BoxError> {
        let length = header(&answer, CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let path = object_path(&self.root.join(&subject.bucket), &subject.key);
        let (Some(length_bytes @ 1..), Some(path), Operation::Get, true) =
            (length, path, subject.operation, answer.status().is_success())
        else {
            return Ok(answer);
        };
        let range = header(&answer, CONTENT_RANGE).and_then(|range| range.strip_prefix("bytes "));
        let start = range.and_then(|range| range.split('-').next()?.parse().ok()).unwrap_or(0);
        let body = part(tokio::fs::File::open(path).await?, start, length_bytes).await?;
        Ok(answer.map(|_| body))
    }

    /// Notes what the objects are like that the request is about to change.
    fn remember(&self, subject: &Subject, body: &Bytes) {
        let remember = |key: &str| {
            self.history.record(key, stat(&self.root.join(&subject.bucket).join(key)));
        };
        match subject.operation {
            Operation::Put | Operation::Copy | Operation::Delete | Operation::CompleteUpload => {
                remember(&subject.key);
            }
            Operation::DeleteMany => {
                for key in values(&String::from_utf8_lossy(body), "Key") {
                    remember(&key);
                }
            }
            _ => {}
        }
    }

    /// Refuses things that s3s-fs takes for others: a directory for an object, an upload that is
    /// over for another owner's.
    fn absent(&self, subject: &Subject, query: &str) -> Option<Response<PlainBody>> {
        let Subject { bucket, key, operation } = subject;
        if let Some(id) = parameter(query, "uploadId") {
            let is_name = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            let is_open = is_name && self.root.join(format!("{UPLOAD_PREFIX}{id}.json")).exists();
            let message = "The specified multipart upload does not exist.";
            return (!is_open)
                .then(|| error_answer(StatusCode::NOT_FOUND, "NoSuchUpload", message));
        }
        let is_read = matches!(operation, Operation::Get | Operation::Head);
        let is_directory = || self.root.join(bucket).join(key).is_dir();
        (is_read && !key.split('/').any(|part| part == "..") && is_directory()).then(|| {
            let message = "The specified key does not exist.";
            error_answer(StatusCode::NOT_FOUND, "NoSuchKey", message)
        })
    }
}

fn header(answer: &Response<PlainBody>, name: HeaderName) -> Option<&str> {
    answer.headers().get(name)?.to_str().ok()
}

impl Backend for S3Backend {
    fn subject(&self, head: &Parts) -> Subject {
        let (bucket, key) = bucket_and_key(head.uri.path());
        let has_source = head.headers.contains_key("x-amz-copy-source");
        let operation =
            operation(&head.method, head.uri.query().unwrap_or_default(), &key, has_source);
        Subject { bucket, key, operation }
    }

    fn answer(
        &self,
        subject: Subject,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<PlainBody>, BoxError>> {
        self.call(subject, request).boxed()
    }
}
