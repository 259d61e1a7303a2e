//! A repository at a version, as a place to read from: keys of Zarr that lead to its chunks.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use tokio::sync::OnceCell;

use super::fault::Fault;
use super::file::{Kind, unpack};
use super::id::Id;
use super::manifest::Manifest;
use super::refs;
use super::repo_info::{self, REPO_KEY};
use super::snapshot::{ArrayNode, Snapshot};
use super::version::Version;
use crate::connections::Connections;
use crate::referred::Referred;
use crate::referred::cache::Cache;
use crate::referred::files::Base;
use crate::referred::found::Found;
use crate::{Store, StoreError};

/// Name of the metadata document of a node.
pub(super) const DOCUMENT: &str = "zarr.json";
/// Manifests that are looked at to see whether chunks are elsewhere.
const LOOKED_AT: usize = 4;

/// A repository at a version. It is read when something is first asked of it, and stays at the
/// snapshot that the version is at then.
pub(crate) struct Repository {
    /// The repository.
    place: Store,
    version: Version,
    pub(super) referred: Arc<Referred>,
    /// The snapshot that the version was at when it was first looked at.
    resolved: OnceCell<Id>,
    snapshot: OnceCell<Snapshot>,
    manifests: Cache<Manifest>,
    /// Whether chunks are reached over a network, once it is known.
    is_late: OnceLock<bool>,
}

impl fmt::Debug for Repository {
    /// Without what is in it, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = &self.version;
        f.debug_struct("Repository").field("version", version).finish_non_exhaustive()
    }
}

impl Repository {
    /// The repository at `place`, of which files are relative to `base`. Nothing is read.
    pub(super) fn new(
        place: Store,
        version: Version,
        base: Base,
        connections: &Connections,
    ) -> Self {
        let referred = Arc::new(Referred::new(base, connections.clone()));
        let (resolved, snapshot, is_late) = (OnceCell::new(), OnceCell::new(), OnceLock::new());
        Self { place, version, referred, resolved, snapshot, manifests: Cache::default(), is_late }
    }

    /// Name of the repository, for people.
    pub(crate) fn label(&self) -> &str {
        self.place.label()
    }

