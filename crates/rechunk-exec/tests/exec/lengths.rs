//! Chunks that differ in length.

use rechunk_grid::{AxisChunks, Edges};

/// Has chunks of an array of `shape` differ in length on the axes with a list, taken as often as it
/// takes to reach the end. `chunk` becomes the longest.
pub(crate) fn lengths_of(
    shape: &[u64],
    chunk: &mut [u64],
    lists: &[Option<Vec<(u64, u64)>>],
) -> Option<Edges> {
    let mut edges = vec![None; shape.len()];
    for (axis, runs) in lists.iter().enumerate().take(shape.len()) {
        let Some(runs) = runs else { continue };
        let runs = runs.iter().copied().cycle().take(runs.len() * 64);
        let cut = AxisChunks::of_runs(axis, shape[axis], runs).unwrap();
        chunk[axis] = cut.longest();
        edges[axis] = cut.into_edges();
    }
    Edges::new(edges)
}
