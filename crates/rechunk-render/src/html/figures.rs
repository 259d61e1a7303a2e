//! The figures of a plan or a run: of one array, or summed over those of a group.

use rechunk::planner::Estimate;
use rechunk::{MemoryReport, Report, TaskReport, Traffic};

/// Sums over what is on the page; of one array, its own.
pub(super) struct Figures {
    /// Bytes of all elements.
    pub(super) decoded_bytes: u64,
    pub(super) estimate: Estimate,
    pub(super) traffic: Option<Traffic>,
    pub(super) memory: MemoryReport,
    pub(super) tasks: Option<TaskReport>,
    pub(super) elapsed_seconds: Option<f64>,
    pub(super) verified: Option<bool>,
    pub(super) warnings: Vec<String>,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            decoded_bytes: 0,
            estimate: Estimate::default(),
            traffic: None,
            memory: MemoryReport { budget_bytes: 0, planned_peak_bytes: 0, peak_rss_bytes: None },
            tasks: None,
            elapsed_seconds: None,
            verified: None,
            warnings: Vec::new(),
        }
    }
}

impl From<&Report> for Figures {
    fn from(report: &Report) -> Self {
        Self {
            decoded_bytes: report.plan.array_bytes(),
            estimate: report.estimate.clone(),
            traffic: report.traffic,
            memory: report.memory.clone(),
            tasks: report.tasks,
            elapsed_seconds: report.elapsed_seconds,
            verified: report.verified,
            warnings: report.warnings.clone(),
        }
    }
}
