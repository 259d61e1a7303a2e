//! Parts in which large objects are sent, and the requests and memory they take.

use serde::{Deserialize, Serialize};

use crate::count::{cells, product};

/// Sizes by which a store takes large objects: in parts, with a request for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Multipart {
    /// Objects of more bytes are sent in parts.
    pub threshold_bytes: u64,
    /// Bytes of a part, at least. Less for shards that are filled chunk by chunk with little
    /// memory, see [`Uploads::log_part_bytes`].
    pub part_bytes: u64,
}

impl Multipart {
    /// Sizes for object stores where their profile does not say.
    pub const DEFAULT: Self = Self { threshold_bytes: 64 << 20, part_bytes: 64 << 20 };
    /// Most parts of one object; stores allow no more.
    pub const PARTS_MAX: u64 = 10_000;
    /// Most bytes of an object that is sent as a whole; S3 takes no more.
    pub const WHOLE_BYTES_MAX: u64 = 5 << 30;
    /// Fewest bytes of a part that is not the last; stores take no fewer.
    pub const PART_BYTES_MIN: u64 = 5 << 20;

    /// Requests of an object of `object_bytes` beside the one that completes it: the first, and
    /// one for each part. 0 if it is sent as a whole.
    pub fn requests(&self, object_bytes: u64) -> u64 {
        if object_bytes <= self.threshold_bytes.min(Self::WHOLE_BYTES_MAX) {
            return 0;
        }
        let part_bytes = self.part_bytes.max(object_bytes.div_ceil(Self::PARTS_MAX)).max(1);
        object_bytes.div_ceil(part_bytes).saturating_add(1)
    }
}

/// Sizes by which the objects of one role are sent in a run: a [`Multipart`] for one array and
/// budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uploads {
    /// Objects that are in memory as a whole.
    pub whole: Multipart,
    /// Bytes of a part of a shard that is filled chunk by chunk. Of each such shard a part is in
    /// memory, and another on its way. A shard of no more bytes is sent as a whole.
    pub log_part_bytes: u64,
}

impl Uploads {
    /// Sizes within a budget of `memory_bytes`; `object_bytes_max` bounds a shard that is filled
    /// chunk by chunk.
    pub(crate) fn new(whole: Multipart, memory_bytes: u64, object_bytes_max: u64) -> Self {
        /// A part may take one in so many bytes of the budget: there are two of each shard, and
        /// several shards.
        const PARTS_OF_BUDGET: u64 = 64;
        let least = Multipart::PART_BYTES_MIN.min(whole.part_bytes);
        let part_bytes = (memory_bytes / PARTS_OF_BUDGET).clamp(least, whole.part_bytes);
        let log_part_bytes = part_bytes.max(object_bytes_max.div_ceil(Multipart::PARTS_MAX)).max(1);
        Self { whole, log_part_bytes }
    }

    /// [`Multipart::requests`] of a shard that is filled chunk by chunk.
    pub fn log_requests(&self, object_bytes: u64) -> u64 {
        let part_bytes = self.log_part_bytes.max(1);
        if object_bytes <= part_bytes {
            return 0;
        }
        object_bytes.div_ceil(part_bytes).saturating_add(1)
    }

    /// Bytes that are held of such a shard of at most `object_bytes_max`: a part that is filled and
    /// one on its way. Where `head_bytes` at its start are known last, the parts they lie in too.
    pub fn log_memory_bytes(&self, object_bytes_max: u64, head_bytes: u64) -> u64 {
        let held = head_bytes.div_ceil(self.log_part_bytes.max(1)).saturating_add(2);
        self.log_part_bytes.saturating_mul(held).min(object_bytes_max)
    }
}

/// Sum over the objects of a grid of what each takes, given its size in grains. Where they are cut
/// on many axes, what whole ones take.
pub(crate) fn over_cells(
    shape: &[u64],
    cell: &[u64],
    grain: &[u64],
    takes: impl Fn(u64) -> u64,
) -> u64 {
    let whole = product(cell.iter().zip(grain).map(|(cell, grain)| cell.div_ceil((*grain).max(1))));
    if takes(whole) == 0 {
        return 0; // the usual case; and no other is larger
    }
    let sizes = cell_sizes(shape, cell, grain);
    let sizes = sizes.unwrap_or_else(|| vec![(cells(shape, cell), whole)]);
    sizes
        .into_iter()
        .fold(0, |sum: u64, (count, size)| sum.saturating_add(count.saturating_mul(takes(size))))
}

