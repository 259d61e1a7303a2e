//! The plan: versioned data, a few hundred bytes for an array of any size.

use std::ops::RangeInclusive;

use rechunk_grid::Edges;
use serde::{Deserialize, Serialize};

use crate::{Estimate, ProfileNames, RunsSide, Stage, Strategy, Uploads};

/// Version of the plan's JSON form; a reader refuses versions it does not know.
pub const PLAN_VERSION: u32 = 2; // 2: pieces of an intermediate end with a checksum

/// Threads a plan may be made for.
pub const THREADS: RangeInclusive<u32> = 1..=4096;

/// Complete plan of a run: no I/O and no choice is left to the executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_VERSION`] of the writer.
    pub version: u32,
    /// The kind; never `Auto`.
    pub kind: Strategy,
    /// Shape of the array, elements.
    pub shape: Vec<u64>,
    /// Bytes of one element.
    pub item_bytes: u64,
    /// Shape of a source chunk, elements. Where chunks differ in length, the largest.
    pub source_chunk: Vec<u64>,
    /// Where source chunks end, on axes where they differ in length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_edges: Option<Edges>,
    /// Shape of a target chunk, elements.
    pub target_chunk: Vec<u64>,
    /// Shape of a source shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_shard: Option<Vec<u64>>,
    /// Shape of a target shard, elements, where chunks lie in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_shard: Option<Vec<u64>>,
    /// The raw files of the source, where a stage reads runs of their bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_runs: Option<RunsSide>,
    /// The raw files of the target, where a stage writes runs of their bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_runs: Option<RunsSide>,
    /// Intermediates say of each piece, for every target chunk it meets, whether the source stored
    /// any of that part. A byte for each lies behind the elements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_absence: bool,
    /// The passes, in order.
    pub stages: Vec<Stage>,
    /// Memory that the run may use and will use.
    pub memory: PlanMemory,
    /// CPU workers the memory was planned for. With 0, which no planner says, CPU work is done on
    /// the thread that asks for it: a simulation is then the same each time.
    pub threads: u32,
    /// Predicted requests, bytes and time.
    pub estimate: Estimate,
    /// The profiles the estimate is by; `None` in plans of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priced_by: Option<ProfileNames>,
    /// Form in which objects of the target are sent; `None`: always as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_uploads: Option<Uploads>,
    /// Form in which objects of an intermediate are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intermediate_uploads: Option<Uploads>,
    /// SHA-256, hex, of everything above but the estimate, its profiles, how objects are sent and
    /// who copies them. Two plans with the same fingerprint write the same objects in the same
    /// tasks.
    pub fingerprint: String,
}

/// Memory of the whole run, bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanMemory {
    /// Bytes that were allowed.
    pub budget_bytes: u64,
    /// The most the run reserves at once: fixed part and all tasks of the largest stage.
    pub planned_peak_bytes: u64,
    /// The fixed part: threads, contexts, journal, an intermediate in memory.
    pub fixed_bytes: u64,
}

impl Plan {
    /// Makes the plan run within `memory_bytes`, if it can by running fewer tasks and chunks at the
    /// same time. Each task still writes the same. False if it cannot.
    pub fn fit_to(&mut self, memory_bytes: u64) -> bool {
        if self.memory.planned_peak_bytes <= memory_bytes {
            self.memory.budget_bytes = memory_bytes;
            return true;
        }
        let room = memory_bytes.saturating_sub(self.memory.fixed_bytes);
        let threads = self.threads;
        let mut stages = self.stages.clone();
        let mut peak = 0;
        for stage in &mut stages {
            let most = stage.lanes;
            stage.set_lanes(1);
            while stage.tasks_at_once > 1 && stage.peak_bytes(threads) > room {
                stage.tasks_at_once -= 1;
            }
            if stage.peak_bytes(threads) > room {
                return false;
            }
            while stage.lanes < most && stage.peak_bytes(threads) <= room {
                stage.set_lanes(stage.lanes + 1);
            }
            if stage.peak_bytes(threads) > room {
                stage.set_lanes(stage.lanes - 1);
            }
            peak = peak.max(stage.peak_bytes(threads));
        }
        self.stages = stages;
        self.memory.planned_peak_bytes = peak + self.memory.fixed_bytes;
        self.memory.budget_bytes = memory_bytes;
        true
    }

    /// Number of tasks of all stages.
    pub fn task_count(&self) -> u64 {
        self.stages.iter().fold(0, |count, stage| count.saturating_add(stage.tasks))
    }
}

impl Stage {
    /// Shape of what is fetched at a time, elements.
    pub fn fetch_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.input.chunk(&plan.source_chunk, plan.source_shard.as_deref())
    }

    /// Shape of what is copied at a time, elements.
    pub(crate) fn grain_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.input.grain(&plan.source_chunk)
    }

    /// Shape of what is filled and sent out, elements.
    pub fn unit_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.output.unit(&plan.target_chunk, plan.target_shard.as_deref())
    }

    /// Shape of what becomes visible at once, elements.
    pub(crate) fn commit_shape<'a>(&'a self, plan: &'a Plan) -> &'a [u64] {
        self.output.commit(&plan.target_chunk, plan.target_shard.as_deref())
    }

    /// Shape of the elements that a task reads at once: the input chunks of one step, at most the
    /// tile; or a buffer.
    pub fn read_box(&self, plan: &Plan) -> Vec<u64> {
        if let Some(schedule) = &self.runs {
            return schedule.buffer.clone();
        }
        let input = self.fetch_shape(plan);
        (0..self.tile.len())
            .map(|axis| self.step_chunks[axis].saturating_mul(input[axis]).min(self.filled()[axis]))
            .collect()
    }
}
