//! Tasks of the top level and reduction boxes, computed on demand.

use std::ops::Range;

use rechunk_grid::Region;

use crate::plan::ApplyPlan;
use crate::ramp::TileWeights;
use crate::reductions::AxisReductions;
use crate::tiles::AxisTiles;
use crate::voxel_box::{Span, VoxelBox};

/// A task: one work chunk of the top level. It leaves one block, that of [`TopTask::keep`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopTask {
    /// Number of the task in C order of its index, from 0.
    pub ordinal: u64,
    /// Index in the grid of work chunks.
    pub index: Vec<u64>,
    /// Work chunk.
    pub chunk: VoxelBox,
    /// Work chunk grown by the blend.
    pub task_box: VoxelBox,
    /// Part of the task box whose values are kept: the box of the block.
    pub keep: VoxelBox,
}

/// A product of ranges: numbers of tasks, or of reduction boxes, along each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexBox {
    ranges: Vec<Range<u64>>,
    grid: Region,
}

impl IndexBox {
    /// Numbers along each axis.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Number of all combinations.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|range| range.end.saturating_sub(range.start)).product()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ordinals, ascending.
    pub fn ordinals(&self) -> impl Iterator<Item = u64> + '_ {
        let region = Region::from(&self.ranges[..]);
        region.positions().map(|index| self.grid.ordinal(&index))
    }
}

impl ApplyPlan {
    /// Grid of the tasks: from the first index to the last along each axis.
    fn task_grid(&self) -> Region {
        Region::from(&self.tasks[..])
    }

    fn reduction_grid(&self) -> Region {
        Region::whole(&self.reductions.iter().map(AxisReductions::count).collect::<Vec<_>>())
    }

    /// Index of a reduction box in their grid.
    pub(crate) fn reduction_index(&self, ordinal: u64) -> Vec<u64> {
        self.reduction_grid().position(ordinal)
    }

    /// Number of tasks along each axis.
    pub fn task_shape(&self) -> Vec<u64> {
        self.task_grid().shape
    }

    /// Number of reduction boxes along each axis.
    pub fn reduction_shape(&self) -> Vec<u64> {
        self.reduction_grid().shape
    }

    /// Number of tasks.
    pub fn task_count(&self) -> u64 {
        self.task_count
    }

    /// Work chunks of the top level along each axis.
    pub fn tiles(&self) -> &[AxisTiles] {
        &self.tiles
    }

    /// Task of number `ordinal`, which is below [`ApplyPlan::task_count`].
    pub fn task(&self, ordinal: u64) -> TopTask {
        self.task_at(ordinal, self.task_grid().position(ordinal))
    }

    fn task_at(&self, ordinal: u64, index: Vec<u64>) -> TopTask {
        let axes = || self.tiles.iter().zip(&index);
        let chunk = VoxelBox::new(axes().map(|(tiles, &k)| tiles.tile(k)));
        let task_box = VoxelBox::new(axes().map(|(tiles, &k)| tiles.task(k)));
        let keep = task_box.intersect(&self.kept);
        TopTask { ordinal, index, chunk, task_box, keep }
    }

    /// Weights of a task's box at the top level.
    pub fn task_weights(&self, task: &TopTask) -> TileWeights {
        self.weights_at(self.top(), &self.tiles, &task.index)
    }

    /// Number of reduction boxes; 0 where there are no pull tasks.
    pub fn reduction_count(&self) -> u64 {
        self.reduction_count
    }

    /// Largest extents of a reduction box as set, voxels.
    pub fn reduce_max(&self) -> &[u64] {
        &self.reduce_max
    }

    /// Reduction box of number `ordinal`, which is below [`ApplyPlan::reduction_count`]: whole
    /// array chunks, cut to the kept box. No other pull task writes these array chunks.
    pub fn reduction(&self, ordinal: u64) -> VoxelBox {
        let index = self.reduction_index(ordinal);
        VoxelBox::new(self.reductions.iter().zip(index).map(|(axis, j)| axis.span(j)))
    }

    /// Tasks whose blocks meet `window`: those a pull task of that box needs, in constant time.
    ///
    /// ```
    /// use rechunk_apply::{ApplySpec, LevelSpec, Mode, prepare};
    /// use rechunk_grid::DataType;
    /// let level = LevelSpec::new([8]).blend([2], Mode::Linear);
    /// let plan = prepare(&ApplySpec::new(&[80], &[5], DataType::Uint8, vec![level]))?;
    /// // Voxels 5 to 9: of the work chunks at 0 and at 8, which overlap in 6 to 9.
    /// let window = plan.reduction(1);
    /// assert_eq!(plan.contributors(&window).ordinals().collect::<Vec<_>>(), [0, 1]);
    /// assert_eq!(plan.feeds(&plan.task(0)).ordinals().collect::<Vec<_>>(), [0, 1]);
    /// # Ok::<(), rechunk_apply::ApplyError>(())
    /// ```
    pub fn contributors(&self, window: &VoxelBox) -> IndexBox {
        let window = window.intersect(&self.kept);
        let axes = self.tiles.iter().zip(&window.axes);
        let ranges = axes.map(|(tiles, &span)| tiles.meeting(span)).collect();
        IndexBox { ranges, grid: self.task_grid() }
    }

    /// Reduction boxes that need the block of a task: those it lets begin.
    pub fn feeds(&self, task: &TopTask) -> IndexBox {
        let axes = self.reductions.iter().zip(&task.keep.axes);
        let ranges = axes.map(|(axis, &keep)| axis.meeting(keep)).collect();
        IndexBox { ranges, grid: self.reduction_grid() }
    }

    /// Parts of `window` along each axis that work chunks cover: gaps lie between them. A box is
    /// covered where each of its axes is.
    pub fn covered(&self, window: &VoxelBox) -> Vec<Vec<Span>> {
        let window = window.intersect(&self.kept);
        let axes = self.tiles.iter().zip(&window.axes);
        axes.map(|(tiles, &window)| {
            let mut parts: Vec<Span> = Vec::new();
            for k in tiles.meeting(window) {
                let part = tiles.task(k).intersect(window);
                match parts.last_mut().filter(|last| last.end >= part.start) {
                    Some(last) => last.end = last.end.max(part.end),
                    None => parts.push(part),
                }
            }
            parts
        })
        .collect()
    }
}
