//! Stands in place of a client behind a [`crate::Store`] of references: it refuses all. Such a
//! store is only read, and by `read.rs`, which knows the stores that references lead to.

use std::fmt;

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use thiserror::Error as ThisError;

/// A client that refuses all.
#[derive(Debug)]
pub(crate) struct Refused;

#[derive(Debug, ThisError)]
#[error("references are only read")]
struct OnlyRead;

fn refusal() -> Error {
    Error::NotSupported { source: Box::new(OnlyRead) }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("References")
    }
}

#[async_trait]
impl ObjectStore for Refused {
    async fn get_opts(&self, _: &Path, _: GetOptions) -> Result<GetResult> {
        Err(refusal())
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::iter([Err(refusal())]).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(refusal())
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(refusal())
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(refusal())
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        locations.and_then(|_| async { Err(refusal()) }).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(refusal())
    }
}
