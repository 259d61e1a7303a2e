/// A box of a level: its first element, and its elements along each axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Box3 {
    pub start: [u64; 3],
    pub size: [u64; 3],
}

/// Positions of a grid, x fastest.
pub(super) fn positions(counts: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    let [x, y, z] = counts;
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}
