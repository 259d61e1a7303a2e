//! Pieces of a block: what each pull task takes of it, as one range of the object.

use rechunk_grid::Region;

use crate::plan::ApplyPlan;
use crate::tasks::TopTask;
use crate::voxel_box::VoxelBox;

/// Part of a block that one pull task takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPiece {
    /// Number of the pull task.
    pub reduction: u64,
    /// Position of the piece among those of its block.
    pub number: u64,
    /// Elements of the block that lie in pieces before it.
    pub elements_before: u64,
    /// Voxels of the piece.
    pub bounds: VoxelBox,
}

impl ApplyPlan {
    /// Pieces of the block that a task leaves: one for each reduction box that it meets, in C
    /// order of these boxes. They make up the block, so an object has them one after the other.
    ///
    /// ```
    /// use rechunk_apply::{ApplySpec, LevelSpec, Mode, prepare};
    /// use rechunk_grid::DataType;
    /// let level = LevelSpec::new([8]).blend([2], Mode::Linear);
    /// let plan = prepare(&ApplySpec::new(&[80], &[8], DataType::Uint8, vec![level]))?;
    /// let pieces = plan.pieces(&plan.task(1)); // voxels 6 to 17
    /// let before: Vec<u64> = pieces.iter().map(|piece| piece.elements_before).collect();
    /// assert_eq!(before, [0, 2, 10]);
    /// assert_eq!(plan.piece(&plan.task(1), 2).as_ref(), pieces.last());
    /// # Ok::<(), rechunk_apply::ApplyError>(())
    /// ```
    pub fn pieces(&self, task: &TopTask) -> Vec<BlockPiece> {
        let reductions = self.feeds(task);
        let mut elements_before = 0;
        let pieces = (0_u64..).zip(reductions.ordinals()).map(|(number, reduction)| {
            let bounds = self.reduction(reduction).intersect(&task.keep);
            let piece = BlockPiece { reduction, number, elements_before, bounds };
            elements_before += piece.elements();
            piece
        });
        pieces.collect()
    }

    /// Piece of a task's block that pull task `reduction` takes; `None` if it takes none.
    pub fn piece(&self, task: &TopTask, reduction: u64) -> Option<BlockPiece> {
        let bounds = self.reduction(reduction).intersect(&task.keep);
        if bounds.is_empty() {
            return None;
        }
        let (mut elements_before, mut own_row) = (0, 1);
        for axis in 0..self.rank() {
            let faster: u64 = task.keep.axes[axis + 1..].iter().map(|span| span.length()).product();
            let before = bounds.axes[axis].start.abs_diff(task.keep.axes[axis].start);
            elements_before += own_row * before * faster;
            own_row *= bounds.axes[axis].length();
        }
        let met = Region::from(self.feeds(task).ranges());
        let number = met.ordinal(&self.reduction_index(reduction));
        Some(BlockPiece { reduction, number, elements_before, bounds })
    }
}

impl BlockPiece {
    /// Number of its elements.
    pub fn elements(&self) -> u64 {
        self.bounds.axes.iter().map(|span| span.length()).product()
    }
}
