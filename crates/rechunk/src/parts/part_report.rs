//! Reports of what parts have done.

use std::time::Instant;

use rechunk_plan::Stage;
use rechunk_store::Traffic;
use rechunk_words::StagePart;
use serde::{Deserialize, Serialize};

use crate::report::{DigestReport, MemoryReport};

/// Report of a job that is open to parts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PartsReport {
    /// The target.
    pub target: String,
    /// Identifies the plan.
    pub fingerprint: String,
    /// True if this process has opened it, and not one before.
    pub begun: bool,
    /// True if all is done: the target is complete.
    pub complete: bool,
    /// The stages, in their order; of a group, with the tasks of all arrays.
    pub stages: Vec<StageTasks>,
    /// Arrays of a group that cannot be divided among processes: whoever finishes copies them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_to_finish: Vec<String>,
    /// Reasons why it may not succeed, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A stage to be divided among parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageTasks {
    /// Its number.
    pub stage: usize,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: u64,
}

impl StageTasks {
    pub(crate) fn of((number, stage): (usize, &Stage)) -> Self {
        Self { stage: number, name: stage.name.clone(), tasks: stage.tasks }
    }
}

/// Adds the name of a stage to those that stages of other arrays have.
pub(crate) fn add_name(names: &mut String, name: &str) {
    if names.split(", ").all(|other| other != name) {
        names.push_str(", ");
        names.push_str(name);
    }
}

/// Report of a share that is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PartReport {
    /// The part, as it was named: `3/40`, or `0..12` by tasks.
    pub part: StagePart,
    /// Number of the stage.
    pub stage: usize,
    /// Its tasks.
    pub tasks: MarkedTasks,
    /// Traffic of this process.
    pub traffic: Traffic,
    /// Memory.
    pub memory: MemoryReport,
    /// Digest of what this process took from the source, for an array that is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<DigestReport>,
    /// Wall time, seconds.
    pub elapsed_seconds: f64,
    /// All is done already: the target is complete.
    pub already_complete: bool,
    /// Damages that were mended, in sentences.
    pub warnings: Vec<String>,
}

impl PartReport {
    /// Of a share of which nothing is done; memory of the plan.
    pub(crate) fn begin((stage, part): (usize, StagePart), memory: MemoryReport) -> Self {
        Self {
            part,
            stage,
            tasks: MarkedTasks::all(0, 0),
            traffic: Traffic::default(),
            memory,
            digest: None,
            elapsed_seconds: 0.0,
            already_complete: true,
            warnings: Vec::new(),
        }
    }

    /// Adds tasks that are done, and the traffic that they took.
    pub(crate) fn add(&mut self, done: TasksDone, traffic: &Traffic) {
        let tasks = &mut self.tasks;
        tasks.total += done.tasks.total;
        tasks.marked += done.tasks.marked;
        tasks.done += done.tasks.done;
        tasks.resumed += done.tasks.resumed;
        self.traffic.add(traffic);
        self.digest = done.digest;
        self.already_complete &= done.already_complete;
        self.warnings.extend(done.warnings);
    }

    /// After all tasks.
    pub(crate) fn end(mut self, started: Instant) -> Self {
        self.elapsed_seconds = started.elapsed().as_secs_f64();
        self.memory = self.memory.with_peak();
        self
    }
}

/// Tasks of one array that this process has done, or found done.
#[derive(Debug)]
pub(crate) struct TasksDone {
    pub tasks: MarkedTasks,
    /// Digest of what this process took from the source, if it was taken.
    pub digest: Option<DigestReport>,
    /// The array is complete.
    pub already_complete: bool,
    /// Damages that were mended, in sentences.
    pub warnings: Vec<String>,
}

impl TasksDone {
    pub(super) fn of(tasks: MarkedTasks) -> Self {
        Self { tasks, digest: None, already_complete: false, warnings: Vec::new() }
    }
}

/// Tasks of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MarkedTasks {
    /// All.
    pub total: u64,
    /// Those that are marked, so that no other part does them.
    pub marked: u64,
    /// Done, those of earlier parts included.
    pub done: u64,
    /// Done by earlier parts.
    pub resumed: u64,
}

impl MarkedTasks {
    /// All of so many, of which some were done before.
    pub(super) fn all(total: u64, resumed: u64) -> Self {
        Self { total, marked: total, done: total, resumed }
    }
}
