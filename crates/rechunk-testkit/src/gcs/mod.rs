//! Google Cloud Storage, as far as its XML API is used by object_store, on a directory.

mod backend;
mod objects;
mod uploads;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::root::Root;
use crate::{Result, Server, ServerOptions};
use backend::GcsBackend;
use uploads::Uploads;

/// A server of Google's XML API with one bucket. [`Server`] is what else it can do.
///
/// Objects are files: `root()/BUCKET/key`. So there can be no object below another one, and files
/// that a test puts there are objects. Credentials are not checked. Uploads under way are in
/// memory.
#[derive(Debug)]
pub struct GcsServer {
    server: Server,
    root: Root,
    uploads: Arc<Uploads>,
}

impl GcsServer {
    /// The bucket that is there from the start.
    pub const BUCKET: &'static str = "rechunk-test";

    /// Starts it; it serves when this returns.
    pub fn start(options: &ServerOptions) -> Result<Self> {
        let root = Root::open(options.root.as_deref(), &[Self::BUCKET, objects::STAGING])?;
        let uploads = Arc::new(Uploads::default());
        let backend = GcsBackend::new(root.path(), Arc::clone(&uploads));
        Ok(Self { server: Server::start(Box::new(backend), options)?, root, uploads })
    }

    /// The directory of the objects; `root().join(GcsServer::BUCKET)` is the bucket.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The URL of a key of the bucket.
    pub fn url(&self, key: &str) -> String {
        format!("gs://{}/{key}", Self::BUCKET)
    }

    /// The key of a service account that leads to this server and needs no other one.
    pub fn service_account_key(&self) -> String {
        format!(
            r#"{{"gcs_base_url":"{}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#,
            self.endpoint()
        )
    }

    /// The environment in which clients find the server and its credentials.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![("GOOGLE_SERVICE_ACCOUNT_KEY", self.service_account_key())]
    }

    /// Number of multipart uploads that are neither completed nor aborted.
    pub fn unfinished_uploads(&self) -> usize {
        self.uploads.count()
    }
}

impl Deref for GcsServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}
