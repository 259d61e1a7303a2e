//! Boxes of elements or blocks of a level.

use rechunk_kernel::{copy_region, narrow};

use crate::DatastoreError;

/// A box of a level: its first element, and its elements along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Box3 {
    pub start: [u64; 3],
    pub size: [u64; 3],
}

impl Box3 {
    /// The elements of both.
    pub(crate) fn intersect(self, other: Self) -> Self {
        let start = std::array::from_fn(|axis| self.start[axis].max(other.start[axis]));
        let size = std::array::from_fn(|axis| {
            self.end(axis).min(other.end(axis)).saturating_sub(start[axis])
        });
        Self { start, size }
    }

    /// The smallest box that holds both.
    pub(crate) fn around(self, other: Self) -> Self {
        let start = std::array::from_fn(|axis| self.start[axis].min(other.start[axis]));
        let size = std::array::from_fn(|axis| self.end(axis).max(other.end(axis)) - start[axis]);
        Self { start, size }
    }

    /// The position behind its last element along an axis.
    pub(crate) fn end(&self, axis: usize) -> u64 {
        self.start[axis].saturating_add(self.size[axis])
    }

    /// A buffer of zeros for its elements.
    pub(crate) fn zeros(&self, item_bytes: u64) -> Vec<u8> {
        let bytes = self.size.iter().fold(item_bytes, |bytes, size| bytes.saturating_mul(*size));
        vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)]
    }
}

/// Positions of a grid, x fastest.
pub(crate) fn positions(counts: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    let [x, y, z] = counts;
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}

/// Copies the elements that two boxes share.
pub(crate) fn copy(
    from: &[u8],
    source: Box3,
    to: &mut [u8],
    target: Box3,
    item_bytes: u64,
) -> Result<(), DatastoreError> {
    let Box3 { start: low, size: shape } = source.intersect(target);
    if shape.contains(&0) {
        return Ok(());
    }
    let strides =
        |of: Box3| [item_bytes, of.size[0] * item_bytes, of.size[0] * of.size[1] * item_bytes];
    let offset = |of: Box3| {
        let axes = low.iter().zip(of.start).zip(strides(of));
        axes.map(|((low, start), stride)| (low - start) * stride).sum()
    };
    copy_region(
        narrow(item_bytes),
        &shape,
        from,
        offset(source),
        &strides(source),
        to,
        offset(target),
        &strides(target),
        1,
    )?;
    Ok(())
}
