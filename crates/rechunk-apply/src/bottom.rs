//! The recursion from a task of the top level to the boxes that the operation gets.
//!
//! A box of level `l + 1` grown by the crop of that level is the region of level `l`. It is tiled
//! by work chunks from its start; each is grown by its blend, and is the box of the level below.
//! Task boxes that do not meet the voxels that are kept are left out, at every level.

use std::ops::Range;

use crate::plan::ApplyPlan;
use crate::source::source_span;
use crate::tasks::TopTask;
use crate::tiles::AxisTiles;
use crate::voxel_box::{Span, VoxelBox};

/// One call of the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BottomTile {
    /// Number of the call within its task, from 0.
    pub number: u64,
    /// Work chunk of the bottom level.
    pub chunk: VoxelBox,
    /// Work chunk grown by the blend: the box whose values the levels above take.
    pub task_box: VoxelBox,
    /// Part of the task box whose values are kept in the end.
    pub keep: VoxelBox,
    /// Task box grown by the crop, in target voxels: the box of the operation's result before it
    /// is cropped.
    pub padded: VoxelBox,
    /// Box that is read, in source voxels; it may reach beyond the source.
    pub read: VoxelBox,
}

/// One call of the operation along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisLeaf {
    /// Work chunk of the bottom level, grown by the blend.
    pub task: Span,
    /// Part of it that is kept.
    pub keep: Span,
    /// Task box grown by the crop, in target voxels.
    pub padded: Span,
}

/// Task boxes of a level within one box of the level above.
#[derive(Debug, Clone)]
pub(crate) struct Below {
    pub(crate) level: usize,
    pub(crate) tiles: Vec<AxisTiles>,
    pub(crate) ranges: Vec<Range<u64>>,
}

impl ApplyPlan {
    /// Work chunks of `level` over `target` of the level above, along one axis.
    fn axis_below(&self, level: usize, axis: usize, target: Span) -> AxisTiles {
        let of = &self.levels[level];
        AxisTiles::new(target.grown(of.region_crop[axis]), of.chunk[axis], 0, of.blend[axis])
    }

    /// Task boxes of `level` over `target`, those that meet `keep`.
    pub(crate) fn below(&self, level: usize, target: &VoxelBox, keep: &VoxelBox) -> Below {
        let axes = target.axes.iter().enumerate();
        let tiles: Vec<AxisTiles> =
            axes.map(|(axis, &span)| self.axis_below(level, axis, span)).collect();
        let ranges = tiles.iter().zip(&keep.axes).map(|(tiles, &keep)| tiles.meeting(keep));
        let ranges = ranges.collect();
        Below { level, tiles, ranges }
    }

    /// The call of the operation for `task_box`.
    pub(crate) fn bottom_tile(
        &self,
        number: u64,
        chunk: VoxelBox,
        task_box: VoxelBox,
        keep: VoxelBox,
    ) -> BottomTile {
        let padded = task_box.grown(&self.levels[0].crop);
        let axes = padded.axes.iter().zip(&self.scale);
        let read = VoxelBox::new(axes.map(|(&span, &scale)| source_span(span, scale)));
        BottomTile { number, chunk, task_box, keep, padded, read }
    }

    /// Calls of the operation within a task along one axis: those of the task are all combinations
    /// of these. `task` and `keep` are those of [`crate::TopTask`] along the axis.
    pub fn axis_leaves(&self, axis: usize, task: Span, keep: Span) -> Vec<AxisLeaf> {
        self.axis_boxes(0, axis, task, keep)
    }

    /// Task boxes of `level` within a task along one axis.
    pub(crate) fn axis_boxes(
        &self,
        level: usize,
        axis: usize,
        task: Span,
        keep: Span,
    ) -> Vec<AxisLeaf> {
        let mut boxes = Vec::new();
        self.collect_boxes((self.top(), level), axis, task, keep, &mut boxes);
        boxes
    }

    fn collect_boxes(
        &self,
        (level, until): (usize, usize),
        axis: usize,
        task: Span,
        keep: Span,
        boxes: &mut Vec<AxisLeaf>,
    ) {
        let Some(below) = level.checked_sub(1).filter(|_| level > until) else {
            let padded = task.grown(self.levels[level].crop[axis]);
            boxes.push(AxisLeaf { task, keep, padded });
            return;
        };
        let tiles = self.axis_below(below, axis, task);
        for k in tiles.meeting(keep) {
            let task = tiles.task(k);
            self.collect_boxes((below, until), axis, task, task.intersect(keep), boxes);
        }
    }

    /// Hull of the padded boxes of a task along one axis.
    pub(crate) fn leaves_hull(&self, axis: usize, task: Span, keep: Span) -> Span {
        let leaves = self.axis_leaves(axis, task, keep);
        // With large crops above small work chunks it need not be the first leaf that begins first.
        let start = leaves.iter().map(|leaf| leaf.padded.start).min();
        let end = leaves.iter().map(|leaf| leaf.padded.end).max();
        Span::new(start.unwrap_or(task.start), end.unwrap_or(task.start))
    }

    /// Box of the source that a task reads in all: the hull of the reads of its operations. It may
    /// reach beyond the source.
    pub fn task_read(&self, task: &TopTask) -> VoxelBox {
        VoxelBox::new((0..self.rank()).map(|axis| {
            let (task_span, keep) = (task.task_box.axes[axis], task.keep.axes[axis]);
            source_span(self.leaves_hull(axis, task_span, keep), self.scale[axis])
        }))
    }
}
