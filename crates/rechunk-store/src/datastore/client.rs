//! A level of a data set as a store of objects: the attributes of an N5 dataset, and its blocks.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error, Extensions, GetOptions, GetResult, GetResultPayload,
    ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions,
    PutPayload, PutResult, Result,
};
use serde::Deserialize;
use tokio::sync::OnceCell;

use super::description::Description;
use super::fault::{Fault, Shared};
use super::level::{ATTRIBUTES, Level};
use super::location::{LevelLocation, VersionAsked};
use super::reads::{Coming, Reads};
use super::server::Server;
use super::writes::Writes;
use crate::StoreError;
use crate::remote::Like;
use crate::versioned::Versioned;

/// A level of a data set. What it is said to be is asked once.
#[derive(Debug, Clone)]
pub(super) struct DatasetClient {
    location: Arc<LevelLocation>,
    server: Arc<Server>,
    level: Arc<OnceCell<Arc<Level>>>,
    reads: Reads,
    writes: Writes,
}

/// Description of a level that is served.
#[derive(Debug, Deserialize)]
struct Served {
    version: u64,
}

impl DatasetClient {
    pub(super) fn new(location: LevelLocation, server: Server) -> Self {
        let server = Arc::new(server);
        let (reads, writes) = (Reads::new(Arc::clone(&server)), Writes::new(Arc::clone(&server)));
        Self { location: Arc::new(location), server, level: Arc::default(), reads, writes }
    }

    async fn level(&self, extensions: &Extensions) -> Result<&Arc<Level>, Shared> {
        let opened = self.level.get_or_try_init(|| async {
            let url = self.location.dataset_url();
            let document = self.server.document(&url, extensions.clone()).await?;
            let document = document.ok_or_else(|| Fault::NoDataset {
                name: self.location.name.clone(),
                base: self.location.base.clone(),
            })?;
            let level = Level::new(&self.location, Description::read(&url, &document)?)?;
            Ok(Arc::new(level))
        });
        opened.await
    }

    /// URL of the version; an error if it is still to be made.
    fn url(&self, level: &Level) -> Result<String, Fault> {
        let version = level.version.as_deref();
        let version = version.ok_or_else(|| Fault::NotMade("a new version".to_owned()))?;
        Ok(self.location.level_url(version))
    }

    async fn block(
        &self,
        level: &Arc<Level>,
        address: String,
        extensions: Extensions,
    ) -> Result<Option<Coming>, Shared> {
        if level.version.is_none() {
            return Ok(None); // a version that is made has no blocks
        }
        self.reads.read(level, &self.url(level)?, address, extensions).await
    }

    async fn get(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let extensions = sent(options.extensions);
        let key = location.as_ref();
        // Whatever else is looked for in a dataset is not there.
        if key != ATTRIBUTES && !key.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(missing(location));
        }
        let level = self.level(&extensions).await?;
        let (size, body) = if key == ATTRIBUTES {
            let document = level.attributes.clone();
            (document.len() as u64, stream::iter([Ok(document)]).boxed())
        } else {
            let address = level.block_at(key).ok_or_else(|| missing(location))?;
            let coming = self.block(level, address, extensions).await?;
            let Coming { sizes, bytes, pieces } = coming.ok_or_else(|| missing(location))?;
            let header = level.n5_header(sizes);
            let size = bytes.saturating_add(header.len() as u64);
            (size, stream::iter([Ok(header)]).chain(pieces.map_err(Error::from)).boxed())
        };
        let whole = 0..size;
        let range = match options.range.filter(|_| !options.head) {
            None => whole,
            Some(range) => range
                .as_range(size)
                .map_err(|error| Error::Generic { store: "datastore", source: Box::new(error) })?,
        };
        let payload = GetResultPayload::Stream(within(body, range.clone()));
        let meta = ObjectMeta {
            location: location.clone(),
            // Nobody says when a block was written.
            last_modified: UNIX_EPOCH.into(),
            size,
            e_tag: None,
            version: None,
        };
        let (attributes, extensions) = (Attributes::default(), Extensions::default());
        Ok(GetResult { payload, meta, range, attributes, extensions })
    }

    async fn put(&self, location: &Path, payload: PutPayload, sent: Extensions) -> Result<()> {
        let level = self.level(&sent).await?;
        let address = level.block_at(location.as_ref());
        let address = address.ok_or(Fault::Unsupported("writing anything but blocks"))?;
        let block = level.wire_block(payload)?;
        Ok(self.writes.write(&self.url(level)?, address, block, sent).await?)
    }

    /// Removes a block as far as that can be: what was there reads as zeros, as what is not there
    /// does.
    async fn remove(&self, location: &Path) -> Result<()> {
        let sent = Extensions::default();
        let level = self.level(&sent).await?;
        let Some(address) = level.block_at(location.as_ref()) else { return Ok(()) };
        if self.block(level, address.clone(), sent.clone()).await?.is_none() {
            return Ok(());
        }
        let zeros = level.zeros(self.location.factors, location.as_ref());
        let zeros = zeros.ok_or(Fault::Unsupported("removing a block beyond the image"))?;
        Ok(self.writes.write(&self.url(level)?, address, zeros, sent).await?)
    }
}

