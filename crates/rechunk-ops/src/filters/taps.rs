//! Weighted sums along an axis.

use super::blocks::LineFilter;
use super::real::Real;

/// Weights of a symmetric or antisymmetric window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taps<C> {
    /// Weight of the middle; unused by an antisymmetric window.
    centre: C,
    /// Weights at distances 1, 2, …; those before the middle are negated if it is antisymmetric.
    sides: Vec<C>,
    is_odd: bool,
}

impl<C: Real> Taps<C> {
    /// A window with the same weights before and after its middle.
    pub(super) fn even(centre: f64, sides: &[f64]) -> Self {
        let sides = sides.iter().map(|&side| C::of(side)).collect();
        Self { centre: C::of(centre), sides, is_odd: false }
    }

    /// A window whose weights before its middle are those after it, negated.
    pub(super) fn odd(sides: &[f64]) -> Self {
        let sides = sides.iter().map(|&side| C::of(side)).collect();
        Self { centre: C::of(0.0), sides, is_odd: true }
    }

    /// Sums windows into `result`, `LANES` at once. Each sum begins at the middle and goes
    /// outwards, so that its bits do not depend on its place.
    fn sum_lanes(&self, padded: &[C], width: usize, at: usize, result: &mut [C; LANES]) {
        let middle = at + self.sides.len() * width;
        let row = |start: usize| padded[start..].first_chunk::<LANES>();
        let Some(centre) = row(middle) else { return };
        let mut sums = [self.centre; LANES];
        for (sum, &element) in sums.iter_mut().zip(centre) {
            *sum = if self.is_odd { C::of(0.0) } else { *sum * element };
        }
        for (distance, &weight) in (1..).zip(&self.sides) {
            let (before, after) = (row(middle - distance * width), row(middle + distance * width));
            let (Some(before), Some(after)) = (before, after) else { return };
            if self.is_odd {
                for lane in 0..LANES {
                    sums[lane] += weight * (after[lane] - before[lane]);
                }
            } else {
                for lane in 0..LANES {
                    sums[lane] += weight * (before[lane] + after[lane]);
                }
            }
        }
        *result = sums;
    }

    /// Sums one window, as [`Taps::sum_lanes`].
    fn sum_one(&self, padded: &[C], width: usize, at: usize) -> C {
        let middle = at + self.sides.len() * width;
        let mut sum = if self.is_odd { C::of(0.0) } else { self.centre * padded[middle] };
        for (distance, &weight) in (1..).zip(&self.sides) {
            let (before, after) =
                (padded[middle - distance * width], padded[middle + distance * width]);
            let both = if self.is_odd { after - before } else { before + after };
            sum += weight * both;
        }
        sum
    }
}

/// Sums that are computed at once: enough for several vectors of any machine.
const LANES: usize = 32;

impl<C: Real> LineFilter<C> for Taps<C> {
    fn reach(&self) -> usize {
        self.sides.len()
    }

    fn apply(&self, padded: &mut [C], width: usize, result: &mut [C]) {
        let count = result.len();
        let mut at = 0;
        while at < count {
            // The last lanes lie over those before: twice computed, they are the same.
            let start = if at + LANES <= count { at } else { count.saturating_sub(LANES) };
            if let Some(lanes) = result[start..].first_chunk_mut::<LANES>() {
                self.sum_lanes(padded, width, start, lanes);
                at = start + LANES;
            } else {
                result[at] = self.sum_one(padded, width, at);
                at += 1;
            }
        }
    }
}
