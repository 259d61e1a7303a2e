//! Surroundings of a target.

use rechunk_store::Store;

use crate::target::GroupAbove;
use crate::work_dir::{Left, WorkDir};

/// Surroundings of a target, and the leftovers of an earlier run.
#[derive(Debug)]
pub(crate) struct Around {
    /// The target's own place.
    pub target: Store,
    /// Groups to create above it.
    pub groups: Vec<GroupAbove>,
    /// Directory of the state of a run; `None` in memory.
    pub work: Option<WorkDir>,
    pub left: Left,
}