    /// True if its location names a snapshot.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.version, Version::Snapshot(_))
    }

    /// True if many requests are to be in flight, as far as is known.
    pub(super) fn answers_late(&self) -> bool {
        self.place.answers_late() || self.is_late.get().copied().unwrap_or(false)
    }

    /// The snapshot, read once.
    pub(super) async fn snapshot(&self) -> Result<&Snapshot, StoreError> {
        let snapshot = self.snapshot.get_or_try_init(|| self.read_snapshot()).await?;
        // What lies elsewhere leads elsewhere.
        if self.is_late.get().is_none() && !self.place.answers_late() {
            // Who was first has found the same.
            let _ = self.is_late.set(self.has_far_chunks(snapshot).await);
        }
        Ok(snapshot)
    }

    /// The snapshot, if it was read.
    pub(super) fn known_snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.get()
    }

    async fn has_far_chunks(&self, snapshot: &Snapshot) -> bool {
        let arrays = snapshot.nodes.values().filter_map(|node| node.array.as_ref());
        let firsts = arrays.filter_map(|array| array.manifests.first());
        for manifest in firsts.take(LOOKED_AT) {
            // Whoever reads a chunk is told what is wrong.
            if let Ok(manifest) = self.manifest(&self.place, manifest.id).await
                && let Some(Found::File { url, .. }) = manifest.a_file()
            {
                return self.referred.is_remote(&url);
            }
        }
        false
    }

    async fn read_snapshot(&self) -> Result<Snapshot, StoreError> {
        let id = self.id().await?;
        let (key, kind) = (format!("snapshots/{id}"), Kind::Snapshot);
        let Some(bytes) = Box::pin(self.place.get(&key, kind.limit_bytes())).await? else {
            return Err(self.fault(Fault::NoSnapshot { id: id.to_string() }));
        };
        self.unpacked(key, bytes, kind, move |key, bytes| {
            Snapshot::read(&bytes, id).map_err(|reason| Fault::damaged(key, &reason))
        })
        .await
    }

    /// The snapshot that the version is at; it stays so.
    pub(super) async fn id(&self) -> Result<Id, StoreError> {
        let resolve = || async {
            match self.version {
                Version::Snapshot(id) => Ok(id),
                Version::Branch(_) | Version::Tag(_) => self.resolve().await,
            }
        };
        self.resolved.get_or_try_init(resolve).await.copied()
    }

    /// Finds the snapshot that the branch or tag is at.
    async fn resolve(&self) -> Result<Id, StoreError> {
        let info = Box::pin(self.place.get(REPO_KEY, Kind::RepoInfo.limit_bytes())).await?;
        let Some(info) = info else {
            return Box::pin(refs::find(&self.place, &self.version)).await;
        };
        let version = self.version.clone();
        self.unpacked(REPO_KEY.to_owned(), info, Kind::RepoInfo, move |_, bytes| {
            repo_info::find(&bytes, &version)
        })
        .await
    }

    /// Reads a manifest in `place`, which is that of the repository.
    pub(super) async fn manifest(
        &self,
        place: &Store,
        id: Id,
    ) -> Result<Arc<Manifest>, StoreError> {
        let key = format!("manifests/{id}");
        let load = async {
            let kind = Kind::Manifest;
            let Some(bytes) = Box::pin(place.get(&key, kind.limit_bytes())).await? else {
                return Ok(None);
            };
            let read = move |key: &str, bytes| {
                Manifest::read(bytes, id).map_err(|reason| Fault::damaged(key, &reason))
            };
            self.unpacked(key.clone(), bytes, kind, read).await.map(Some)
        };
        let manifest = Box::pin(self.manifests.get(&key, load)).await?;
        manifest.ok_or_else(|| self.fault(Fault::Missing { key }))
    }

    /// Reads a file that was fetched, away from the async threads.
    async fn unpacked<T: Send + 'static>(
        &self,
        key: String,
        bytes: Bytes,
        kind: Kind,
        parse: impl FnOnce(&str, Bytes) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let work = move || parse(&key, unpack(&key, &bytes, kind)?);
        let parsed = tokio::task::spawn_blocking(work).await;
        let parsed = parsed.unwrap_or_else(|error| Err(Fault::Chunk(error.to_string())));
        parsed.map_err(|fault| self.fault(fault))
    }

    /// Makes a fault an error of this repository.
    pub(super) fn fault(&self, fault: Fault) -> StoreError {
        fault.of(self.label())
    }

    /// The place of the repository.
    pub(super) fn place(&self) -> &Store {
        &self.place
    }

    /// Finds the target of `key`; manifests are read in `place`.
    pub(super) async fn find(&self, place: &Store, key: &str) -> Result<Option<Found>, StoreError> {
        let snapshot = self.snapshot().await?;
        let path = if key == DOCUMENT { Some("") } else { key.strip_suffix("/zarr.json") };
        if let Some(node) = path.and_then(|path| snapshot.nodes.get(path)) {
            return Ok(Some(Found::Inline(node.document.clone())));
        }
        let Some((_, array, rest)) = snapshot.array_of(key) else { return Ok(None) };
        let Some(index) = index_of(array, rest) else { return Ok(None) };
        let Some(position) = array.manifest_of(&index) else { return Ok(None) };
        let manifest = self.manifest(place, array.manifests[position].id).await?;
        let found = manifest.find(array.id, &index);
        found.map_err(|reason| self.fault(Fault::Chunk(format!("{key}: {reason}"))))
    }
}

/// The index of a chunk by its name, in any way that Zarr writes it.
///
/// These are `c/1/2`, `c.1.2`, `1/2` and `1.2`; of an array without axes `c` and `0`.
fn index_of(array: &ArrayNode, name: &str) -> Option<Vec<u32>> {
    let rest = name.strip_prefix('c');
    let rest = rest.map_or(name, |rest| rest.strip_prefix(['/', '.']).unwrap_or(rest));
    if array.axes == 0 {
        return matches!(rest, "" | "0").then(Vec::new);
    }
    let number = |text: &str| {
        // A chunk has one name.
        let is_plain = text == "0" || !text.starts_with(['0', '+']);
        text.parse::<u32>().ok().filter(|_| is_plain)
    };
    let index: Option<Vec<u32>> = rest.split(['/', '.']).map(number).collect();
    index.filter(|index| index.len() == array.axes)
}
