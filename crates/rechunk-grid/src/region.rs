//! Boxes of elements (or of chunk indices) and iteration over them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A box: `start` and `shape`, both with one entry per axis, in elements (or, where said, in
/// chunk indices).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Region {
    /// First element of each axis.
    pub start: Vec<u64>,
    /// Extent of each axis.
    pub shape: Vec<u64>,
}

impl Region {
    /// The box from `start` with extents `shape`; both must have the same length.
    pub fn new(start: Vec<u64>, shape: Vec<u64>) -> Self {
        debug_assert_eq!(start.len(), shape.len());
        Self { start, shape }
    }

    /// The whole of an array of `shape`.
    pub fn whole(shape: &[u64]) -> Self {
        Self { start: vec![0; shape.len()], shape: shape.to_vec() }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.start.len()
    }

    /// One past the last element of `axis`.
    pub fn end(&self, axis: usize) -> u64 {
        self.start[axis] + self.shape[axis]
    }

    /// Number of elements. Regions come out of grids whose element count was checked.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// True if some extent is zero.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The common part of two regions, or `None` if they share no element.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let [start, shape] = [(); 2].map(|()| Vec::with_capacity(self.rank()));
        let mut common = Self { start, shape };
        self.intersect_into(other, &mut common).then_some(common)
    }

    /// As [`Region::intersect`], into a region that is used again; false if they share no element,
    /// and what is in it means nothing then.
    #[must_use]
    pub fn intersect_into(&self, other: &Self, common: &mut Self) -> bool {
        common.start.clear();
        common.shape.clear();
        for axis in 0..self.rank() {
            let low = self.start[axis].max(other.start[axis]);
            let high = self.end(axis).min(other.end(axis));
            if low >= high {
                return false;
            }
            common.start.push(low);
            common.shape.push(high - low);
        }
        true
    }

    /// Parts of the box outside of `other`, as boxes that share no element: at most two for each
    /// axis.
    pub fn without(&self, other: &Self) -> Vec<Self> {
        let Some(common) = self.intersect(other) else { return vec![self.clone()] };
        let (mut rest, mut parts) = (self.clone(), Vec::new());
        for axis in 0..self.rank() {
            let mut cut = |from: u64, to: u64| {
                if from < to {
                    let mut part = rest.clone();
                    (part.start[axis], part.shape[axis]) = (from, to - from);
                    parts.push(part);
                }
            };
            cut(rest.start[axis], common.start[axis]);
            cut(common.end(axis), rest.end(axis));
            (rest.start[axis], rest.shape[axis]) = (common.start[axis], common.shape[axis]);
        }
        parts
    }

    /// True if every element of `other` is in `self`.
    pub fn contains(&self, other: &Self) -> bool {
        (0..self.rank())
            .all(|axis| self.start[axis] <= other.start[axis] && other.end(axis) <= self.end(axis))
    }

    /// Returns the box with positions counted from `origin`, which must not lie behind its start.
    #[must_use]
    pub fn relative_to(&self, origin: &[u64]) -> Self {
        let start = self.start.iter().zip(origin).map(|(start, origin)| start - origin).collect();
        Self { start, shape: self.shape.clone() }
    }

    /// Every position of the box in C order (last axis fastest).
    pub fn positions(&self) -> IndexIter {
        IndexIter::new(self, (0..self.rank()).collect())
    }

    /// Every position of the box, `axes_slowest_first` naming the order of the loops.
    pub fn positions_in(&self, axes_slowest_first: &[usize]) -> IndexIter {
        IndexIter::new(self, axes_slowest_first.to_vec())
    }

    /// The positions from number `start` to before number `end` in C order, as boxes that share
    /// none: at most two for each axis.
    pub fn boxes_between(&self, start: u64, end: u64) -> Vec<Self> {
        let end = end.min(self.elements());
        let mut boxes = Vec::new();
        let mut from = start;
        while from < end {
            // The largest box that begins there: full rows of as many fast axes as fit.
            let position = self.position(from);
            let (mut axis, mut row) = (self.rank(), 1);
            while axis > 0
                && position[axis - 1] == self.start[axis - 1]
                && row * self.shape[axis - 1] <= end - from
            {
                axis -= 1;
                row *= self.shape[axis];
            }
            let mut found = Self::new(position, self.shape.clone());
            found.shape[..axis].fill(1);
            let mut rows = 1;
            if let Some(slowest) = axis.checked_sub(1) {
                rows = (self.end(slowest) - found.start[slowest]).min((end - from) / row);
                found.shape[slowest] = rows;
            }
            boxes.push(found);
            from += rows * row;
        }
        boxes
    }

    /// The position of number `ordinal` in C order.
    pub fn position(&self, ordinal: u64) -> Vec<u64> {
        let mut rest = ordinal;
        let mut position = self.start.clone();
        for axis in (0..self.rank()).rev() {
            position[axis] += rest % self.shape[axis];
            rest /= self.shape[axis];
        }
        position
    }

    /// The number of `position` in C order; the inverse of [`Region::position`].
    pub fn ordinal(&self, position: &[u64]) -> u64 {
        (0..self.rank())
            .fold(0, |sum, axis| sum * self.shape[axis] + (position[axis] - self.start[axis]))
    }
}

