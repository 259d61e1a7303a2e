//! Reads of target chunks that the source fills only in part: their other elements are kept.

use rechunk_grid::Region;

use crate::count::{cells, product};
use crate::cuts::Cuts;
use crate::object_lengths::scaled;
use crate::{PlanRequest, RoleEstimate};

/// Counts the reads of the target: chunks with elements that the source does not hold, each once,
/// and the indexes of their shards.
pub(crate) fn count_kept(request: &PlanRequest, cuts: &Cuts<'_>, role: &mut RoleEstimate) {
    let Some(held) = request.held() else { return };
    let (side, shape) = (&request.target, &request.shape);
    if side.edges.is_some() {
        let inside = |axis: usize| {
            let (from, end, chunk) = (held.start[axis], held.end(axis), side.chunk_shape[axis]);
            cuts.target_axis(axis).map_or_else(
                || {
                    let count = inside(shape[axis], chunk, (from, end));
                    (count, count.saturating_mul(chunk))
                },
                |target| target.inside(from, end),
            )
        };
        let inside: Vec<(u64, u64)> = (0..shape.len()).map(inside).collect();
        let all = cuts.target_objects(request, &side.chunk_shape);
        role.get_requests = all.saturating_sub(product(inside.iter().map(|found| found.0)));
        let within = product(inside.iter().map(|found| found.1));
        let elements = cuts.target_elements(request).saturating_sub(within);
        role.decoded_read_bytes = elements.saturating_mul(request.item_bytes);
        let largest = product(side.chunk_shape.iter().copied());
        role.read_bytes = scaled(side.encoded_bytes_expected, elements, largest);
        return;
    }
    let chunks = border(shape, &side.chunk_shape, &held);
    count_reads(request, chunks, role);
    if let Some(shard) = &side.shard {
        let indexes = border(shape, shard.index_shape(), &held);
        let (requests, bytes) = side.index_traffic(indexes);
        role.get_requests = role.get_requests.saturating_add(requests);
        role.read_bytes = role.read_bytes.saturating_add(bytes);
    }
}

/// Counts the reads of `chunks` target chunks.
fn count_reads(request: &PlanRequest, chunks: u64, role: &mut RoleEstimate) {
    let side = &request.target;
    role.get_requests = chunks;
    role.decoded_read_bytes = chunks.saturating_mul(side.chunk_bytes(request.item_bytes));
    role.read_bytes = chunks.saturating_mul(side.encoded_bytes_expected);
}

/// Cells of `cell` elements on an axis of `extent` that lie wholly between two positions.
fn inside(extent: u64, cell: u64, (from, end): (u64, u64)) -> u64 {
    let to = if end == extent { end.div_ceil(cell) } else { end / cell };
    to.saturating_sub(from.div_ceil(cell))
}

/// Cells of a grid over `shape` that do not lie wholly in `held`.
fn border(shape: &[u64], cell: &[u64], held: &Region) -> u64 {
    let inside = (0..shape.len())
        .map(|axis| inside(shape[axis], cell[axis], (held.start[axis], held.end(axis))));
    cells(shape, cell).saturating_sub(product(inside))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rechunk_grid::ChunkGrid;

    use super::*;

    proptest! {
        #[test]
        fn the_border_is_what_does_not_lie_inside(
            axes in prop::collection::vec((0_u64..9, 1_u64..12, 0_u64..9, 1_u64..7), 1..4),
        ) {
            let held = |(before, extent, _, _): &(u64, u64, u64, u64)| (*before, *extent);
            let (start, extents) = axes.iter().map(held).unzip();
            let held = Region::new(start, extents);
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0 + axis.1 + axis.2).collect();
            let cell: Vec<u64> = axes.iter().map(|axis| axis.3).collect();
            let grid = ChunkGrid::new(&shape, &cell).unwrap();
            let outside =
                grid.indices().positions().filter(|at| !held.contains(&grid.region(at))).count();
            prop_assert_eq!(border(&shape, &cell, &held), outside as u64);
        }
    }
}
