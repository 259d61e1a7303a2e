//! S3: the implementation of s3s-fs, made atomic as S3 is, on a directory.

mod access;
mod backend;

use std::ops::Deref;
use std::path::Path;

use crate::root::Root;
use crate::{Result, Server, ServerOptions, TestkitError};
use backend::{S3Backend, UPLOAD_PREFIX};

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
    /// Name of the key that clients have to sign with.
    pub const ACCESS_KEY_ID: &'static str = "test";
    /// Secret that clients have to sign with.
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
        let backend = S3Backend::new(root.path()).map_err(s3_error)?;
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

    /// Options by which a store of rechunk finds the server and its credentials, each `KEY=VALUE`.
    pub fn store_options(&self) -> [String; 4] {
        [
            format!("endpoint={}", self.endpoint()),
            format!("region={}", Self::REGION),
            format!("access_key_id={}", Self::ACCESS_KEY_ID),
            format!("secret_access_key={}", Self::SECRET_ACCESS_KEY),
        ]
    }

    /// Number of multipart uploads that are neither completed nor aborted.
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
