//! Objects that a store copies itself: their bytes do not pass through this machine.
//!
//! S3 (`CopyObject`) and Google Cloud Storage do it at once and as a whole. The others do not: on a
//! local disk `object_store` makes a hard link, and what is later written to one array would be in
//! the other; Azure may answer before the copy is there, and `object_store` does not say so; in
//! memory there is nothing to save.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::{fs, io};

use futures::TryStreamExt;
use object_store::CopyOptions;

use crate::remote::with_attempts;
use crate::{Store, StoreError};

/// Action in messages of errors.
const ACTION: &str = "copy inside the store to";

/// Outcome of a copy of an object by a store.
#[derive(Debug)]
pub enum Copied {
    /// It is there, whole.
    Done,
    /// There is nothing to copy.
    Missing,
    /// The store cannot copy it, whatever is tried, for the reason in the error. It is too large
    /// for that (5 GiB on S3), it may be read and written but not copied, or the store copies
    /// nothing.
    Refused(StoreError),
}

impl Store {
    /// Whether this store copies objects of `source` itself: both are in one bucket, reached
    /// with the same credentials and options, of a kind that does.
    pub fn can_copy_from(&self, source: &Self) -> bool {
        self.copies && source.copies && Arc::ptr_eq(&self.inner, &source.inner)
    }

    /// Has the store copy the object at `source_key` of `source` to `key`, in place of any that was
    /// there. Readers see the old one or the new one, never a part. Refused where
    /// [`Store::can_copy_from`] is false. Counted as one copy where there is something to copy, and
    /// as a missing object of the source where not. What was written since `source` is watched is
    /// copied all the same: see [`Store::check_unchanged_objects`].
    pub async fn copy_from(
        &self,
        source: &Self,
        source_key: &str,
        key: &str,
    ) -> Result<Copied, StoreError> {
        let (from, to) = (source.view.object_path(source_key)?, self.view.object_path(key)?);
        if !self.can_copy_from(source) {
            let why = "source and target are not in one store that copies objects";
            let error = io::Error::new(io::ErrorKind::Unsupported, why);
            return Ok(Copied::Refused(self.view.failed_io(key, ACTION, error)));
        }
        let copied = self.persist(key, || async {
            let _permit = self.permit().await;
            let copying = self.inner.copy_opts(&from, &to, CopyOptions::default());
            match with_attempts(self.meter(), self.role(), copying).await {
                Ok(()) => Ok(true),
                Err(object_store::Error::NotFound { .. }) => Ok(false),
                Err(error) => Err(self.view.failed(key, ACTION, error)),
            }
        });
        let copied = match copied.await {
            // A store says 404 for other reasons too, and what is there is never missing.
            Ok(false) if source.exists(source_key).await? => {
                Ok(Copied::Refused(source.view.not_found(source_key)))
            }
            Ok(false) => {
                source.meter().count_get_missing(source.role());
                return Ok(Copied::Missing);
            }
            Ok(true) => {
                self.meter().count_object(self.role());
                Ok(Copied::Done)
            }
            Err(error) if error.is_retryable() => Err(error),
            Err(error) => Ok(Copied::Refused(error)),
        };
        self.meter().count_copy(self.role());
        copied
    }

    /// Refuses a place with an object that was written since it is watched ([`Store::watched`]).
    /// Whoever has had objects copied, or has taken a list for the truth, has not seen when they
    /// were written. Looks at those that `is_wanted` by their key, of up to `depth` names. They are
    /// listed; a store whose lists are late may be late to tell.
    pub async fn check_unchanged_objects(
        &self,
        depth: usize,
        is_wanted: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        let Some(watch) = self.view.watch() else { return Ok(()) };
        if let Some(root) = self.local_root().map(std::path::Path::to_owned) {
            let begun = watch.begun();
            let written = move |key: &str| fs::metadata(root.join(key))?.modified();
            let take = move |late: &mut Vec<String>, key: &str| {
                // What cannot be looked at here is looked at below, which says why.
                if written(key).map_or(true, |at| at > begun) && is_wanted(key) {
                    late.push(key.to_owned());
                }
                ControlFlow::Continue(())
            };
            for key in self.fold_keys(depth, Vec::new(), take).await? {
                if let Some(found) = self.look_at(&key).await? {
                    self.view.check_unchanged(&key, &found)?;
                }
            }
            return Ok(());
        }
        let late = self.persist("", || async {
            self.meter().count_list();
            let mut late = 0;
            let mut listed = self.inner.list(self.view.list_prefix());
            while let Some(object) =
                listed.try_next().await.map_err(|error| self.view.failed("", "list", error))?
            {
                let key = self.view.key_of(&object.location);
                match self.view.is_late(key, &object) {
                    Ok(false) => {}
                    found if is_wanted(key) => late += u64::from(found?),
                    _ => {}
                }
            }
            Ok(late)
        });
        self.view.add_late(late.await?);
        Ok(())
    }
}
