//! Rebuilds that wait or are under way.

use std::sync::Arc;

use hyper::StatusCode;
use parking_lot::Mutex;
use rechunk_datastore::{Rebuild, VersionWanted, View};
use tokio::sync::Semaphore;

use super::failure::Failure;

/// Most rebuilds that wait or are under way.
const REBUILDS_MAX: usize = 64;

/// A part of a version whose levels are to be made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The version that is rebuilt.
    pub version: VersionWanted,
    /// A view; `None`: all.
    pub view: Option<View>,
    /// Factors of levels; `None`: all.
    pub levels: Option<Vec<[u64; 3]>>,
}

/// A rebuild that waits or is under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    /// Name of the data set.
    pub id: String,
    pub wanted: Wanted,
    pub rebuild: Rebuild,
}

/// Rebuilds that wait or are under way.
#[derive(Debug)]
pub(super) struct Rebuilds {
    all: Mutex<Vec<Arc<UnderWay>>>,
    /// Each holds boxes of the finest level: one works at a time.
    pub turn: Semaphore,
}

impl Rebuilds {
    pub(super) fn new() -> Self {
        Self { all: Mutex::default(), turn: Semaphore::new(1) }
    }

    /// Notes one, unless too many wait.
    pub(super) fn enter(&self, one: &Arc<UnderWay>) -> Result<(), Failure> {
        let mut all = self.all.lock();
        if all.len() >= REBUILDS_MAX {
            let reason = format!("{REBUILDS_MAX} rebuilds are waiting: ask again later");
            return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        }
        all.push(Arc::clone(one));
        Ok(())
    }

    /// Forgets one that has ended.
    pub(super) fn leave(&self, one: &Arc<UnderWay>) {
        self.all.lock().retain(|other| !Arc::ptr_eq(other, one));
    }

    /// All, in the order in which they came.
    pub(super) fn all(&self) -> Vec<Arc<UnderWay>> {
        self.all.lock().clone()
    }
}
