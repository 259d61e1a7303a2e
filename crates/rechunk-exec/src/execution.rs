//! Input of a run, and its report.

use std::ops::Range;
use std::sync::Arc;

use rechunk_array::{Array, Missing};
use rechunk_grid::{DataType, Region, WriteEmpty};
use rechunk_kernel::Digest;
use rechunk_plan::{OpSpec, Plan, Uploads};
use rechunk_store::{PartSizes, Store};

use crate::op::Op;
use crate::pyramid::levels::LevelArrays;
use crate::task_range::TaskRange;
use crate::windows::window_op::Windows;

/// Most bytes of a list of the source, if the budget leaves them. The least is always there: it is
/// part of the memory that is reserved for the run as a whole.
const LIST_BYTES_MAX: u64 = 64 << 20;
const LIST_BYTES_MIN: u64 = 256 << 10;
/// Share of what the plan leaves of its budget; the rest is for reading ahead.
const LIST_SHARE: u64 = 4;

/// Everything a run needs.
#[derive(Debug, Clone)]
pub struct Execution {
    /// Plan to run.
    pub plan: Plan,
    /// The tasks to do, of one stage, whose input is there. `None`: all stages, one after the
    /// other.
    pub tasks: Option<TaskRange>,
    /// The array that is read.
    pub source: Array,
    /// Destination of finished chunks.
    pub sink: Sink,
    /// Store for pieces between stages; needed if the plan has more than one stage. The objects
    /// stay when the run ends: whoever starts it deletes them.
    pub intermediate: Option<Store>,
    /// When a target chunk that holds only the fill value is written.
    pub write_empty: WriteEmpty,
    /// A digest is taken of what is read ([`RunReport::digest`]) where elements are written.
    pub takes_digest: bool,
    /// Objects of the target may be there already: those that are left out are removed.
    pub in_place: bool,
    /// Missing objects of the source after which it is listed, if no more than those were there.
    /// Then only listed objects are requested. `None` never lists; 0 lists first. The array to
    /// compare with is treated alike. A comparison, or a second reading, lists only local
    /// directories: a remote store may list late.
    pub list_after_missing: Option<u64>,
    /// Operations that kernels of the plan may name.
    pub ops: Vec<Arc<dyn Op>>,
    /// Operation and further sources of an apply, where the plan is one.
    pub windows: Option<Windows>,
    /// Arrays of the levels of a pyramid, where the plan is one, finest first.
    pub levels: Vec<LevelArrays>,
}

impl Execution {
    /// Has the source listed if much of it is missing; also the array it is compared with.
    pub(crate) fn finding_gaps(mut self) -> Self {
        let is_local = |array: &Array| array.store().local_root().is_some();
        let is_listed = match &self.sink {
            Sink::Write(_) => true,
            Sink::Compare(other) => is_local(&self.source) && is_local(other),
            Sink::Digest { .. } => is_local(&self.source),
        };
        self.list_after_missing = self.list_after_missing.filter(|_| is_listed);
        if let Some(after) = self.list_after_missing {
            let mut list_bytes = self.list_bytes();
            // What a run has written and reads again has its documents last.
            let has_documents = !matches!(self.sink, Sink::Digest { .. });
            if let Sink::Compare(other) = self.sink {
                list_bytes /= 2;
                self.sink = Sink::Compare(other.finding_gaps(after, list_bytes, has_documents));
            }
            self.source = self.source.finding_gaps(after, list_bytes, has_documents);
        }
        self
    }

    /// The tasks of stage `stage` that are to be done.
    pub(crate) fn tasks_of(&self, stage: usize) -> TaskRange {
        let all = || self.plan.stages.get(stage).map_or(0, |stage| stage.tasks);
        self.tasks.unwrap_or_else(|| TaskRange::new(stage, 0..all()))
    }

    /// The first operation that computes what `spec` names, for elements of this type.
    pub(crate) fn op(&self, spec: &OpSpec, data_type: DataType) -> Option<&Arc<dyn Op>> {
        self.ops.iter().find(|op| op.computes(spec, data_type))
    }

    /// Numbers of the stages of which tasks are to be done.
    pub(crate) fn stages(&self) -> Range<usize> {
        self.tasks.map_or(0..self.plan.stages.len(), |tasks| tasks.stage..tasks.stage + 1)
    }

    /// Bytes that the list of the source may take beside the planned memory.
    pub(crate) fn list_bytes(&self) -> u64 {
        if self.list_after_missing.is_none() {
            return 0;
        }
        let memory = &self.plan.memory;
        let spare_bytes = memory.budget_bytes.saturating_sub(memory.planned_peak_bytes);
        (spare_bytes / LIST_SHARE).clamp(LIST_BYTES_MIN, LIST_BYTES_MAX)
    }

    /// Bytes of the budget that the plan leaves.
    pub(crate) fn spare_bytes(&self) -> u64 {
        let memory = &self.plan.memory;
        let taken_bytes = memory.planned_peak_bytes.saturating_add(self.list_bytes());
        memory.budget_bytes.saturating_sub(taken_bytes)
    }

