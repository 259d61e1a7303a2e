//! The report of the copy of a group, as `--json` prints it.

use std::time::Instant;

use rechunk_plan::Estimate;
use rechunk_store::Traffic;
use serde::{Deserialize, Serialize};

use super::plans::{CANDIDATES_MAX, HELD_MAX};
use super::said::Said;
use super::{TreeArray, TreeJob};
use crate::archive::{Archive, ArchiveReport};
use crate::others::OthersReport;
use crate::pyramid::PyramidReport;
use crate::report::{MemoryReport, Report, TaskReport};
use crate::system;

/// Everything said about the copy of a group: the plan before a run; with traffic and times after
/// it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TreeReport {
    /// The arrays, in the order in which they are copied: the first thousand.
    pub arrays: Vec<ArrayReport>,
    /// Arrays after those, whose own reports are left out: what they add up to is in all other
    /// figures.
    #[serde(default, skip_serializing_if = "is_none")]
    pub arrays_left_out: u64,
    /// Arrays that an earlier run had completed, and the bytes of elements of the others.
    #[serde(skip)]
    pub totals: Totals,
    /// Paths of the groups below the root.
    pub groups: Vec<String>,
    /// Paths of arrays that stay as they are, where others grow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmoved: Vec<String>,
    /// Files beside arrays and metadata documents, copied as they are; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<OthersReport>,
    /// The levels, where the arrays are those of a pyramid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pyramid: Option<Box<PyramidReport>>,
    /// Predicted traffic of all arrays and other files.
    pub estimate: Estimate,
    /// Counted traffic of all arrays and other files; absent for a plan that was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Memory; the planned peak is that of the array that needs most, or of those that are copied
    /// at once.
    pub memory: MemoryReport,
    /// Tasks of all arrays; absent for a plan that was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TaskReport>,
    /// Wall time of the run, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_seconds: Option<f64>,
    /// True if an earlier run had written all of the target, so that nothing was copied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already_complete: bool,
    /// The ZIP file, where the target is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchiveReport>,
    /// True if every array was read back and found equal, and every other file byte by byte. Arrays
    /// that an earlier run completed are not read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Changes and losses, in sentences; of arrays after their path.
    pub warnings: Vec<String>,
}

/// Counts of a run over the arrays of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Arrays that an earlier run had completed.
    pub complete_before: u64,
    /// Elements of all others, bytes.
    pub copied_bytes: u64,
}

/// Arrays that have reports of their own.
const ARRAYS_MAX: usize = HELD_MAX;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The report of one array of a group.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ArrayReport {
    /// Its path in the group.
    pub path: String,
    /// Its copy.
    #[serde(flatten)]
    pub report: Report,
}

impl TreeReport {
    /// The report of a plan that has not run.
    pub fn of_plan(job: &TreeJob) -> Self {
        let mut report = Self::new(job, Vec::new(), false);
        for array in &job.arrays {
            report.keep(|| ArrayReport::of_plan(array));
        }
        report.arrays_left_out += job.later.paths().len() as u64;
        report.warnings = job.all_warnings();
        report
    }

    fn new(job: &TreeJob, arrays: Vec<ArrayReport>, verifies: bool) -> Self {
        Self {
            arrays,
            arrays_left_out: 0,
            totals: Totals::default(),
            groups: job.groups().map(str::to_owned).collect(),
            unmoved: job.unmoved.clone(),
            others: job.others(),
            pyramid: job.pyramid.clone(),
            estimate: job.estimate(),
            traffic: None,
            memory: MemoryReport {
                budget_bytes: job.request.planning.budget().memory_bytes,
                planned_peak_bytes: job.planned_peak_bytes(verifies),
                peak_rss_bytes: None,
            },
            tasks: None,
            elapsed_seconds: None,
            already_complete: false,
            archive: Archive::whole(&job.request.target).map(|archive| archive.planned_report()),
            verified: None,
            warnings: Vec::new(),
        }
    }

    /// Before a run, without arrays yet.
    pub(super) fn begin(job: &TreeJob, verifies: bool) -> Self {
        let mut report = Self::new(job, Vec::new(), verifies);
        report.warnings.clone_from(&job.warnings);
        report
    }

    /// Adds an array that is complete.
    pub(super) fn add(&mut self, path: String, report: Report, said: &mut Said) {
        let traffic = self.traffic.get_or_insert_default();
        if let Some(more) = &report.traffic {
            traffic.add(more);
        }
        let none = TaskReport { total: 0, done: 0, resumed: 0 };
        let tasks = self.tasks.get_or_insert(none);
        if let Some(more) = &report.tasks {
            tasks.total += more.total;
            tasks.done += more.done;
            tasks.resumed += more.resumed;
        }
        report.warnings.iter().for_each(|warning| said.add(&path, warning));
        // Of a pyramid, the first array has the tasks of all.
        let has_tasks = self.pyramid.is_none() || !report.plan.stages.is_empty();
        // It has compared all of them, too.
        self.verified = self.verified.or(report.verified.filter(|_| has_tasks));
        if has_tasks && report.tasks.is_some_and(|tasks| tasks.resumed == tasks.total) {
            self.totals.complete_before += 1;
        } else {
            let bytes = &mut self.totals.copied_bytes;
            *bytes = bytes.saturating_add(report.plan.array_bytes());
        }
        self.keep(|| ArrayReport { path, report });
    }

    /// Keeps the report of an array, if there are not too many.
    fn keep(&mut self, report: impl FnOnce() -> ArrayReport) {
        if self.arrays.len() >= ARRAYS_MAX {
            self.arrays_left_out += 1;
            return;
        }
        let mut array = report();
        if self.arrays.len() >= CANDIDATES_MAX {
            array.report.candidates.clear();
        }
        self.arrays.push(array);
    }

    /// Adds what became of the other files.
    pub(super) fn add_others(&mut self, resumed: u64, verifies: bool) {
        if let Some(others) = &mut self.others {
            others.resumed = Some(resumed);
            if verifies && others.files > 0 {
                self.verified.get_or_insert(true);
            }
        }
    }

    /// After the last array.
    pub(super) fn end(&mut self, started: Instant, control: &Traffic, said: &Said) {
        self.warnings.extend(said.lines());
        self.traffic.get_or_insert_default().add(control);
        self.tasks.get_or_insert(TaskReport { total: 0, done: 0, resumed: 0 });
        self.memory.peak_rss_bytes = Some(system::peak_rss_bytes());
        self.elapsed_seconds = Some(started.elapsed().as_secs_f64());
    }
}

impl ArrayReport {
    fn of_plan(array: &TreeArray) -> Self {
        let job = &array.job;
        Self { path: array.path.clone(), report: job.plan_report() }
    }
}
