//! The plan: versioned data, a few hundred bytes for an array of any size.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::array::NO_ARRAY;
use crate::{
    ApplyWork, ArrayId, ArrayRole, Estimate, PlanArray, ProfileNames, PyramidWork, Stage, Strategy,
};

/// Version of the plan's JSON form; a reader refuses versions it does not know.
pub const PLAN_VERSION: u32 = 3; // 3: several arrays, kernels and windows

/// Threads a plan may be made for.
pub const THREADS: RangeInclusive<u32> = 1..=4096;

/// Complete plan of a run: no I/O and no choice is left to the executor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_VERSION`] of the writer.
    pub version: u32,
    /// The kind; never `Auto`.
    pub kind: Strategy,
    /// The arrays; [`crate::ArrayId`] is a place here.
    pub arrays: Vec<PlanArray>,
    /// Intermediates say of each piece, for every target chunk it meets, whether the source stored
    /// any of that part. A byte for each lies behind the elements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_absence: bool,
    /// The passes, in order.
    pub stages: Vec<Stage>,
    /// Chunk-wise apply that the stages do; `None`: they copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<Box<ApplyWork>>,
    /// Pyramid that the stages write; `None`: they write one array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pyramid: Option<Box<PyramidWork>>,
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
    /// SHA-256, hex, of everything above but the version, the estimate, its profiles, how objects
    /// are sent and who copies them. Two plans with the same fingerprint write the same objects in
    /// the same tasks.
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

    /// The array at `id`. An empty one where there is none, which [`Plan::check`] refuses.
    pub fn array(&self, id: ArrayId) -> &PlanArray {
        self.arrays.get(id.0).unwrap_or(&NO_ARRAY)
    }

    /// The array that is read: the first, where several are.
    pub fn source(&self) -> &PlanArray {
        self.first(ArrayRole::Source)
    }

    /// The array that is written: the first, where several are.
    pub fn target(&self) -> &PlanArray {
        self.first(ArrayRole::Target)
    }

    /// An intermediate, if there are any. All of them lie in one store, and are sent alike.
    pub fn intermediate(&self) -> Option<&PlanArray> {
        self.arrays.iter().find(|array| array.role == ArrayRole::Intermediate)
    }

    fn first(&self, role: ArrayRole) -> &PlanArray {
        self.arrays.iter().find(|array| array.role == role).unwrap_or(&NO_ARRAY)
    }

    /// The stage that reads an intermediate.
    pub(crate) fn reader(&self, array: ArrayId) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.inputs.iter().any(|input| input.array == array))
    }

    /// Number of tasks of all stages.
    pub fn task_count(&self) -> u64 {
        self.stages.iter().fold(0, |count, stage| count.saturating_add(stage.tasks))
    }
}