/// Sizes of the cells of a grid over `shape`, each measured along an axis in whole `grain`s: how
/// many there are of each size. `None` if they are cut on too many axes to be told apart.
fn cell_sizes(shape: &[u64], cell: &[u64], grain: &[u64]) -> Option<Vec<(u64, u64)>> {
    const CUT_AXES_MAX: usize = 8;
    let is_cut = |axis: &usize| !shape[*axis].is_multiple_of(cell[*axis]);
    if (0..shape.len()).filter(is_cut).count() > CUT_AXES_MAX {
        return None;
    }
    let mut sizes = vec![(1_u64, 1_u64)];
    for axis in 0..shape.len() {
        let (whole, rest) = (shape[axis] / cell[axis], shape[axis] % cell[axis]);
        let along = [(whole, cell[axis]), (u64::from(rest > 0), rest)];
        let longer = sizes.iter().flat_map(|&(count, size)| {
            let present = along.into_iter().filter(|along| along.0 > 0);
            present.map(move |(cells, extent)| {
                let grains = extent.div_ceil(grain[axis].max(1));
                (product([count, cells]), product([size, grains]))
            })
        });
        sizes = longer.collect();
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn parts_are_as_small_as_the_store_takes_and_no_more_than_it_counts() {
        let multipart = Multipart { threshold_bytes: 64 << 20, part_bytes: 16 << 20 };
        assert_eq!(multipart.requests(64 << 20), 0);
        assert_eq!(multipart.requests((64 << 20) + 1), 1 + 5);
        assert_eq!(multipart.requests(16 << 40), 1 + 10_000);
        assert_eq!(Multipart { threshold_bytes: 0, part_bytes: 0 }.requests(0), 0);
    }

    #[test]
    fn a_part_of_a_shard_is_a_small_part_of_the_budget() {
        let part = |memory_bytes, object_bytes_max| {
            Uploads::new(Multipart::DEFAULT, memory_bytes, object_bytes_max).log_part_bytes
        };
        assert_eq!(part(64 << 20, 1 << 30), 5 << 20);
        assert_eq!(part(1 << 30, 1 << 30), 16 << 20);
        assert_eq!(part(1 << 40, 1 << 30), 64 << 20);
        // The largest object has to fit in 10 000 of them.
        assert_eq!(part(64 << 20, 100_000 << 20), 10 << 20);
        // A profile that says less knows its store.
        let tiny = Multipart { threshold_bytes: 10, part_bytes: 3 };
        assert_eq!(Uploads::new(tiny, 64 << 20, 1000).log_part_bytes, 3);
    }

    #[test]
    fn what_is_held_of_a_shard_is_no_more_than_the_shard() {
        let uploads = Uploads { whole: Multipart::DEFAULT, log_part_bytes: 10 };
        assert_eq!(uploads.log_memory_bytes(1000, 0), 20);
        assert_eq!(uploads.log_memory_bytes(1000, 4), 30);
        assert_eq!(uploads.log_memory_bytes(1000, 11), 40);
        assert_eq!(uploads.log_memory_bytes(7, 4), 7);
        assert_eq!((uploads.log_requests(10), uploads.log_requests(11)), (0, 3));
    }

    proptest! {
        #[test]
        fn every_cell_is_counted_with_its_size(
            shape in prop::collection::vec(0_u64..12, 0..4),
            extents in prop::collection::vec((1_u64..5, 1_u64..4), 4),
        ) {
            let grain: Vec<u64> = extents.iter().map(|(_, grain)| *grain).collect();
            let cell: Vec<u64> = extents.iter().map(|(grains, grain)| grains * grain).collect();
            let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
            let along = |axis: usize| -> Vec<u64> {
                let starts = (0..shape[axis]).step_by(usize::try_from(cell[axis]).unwrap());
                starts.map(|at| (shape[axis] - at).min(cell[axis]).div_ceil(grain[axis])).collect()
            };
            let mut all = vec![1_u64];
            for axis in 0..shape.len() {
                let lengths = along(axis);
                all = all.iter().flat_map(|a| lengths.iter().map(move |b| a * b)).collect();
            }
            for size in all {
                *expected.entry(size).or_default() += 1;
            }
            let mut found: BTreeMap<u64, u64> = BTreeMap::new();
            for (count, size) in cell_sizes(&shape, &cell, &grain).unwrap() {
                *found.entry(size).or_default() += count;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
