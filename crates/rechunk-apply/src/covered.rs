//! Parts of a box that have values, where operations gave none for others.

use rechunk_grid::Region;

use crate::voxel_box::{Span, VoxelBox};

/// Boxes without a common voxel that together cover what `boxes` do.
///
/// They are runs along the last axis of the cells that all their ends cut.
pub(crate) fn disjoint(boxes: &[VoxelBox]) -> Vec<VoxelBox> {
    let boxes: Vec<&VoxelBox> = boxes.iter().filter(|one| !one.is_empty()).collect();
    let Some(rank) = boxes.first().map(|one| one.rank()) else { return Vec::new() };
    let cuts: Vec<Vec<i64>> = (0..rank)
        .map(|axis| {
            let ends = boxes.iter().flat_map(|one| [one.axes[axis].start, one.axes[axis].end]);
            let mut ends: Vec<i64> = ends.collect();
            ends.sort_unstable();
            ends.dedup();
            ends
        })
        .collect();
    let cells = Region::whole(&cuts.iter().map(|cuts| cuts.len() as u64 - 1).collect::<Vec<_>>());
    let mut is_covered = vec![false; place(cells.elements())];
    for one in &boxes {
        let ranges = one.axes.iter().zip(&cuts).map(|(span, cuts)| {
            let at = |end: i64| cuts.partition_point(|&cut| cut < end) as u64;
            at(span.start)..at(span.end)
        });
        for cell in Region::from(&ranges.collect::<Vec<_>>()).positions() {
            is_covered[place(cells.ordinal(&cell))] = true;
        }
    }
    let mut parts: Vec<VoxelBox> = Vec::new();
    for (cell, _) in cells.positions().zip(is_covered).filter(|(_, is_covered)| *is_covered) {
        let spans = cell.iter().zip(&cuts);
        let spans = spans.map(|(&at, cuts)| Span::new(cuts[place(at)], cuts[place(at) + 1]));
        let own = VoxelBox::new(spans);
        match parts.last_mut().filter(|last| is_continued(last, &own)) {
            Some(last) => last.axes[rank - 1].end = own.axes[rank - 1].end,
            None => parts.push(own),
        }
    }
    parts
}

/// A place in memory: what is counted here are cells, of which there is a flag each.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Whether `next` begins where `last` ends along the last axis, and is as wide along the others.
fn is_continued(last: &VoxelBox, next: &VoxelBox) -> bool {
    let (Some((end, outer)), Some((start, others))) =
        (last.axes.split_last(), next.axes.split_last())
    else {
        return false;
    };
    outer == others && end.end == start.start
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn voxels(one: &VoxelBox) -> Vec<Vec<i64>> {
        one.axes.iter().fold(vec![Vec::new()], |all, span| {
            let more = |before: &Vec<i64>| {
                (span.start..span.end).map(|at| [&before[..], &[at]].concat()).collect::<Vec<_>>()
            };
            all.iter().flat_map(more).collect()
        })
    }

    proptest! {
        #[test]
        fn each_voxel_is_in_one_part(
            boxes in (0_usize..4).prop_flat_map(|rank| {
                let span = (-4_i64..6, 0_i64..5);
                prop::collection::vec(prop::collection::vec(span, rank), 0..6)
            }),
        ) {
            let boxes: Vec<VoxelBox> = boxes.iter()
                .map(|one| VoxelBox::new(one.iter().map(|&(at, size)| Span::new(at, at + size))))
                .collect();
            let mut counts = BTreeMap::new();
            for voxel in disjoint(&boxes).iter().flat_map(voxels) {
                *counts.entry(voxel).or_insert(0) += 1;
            }
            let expected: BTreeMap<_, _> =
                boxes.iter().flat_map(voxels).map(|voxel| (voxel, 1)).collect();
            prop_assert_eq!(counts, expected);
        }
    }
}
