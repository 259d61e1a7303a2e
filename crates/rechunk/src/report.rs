//! The report of a plan and a run, as `--json` prints it.

use rechunk_exec::ArrayDigest;
use rechunk_plan::{Estimate, Plan, PlanMemory, ProfileNames, Stage};
use rechunk_planner::{Candidate, Planned};
use rechunk_store::Traffic;
use serde::{Deserialize, Serialize};

use crate::Growth;
use crate::advice::MoreMemory;
use crate::apply::ApplyReport;
use crate::archive::ArchiveReport;
use crate::missing_report::MissingReport;
use crate::system;

/// Everything said about a job: the plan before a run; with traffic and times after it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// Plan of the job.
    pub plan: PlanReport,
    /// Place of the source in a target that exists; absent where it becomes a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Operation that is applied; absent for a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<ApplyReport>,
    /// Predicted traffic.
    pub estimate: Estimate,
    /// Time of the estimate, hours.
    #[serde(default)]
    pub estimated_hours: f64,
    /// The profiles the estimate is by; absent for a plan of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileNames>,
    /// Savings by a modest multiple of the memory, where they are most of a long time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_memory: Option<MoreMemory>,
    /// Counted traffic; absent for a plan that was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// Memory.
    pub memory: MemoryReport,
    /// Tasks; absent for a plan that was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TaskReport>,
    /// Wall time of the run, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_seconds: Option<f64>,
    /// Digest of what was read from the source, for a target that is verified; absent where none
    /// was taken, or not of all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<DigestReport>,
    /// Missing chunks of the source, which were read as the fill value. Absent for a plan that was
    /// not run, and where chunks are ranges of files, which have to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingReport>,
    /// True if an earlier run had written all of the target, so that nothing was copied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub already_complete: bool,
    /// Location of the version that was made, where the target was to be a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_made: Option<String>,
    /// The ZIP file, where the target is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchiveReport>,
    /// True if the target was read back and found equal; absent, too, where no chunk of the source
    /// was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Changes and losses, in sentences.
    pub warnings: Vec<String>,
    /// Harmless choices that may surprise, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Every plan that was searched for, with its price or the reason it was not taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
}

/// The plan, in the report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanReport {
    /// `passthrough`, `direct`, `keep`, `pull`, `push-pull`, `multistage` or `memory`.
    pub kind: String,
    /// Identifies the plan: equal fingerprints write equal objects in equal tasks.
    pub fingerprint: String,
    /// Shape of the array, elements.
    pub shape: Vec<u64>,
    /// Bytes of one element.
    pub item_bytes: u64,
    /// Shape of a source chunk, elements; of the largest, where chunks differ.
    pub source_chunks: Vec<u64>,
    /// Shape of the smallest source chunk, elements, where chunks differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_source_chunk: Option<Vec<u64>>,
    /// Shape of the smallest target chunk, elements, where chunks differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_target_chunk: Option<Vec<u64>>,
    /// Shape of a target chunk, elements; of the largest, where chunks differ.
    pub target_chunks: Vec<u64>,
    /// Shape of a source shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_shards: Option<Vec<u64>>,
    /// Shape of a target shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_shards: Option<Vec<u64>>,
    /// The passes.
    pub stages: Vec<StageReport>,
}

/// One pass, in the report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageReport {
    /// `copy`, `push`, `pass` or `pull`.
    pub name: String,
    /// Extent that a task reads at once, elements: its tile, or the chunks of one step.
    pub read_box: Vec<u64>,
    /// Extent that a task fills at a time, elements, if less than its tile: a part of a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled_box: Option<Vec<u64>>,
    /// Extent that a task writes, elements.
    pub write_box: Vec<u64>,
    /// Number of tasks.
    pub tasks: u64,
    /// Tasks that run at the same time.
    pub tasks_at_once: u32,
    /// Chunks in flight within a task.
    pub lanes: u32,
    /// Memory that one task reserves, bytes.
    pub memory_bytes: u64,
    /// The store that holds source and target copies the objects itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied_by_store: bool,
}

