//! Data sets as the register has them, some of them kept in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use crate::block_locks::BlockLocks;
use crate::register::Register;
use crate::{DatastoreError, Known, check_dataset_id};

/// Most data sets of which descriptions are kept in memory.
const KEPT_MAX: usize = 4096;
/// Time after which a description is asked for again, where other processes may change it.
const FRESH_TIME: Duration = Duration::from_secs(1);
/// Time that a shared register has to answer where an older answer would do.
const PATIENCE: Duration = Duration::from_secs(1);

/// Age that an answer may have, where other processes change a register. Without them all answers
/// are those of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    /// That of this moment, or none.
    Now,
    /// That of this moment; while the register is away the last one.
    Newest,
    /// That of the last second; while the register is away the last one.
    Recent,
}

#[derive(Debug, Clone)]
struct Kept {
    known: Arc<Known>,
    asked: Instant,
}

#[derive(Debug, Default)]
struct Shelf {
    kept: HashMap<String, Kept>,
    /// Counts what was forgotten: an answer from before it is not kept.
    forgotten: u64,
    /// When the register was last found to be away.
    away: Option<Instant>,
}

/// The register, and what it has said.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) register: Arc<dyn Register>,
    /// Locks of versions whose levels are made, where other processes make some too.
    pub(crate) turns: BlockLocks,
    shelf: Mutex<Shelf>,
}

impl Catalog {
    pub(crate) fn new(register: Arc<dyn Register>) -> Self {
        Self { register, turns: BlockLocks::default(), shelf: Mutex::default() }
    }

    /// The data set `id`, and its versions.
    pub(crate) async fn known(&self, id: &str, age: Age) -> Result<Arc<Known>, DatastoreError> {
        check_dataset_id(id)?;
        let (kept, forgotten, is_away) = {
            let shelf = self.shelf.lock();
            let is_away = shelf.away.is_some_and(|away| away.elapsed() < FRESH_TIME);
            (shelf.kept.get(id).cloned(), shelf.forgotten, is_away)
        };
        let Some(kept) = kept else { return self.asked(id, forgotten).await };
        let is_fresh = match age {
            Age::Now => false,
            Age::Newest => is_away,
            Age::Recent => is_away || kept.asked.elapsed() < FRESH_TIME,
        };
        if is_fresh || !self.register.is_shared() {
            return Ok(kept.known);
        }
        if age == Age::Now {
            return self.asked(id, forgotten).await;
        }
        match timeout(PATIENCE, self.asked(id, forgotten)).await {
            Ok(Err(DatastoreError::Unavailable(_))) | Err(_) => {
                tracing::warn!(id, "the database is away: what it said before is taken");
                self.shelf.lock().away = Some(Instant::now());
                Ok(kept.known)
            }
            Ok(answer) => answer,
        }
    }

    async fn asked(&self, id: &str, forgotten: u64) -> Result<Arc<Known>, DatastoreError> {
        let asked = Instant::now();
        let found = self.register.find(id).await?;
        let mut shelf = self.shelf.lock();
        shelf.away = None;
        let Some(found) = found else {
            shelf.kept.remove(id);
            return Err(DatastoreError::Unknown(format!("there is no data set {id}")));
        };
        let known = Arc::new(found);
        if shelf.forgotten == forgotten {
            if shelf.kept.len() >= KEPT_MAX {
                shelf.kept.clear();
            }
            shelf.kept.insert(id.to_owned(), Kept { known: Arc::clone(&known), asked });
        }
        Ok(known)
    }

    /// Has the data set `id` asked for anew: it was changed.
    pub(crate) fn forget(&self, id: &str) {
        let mut shelf = self.shelf.lock();
        shelf.kept.remove(id);
        shelf.forgotten = shelf.forgotten.wrapping_add(1);
    }
}
