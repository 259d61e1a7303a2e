//! Writes that happen only if nobody else was first.
//!
//! An answer that is lost makes such a write ambiguous: the library tries again and is told that
//! the object exists, which may be its own. So bodies are unlike any other's (they hold a random
//! name of their writer), and after a refusal the object is read back and compared.

use bytes::Bytes;
use futures::StreamExt;
use object_store::{GetOptions, PutMode, PutOptions, UpdateVersion};

use crate::length::wide;
use crate::remote::attempts_of;
use crate::{Store, StoreError};

/// Number of tries to learn the store's time, if the object written for it is gone at once.
const CLOCK_TRIES: usize = 3;

/// Which state of an object somebody has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen(UpdateVersion);

/// An object, and when.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its bytes.
    pub bytes: Bytes,
    /// Its state, to be replaced.
    pub seen: Seen,
    /// When it was written by the clock of the store, seconds since 1970.
    pub modified_seconds: i64,
}

impl Store {
    /// Stores an object if there is none at `key`; its bytes must be unlike any other's. False if
    /// there is another.
    pub async fn create(&self, key: &str, bytes: Bytes) -> Result<Option<Seen>, StoreError> {
        self.put_if(key, bytes, PutMode::Create).await
    }

    /// Stores an object in place of the one that was `seen`; its bytes must be unlike any other's.
    /// `None` if that is no longer there.
    pub async fn replace(
        &self,
        key: &str,
        bytes: Bytes,
        seen: &Seen,
    ) -> Result<Option<Seen>, StoreError> {
        self.put_if(key, bytes, PutMode::Update(seen.0.clone())).await
    }

    /// An object of at most `limit_bytes` with its state; `None` if there is none.
    pub async fn snapshot(
        &self,
        key: &str,
        limit_bytes: u64,
    ) -> Result<Option<Snapshot>, StoreError> {
        let path = self.view.object_path(key)?;
        self.meter().count_get(self.role());
        self.persist(key, || async {
            let found = match self.inner.get_opts(&path, GetOptions::default()).await {
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                found => found.map_err(|error| self.view.failed(key, "read", error))?,
            };
            let size_bytes = found.meta.size;
            if size_bytes > limit_bytes {
                return Err(self.view.too_large(key, size_bytes, limit_bytes));
            }
            let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
            let modified_seconds = found.meta.last_modified.timestamp();
            let (mut bytes, mut parts) = (Vec::new(), found.into_stream());
            while let Some(part) = parts.next().await {
                bytes.extend(part.map_err(|error| self.view.failed(key, "read", error))?);
                // Who sends more than was said does not get more memory.
                if wide(bytes.len()) > size_bytes {
                    break;
                }
            }
            // A part of an object is not another one.
            if wide(bytes.len()) != size_bytes {
                return Err(self.view.short(key, size_bytes, wide(bytes.len())));
            }
            let bytes = bytes.into();
            let seen = Seen(UpdateVersion { e_tag, version });
            Ok(Some(Snapshot { bytes, seen, modified_seconds }))
        })
        .await
    }

    /// The store's clock, seconds since 1970: that of an object written at `key` and removed.
    /// Somebody else may remove it meanwhile, who clears the place up: then it is asked again.
    pub async fn clock_seconds(&self, key: &str) -> Result<i64, StoreError> {
        for _ in 0..CLOCK_TRIES {
            self.put(key, vec![Bytes::from_static(b"what time is it?")]).await?;
            let found = self.look_at(key).await;
            self.delete(key).await?;
            if let Some(object) = found? {
                return Ok(object.last_modified.timestamp());
            }
        }
        Err(self.view.not_found(key))
    }

    async fn put_if(
        &self,
        key: &str,
        bytes: Bytes,
        mode: PutMode,
    ) -> Result<Option<Seen>, StoreError> {
        let path = self.view.object_path(key)?;
        self.meter().count_put(self.role());
        let put = self.persist(key, || async {
            let extensions = attempts_of(self.meter(), self.role());
            let options = PutOptions { mode: mode.clone(), extensions, ..PutOptions::default() };
            match self.inner.put_opts(&path, bytes.clone().into(), options).await {
                Ok(put) => Ok(Some(Seen(UpdateVersion { e_tag: put.e_tag, version: put.version }))),
                Err(
                    object_store::Error::AlreadyExists { .. }
                    | object_store::Error::Precondition { .. }
                    | object_store::Error::NotFound { .. },
                ) => Ok(None),
                Err(error) => Err(self.view.failed(key, "write", error)),
            }
        });
        match put.await? {
            Some(seen) => Ok(Some(seen)),
            None => self.ours(key, &bytes).await,
        }
    }

    /// The state of the object at `key` if its bytes are these.
    async fn ours(&self, key: &str, bytes: &Bytes) -> Result<Option<Seen>, StoreError> {
        let limit_bytes = wide(bytes.len());
        match self.snapshot(key, limit_bytes).await {
            Ok(Some(found)) if found.bytes == bytes => Ok(Some(found.seen)),
            Ok(_) => Ok(None),
            Err(error) if error.is_too_large() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