/// Clones the region, so that functions take one by reference or by value.
impl From<&Region> for Region {
    fn from(region: &Region) -> Self {
        region.clone()
    }
}

/// Takes a range of each axis; one that ends before it starts has no elements.
impl From<&[Range<u64>]> for Region {
    fn from(ranges: &[Range<u64>]) -> Self {
        let start = ranges.iter().map(|range| range.start).collect();
        let shape = ranges.iter().map(|range| range.end.saturating_sub(range.start)).collect();
        Self { start, shape }
    }
}

/// Takes the range of the only axis.
impl From<Range<u64>> for Region {
    fn from(range: Range<u64>) -> Self {
        Self::from([range])
    }
}

impl From<&Vec<Range<u64>>> for Region {
    fn from(ranges: &Vec<Range<u64>>) -> Self {
        Self::from(&ranges[..])
    }
}

impl<const AXES: usize> From<[Range<u64>; AXES]> for Region {
    fn from(ranges: [Range<u64>; AXES]) -> Self {
        Self::from(&ranges[..])
    }
}

impl<const AXES: usize> From<&[Range<u64>; AXES]> for Region {
    fn from(ranges: &[Range<u64>; AXES]) -> Self {
        Self::from(&ranges[..])
    }
}

/// Iterator over the positions of a [`Region`].
#[derive(Debug, Clone)]
pub struct IndexIter {
    start: Vec<u64>,
    end: Vec<u64>,
    axes: Vec<usize>,
    /// The position that was given last; the first one before that.
    current: Vec<u64>,
    has_begun: bool,
    is_done: bool,
}

impl IndexIter {
    fn new(region: &Region, axes: Vec<usize>) -> Self {
        let end: Vec<u64> = (0..region.rank()).map(|axis| region.end(axis)).collect();
        let (start, current) = (region.start.clone(), region.start.clone());
        Self { start, end, axes, current, has_begun: false, is_done: region.is_empty() }
    }

    /// The next position, as [`Iterator::next`] gives it, without a vector of its own for each.
    pub fn advance(&mut self) -> Option<&[u64]> {
        if self.has_begun {
            self.is_done |= !self.step();
        }
        self.has_begun = true;
        (!self.is_done).then_some(&self.current[..])
    }

    /// Moves to the next position; false, and back to the first one, behind the last.
    fn step(&mut self) -> bool {
        for &axis in self.axes.iter().rev() {
            self.current[axis] += 1;
            if self.current[axis] < self.end[axis] {
                return true;
            }
            self.current[axis] = self.start[axis];
        }
        false
    }
}

