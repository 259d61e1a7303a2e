//! Static files over HTTP, as a web server gives them.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::header::ALLOW;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};

use crate::backend::{Backend, Subject};
use crate::body::{BoxError, PlainBody, full};
use crate::file_answer::{Style, file_answer};
use crate::root::{Root, object_path};
use crate::uri::decode;
use crate::{Operation, Result, Server, ServerOptions};

/// A web server of the files below a directory: GET and HEAD with ranges, no lists, no writes.
/// [`Server`] is what else it can do.
#[derive(Debug)]
pub struct HttpServer {
    server: Server,
    root: Root,
    ignores_ranges: Arc<AtomicBool>,
}

impl HttpServer {
    /// Starts it; it serves when this returns.
    pub fn start(options: &ServerOptions) -> Result<Self> {
        let root = Root::open(options.root.as_deref(), &[])?;
        let ignores_ranges = Arc::new(AtomicBool::new(false));
        let backend = HttpBackend {
            root: root.path().to_owned(),
            ignores_ranges: Arc::clone(&ignores_ranges),
        };
        Ok(Self { server: Server::start(Box::new(backend), options)?, root, ignores_ranges })
    }

    /// The directory of the files.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The URL of a file below the directory.
    pub fn url(&self, key: &str) -> String {
        format!("{}/{key}", self.endpoint())
    }

    /// From now on every GET is answered with the whole file and 200, as python's `http.server`
    /// does, or not any more.
    pub fn set_ignore_ranges(&self, ignores: bool) {
        self.ignores_ranges.store(ignores, Ordering::Relaxed);
    }
}

impl Deref for HttpServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

struct HttpBackend {
    root: PathBuf,
    ignores_ranges: Arc<AtomicBool>,
}

impl HttpBackend {
    async fn call(
        &self,
        subject: Subject,
        request: Request<Bytes>,
    ) -> std::result::Result<Response<PlainBody>, BoxError> {
        if subject.operation == Operation::Other {
            let answer = Response::builder().status(StatusCode::METHOD_NOT_ALLOWED);
            return Ok(answer.header(ALLOW, "GET, HEAD").body(full("method not allowed\n"))?);
        }
        let has_ranges = !self.ignores_ranges.load(Ordering::Relaxed);
        let style = Style { has_ranges, has_generation: false };
        if let Some(path) = object_path(&self.root, &subject.key)
            && let Some(answer) =
                file_answer(&path, request.method(), request.headers(), style).await?
        {
            return Ok(answer);
        }
        Ok(Response::builder().status(StatusCode::NOT_FOUND).body(full("not found\n"))?)
    }
}

impl Backend for HttpBackend {
    fn subject(&self, head: &Parts) -> Subject {
        let operation = match head.method {
            Method::GET => Operation::Get,
            Method::HEAD => Operation::Head,
            _ => Operation::Other,
        };
        let path = head.uri.path();
        let key = decode(path.strip_prefix('/').unwrap_or(path));
        Subject { bucket: String::new(), key, operation }
    }

    fn answer(
        &self,
        subject: Subject,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, std::result::Result<Response<PlainBody>, BoxError>> {
        self.call(subject, request).boxed()
    }
}
