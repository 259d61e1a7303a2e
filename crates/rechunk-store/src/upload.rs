//! One multipart upload: begun, its parts in any order, completed or aborted. Nothing is visible
//! under its key before it is completed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{MultipartId, PutMultipartOptions, PutPayload};

use crate::length::wide;
use crate::multipart::Multipart;
use crate::remote::{attempts_of, with_attempts};
use crate::upload_records::Record;
use crate::{Store, StoreError};

/// An upload under way. Dropped before its end, it is aborted as far as that can still be done.
#[derive(Debug)]
pub(crate) struct Upload {
    store: Store,
    multipart: Multipart,
    key: String,
    path: Path,
    id: MultipartId,
    record: Option<Record>,
    parts: Mutex<BTreeMap<usize, PartId>>,
    is_open: AtomicBool,
    /// By the clock of this machine.
    begun: SystemTime,
}

impl Upload {
    /// Begins an upload, and notes it down before its first part is sent.
    pub(crate) async fn begin(
        store: &Store,
        multipart: &Multipart,
        key: &str,
    ) -> Result<Arc<Self>, StoreError> {
        let path = store.view.object_path(key)?;
        store.meter().count_part(store.role());
        let began = SystemTime::now();
        let begun = store.persist(key, || async {
            let _permit = store.permit().await;
            let extensions = attempts_of(store.meter(), store.role());
            let options = PutMultipartOptions { extensions, ..PutMultipartOptions::default() };
            let begun = multipart.api.create_multipart_opts(&path, options).await;
            begun.map_err(|error| store.view.failed(key, "begin the upload of", error))
        });
        let id = begun.await?;
        let mut upload = Self {
            store: store.clone(),
            multipart: multipart.clone(),
            key: key.to_owned(),
            path,
            id,
            record: None,
            parts: Mutex::default(),
            is_open: AtomicBool::new(true),
            begun: began,
        };
        if let Some(records) = &store.upload_records {
            upload.record = Some(Record::add(records, &upload.path, &upload.id).await?);
        }
        Ok(Arc::new(upload))
    }

    /// Sends part `number`, counted from 0. All but the last have to be of one size, which the
    /// store may want to be 5 MiB at least.
    pub(crate) async fn put_part(
        &self,
        number: usize,
        payload: PutPayload,
    ) -> Result<(), StoreError> {
        let Self { store, key, .. } = self;
        store.meter().count_part(store.role());
        let bytes = wide(payload.content_length());
        let put = store.persist(key, || async {
            let _permit = store.permit().await;
            let put = self.multipart.api.put_part(&self.path, &self.id, number, payload.clone());
            let put = with_attempts(store.meter(), store.role(), put).await;
            put.map_err(|error| match error {
                object_store::Error::NotFound { .. } => self.gone("write a part of"),
                error => store.view.failed(key, "write a part of", error),
            })
        });
        let id = put.await?;
        self.parts().insert(number, id);
        store.moved(bytes).await;
        Ok(())
    }