    /// Has large objects sent in the parts that the plan has counted.
    pub(crate) fn sending_as_planned(mut self) -> Self {
        if let Some(uploads) = &self.plan.target().uploads {
            let sending = |array: &Array| {
                array.with_store(array.store().with_part_sizes(part_sizes(uploads)))
            };
            if let Sink::Write(array) = &self.sink {
                self.sink = Sink::Write(sending(array));
            }
            for array in self.levels.iter_mut().flat_map(|level| &mut level.arrays) {
                *array = sending(array);
            }
        }
        let uploads = self.plan.intermediate().and_then(|array| array.uploads.as_ref());
        if let (Some(store), Some(uploads)) = (&self.intermediate, uploads) {
            self.intermediate = Some(store.with_part_sizes(part_sizes(uploads)));
        }
        self
    }
}

fn part_sizes(uploads: &Uploads) -> PartSizes {
    PartSizes {
        threshold_bytes: uploads.whole.threshold_bytes,
        part_bytes: uploads.whole.part_bytes,
        log_part_bytes: uploads.log_part_bytes,
    }
}

/// Use that a run makes of a finished target chunk.
#[derive(Debug, Clone)]
pub enum Sink {
    /// It is encoded and stored.
    Write(Array),
    /// It is compared, bit for bit, with the chunk that array has.
    ///
    /// A lane then holds one encoded and one decoded chunk of that array: the plan has to be made
    /// with a target side whose `encode_workspace_bytes` says so. No journal is kept.
    Compare(Array),
    /// Nothing: the source is read for its digest ([`RunReport::digest`]). No journal is kept.
    Digest {
        /// An array with the source's layout, with which nothing is done.
        array: Array,
        /// The digest is that of chunks as they are stored, as a plan that passes them through
        /// takes it. Any other plan decodes them all the same, and fails if it cannot.
        of_encoded_chunks: bool,
    },
}

impl Sink {
    /// The array that is written or compared with.
    pub fn array(&self) -> &Array {
        match self {
            Self::Write(array) | Self::Compare(array) | Self::Digest { array, .. } => array,
        }
    }
}

/// Results of a run. Its traffic is in the meter of its stores.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// The source was listed: what was written to it since then may not have been seen.
    pub was_listed: bool,
    /// Objects of the source that were missing when this run read them, where that is counted
    /// ([`Array::counting_missing`]).
    pub missing: Option<Missing>,
    /// Tasks of all stages, or of the range that was to be done.
    pub tasks_total: u64,
    /// Of these, done now or before.
    pub tasks_done: u64,
    /// Of these, done before.
    pub tasks_resumed: u64,
    /// Result of the comparison; `None` if there was none.
    pub differences: Option<Differences>,
    /// Digest of all that was taken from the source, in this run and those before. Of a range of
    /// tasks, only of those that this run has done: ranges of one stage add up. `None` where none
    /// is taken (not wanted, raw files that are moved in runs, comparisons), or where an earlier
    /// run has not kept its part.
    pub digest: Option<ArrayDigest>,
    /// Wall time, seconds.
    pub elapsed_seconds: f64,
}

/// Name of the method for encoded chunks. Their digest is that of a one-dimensional array, which
/// has at a chunk's number in C order its CRC32C and its length plus one (64 bits each). Chunks
/// that are not stored count nothing.
pub(crate) const ENCODED_METHOD: &str = "rechunk-multilinear-127-of-crc32c";

/// Name of the method for elements that differ in length. Their digest is that of an array of the
/// same shape which has, at the place of each, its CRC32C and its length plus one (64 bits each).
pub(crate) const VARIABLE_METHOD: &str = "rechunk-multilinear-127-of-elements";

/// A digest of all that a run has taken from its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayDigest {
    /// Name of the method, which says whether elements or encoded chunks are digested. Digests of
    /// other methods say nothing about each other.
    pub method: &'static str,
    /// The digest.
    pub value: Digest,
}

impl ArrayDigest {
    /// It is one of chunks as they are stored, not of elements.
    pub fn is_of_encoded_chunks(&self) -> bool {
        self.method == ENCODED_METHOD
    }
}

/// Elements that differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Number of elements that differ.
    pub count: u64,
    /// Array position of the first of them in C order.
    pub first: Option<Vec<u64>>,
    /// The chunk it is in, elements.
    pub first_region: Option<Region>,
}

impl Differences {
    /// Adds what was found in `region`; positions in `found` count from its start.
    pub(crate) fn add(&mut self, region: &Region, found: &rechunk_kernel::Differences) {
        self.count = self.count.saturating_add(found.count);
        let Some(first) = &found.first else { return };
        let first: Vec<u64> =
            first.iter().zip(&region.start).map(|(at, start)| at + start).collect();
        // Positions compare like the C order they stand in.
        if self.first.as_ref().is_none_or(|known| first < *known) {
            self.first = Some(first);
            self.first_region = Some(region.clone());
        }
    }
}
