//! An object that is written in parts, in any order, and becomes visible when it is whole.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::length::wide;
use crate::local::staged_file::StagedFile;
use crate::local::tree;
use crate::upload_log::UploadLog;
use crate::{Store, StoreError};

/// An unfinished object of a [`Store`]. Nothing is visible under its key before
/// [`ObjectWriter::finish`].
///
/// In a local directory parts go to a file without a name, or to one beside the object (swept by
/// [`Store::remove_staging`] if the process dies), at their place. A store that takes parts is sent
/// them as they become full: no more than two of [`crate::PartSizes::log_part_bytes`] are in
/// memory, and those in which a head lies that is written last. Elsewhere all is held in memory
/// until the object is whole.
#[derive(Debug)]
pub struct ObjectWriter {
    store: Store,
    key: String,
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    File(Arc<StagedFile>),
    Log(Box<UploadLog>),
    Memory(Mutex<BTreeMap<u64, Bytes>>),
}

impl Store {
    /// Begins an object of which the first `head_bytes` are written last, at once; the rest from
    /// there on without gaps. Nothing is sent or written yet. One writer per key at a time.
    pub fn begin(&self, key: &str, head_bytes: u64) -> Result<ObjectWriter, StoreError> {
        self.view.object_path(key)?;
        let parts = if self.local_root().is_some() {
            let path = self.file_path(key, "be written to")?;
            Parts::File(Arc::new(StagedFile::of(path, &self.habits)))
        } else if let Some(multipart) = &self.multipart {
            Parts::Log(Box::new(UploadLog::new(self, multipart, key, head_bytes)))
        } else {
            Parts::Memory(Mutex::default())
        };
        Ok(ObjectWriter { store: self.clone(), key: key.to_owned(), parts })
    }
}

impl ObjectWriter {
    /// Writes `bytes` at `offset`. Parts must not overlap; they may be written at the same time.
    /// One may wait for those that lie before it, so all of them have to be driven. Gives the bytes
    /// back, so that their buffer can be used again.
    pub async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<Bytes, StoreError> {
        match &self.parts {
            Parts::File(staged) => {
                let staged = Arc::clone(staged);
                let write = move || staged.write_at(offset, &bytes).map(|()| bytes);
                let bytes = self.store.blocking(&self.key, "write", write).await?;
                self.store.moved(wide(bytes.len())).await;
                Ok(bytes)
            }
            Parts::Log(log) => log.write_at(offset, &bytes).await.map(|()| bytes),
            Parts::Memory(parts) => {
                let kept = Bytes::copy_from_slice(&bytes);
                parts.lock().unwrap_or_else(PoisonError::into_inner).insert(offset, kept);
                Ok(bytes)
            }
        }
    }

    /// Makes the object visible in place of any that was there. Its parts must fill `bytes` bytes
    /// from offset 0 on. Durable after [`Store::sync`].
    /// Called once, after all parts have been written.
    pub async fn finish(&self, bytes: u64) -> Result<(), StoreError> {
        self.finished(bytes, self.store.puts_sync(), false).await
    }

    /// [`ObjectWriter::finish`] of an object that is not there by halves even after a power cut,
    /// and is durable when this returns (see `Stores::without_fsync`).
    pub async fn finish_durable(&self, bytes: u64) -> Result<(), StoreError> {
        self.finished(bytes, self.store.fsyncs(), self.store.fsyncs()).await
    }

    /// `syncs`: its bytes before it has its name. `names`: the name before this returns.
    async fn finished(&self, bytes: u64, syncs: bool, names: bool) -> Result<(), StoreError> {
        let Self { store, key, parts } = self;
        match parts {
            Parts::Log(log) => log.finish(bytes).await,
            Parts::Memory(parts) => {
                let parts =
                    std::mem::take(&mut *parts.lock().unwrap_or_else(PoisonError::into_inner));
                let filled = parts.values().map(Bytes::len).fold(0, u64_sum);
                if filled != bytes {
                    return Err(StoreError::Short {
                        location: store.label().to_owned(),
                        key: key.clone(),
                        wanted_bytes: bytes,
                        got_bytes: filled,
                    });
                }
                store.put(key, parts.into_values().collect()).await
            }
            Parts::File(staged) => {
                store.meter().count_put(store.role());
                let staged = Arc::clone(staged);
                let (path, root) = (store.file_path(key, "be written to")?, store.local_root());
                let root = root.filter(|_| names).map(ToOwned::to_owned);
                let finish = move || {
                    staged.finish(bytes, syncs)?;
                    root.map_or(Ok(()), |root| tree::sync_names(&path, &root))
                };
                store.blocking(key, "write", finish).await?;
                store.meter().count_written(store.role(), bytes);
                Ok(())
            }
        }
    }
}

fn u64_sum(sum: u64, bytes: usize) -> u64 {
    sum.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX))
}