    /// Makes the object of `bytes` bytes visible; all its parts have been sent.
    pub(crate) async fn complete(&self, bytes: u64) -> Result<(), StoreError> {
        /// Action, for messages.
        const COMPLETE: &str = "complete the upload of";
        let Self { store, key, .. } = self;
        store.meter().count_put(store.role());
        let parts: Vec<PartId> = self.parts().values().cloned().collect();
        let completed = store.persist(key, || async {
            let _permit = store.permit().await;
            let done = self.multipart.api.complete_multipart(&self.path, &self.id, parts.clone());
            match with_attempts(store.meter(), store.role(), done).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::NotFound { .. }) => Ok(false),
                Err(error) => Err(store.view.failed(key, COMPLETE, error)),
            }
        });
        // Where an answer was lost, the upload is over when it is asked again.
        if !completed.await? && !self.is_there(bytes, parts.len()).await? {
            return Err(self.gone(COMPLETE));
        }
        store.meter().count_written(store.role(), bytes);
        self.end().await;
        Ok(())
    }

    /// Tells whether the object at the key is, as far as can be told, that of this upload. It has
    /// its size, as many parts where its tag says so, and is not older. Nobody else writes there.
    async fn is_there(&self, bytes: u64, parts: usize) -> Result<bool, StoreError> {
        let Some(found) = self.store.look_at(&self.key).await? else { return Ok(false) };
        let said = found.e_tag.as_deref().and_then(parts_of_tag);
        let clock = self.store.clock.as_ref();
        let written =
            clock.and_then(|clock| clock.of_this_machine(found.last_modified.timestamp()));
        // Some stores say when an upload began; and clocks are not told to the second.
        let since = self.begun.checked_sub(Duration::from_mins(1)).unwrap_or(self.begun);
        let is_new = written.is_none_or(|written| written >= since);
        Ok(found.size == bytes && said.is_none_or(|said| said == parts) && is_new)
    }

    /// An upload that is not there, which is not an object that is missing.
    fn gone(&self, action: &'static str) -> StoreError {
        let reason = "the store knows no such upload any more: somebody has given it up";
        StoreError::Failed {
            location: self.store.label().to_owned(),
            key: self.key.clone(),
            action,
            source: reason.into(),
        }
    }

    /// Gives the upload up: the store forgets its parts. What fails is left to the note of it, and
    /// to the store's own rules.
    pub(crate) async fn abort(&self) {
        if !self.is_open.swap(false, Ordering::AcqRel) {
            return;
        }
        if let Err(error) = abort(&self.store, &self.multipart, &self.path, &self.id).await {
            tracing::warn!(%error, "an upload could not be given up");
            return;
        }
        self.end().await;
    }

    /// Nothing is left of it to be given up.
    async fn end(&self) {
        self.is_open.store(false, Ordering::Release);
        if let (Some(records), Some(record)) = (&self.store.upload_records, &self.record)
            && let Err(error) = record.remove(records).await
        {
            tracing::warn!(%error, "the note of an upload that is done could not be removed");
        }
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<usize, PartId>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // Without a runtime nothing can be sent any more.
        if *self.is_open.get_mut()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, multipart) = (self.store.clone(), self.multipart.clone());
            let (path, id, record) = (self.path.clone(), self.id.clone(), self.record.take());
            runtime.spawn(async move {
                let aborted = abort(&store, &multipart, &path, &id).await;
                let records = store.upload_records.as_ref();
                if let (Ok(()), Some(records), Some(record)) = (aborted, records, record) {
                    let _ = record.remove(records).await; // one that is left does no harm
                }
            });
        }
    }
}

/// Gives an upload up; one that is over is fine.
pub(crate) async fn abort(
    store: &Store,
    multipart: &Multipart,
    path: &Path,
    id: &MultipartId,
) -> Result<(), StoreError> {
    store.meter().count_delete();
    store
        .persist(path.as_ref(), || async {
            let _permit = store.permit().await;
            match multipart.api.abort_multipart(path, id).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(store.view.failed(path.as_ref(), "give up the upload of", error)),
            }
        })
        .await
}

/// Number of parts that an object was uploaded in, if its tag is like those of S3: `"HEX-COUNT"`.
fn parts_of_tag(tag: &str) -> Option<usize> {
    let (digest, count) = tag.trim_matches('"').rsplit_once('-')?;
    let is_digest = digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest { count.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_how_many_parts_there_were() {
        assert_eq!(parts_of_tag("\"0123456789abcdef0123456789ABCDEF-17\""), Some(17));
        for other in ["\"0123456789abcdef0123456789abcdef\"", "7", "\"0x8D-3\"", "W/\"a-b\"", ""] {
            assert_eq!(parts_of_tag(other), None, "{other}");
        }
    }
}
