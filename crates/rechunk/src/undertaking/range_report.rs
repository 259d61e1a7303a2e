//! The report of a range of tasks.

use rechunk_store::Traffic;
use serde::{Deserialize, Serialize};

use crate::report::{DigestReport, TaskReport};

/// Report of the tasks that were done at once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RangeReport {
    /// The tasks of the range, or of all stages.
    pub tasks: TaskReport,
    /// Digest of what they took from the source, where one is taken. Of a range, tasks that were
    /// done before have no part in it: digests of ranges add up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<DigestReport>,
    /// Traffic that was counted meanwhile.
    pub traffic: Traffic,
}
