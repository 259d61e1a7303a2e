//! A register that is made anew of what is in the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::begun::HeldPlace;
use crate::places::MARKS;
use crate::register::{Edit, Register};
use crate::{Datastore, DatastoreError};

/// A folder that is in no register after an import, or in it as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The folder below the root.
    pub folder: String,
    /// The fault.
    pub reason: String,
}

/// Counts of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Data sets that are in the register now.
    pub datasets: u64,
    /// Versions of them.
    pub versions: u64,
    /// Folders that could not be read as data sets.
    pub left: Vec<Left>,
    /// Data sets that were in the register and have no folder; they are in it no more.
    pub removed: Vec<String>,
}

impl Datastore {
    /// Has a register know all data sets of a place, and no others. Their records are read, or, of
    /// folders of other programs, made of their documents. The place is of this register from now
    /// on.
    pub async fn import(
        place: HeldPlace,
        register: Arc<dyn Register>,
    ) -> Result<Imported, DatastoreError> {
        let datastore = Self::begun(place, register).await?;
        let names = datastore.root.list_directories("").await?;
        let names: BTreeSet<String> =
            names.into_iter().filter(|name| !name.starts_with('.')).collect();
        let mut imported = Imported::default();
        for name in &names {
            let mut change = datastore.change().await?;
            match datastore.found(name).await {
                Ok(found) => {
                    imported.datasets += 1;
                    let versions = u64::try_from(found.versions.len()).unwrap_or(u64::MAX);
                    imported.versions = imported.versions.saturating_add(versions);
                    datastore.enter(&mut change, found).await?;
                }
                Err(DatastoreError::Store(error)) => return Err(error.into()),
                Err(error) => {
                    let (folder, reason) = (name.clone(), error.to_string());
                    imported.left.push(Left { folder, reason });
                }
            }
            change.end().await?;
        }
        for id in datastore.names().await? {
            // One that was made meanwhile has a folder.
            if names.contains(&id) || datastore.root.child(&id)?.exists_anything().await? {
                continue;
            }
            let mut change = datastore.change().await?;
            change.edit(Edit::Remove { id: id.clone() }).await?;
            change.commit().await?;
            change.end().await?;
            imported.removed.push(id);
        }
        Ok(imported)
    }

    /// Enters the data sets that a version without a register has marked as known.
    pub(crate) async fn take_over_marks(&self) -> Result<(), DatastoreError> {
        let marks = self.root.list_level(MARKS).await?.files;
        for mark in marks {
            let mut change = self.change().await?;
            if change.find(&mark.name).await?.is_none() {
                match self.found(&mark.name).await {
                    Ok(found) => self.enter(&mut change, found).await?,
                    Err(DatastoreError::Store(error)) => return Err(error.into()),
                    // It stays marked.
                    Err(error) => {
                        tracing::error!(id = mark.name, %error, "a data set was not taken over");
                        change.end().await?;
                        continue;
                    }
                }
            }
            change.end().await?;
            self.root.delete(&format!("{MARKS}/{}", mark.name)).await?;
        }
        Ok(())
    }
}
