//! A job that was prepared: where its tasks are, and how their values become one.

use std::ops::Range;

use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

use crate::form::{Combine, ValueForm};
use crate::ramp::{AxisWeights, Ramp, TileWeights};
use crate::reductions::AxisReductions;
use crate::spec::{ApplySpec, Mode, Round, ScaleRatio, TargetGrid};
use crate::tiles::AxisTiles;
use crate::voxel_box::VoxelBox;

/// One level of a plan. Extents are target voxels, C order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Level {
    /// Work chunk, before pads.
    pub chunk: Vec<u64>,
    /// Crop that the work chunks of this level add to the region of the level below, or to the
    /// box that the operation reads.
    pub crop: Vec<u64>,
    /// Overlap with neighbours on each side.
    pub blend: Vec<u64>,
    /// Mode as it was asked for.
    pub mode: Mode,
    /// Crop of the level above, by which the region of this one is larger than its box.
    pub region_crop: Vec<u64>,
    /// Task boxes of neighbours share voxels that are combined.
    pub is_blended: bool,
    /// Weights of each axis; none where nothing is averaged.
    pub ramps: Vec<Option<Ramp>>,
    /// Arithmetic.
    pub combine: Combine,
}

/// Way of the results to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Each task writes its own array chunks; or there is no target.
    Direct,
    /// Each task leaves a block, and pull tasks combine them.
    Pull,
    /// Each task leaves a block, and that is all.
    Defer,
}

/// A job that was prepared by [`crate::prepare`]: a few hundred bytes for an array of any size.
/// Tasks and reduction boxes are computed on demand.
///
/// It is saved as its [`ApplySpec`] and prepared again when it is read: preparing is deterministic,
/// and a text from elsewhere cannot bring a plan that does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "ApplySpec", try_from = "ApplySpec")]
pub struct ApplyPlan {
    pub(crate) spec: ApplySpec,
    pub(crate) asked: VoxelBox,
    pub(crate) region: VoxelBox,
    pub(crate) kept: VoxelBox,
    pub(crate) levels: Vec<Level>,
    pub(crate) tiles: Vec<AxisTiles>,
    pub(crate) tasks: Vec<Range<u64>>,
    pub(crate) task_count: u64,
    pub(crate) way: Way,
    pub(crate) reductions: Vec<AxisReductions>,
    pub(crate) reduction_count: u64,
    pub(crate) reduce_max: Vec<u64>,
    pub(crate) gap: Vec<u64>,
    pub(crate) scale: Vec<ScaleRatio>,
}

impl From<ApplyPlan> for ApplySpec {
    fn from(plan: ApplyPlan) -> Self {
        plan.spec
    }
}

impl ApplyPlan {
    /// The job as it was asked for.
    pub fn spec(&self) -> &ApplySpec {
        &self.spec
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.tiles.len()
    }

    /// Levels, bottom first: level 0 is that of the operation.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Way of the results to the target.
    pub fn way(&self) -> Way {
        self.way
    }

    /// The array that is written.
    pub fn target(&self) -> Option<&TargetGrid> {
        self.spec.target.as_ref()
    }

    /// Type of the values.
    pub fn data_type(&self) -> DataType {
        self.spec.data_type
    }

    /// When blended integers are rounded.
    pub fn round(&self) -> Round {
        self.spec.round
    }

    /// The box that was asked for, in whole voxels.
    pub fn asked(&self) -> &VoxelBox {
        &self.asked
    }

    /// The box that is tiled by work chunks of the top level: as asked, or grown.
    pub fn region(&self) -> &VoxelBox {
        &self.region
    }

    /// The box whose results are kept: written, or left in blocks. It lies in the target.
    pub fn kept(&self) -> &VoxelBox {
        &self.kept
    }

    /// Voxels between work chunks of the top level.
    pub fn gap(&self) -> &[u64] {
        &self.gap
    }

    /// Target voxels in source voxels.
    pub fn scale(&self) -> &[ScaleRatio] {
        &self.scale
    }

    /// Number of the top level.
    pub fn top(&self) -> usize {
        self.levels.len() - 1
    }

    /// Form of the elements of a block that a task leaves; plain for direct writes.
    pub fn block_form(&self) -> ValueForm {
        match self.way {
            Way::Pull => self.levels[self.top()].combine.input,
            Way::Direct | Way::Defer => ValueForm::plain(self.data_type()),
        }
    }

    /// Arithmetic of pull tasks.
    pub fn pull_combine(&self) -> Combine {
        self.levels[self.top()].combine
    }

    /// Weights of a task box of `level`, whose grid along each axis is `tiles`, at `index`.
    pub(crate) fn weights_at(
        &self,
        level: usize,
        tiles: &[AxisTiles],
        index: &[u64],
    ) -> TileWeights {
        let ramps = &self.levels[level].ramps;
        let axes = tiles.iter().zip(index.iter().zip(ramps));
        let weights = axes.map(|(tiles, (&k, &ramp))| AxisWeights {
            span: tiles.task(k),
            ramp,
            has_low_ramp: k > 0,
            has_high_ramp: k + 1 < tiles.count(),
        });
        TileWeights { axes: weights.collect() }
    }
}
