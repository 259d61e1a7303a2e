//! A job in numbers, as plain data: for texts, JSON and pages.

use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::error::ApplyError;
use crate::form::{Lane, Rule};
use crate::plan::{ApplyPlan, Way};
use crate::spec::Mode;
use crate::voxel_box::VoxelBox;

/// A job in numbers. Extents are target voxels, C order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// Box that was asked for.
    pub asked: VoxelBox,
    /// Box that is worked on.
    pub region: VoxelBox,
    /// Box whose results are kept.
    pub kept: VoxelBox,
    /// The box has grown.
    pub is_expanded: bool,
    /// Voxels worked on for each that was asked for.
    pub expansion: f64,
    /// Voxels that the operation computes for each that is kept.
    pub work_amplification: f64,
    /// Levels, bottom first.
    pub levels: Vec<LevelSummary>,
    /// Largest box that the operation reads, in source voxels.
    pub op_input_shape: Vec<u64>,
    /// Voxels between work chunks of the top level.
    pub gap: Vec<u64>,
    /// Largest extents of a reduction box, where there are pull tasks.
    pub reduce_max: Option<Vec<u64>>,
    /// Way of the results to the target.
    pub way: Way,
    /// Counts.
    pub counts: Counts,
}

/// A level in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LevelSummary {
    /// Number, from 0 at the bottom.
    pub level: usize,
    /// Task boxes of the level in the whole job.
    pub task_boxes: u64,
    /// Work chunk.
    pub chunk: Vec<u64>,
    /// Crop of the level's own results.
    pub crop: Vec<u64>,
    /// Crop by which the level's region is larger than its box.
    pub region_crop: Vec<u64>,
    /// Overlap on each side.
    pub blend: Vec<u64>,
    /// Mode.
    pub mode: Mode,
    /// Task boxes overlap and are combined.
    pub is_blended: bool,
    /// Rule by which they are.
    pub rule: Rule,
    /// Numbers of sums.
    pub lane: Lane,
    /// Results are combined in memory, without an intermediate.
    pub is_in_memory: bool,
}

impl ApplyPlan {
    /// The job in numbers.
    pub fn summary(&self) -> Result<Summary, ApplyError> {
        let counts = self.counts()?;
        let boxes = self.level_counts()?;
        let levels = self.levels.iter().enumerate().zip(boxes).map(|((level, of), task_boxes)| {
            LevelSummary {
                level,
                task_boxes,
                chunk: of.chunk.clone(),
                crop: of.crop.clone(),
                region_crop: of.region_crop.clone(),
                blend: of.blend.clone(),
                mode: of.mode,
                is_blended: of.is_blended,
                rule: of.combine.rule,
                lane: of.combine.lane,
                is_in_memory: level < self.top() || self.way != Way::Pull,
            }
        });
        Ok(Summary {
            asked: self.asked.clone(),
            region: self.region.clone(),
            kept: self.kept.clone(),
            is_expanded: self.region != self.asked,
            expansion: self.region.elements() as f64 / self.asked.elements().max(1) as f64,
            work_amplification: counts.work_amplification(),
            levels: levels.collect(),
            op_input_shape: self.op_input_shape_max(),
            gap: self.gap.clone(),
            reduce_max: (self.way == Way::Pull).then(|| self.reduce_max.clone()),
            way: self.way,
            counts,
        })
    }
}
