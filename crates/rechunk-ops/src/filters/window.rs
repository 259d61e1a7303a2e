//! Box windows: their sizes, and what is over them.

use std::ops::{Add, Range, Sub};

use bytemuck::Pod;

use super::blocks::{Chain, LineFilter};
use crate::element::Key;
use crate::error::OpError;
use crate::settings::{PerAxis, bad_setting};

/// Elements of a window at most: sums of as many 32-bit integers fit 64 bits.
const ELEMENTS_MAX: u64 = 1 << 31;

/// Elements on each side of a window, for each axis.
pub(super) fn reaches(
    operation: &str,
    size: &PerAxis<u64>,
    rank: usize,
) -> Result<Vec<usize>, OpError> {
    let sizes = size.of_rank(rank)?;
    let elements = sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
    if elements.is_none_or(|elements| elements > ELEMENTS_MAX) {
        let wanted = format!("a window has at most {ELEMENTS_MAX} elements");
        return Err(bad_setting(operation, "size", &size.canonical(), wanted));
    }
    Ok(sizes.iter().map(|&size| usize::try_from(size / 2).unwrap_or(usize::MAX)).collect())
}

/// The halo of windows.
pub(super) fn halo(reaches: &[usize]) -> Vec<[u64; 2]> {
    reaches.iter().map(|&reach| [reach as u64; 2]).collect()
}

/// Filters for windows; none where a window is its middle alone.
pub(super) fn chain<F>(reaches: &[usize], filter: impl Fn(usize) -> F) -> Chain<F> {
    reaches.iter().map(|&reach| (reach > 0).then(|| filter(reach))).collect()
}

/// The part of a box that a later filter of these reaches needs, to yield `keep`.
pub(super) fn grown(
    keep: &[Range<usize>],
    reaches: &[usize],
    shape: &[usize],
) -> Vec<Range<usize>> {
    let axes = keep.iter().zip(reaches).zip(shape);
    axes.map(|((keep, reach), extent)| {
        keep.start.saturating_sub(*reach)..(keep.end + reach).min(*extent)
    })
    .collect()
}

/// Exact sums of windows of integers: each from the one before it.
#[derive(Debug)]
pub(super) struct WindowSum {
    pub(super) reach: usize,
}

impl<C: Pod + Add<Output = C> + Sub<Output = C>> LineFilter<C> for WindowSum {
    fn reach(&self) -> usize {
        self.reach
    }

    fn apply(&self, padded: &mut [C], width: usize, result: &mut [C]) {
        let (first, rest) = result.split_at_mut(width);
        first.copy_from_slice(&padded[..width]);
        for row in padded.chunks_exact(width).take(2 * self.reach + 1).skip(1) {
            first.iter_mut().zip(row).for_each(|(sum, &element)| *sum = *sum + element);
        }
        let mut before: &[C] = first;
        let entering = padded[(2 * self.reach + 1) * width..].chunks_exact(width);
        let leaving = padded.chunks_exact(width);
        for ((sums, entering), leaving) in rest.chunks_exact_mut(width).zip(entering).zip(leaving) {
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum = before[at] + entering[at] - leaving[at];
            }
            before = sums;
        }
    }
}

/// Least or largest keys of windows, in log2(size) passes over a strip. They make windows of 2, 4,
/// 8, … elements, two of which make any size. Passes are contiguous and without branches, so that
/// for usual sizes they are quicker than van Herk's three operations for each element.
#[derive(Debug)]
pub(super) struct WindowExtreme {
    pub(super) reach: usize,
    pub(super) is_max: bool,
}

/// Keys that are compared at once.
const LANES: usize = 32;

/// Sets each element to the extreme of it and the one `shift` behind it, as far as there is one.
fn fold<K: Key>(keys: &mut [K], shift: usize, pick: impl Fn(K, K) -> K) {
    let count = keys.len() - shift;
    let mut at = 0;
    while at < count {
        if let Some(&behind) = keys.get(at + shift..).and_then(<[K]>::first_chunk::<LANES>) {
            for (key, behind) in keys[at..at + LANES].iter_mut().zip(behind) {
                *key = pick(*key, behind);
            }
            at += LANES;
        } else {
            keys[at] = pick(keys[at], keys[at + shift]);
            at += 1;
        }
    }
}

impl WindowExtreme {
    fn run<K: Key>(
        &self,
        padded: &mut [K],
        width: usize,
        result: &mut [K],
        pick: impl Fn(K, K) -> K,
    ) {
        let size = 2 * self.reach + 1;
        let (mut span, mut count) = (1, padded.len());
        while 2 * span <= size {
            fold(&mut padded[..count], span * width, &pick);
            count -= span * width;
            span *= 2;
        }
        let behind = &padded[(size - span) * width..];
        for ((out, &key), &behind) in result.iter_mut().zip(&*padded).zip(behind) {
            *out = pick(key, behind);
        }
    }
}

impl<K: Key> LineFilter<K> for WindowExtreme {
    fn reach(&self) -> usize {
        self.reach
    }

    fn apply(&self, padded: &mut [K], width: usize, result: &mut [K]) {
        if self.is_max {
            self.run(padded, width, result, |a, b| if b > a { b } else { a });
        } else {
            self.run(padded, width, result, |a, b| if b < a { b } else { a });
        }
    }
}
