//! Boxes with signed coordinates: what an operation reads may lie beyond its array.

use rechunk_grid::Region;
use serde::{Deserialize, Serialize};

/// Half-open range of voxels along one axis, in signed coordinates; empty where `end <= start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "(i64, i64)", into = "(i64, i64)")]
pub struct Span {
    /// First voxel.
    pub start: i64,
    /// One past the last voxel.
    pub end: i64,
}

impl From<(i64, i64)> for Span {
    fn from((start, end): (i64, i64)) -> Self {
        Self { start, end }
    }
}

impl From<Span> for (i64, i64) {
    fn from(span: Span) -> Self {
        (span.start, span.end)
    }
}

impl Span {
    /// The range from `start` to before `end`.
    pub fn new(start: i64, end: i64) -> Self {
        Self { start, end }
    }

    /// Number of voxels.
    pub fn length(self) -> u64 {
        u64::try_from(self.end.saturating_sub(self.start)).unwrap_or(0)
    }

    /// True if there is no voxel in it.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The range with `pad` more voxels on both sides.
    #[must_use]
    pub fn grown(self, pad: u64) -> Self {
        let pad = i64::try_from(pad).unwrap_or(i64::MAX);
        Self { start: self.start.saturating_sub(pad), end: self.end.saturating_add(pad) }
    }

    /// Voxels of both ranges; empty if they share none.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// True if the ranges share a voxel.
    pub fn meets(self, other: Self) -> bool {
        !self.intersect(other).is_empty()
    }

    /// True if each voxel of `other` is in the range.
    pub fn contains(self, other: Self) -> bool {
        other.is_empty() || self.start <= other.start && other.end <= self.end
    }
}

/// A box of voxels in signed coordinates, C order: one [`Span`] per axis, slowest first.
///
/// ```
/// use rechunk_apply::{Span, VoxelBox};
/// let padded = VoxelBox::new([Span::new(0, 8), Span::new(4, 6)]).grown(&[2, 0]);
/// assert_eq!(padded, VoxelBox::new([Span::new(-2, 10), Span::new(4, 6)]));
/// assert_eq!(padded.shape(), [12, 2]);
/// assert!(padded.to_region().is_none(), "it begins before the array");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VoxelBox {
    /// Range of each axis.
    pub axes: Vec<Span>,
}

impl VoxelBox {
    /// The box of these ranges.
    pub fn new(axes: impl IntoIterator<Item = Span>) -> Self {
        Self { axes: axes.into_iter().collect() }
    }

    /// The whole of an array of `shape`.
    pub fn whole(shape: &[u64]) -> Self {
        Self::new(
            shape.iter().map(|&extent| Span::new(0, i64::try_from(extent).unwrap_or(i64::MAX))),
        )
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Extent of each axis.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(|span| span.length()).collect()
    }

    /// Number of voxels; the largest number where they do not fit 128 bits.
    pub fn elements(&self) -> u128 {
        self.axes
            .iter()
            .fold(1, |product, span| u128::saturating_mul(product, span.length().into()))
    }

    /// True if there is no voxel in it.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|span| span.is_empty())
    }

    /// The box with `pads` more voxels on both sides of each axis.
    #[must_use]
    pub fn grown(&self, pads: &[u64]) -> Self {
        Self::new(self.axes.iter().zip(pads).map(|(span, &pad)| span.grown(pad)))
    }

    /// Voxels of both boxes; empty if they share none.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self::new(self.axes.iter().zip(&other.axes).map(|(one, two)| one.intersect(*two)))
    }

    /// True if each voxel of `other` is in the box.
    pub fn contains(&self, other: &Self) -> bool {
        other.is_empty() || self.axes.iter().zip(&other.axes).all(|(one, two)| one.contains(*two))
    }

    /// The box as a region of an array; `None` if it begins before the array or is inside out.
    pub fn to_region(&self) -> Option<Region> {
        let start: Option<Vec<u64>> =
            self.axes.iter().map(|span| u64::try_from(span.start).ok()).collect();
        let is_box = self.axes.iter().all(|span| span.start <= span.end);
        start.filter(|_| is_box).map(|start| Region::new(start, self.shape()))
    }
}

impl From<&Region> for VoxelBox {
    fn from(region: &Region) -> Self {
        let at = |position: u64| i64::try_from(position).unwrap_or(i64::MAX);
        Self::new((0..region.rank()).map(|axis| {
            Span::new(
                at(region.start[axis]),
                at(region.start[axis]).saturating_add(at(region.shape[axis])),
            )
        }))
    }
}
