//! A ZIP file as a place to read from: its entries are the objects.
//!
//! The directory of the file is read once, when it is first needed. It says where things are and is
//! believed in nothing else: every size is checked against the file, against the caller's limit
//! before a body is read, and against what comes out of the body.

mod body;
mod fault;
mod index;
mod pack;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::OnceCell;

use self::fault::ZipFault;
use self::index::Index;
pub use self::pack::{Packed, Packing};

/// A local ZIP file. Where a name is there twice the last one counts.
#[derive(Debug, Clone)]
pub(crate) struct ZipFile {
    path: Arc<FilePath>,
    index: Arc<OnceCell<Arc<Index>>>,
}

impl ZipFile {
    /// The file at `path`; it is opened when something is first asked of it.
    pub(crate) fn new(path: &FilePath) -> Self {
        Self { path: path.into(), index: Arc::default() }
    }

    /// The file itself.
    pub(crate) fn path(&self) -> &FilePath {
        &self.path
    }

    /// The comment of the file; empty where there is none.
    pub(crate) async fn comment(&self) -> Result<String> {
        let index = self.index().await?;
        Ok(tokio::task::spawn_blocking(move || index.comment()).await?)
    }

    async fn index(&self) -> Result<Arc<Index>> {
        let read = || async {
            let path = Arc::clone(&self.path);
            tokio::task::spawn_blocking(move || Index::read(&path)).await?.map(Arc::new)
        };
        self.index.get_or_try_init(read).await.map(Arc::clone)
    }
}

impl fmt::Display for ZipFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ZipFile({})", self.path.display())
    }
}

#[async_trait]
impl ObjectStore for ZipFile {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let index = self.index().await?;
        let entry = *index.find(location.as_ref()).ok_or_else(|| not_found(location))?;
        let meta = index.meta_of(&entry, location.clone());
        options.check_preconditions(&meta)?;
        let range = match &options.range {
            Some(range) => range
                .as_range(meta.size)
                .map_err(|error| Error::Generic { store: "ZipFile", source: Box::new(error) })?,
            None => 0..meta.size,
        };
        let body = if options.head {
            stream::empty().boxed()
        } else {
            body::stream(index, entry, range.clone())
        };
        Ok(GetResult {
            payload: GetResultPayload::Stream(body),
            meta,
            range,
            attributes: object_store::Attributes::default(),
            extensions: object_store::Extensions::default(),
        })
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let below = prefix.map_or_else(String::new, |prefix| format!("{prefix}/"));
        let file = self.clone();
        stream::once(async move { file.index().await })
            .map_ok(move |index| {
                let range = index.below(&below);
                stream::iter(range).map(move |position| index.meta(position))
            })
            .try_flatten()
            .boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let index = self.index().await?;
        let below = prefix.map_or_else(String::new, |prefix| format!("{prefix}/"));
        let (mut objects, mut common_prefixes) = (Vec::new(), Vec::<Path>::new());
        for position in index.below(&below) {
            let name = index.name(position);
            match name[below.len()..].split_once('/') {
                None => objects.push(index.meta(position)?),
                Some((directory, _)) => {
                    let directory = Path::parse(&name[..below.len() + directory.len()])?;
                    // Names are sorted: all of a directory stand together.
                    if common_prefixes.last() != Some(&directory) {
                        common_prefixes.push(directory);
                    }
                }
            }
        }
        Ok(ListResult { common_prefixes, objects, extensions: object_store::Extensions::default() })
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(ZipFault::ReadOnly.into())
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(ZipFault::ReadOnly.into())
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        locations.and_then(|_| async { Err(ZipFault::ReadOnly.into()) }).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(ZipFault::ReadOnly.into())
    }
}

fn not_found(location: &Path) -> Error {
    let source = std::io::Error::from(std::io::ErrorKind::NotFound);
    Error::NotFound { path: location.to_string(), source: Box::new(source) }
}
