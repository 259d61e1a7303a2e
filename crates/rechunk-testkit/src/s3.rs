//! S3: the implementation of s3s-fs, made atomic as S3 is, on a directory.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;

use crate::backend::{Backend, Subject, error_answer};
use crate::body::{BoxError, PlainBody};
use crate::key_locks::KeyLocks;
use crate::root::Root;
use crate::uri::{bucket_and_key, parameter};
use crate::{Operation, Result, Server, ServerOptions, TestkitError};

/// An S3 server with one bucket. [`Server`] is what else it can do.
///
/// Objects are files: `root()/BUCKET/key`. So there can be no object below another one, and files
/// that a test puts there are objects.
#[derive(Debug)]
pub struct S3Server {
    server: Server,
    root: Root,
}

impl S3Server {
    /// The bucket that is there from the start.
    pub const BUCKET: &'static str = "rechunk-test";
    /// What clients have to sign with.
    pub const ACCESS_KEY_ID: &'static str = "test";
    /// What clients have to sign with.
    pub const SECRET_ACCESS_KEY: &'static str = "testsecret";
    /// The region to sign for.
    pub const REGION: &'static str = "us-east-1";

    /// Starts it; it serves when this returns.
    pub fn start(options: &ServerOptions) -> Result<Self> {
        let root = Root::open(options.root.as_deref(), &[Self::BUCKET])?;
        let s3_error = |error: s3s_fs::Error| TestkitError::S3 {
            path: root.path().to_owned(),
            message: format!("{error:?}"),
        };
        let mut builder = S3ServiceBuilder::new(FileSystem::new(root.path()).map_err(s3_error)?);
        builder.set_auth(SimpleAuth::from_single(Self::ACCESS_KEY_ID, Self::SECRET_ACCESS_KEY));
        let backend = S3Backend {
            service: builder.build(),
            root: root.path().to_owned(),
            locks: KeyLocks::default(),
        };
        Ok(Self { server: Server::start(Box::new(backend), options)?, root })
    }

    /// The directory of the objects; `root().join(S3Server::BUCKET)` is the bucket.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The URL of a key of the bucket.
    pub fn url(&self, key: &str) -> String {
        format!("s3://{}/{key}", Self::BUCKET)
    }

    /// The environment in which clients find the server and its credentials.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT", self.endpoint()),
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_ACCESS_KEY_ID", Self::ACCESS_KEY_ID.into()),
            ("AWS_SECRET_ACCESS_KEY", Self::SECRET_ACCESS_KEY.into()),
            ("AWS_REGION", Self::REGION.into()),
            ("AWS_DEFAULT_REGION", Self::REGION.into()),
        ]
    }

    /// How many multipart uploads are neither completed nor aborted.
    pub fn unfinished_uploads(&self) -> std::io::Result<usize> {
        let mut uploads = 0;
        for entry in std::fs::read_dir(self.root())? {
            let name = entry?.file_name();
            uploads += usize::from(name.to_string_lossy().starts_with(UPLOAD_PREFIX));
        }
        Ok(uploads)
    }
}

impl Deref for S3Server {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// What s3s-fs calls the file of an upload under way begins with; the upload's id and `.json` follow.
const UPLOAD_PREFIX: &str = ".upload-";

struct S3Backend {
    service: S3Service,
    root: PathBuf,
    locks: KeyLocks,
}

impl S3Backend {
    async fn call(
        &self,
        subject: Subject,
        request: Request<Bytes>,
    ) -> std::result::Result<Response<PlainBody>, BoxError> {
        // S3 decides and writes at once, and an answer's ETag is that of its bytes.
        let _key = self.locks.lock(&subject.key, subject.operation.is_write()).await;
        if let Some(answer) = self.absent(&subject, request.uri().query().unwrap_or_default()) {
            return Ok(answer);
        }
        let response = self.service.call(request.map(s3s::Body::from)).await;
        let response = response.map_err(|error| format!("{error:?}"))?;
        Ok(response.map(BodyExt::boxed_unsync))
    }

    /// What s3s-fs takes for something: a directory for an object, an upload that is over for
    /// another owner's.
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
    ) -> BoxFuture<'_, std::result::Result<Response<PlainBody>, BoxError>> {
        self.call(subject, request).boxed()
    }
}

/// What a request of the S3 or of Google's XML API asks for.
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
