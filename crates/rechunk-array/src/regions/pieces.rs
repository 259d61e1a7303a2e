//! Cuts what is wanted of a chunk that is stored as it is into reads of bounded size.

use rechunk_grid::Region;

use super::frame::Frame;

/// Boxes of a region that are each read at once. None spans more than the bytes allowed, and none
/// has a gap in storage that is longer than a request is worth.
#[derive(Debug)]
pub(crate) struct Pieces {
    frame: Frame,
    item_bytes: u64,
    limits: PieceLimits,
    /// Boxes that are left, the first one last.
    left: Vec<Region>,
}

/// Limits of one read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PieceLimits {
    /// From the first byte to the last.
    pub(crate) span_bytes_max: u64,
    /// Bytes between two wanted ones.
    pub(crate) gap_bytes_max: u64,
}

impl Pieces {
    /// Those of `region`, whose elements lie in `frame`.
    pub(crate) fn new(frame: Frame, region: Region, item_bytes: u64, limits: PieceLimits) -> Self {
        let left = if region.is_empty() { Vec::new() } else { vec![region] };
        Self { frame, item_bytes, limits, left }
    }

    fn is_one_read(&self, region: &Region) -> bool {
        let span = self.frame.bytes_of(region, self.item_bytes);
        if span.end - span.start > self.limits.span_bytes_max {
            return false;
        }
        let mut axes: Vec<usize> = (0..region.rank()).filter(|&at| region.shape[at] > 1).collect();
        axes.sort_by_key(|&axis| self.frame.stride_bytes(axis));
        let mut covered_bytes = self.item_bytes;
        axes.into_iter().all(|axis| {
            let stride = self.frame.stride_bytes(axis);
            let gap = stride.saturating_sub(covered_bytes);
            covered_bytes += (region.shape[axis] - 1) * stride;
            gap <= self.limits.gap_bytes_max
        })
    }

    /// Cuts a box in two along the axis whose neighbours are furthest apart; `None` if it is one
    /// element.
    fn halves(&self, region: &Region) -> Option<(Region, Region)> {
        let long = (0..region.rank()).filter(|&axis| region.shape[axis] > 1);
        let axis = long.max_by_key(|&axis| self.frame.stride_bytes(axis))?;
        let (mut first, mut second) = (region.clone(), region.clone());
        first.shape[axis] = region.shape[axis] / 2;
        second.shape[axis] -= first.shape[axis];
        second.start[axis] += first.shape[axis];
        Some((first, second))
    }
}

impl Iterator for Pieces {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let mut region = self.left.pop()?;
        while !self.is_one_read(&region) {
            let Some((first, second)) = self.halves(&region) else { break };
            self.left.push(second);
            region = first;
        }
        Some(region)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rechunk_format::ElementOrder;
    use rechunk_grid::Endian;

    use super::*;

    proptest! {
        #[test]
        fn pieces_make_up_the_region_within_their_limits(
            (chunk, start, shape, axes) in (1_usize..4).prop_flat_map(|rank| (
                prop::collection::vec(1_u64..7, rank),
                prop::collection::vec(0_u64..7, rank),
                prop::collection::vec(1_u64..7, rank),
                Just((0..rank).collect::<Vec<_>>()).prop_shuffle(),
            )),
            item_bytes in 1_u64..9,
            span_bytes_max in 0_u64..400,
            gap_bytes_max in 0_u64..50,
        ) {
            let whole = Region::whole(&chunk);
            let Some(region) = Region::new(start, shape).intersect(&whole) else { return Ok(()) };
            let order = ElementOrder { axes, endian: Endian::Little };
            let frame = Frame::new(&whole, &order, item_bytes);
            let limits = PieceLimits { span_bytes_max, gap_bytes_max };
            let mut seen = vec![0; usize::try_from(whole.elements()).unwrap()];
            for piece in Pieces::new(frame.clone(), region.clone(), item_bytes, limits) {
                let span = frame.bytes_of(&piece, item_bytes);
                prop_assert!(span.end - span.start <= span_bytes_max.max(item_bytes));
                for position in piece.positions() {
                    seen[usize::try_from(whole.ordinal(&position)).unwrap()] += 1;
                }
            }
            for position in whole.positions() {
                let times = seen[usize::try_from(whole.ordinal(&position)).unwrap()];
                let one = Region::new(position.clone(), vec![1; position.len()]);
                prop_assert_eq!(times, i32::from(region.contains(&one)), "{:?}", position);
            }
        }
    }

    #[test]
    fn rows_that_lie_far_apart_are_read_one_by_one() {
        let whole = Region::whole(&[4, 100]);
        let frame = Frame::in_c_order(&whole, 1);
        let count = |gap_bytes_max, shape: [u64; 2]| {
            let limits = PieceLimits { span_bytes_max: 1000, gap_bytes_max };
            let region = Region::new(vec![0, 0], shape.to_vec());
            Pieces::new(frame.clone(), region, 1, limits).count()
        };
        assert_eq!(count(90, [4, 10]), 1);
        assert_eq!(count(89, [4, 10]), 4);
        assert_eq!(count(0, [4, 100]), 1);
        assert_eq!(count(0, [4, 0]), 0);
    }
}
