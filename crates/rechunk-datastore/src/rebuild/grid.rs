/// A box of a level: its first element, and its elements along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Box3 {
    pub start: [u64; 3],
    pub size: [u64; 3],
}

impl Box3 {
    /// The elements of both.
    pub(super) fn intersect(self, other: Self) -> Self {
        let start = std::array::from_fn(|axis| self.start[axis].max(other.start[axis]));
        let size = std::array::from_fn(|axis| {
            self.end(axis).min(other.end(axis)).saturating_sub(start[axis])
        });
        Self { start, size }
    }

    /// The smallest box that holds both.
    pub(super) fn around(self, other: Self) -> Self {
        let start = std::array::from_fn(|axis| self.start[axis].min(other.start[axis]));
        let size = std::array::from_fn(|axis| self.end(axis).max(other.end(axis)) - start[axis]);
        Self { start, size }
    }

    /// The position behind its last element along an axis.
    pub(super) fn end(&self, axis: usize) -> u64 {
        self.start[axis].saturating_add(self.size[axis])
    }

    /// A buffer of zeros for its elements.
    pub(super) fn zeros(&self, item_bytes: u64) -> Vec<u8> {
        let bytes = self.size.iter().fold(item_bytes, |bytes, size| bytes.saturating_mul(*size));
        vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)]
    }
}

/// Positions of a grid, x fastest.
pub(super) fn positions(counts: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    let [x, y, z] = counts;
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}
