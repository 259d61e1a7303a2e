//! The register of a datastore: which data sets there are, and what each of them is.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{Dataset, DatastoreError, Known};

/// Keeps what data sets there are. It is the truth about them; blocks are in folders.
///
/// [`DatastoreError::Unavailable`] says that it cannot be reached now, after a bounded time.
#[async_trait]
pub trait Register: Debug + Send + Sync {
    /// True if other processes may change what is in it.
    fn is_shared(&self) -> bool;

    /// A name of this register that no other has, of letters and digits.
    fn identity(&self) -> &str;

    /// Finds the data set `id`.
    async fn find(&self, id: &str) -> Result<Option<Known>, DatastoreError>;

    /// Names of all data sets, in order.
    async fn names(&self) -> Result<Vec<String>, DatastoreError>;

    /// The text that clients keep with the data set `id`; `None` if there is no such data set.
    async fn common_metadata(&self, id: &str) -> Result<Option<String>, DatastoreError>;

    /// Waits until no other process holds `lock`, and begins a change under it.
    async fn change(&self, lock: &str) -> Result<Box<dyn Change>, DatastoreError>;
}

/// A change of a register, which holds a lock. Dropped, nothing is changed that was not committed,
/// and the lock is free.
#[async_trait]
pub trait Change: Debug + Send {
    /// Finds the data set `id`, as this change has left it.
    async fn find(&mut self, id: &str) -> Result<Option<Known>, DatastoreError>;

    /// The text that clients keep with the data set `id`, as this change has left it.
    async fn common_metadata(&mut self, id: &str) -> Result<Option<String>, DatastoreError>;

    /// Does an edit; others see it when it is committed.
    async fn edit(&mut self, edit: Edit) -> Result<(), DatastoreError>;

    /// Makes all edits durable, and visible to others. The lock is held on.
    async fn commit(&mut self) -> Result<(), DatastoreError>;

    /// Lets go of the lock.
    async fn release(self: Box<Self>);
}

/// An edit of a register.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Enters a data set, in place of any of its name.
    Enter {
        /// The data set.
        dataset: Box<Dataset>,
        /// Numbers of its versions.
        versions: Vec<u64>,
        /// The text that clients keep with it.
        common_metadata: String,
    },
    /// Replaces the description of a data set that is there.
    Describe(Box<Dataset>),
    /// Adds a version to a data set.
    AddVersion {
        /// Name of the data set.
        id: String,
        /// Number of the version.
        number: u64,
    },
    /// Removes a version of a data set.
    RemoveVersion {
        /// Name of the data set.
        id: String,
        /// Number of the version.
        number: u64,
    },
    /// Removes a data set.
    Remove {
        /// Its name.
        id: String,
    },
    /// Replaces the text that clients keep with a data set.
    SetCommonMetadata {
        /// Name of the data set.
        id: String,
        /// The text.
        text: String,
    },
}
