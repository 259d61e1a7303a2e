//! The right of a part to work: while the parts of its job are open.

use std::time::Duration;

use rechunk_store::{Store, StoreError};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);

/// Holds while an object is there, and says when it has gone.
#[derive(Debug)]
pub(crate) struct PartHold {
    store: Store,
    key: String,
    lost: CancellationToken,
    looking: JoinHandle<()>,
}

impl PartHold {
    /// Looks for the object `key` of `store` every few seconds.
    pub(crate) fn of(store: &Store, key: &str) -> Self {
        let lost = CancellationToken::new();
        let looking = tokio::spawn(look(store.clone(), key.to_owned(), lost.clone()));
        Self { store: store.clone(), key: key.to_owned(), lost, looking }
    }

    /// Triggered when the object is found to be gone.
    pub(crate) fn lost(&self) -> CancellationToken {
        self.lost.clone()
    }

    /// Asks the store whether the object is there.
    pub(crate) async fn check(&self) -> Result<bool, StoreError> {
        Ok(!self.lost.is_cancelled() && self.store.exists(&self.key).await?)
    }
}

impl Drop for PartHold {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

/// Looks until the object is gone. A store that does not answer says nothing of it.
async fn look(store: Store, key: String, lost: CancellationToken) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    looks.tick().await; // the first comes at once
    loop {
        looks.tick().await;
        if let Ok(false) = store.exists(&key).await {
            lost.cancel();
            return;
        }
    }
}
