//! A change of data sets, from its lock to its end.

use tokio::sync::MutexGuard;

use crate::note::Note;
use crate::register::{Change, Edit};
use crate::{Datastore, DatastoreError, Known};

/// Lock of a register that is held by whoever changes what data sets there are.
const LOCK: &str = "changes";

/// A change that holds up all others, also those of other processes.
///
/// Folders are made before the register has them, and removed after; a note says which, before the
/// first of them is touched. So whatever the register has is in the store, whenever a process is
/// killed.
#[derive(Debug)]
pub(crate) struct Changing<'a> {
    datastore: &'a Datastore,
    change: Box<dyn Change>,
    note: Option<(String, Note)>,
    _guard: MutexGuard<'a, ()>,
}

impl Datastore {
    /// Waits until nobody else changes data sets, and puts right what others have left. Refused
    /// where nothing may be changed.
    pub(crate) async fn change(&self) -> Result<Changing<'_>, DatastoreError> {
        if !self.is_writable() {
            return Err(DatastoreError::ReadOnly);
        }
        let guard = self.changes.lock().await;
        let mut change = self.catalog.register.change(LOCK).await?;
        self.settle_changes(change.as_mut()).await?;
        Ok(Changing { datastore: self, change, note: None, _guard: guard })
    }
}

impl Changing<'_> {
    /// The data set `id` at this moment.
    pub(crate) async fn known(&mut self, id: &str) -> Result<Known, DatastoreError> {
        let found = self.find(id).await?;
        found.ok_or_else(|| DatastoreError::Unknown(format!("there is no data set {id}")))
    }

    /// The data set `id` at this moment, if there is one.
    pub(crate) async fn find(&mut self, id: &str) -> Result<Option<Known>, DatastoreError> {
        self.change.find(id).await
    }

    /// Notes what this change is about.
    pub(crate) async fn note(&mut self, note: Note) -> Result<(), DatastoreError> {
        let key = note.put(&self.datastore.root).await?;
        self.note = Some((key, note));
        Ok(())
    }

    /// Has the register do an edit with the next [`Changing::commit`].
    pub(crate) async fn edit(&mut self, edit: Edit) -> Result<(), DatastoreError> {
        let result = self.change.edit(edit).await;
        self.kept_noted(result).await
    }

    /// Has the register make its edits durable. Others go on when the change is ended.
    pub(crate) async fn commit(&mut self) -> Result<(), DatastoreError> {
        let result = self.change.commit().await;
        self.kept_noted(result).await
    }

    /// Sees to it that the note is there when something has failed. Where the register was away,
    /// another process has had the lock meanwhile, and has taken our note for one that was left.
    async fn kept_noted(
        &mut self,
        result: Result<(), DatastoreError>,
    ) -> Result<(), DatastoreError> {
        if let (Err(_), Some((key, note))) = (&result, &self.note) {
            note.put_at(&self.datastore.root, key).await?;
        }
        result
    }

    /// True unless another process has done meanwhile what is noted.
    pub(crate) async fn is_ours(&mut self) -> Result<bool, DatastoreError> {
        let Some((key, _)) = &self.note else { return Ok(true) };
        Ok(self.datastore.root.exists(key).await?)
    }

    /// Ends the change: there is nothing left to be put right.
    pub(crate) async fn end(self) -> Result<(), DatastoreError> {
        let ended = match &self.note {
            Some((key, _)) => self.datastore.root.delete(key).await,
            None => Ok(()),
        };
        self.change.release().await;
        Ok(ended?)
    }

    /// Has the data set `id` asked for anew by whoever reads it.
    pub(crate) fn forget(&self, id: &str) {
        self.datastore.catalog.forget(id);
    }
}