/// Leaves out of `extensions` that a slow read may be sent again: a request has many blocks.
fn sent(mut extensions: Extensions) -> Extensions {
    extensions.remove::<Like>();
    extensions
}

fn missing(location: &Path) -> Error {
    let path = location.to_string();
    Error::NotFound { source: format!("{path} is not available").into(), path }
}

/// The bytes of `body` in `range`.
fn within(
    body: BoxStream<'static, Result<Bytes>>,
    range: Range<u64>,
) -> BoxStream<'static, Result<Bytes>> {
    let cut = body.scan((range.start, range.end - range.start), |(skip, left), part| {
        let part = part.map(|part| {
            let length = part.len() as u64;
            let from = (*skip).min(length);
            let to = from.saturating_add(*left).min(length);
            (*skip, *left) = (*skip - from, *left - (to - from));
            // Both lie in the part.
            let at = |position: u64| usize::try_from(position).unwrap_or(part.len());
            part.slice(at(from)..at(to))
        });
        std::future::ready(Some(part))
    });
    cut.boxed()
}

impl fmt::Display for DatasetClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.location.dataset_url())
    }
}

#[async_trait]
impl Versioned for DatasetClient {
    fn read_only(&self) -> Option<&'static str> {
        let is_mixed = self.location.version == VersionAsked::MixedLatest;
        is_mixed.then_some("mixedLatest, the newest blocks of all versions,")
    }

    fn is_new(&self) -> bool {
        self.location.version == VersionAsked::New
    }

    async fn version_name(&self) -> std::result::Result<Option<String>, StoreError> {
        let level = self.level(&Extensions::default()).await.map_err(|error| {
            let label = self.location.dataset_url();
            StoreError::from_object_store(&label, "", "look at", error.into())
        })?;
        Ok(level.version.as_ref().map(|version| self.location.level_url(version)))
    }

    async fn make(&self) -> std::result::Result<String, StoreError> {
        let url = format!("{}/write", self.location.level_url("new"));
        let failed = |error: Shared| {
            let label = self.location.dataset_url();
            StoreError::from_object_store(&label, "", "make a version of", error.into())
        };
        // Not again after an answer that was lost: that would make another.
        let unknown = |error: Shared| {
            let refused = std::error::Error::source(&error).is_some_and(crate::remote::is_answered);
            if refused { error } else { Fault::Unknown(error.to_string()).into() }
        };
        let document = self.server.document(&url, Extensions::default()).await;
        let document = document.map_err(|error| failed(unknown(error)))?;
        let document = document.ok_or_else(|| {
            failed(Fault::NotMade(format!("the level or data set of {url}")).into())
        })?;
        let served: Served = serde_json::from_slice(&document).map_err(|error| {
            let reason = format!("the answer names no version ({error})");
            failed(Fault::Unknown(reason).into())
        })?;
        Ok(self.location.with_version(served.version))
    }
}

#[async_trait]
impl ObjectStore for DatasetClient {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.put(location, payload, sent(options.extensions)).await?;
        Ok(PutResult { e_tag: None, version: None, extensions: Extensions::default() })
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(Fault::Unsupported("an upload in parts").into())
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.get(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let this = self.clone();
        let removed = locations.and_then(move |location| {
            let this = this.clone();
            async move { this.remove(&location).await.map(|()| location) }
        });
        removed.boxed()
    }

    fn list(&self, _prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::iter([Err(Fault::Unsupported("a listing").into())]).boxed()
    }

    async fn list_with_delimiter(&self, _prefix: Option<&Path>) -> Result<ListResult> {
        Err(Fault::Unsupported("a listing").into())
    }

    async fn copy_opts(&self, _from: &Path, _to: &Path, _options: CopyOptions) -> Result<()> {
        Err(Fault::Unsupported("a copy inside the server").into())
    }
}
