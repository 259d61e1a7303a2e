//! Memory of tasks: what each holds at most, bytes.

use serde::{Deserialize, Serialize};

use crate::plan::{ApplyPlan, Way};
use crate::ramp::AxisWeights;

/// Memory of one task of each kind, bytes. Sums saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskMemory {
    /// One call of the operation: sources, result and scratch.
    pub op_bytes: u64,
    /// Regions of the levels that a task keeps in memory, while the operation runs.
    pub region_bytes: u64,
    /// Most that a task of the top level holds.
    pub task_bytes: u64,
    /// Block that a task leaves; part of the above.
    pub block_bytes: u64,
    /// Most that a pull task holds: sums, result and the largest window of a block.
    pub pull_bytes: u64,
    /// Memory that a task takes beside these where operations may skip.
    pub task_skip_bytes: u64,
    /// Memory that a pull task takes beside these where blocks may be missing.
    pub pull_skip_bytes: u64,
}

/// Product that ends at the largest number.
fn saturated(extents: impl Iterator<Item = u64>, bytes: u64) -> u64 {
    extents.fold(bytes, u64::saturating_mul)
}

/// Bytes that an accumulator notes for each contribution, beside its sums: a window and weights.
fn note_bytes(rank: usize) -> u64 {
    // Two vectors in a list that doubles, and their allocations.
    const FIXED: u64 = 128;
    let axis = size_of::<AxisWeights>() as u64 + 16;
    FIXED.saturating_add(axis.saturating_mul(rank as u64))
}

impl ApplyPlan {
    /// Contributions to a region of a level within a task, at most.
    fn contributions_max(&self, level: usize) -> u64 {
        let of = &self.levels[level];
        let regions = self.task_shape_max(level + 1).into_iter().zip(&of.region_crop);
        let axes = regions.zip(&of.chunk);
        saturated(axes.map(|((task, crop), &chunk)| (task + 2 * crop).div_ceil(chunk)), 1)
    }

    /// Contributions to a reduction box, at most.
    fn pulls_max(&self) -> u64 {
        let axes = self.pull_shape_max().into_iter().zip(&self.tiles).enumerate();
        let axes = axes.map(|(axis, (extent, tiles))| {
            let blend = self.levels[self.top()].blend[axis];
            ((extent + 2 * blend).div_ceil(tiles.stride()) + 1).min(tiles.count())
        });
        saturated(axes, 1)
    }

    /// Largest task box of a level along each axis.
    pub fn task_shape_max(&self, level: usize) -> Vec<u64> {
        let of = &self.levels[level];
        let axes = self.tiles.iter().enumerate();
        axes.map(|(axis, tiles)| {
            let is_cut = level == self.top() && tiles.count() <= 1;
            let chunk = if is_cut { tiles.tile(0).length() } else { of.chunk[axis] };
            chunk + 2 * of.blend[axis]
        })
        .collect()
    }

    /// Largest box that the operation computes, in target voxels along each axis.
    pub fn op_shape_max(&self) -> Vec<u64> {
        let pads = self.levels[0].crop.iter();
        self.task_shape_max(0).iter().zip(pads).map(|(&extent, &crop)| extent + 2 * crop).collect()
    }

    /// Largest box that the operation reads, in source voxels along each axis.
    pub fn op_input_shape_max(&self) -> Vec<u64> {
        let axes = self.op_shape_max().into_iter().zip(&self.scale);
        axes.map(|(extent, scale)| {
            let voxels = extent.saturating_mul(scale.source).div_ceil(scale.target);
            // A range that begins within a source voxel may meet one more.
            voxels + u64::from(scale.target > 1)
        })
        .collect()
    }

    /// Memory of tasks. `source_item_bytes` is the sum over all sources that the operation reads,
    /// `scratch_bytes` what one call takes beside its input and its result.
    ///
    /// ```
    /// use rechunk_apply::{ApplySpec, LevelSpec, prepare};
    /// use rechunk_grid::DataType;
    /// let level = LevelSpec::new([64, 64]).crop([2, 2]);
    /// let plan = prepare(&ApplySpec::new(&[640, 640], &[64, 64], DataType::Uint8, vec![level]))?;
    /// assert_eq!(plan.memory(4, 1000).task_bytes, 68 * 68 * (4 + 1) + 1000);
    /// # Ok::<(), rechunk_apply::ApplyError>(())
    /// ```
    pub fn memory(&self, source_item_bytes: u64, scratch_bytes: u64) -> TaskMemory {
        let item = self.data_type().item_bytes();
        let input = saturated(self.op_input_shape_max().into_iter(), source_item_bytes);
        let padded = saturated(self.op_shape_max().into_iter(), item);
        let result = saturated(self.task_shape_max(0).into_iter(), item);
        let op_bytes = input
            .saturating_add(padded)
            .saturating_add(scratch_bytes)
            // Its result is cut while the input is gone.
            .max(padded.saturating_add(result));
        let (mut region_bytes, mut finishing, mut task_skip_bytes) = (0_u64, 0_u64, 0_u64);
        for level in (0..self.top()).rev() {
            let combine = self.levels[level].combine;
            let of = |bytes| saturated(self.task_shape_max(level + 1).into_iter(), bytes);
            let notes = self.contributions_max(level).saturating_mul(note_bytes(self.rank()));
            let sums = of(combine.accumulator_bytes());
            region_bytes = region_bytes.saturating_add(sums).saturating_add(notes);
            let out = of(combine.output.item_bytes());
            finishing = finishing.max(region_bytes.saturating_add(out));
            task_skip_bytes = task_skip_bytes.max(of(combine.skip_bytes()));
        }
        let block =
            saturated(self.task_shape_max(self.top()).into_iter(), self.block_form().item_bytes());
        let pull = self.pull_shape_max();
        let combine = self.pull_combine();
        let pull_item = combine.accumulator_bytes().saturating_add(combine.output.item_bytes());
        let window = pull.iter().zip(self.task_shape_max(self.top()));
        let window = window.map(|(&pull, task)| pull.min(task));
        let window = saturated(window, combine.input.item_bytes());
        let has_pull = u64::from(self.way == Way::Pull);
        TaskMemory {
            op_bytes,
            region_bytes,
            task_bytes: region_bytes.saturating_add(op_bytes).max(finishing),
            block_bytes: block,
            pull_bytes: has_pull
                * saturated(pull.iter().copied(), pull_item)
                    .saturating_add(window)
                    .saturating_add(self.pulls_max().saturating_mul(note_bytes(self.rank()))),
            task_skip_bytes,
            pull_skip_bytes: has_pull * saturated(pull.into_iter(), combine.skip_bytes()),
        }
    }

    /// Largest reduction box along each axis.
    pub fn pull_shape_max(&self) -> Vec<u64> {
        let axes = self.reductions.iter().zip(&self.kept.axes);
        axes.map(|(boxes, kept)| boxes.grid().1.min(kept.length())).collect()
    }
}
