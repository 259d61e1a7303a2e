//! Blocks that nobody combines: the array that they are left in.
//!
//! Blocks of neighbours overlap, so they lie in layers. A layer has the work chunks whose numbers
//! are alike modulo two along each blended axis; as a blend is at most half a work chunk, blocks of
//! a layer are apart. All layers have the extents of the region grown by the blend, so that voxels
//! have the same position in each of them.

use crate::plan::{ApplyPlan, Way};
use crate::spec::TargetGrid;
use crate::tasks::TopTask;
use crate::tiles::AxisTiles;
use crate::voxel_box::VoxelBox;

/// The array of deferred blocks. Its first axis is the layer, the others are those of the results.
///
/// ```
/// use rechunk_apply::{ApplySpec, LevelSpec, Mode, prepare};
/// use rechunk_grid::DataType;
/// let level = LevelSpec::new([8]).blend([2], Mode::Defer);
/// let plan = prepare(&ApplySpec::new(&[32], &[8], DataType::Uint8, vec![level]))?;
/// let left = plan.deferred().unwrap();
/// assert_eq!((&left.shape[..], &left.chunk[..]), (&[2, 36][..], &[1, 8][..]));
/// assert_eq!(left.origin, [-2]);
/// # Ok::<(), rechunk_apply::ApplyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeferredArray {
    /// Number of layers, and extents of the region grown by the blend, voxels.
    pub shape: Vec<u64>,
    /// Chunk: of one layer, from the start of a block to that of its neighbour.
    pub chunk: Vec<u64>,
    /// Position of its first voxel in the target, along each axis of that: negative where blocks
    /// begin before it.
    pub origin: Vec<i64>,
    /// Axes of the target along which neighbours are in two layers, slowest first.
    pub axes: Vec<usize>,
    /// Voxels of all blocks.
    pub elements: u64,
}

/// Chunks that blocks meet along an axis, and those that they fill.
struct AxisWrites {
    met: u64,
    whole: u64,
    voxels: u64,
}

impl ApplyPlan {
    /// The array of blocks that are left uncombined; `None` where they are combined or none are
    /// left.
    pub fn deferred(&self) -> Option<DeferredArray> {
        if self.way != Way::Defer {
            return None;
        }
        let axes = self.layered_axes();
        let layers = 1_u64.checked_shl(u32::try_from(axes.len()).ok()?)?;
        let extents = self.kept.shape();
        let chunk = |(tiles, &extent): (&AxisTiles, &u64)| chunk_of(tiles, extent);
        let chunk = self.tiles.iter().zip(&extents).map(chunk);
        Some(DeferredArray {
            chunk: std::iter::once(1).chain(chunk).collect(),
            shape: std::iter::once(layers).chain(extents.iter().copied()).collect(),
            origin: self.kept.axes.iter().map(|axis| axis.start).collect(),
            axes,
            elements: self.axis_writes().fold(1, |all, axis| all.saturating_mul(axis.voxels)),
        })
    }

    /// Shape and chunks of the array that is written: the target, or that of deferred blocks.
    /// `None` without a target.
    pub fn written_grid(&self) -> Option<TargetGrid> {
        let left = self.deferred().map(|left| TargetGrid { shape: left.shape, chunk: left.chunk });
        left.or_else(|| self.target().cloned())
    }

    /// Box of a task's block in the array of deferred blocks.
    pub fn deferred_box(&self, task: &TopTask) -> VoxelBox {
        let layer = self
            .layered_axes()
            .iter()
            .fold(0, |layer, &axis| layer * 2 + i64::try_from(task.index[axis] % 2).unwrap_or(0));
        let moved = task.keep.axes.iter().zip(&self.kept.axes).map(|(keep, kept)| {
            let moved = |position: i64| position.saturating_sub(kept.start);
            (moved(keep.start), moved(keep.end)).into()
        });
        VoxelBox::new(std::iter::once((layer, layer + 1).into()).chain(moved))
    }

    /// Axes along which blocks of neighbours overlap.
    fn layered_axes(&self) -> Vec<usize> {
        let blend = &self.levels[self.top()].blend;
        (0..self.rank()).filter(|&axis| blend[axis] > 0 && self.tiles[axis].count() > 1).collect()
    }

    /// Chunks of the array of deferred blocks along each axis: how often blocks meet one, and how
    /// often a block fills one.
    pub(crate) fn deferred_counts(&self) -> Vec<(u128, u128)> {
        self.axis_writes().map(|axis| (axis.met.into(), axis.whole.into())).collect()
    }

    fn axis_writes(&self) -> impl Iterator<Item = AxisWrites> + '_ {
        let axes = self.tiles.iter().zip(self.kept.shape());
        axes.map(|(tiles, extent)| axis_writes(tiles, extent))
    }
}

fn chunk_of(tiles: &AxisTiles, extent: u64) -> u64 {
    if tiles.count() > 1 { tiles.stride() } else { extent.max(1) }
}

/// All blocks but the last are alike; the last ends with the array.
fn axis_writes(tiles: &AxisTiles, extent: u64) -> AxisWrites {
    let chunk = chunk_of(tiles, extent);
    let others = tiles.count().saturating_sub(1);
    let block = tiles.task(0).length();
    let last_block = extent.saturating_sub(others.saturating_mul(tiles.stride()));
    let last = last_block.div_ceil(chunk);
    AxisWrites {
        met: others.saturating_mul(block.div_ceil(chunk)).saturating_add(last),
        whole: others.saturating_mul(block / chunk).saturating_add(last),
        voxels: others.saturating_mul(block).saturating_add(last_block),
    }
}
