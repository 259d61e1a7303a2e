//! Exact geometric interpolation between two integers.

use std::cmp::Ordering;

/// Computes the value `step` of `steps` on the geometric scale from `start` to `stop`, rounded
/// down. That is the largest `m` with `m^steps <= start^(steps - step) * stop^step`.
///
/// Exact for any size: 99 stages of 64-bit extents are numbers of 6,336 bits, compared as such.
pub(super) fn geometric_floor(start: u64, stop: u64, step: u32, steps: u32) -> u64 {
    let (mut below, mut above) = (start.min(stop), start.max(stop));
    if below == above || below == 0 {
        return below;
    }
    let bound = Natural::one().times_power(start, steps.saturating_sub(step));
    let bound = bound.times_power(stop, step.min(steps));
    // The value lies in below..=above throughout.
    while below < above {
        let middle = below + (above - below).div_ceil(2);
        if Natural::one().times_power(middle, steps) > bound {
            above = middle - 1;
        } else {
            below = middle;
        }
    }
    below
}

/// A natural number of any size, at least 1: 64-bit limbs, lowest first, the highest not 0.
#[derive(PartialEq, Eq)]
struct Natural(Vec<u64>);

impl Natural {
    fn one() -> Self {
        Self(vec![1])
    }

    /// Multiplies by `base^exponent`; `base` is not 0.
    fn times_power(mut self, base: u64, exponent: u32) -> Self {
        for _ in 0..exponent {
            let mut carry = 0;
            for limb in &mut self.0 {
                (*limb, carry) = limb.carrying_mul(base, carry);
            }
            if carry > 0 {
                self.0.push(carry);
            }
        }
        self
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
