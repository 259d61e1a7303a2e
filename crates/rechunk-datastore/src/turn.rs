use tokio::sync::MutexGuard;

use crate::catalog::Catalog;
use crate::register::Change;
use crate::{DatastoreError, Known};

/// The right to make levels of a version, or to write shards, where other processes do so too.
/// Whoever has it reads all that others have stored.
///
/// In one process the locks of blocks see to that, and several requests make levels at once.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    held: Option<(Box<dyn Change>, MutexGuard<'a, ()>)>,
}

impl<'a> Turn<'a> {
    /// Waits for the turn of a version of a data set.
    pub(crate) async fn take(
        catalog: &'a Catalog,
        known: &Known,
        version: u64,
    ) -> Result<Self, DatastoreError> {
        if !catalog.register.is_shared() {
            return Ok(Self { held: None });
        }
        let lock = format!("levels of {}/{version}", known.dataset.uuid);
        let guard = catalog.turns.of(&lock).lock().await;
        Ok(Self { held: Some((catalog.register.change(&lock).await?, guard)) })
    }

    /// Lets others have their turn.
    pub(crate) async fn end(self) {
        if let Some((change, _guard)) = self.held {
            change.release().await;
        }
    }
}