/// Memory, bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MemoryReport {
    /// Memory that was allowed.
    pub budget_bytes: u64,
    /// The most the run reserves.
    pub planned_peak_bytes: u64,
    /// The peak resident memory of the process; absent for a plan that was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
}

impl MemoryReport {
    /// Memory of a plan that was not run.
    pub(crate) fn of_plan(plan: &Plan) -> Self {
        let PlanMemory { budget_bytes, planned_peak_bytes, .. } = plan.memory;
        Self { budget_bytes, planned_peak_bytes, peak_rss_bytes: None }
    }

    /// Returns it with the peak of this process.
    pub(crate) fn with_peak(self) -> Self {
        Self { peak_rss_bytes: Some(system::peak_rss_bytes()), ..self }
    }
}

/// A digest of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DigestReport {
    /// Method and subject of the digest. Digests of other methods say nothing about each other.
    pub method: String,
    /// The digest, hex.
    pub value: String,
}

impl From<&ArrayDigest> for DigestReport {
    fn from(digest: &ArrayDigest) -> Self {
        Self { method: digest.method.to_owned(), value: digest.value.to_string() }
    }
}

/// Tasks of all stages.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct TaskReport {
    /// All.
    pub total: u64,
    /// Done, those of earlier runs included.
    pub done: u64,
    /// Done by earlier runs.
    pub resumed: u64,
}

impl TaskReport {
    /// Tasks that earlier runs have done, all of them.
    pub(crate) fn all_resumed(total: u64) -> Self {
        Self { total, done: total, resumed: total }
    }
}

impl Report {
    /// The report of a plan that has not run.
    pub fn of_plan(planned: &Planned, warnings: &[String]) -> Self {
        let plan = &planned.plan;
        Self {
            plan: PlanReport::new(plan),
            growth: None,
            apply: None,
            estimate: plan.estimate.clone(),
            estimated_hours: plan.estimate.seconds / 3600.0,
            profile: plan.priced_by.clone(),
            more_memory: None,
            traffic: None,
            memory: MemoryReport::of_plan(plan),
            tasks: None,
            elapsed_seconds: None,
            digest: None,
            missing: None,
            already_complete: false,
            version_made: None,
            archive: None,
            verified: None,
            warnings: warnings.to_vec(),
            notes: Vec::new(),
            candidates: planned.candidates.clone(),
        }
    }
}

impl PlanReport {
    /// Bytes of the elements of the array, without padding.
    pub fn array_bytes(&self) -> u64 {
        self.shape.iter().fold(self.item_bytes, |product, &n| product.saturating_mul(n))
    }

    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            kind: plan.kind.name().to_owned(),
            fingerprint: plan.fingerprint.clone(),
            shape: plan.source().shape.clone(),
            item_bytes: plan.source().item_bytes,
            source_chunks: plan.source().chunk.clone(),
            smallest_source_chunk: plan
                .source()
                .edges
                .as_ref()
                .map(|edges| edges.smallest(&plan.source().chunk)),
            smallest_target_chunk: plan
                .target()
                .edges
                .as_ref()
                .map(|edges| edges.smallest(&plan.target().chunk)),
            target_chunks: plan.target().chunk.clone(),
            source_shards: plan.source().shard.clone(),
            target_shards: plan.target().shard.clone(),
            stages: plan.stages.iter().map(|stage| StageReport::new(plan, stage)).collect(),
        }
    }
}

impl StageReport {
    fn new(plan: &Plan, stage: &Stage) -> Self {
        Self {
            name: stage.name.clone(),
            read_box: stage.read_box(plan),
            write_box: stage.write_box(plan),
            filled_box: stage.box_shape.clone(),
            tasks: stage.tasks,
            tasks_at_once: stage.tasks_at_once,
            lanes: stage.lanes,
            memory_bytes: stage.task_bytes,
            copied_by_store: stage.is_copied_by_store(),
        }
    }
}