impl Iterator for IndexIter {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        self.advance().map(<[u64]>::to_vec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn positions_run_in_the_order_of_the_axes() {
        let region = Region::new(vec![1, 5], vec![2, 2]);
        let c: Vec<_> = region.positions().collect();
        assert_eq!(c, [[1, 5], [1, 6], [2, 5], [2, 6]]);
        let f: Vec<_> = region.positions_in(&[1, 0]).collect();
        assert_eq!(f, [[1, 5], [2, 5], [1, 6], [2, 6]]);
        for (ordinal, position) in c.iter().enumerate() {
            assert_eq!(region.position(ordinal as u64), *position);
            assert_eq!(region.ordinal(position), ordinal as u64);
        }
    }

    proptest! {
        #[test]
        fn a_run_of_positions_is_a_few_boxes(
            axes in prop::collection::vec((0_u64..9, 0_u64..5), 0..5),
            (from, to) in (0_u64..300, 0_u64..300),
        ) {
            let (start, shape): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            let region = Region::new(start, shape);
            let boxes = region.boxes_between(from, to);
            prop_assert!(boxes.len() <= 2 * region.rank().max(1));
            let found: Vec<_> = boxes.iter().flat_map(Region::positions).collect();
            let count = usize::try_from(to.saturating_sub(from)).unwrap();
            let skip = usize::try_from(from).unwrap();
            let expected: Vec<_> = region.positions().skip(skip).take(count).collect();
            prop_assert_eq!(found, expected, "in order");
        }
    }

    #[test]
    fn positions_end_once() {
        for region in [Region::new(vec![1, 5], vec![1, 2]), Region::whole(&[])] {
            let mut positions = region.positions();
            let count = std::iter::from_fn(|| positions.advance().map(|_| ())).count();
            assert_eq!(count as u64, region.elements());
            assert_eq!(positions.advance(), None);
            assert_eq!(positions.next(), None);
        }
    }

    #[test]
    fn a_region_that_is_used_again_keeps_nothing() {
        let mut common = Region::new(vec![9, 9, 9], vec![9, 9, 9]);
        let a = Region::new(vec![0, 0], vec![2, 4]);
        assert!(!a.intersect_into(&Region::new(vec![0, 4], vec![2, 4]), &mut common));
        assert!(a.intersect_into(&Region::new(vec![1, 3], vec![9, 9]), &mut common));
        assert_eq!(common, Region::new(vec![1, 3], vec![1, 1]));
    }

    #[test]
    fn a_scalar_has_one_position_and_an_empty_box_none() {
        assert_eq!(Region::whole(&[]).positions().collect::<Vec<_>>(), [Vec::<u64>::new()]);
        assert_eq!(Region::whole(&[3, 0]).positions().count(), 0);
    }

    #[test]
    fn intersection_is_none_when_boxes_only_touch() {
        let a = Region::new(vec![0, 0], vec![2, 4]);
        assert_eq!(a.intersect(&Region::new(vec![2, 0], vec![2, 4])), None);
        let b = Region::new(vec![1, 3], vec![9, 9]);
        assert_eq!(a.intersect(&b), Some(Region::new(vec![1, 3], vec![1, 1])));
    }

    #[test]
    fn what_is_left_of_a_box_shares_no_element() {
        let all = Region::new(vec![1, 2], vec![4, 5]);
        for other in [
            Region::new(vec![2, 3], vec![2, 2]),
            Region::new(vec![0, 0], vec![3, 9]),
            Region::new(vec![4, 6], vec![7, 7]),
            Region::new(vec![5, 0], vec![1, 9]),
            all.clone(),
        ] {
            let parts = all.without(&other);
            let mut left: Vec<_> = parts.iter().flat_map(Region::positions).collect();
            left.sort();
            let has = |at: &Vec<u64>| other.contains(&Region::new(at.clone(), vec![1, 1]));
            assert_eq!(left, all.positions().filter(|at| !has(at)).collect::<Vec<_>>());
        }
        assert!(Region::whole(&[]).without(&Region::whole(&[])).is_empty());
    }
}
