//! Steps that operations of a store have in common. They wait for a permit, try again, choose the
//! thread of work on files, and wait as long as the rate of bytes demands.

use std::io;
use std::path::PathBuf;

use crate::local::moments::NO_MOMENT;
use crate::local::writing::Way;
use crate::remote::Permit;
use crate::retry::Attempts;
use crate::{Role, Store, StoreError};

impl Store {
    /// Does `operation`, and does it again while it fails for a moment and the store is patient.
    /// Anything that it holds, a permit for one, is free during the pauses.
    pub(crate) async fn persist<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        what: &str,
        operation: impl Fn() -> F,
    ) -> Result<T, StoreError> {
        let mut attempts = Attempts::new(self.patience, what);
        loop {
            match operation().await {
                Err(error) if attempts.again(&error).await => {}
                result => return result,
            }
        }
    }

    /// The file behind `key`, if the store is a local directory.
    pub(crate) fn file_path(
        &self,
        key: &str,
        operation: &'static str,
    ) -> Result<PathBuf, StoreError> {
        self.view.object_path(key)?;
        Ok(self.require_local(operation)?.join(key))
    }

    /// Waits as long as `bytes` bytes that were read or written take at the rate that is allowed.
    pub(crate) async fn moved(&self, bytes: u64) {
        if let Some(pace) = &self.pace {
            pace.moved(bytes).await;
        }
    }

    /// The right to one more request in flight.
    pub(crate) async fn permit(&self) -> Option<Permit> {
        match &self.limiter {
            Some(limiter) => Some(limiter.acquire().await),
            None => None,
        }
    }

    /// An error where what is there cannot be asked for.
    pub(crate) fn require_list(&self) -> Result<(), StoreError> {
        if self.can_list() {
            return Ok(());
        }
        Err(StoreError::NoListing { location: self.label().to_owned() })
    }

    /// Runs work on files that waits for a disk, or may meet many of them, away from the async
    /// threads. Runs it here, if this is none of them.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        key: &str,
        action: &'static str,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.moment(key, action, NO_MOMENT, work).await
    }

    /// [`Store::blocking`] of what only looks, opens, and reads or writes so many bytes: here, if
    /// that is over in a moment.
    pub(crate) async fn moment<T: Send + 'static>(
        &self,
        key: &str,
        action: &'static str,
        bytes: u64,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let result = self.habits.moments.run(bytes, work).await.flatten();
        result.map_err(|error| self.view.failed_io(key, action, error))
    }

    /// [`Store::blocking`], to write `bytes` in so many runs of files.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        key: &str,
        bytes: u64,
        runs: usize,
        work: impl FnOnce(Way) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read_again = self.role() == Role::Intermediate;
        let mut way = self.habits.writing.choose(bytes, runs, read_again);
        way.ready().await;
        self.blocking(key, "write", move || work(way)).await
    }
}
