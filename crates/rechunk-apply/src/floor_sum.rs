//! Sums over arithmetic progressions, without going through them.

/// `sum of floor((a * i + b) / m)` over `i` from 0 to before `n`; `a`, `b` from 0, `m` from 1.
///
/// The Euclidean algorithm on lattice points below a line, as in the AtCoder Library
/// (`floor_sum`).
fn from_zero(n: i128, a: i128, b: i128, m: i128) -> i128 {
    let (mut n, mut a, mut b, mut m, mut sum) = (n, a, b, m, 0);
    while n > 0 {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        (a, b) = (a % m, b % m);
        let highest = a * n + b;
        (n, b) = (highest / m, highest % m);
        (a, m) = (m, a);
        if m == 0 {
            break;
        }
    }
    sum
}

/// Values `floor((step * i + offset) / divisor)` for `i` from 0 to before `count`, each raised to
/// `low` and lowered to `high`. The step is not negative, the divisor positive, `low <= high`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floors {
    pub(crate) count: i128,
    pub(crate) step: i128,
    pub(crate) offset: i128,
    pub(crate) divisor: i128,
}

impl Floors {
    /// Number of the numerators `step * i + offset` that are below `limit`.
    pub(crate) fn numerators_below(&self, limit: i128) -> i128 {
        let missing = limit - self.offset;
        if missing <= 0 {
            0
        } else if self.step == 0 {
            self.count
        } else {
            (-(-missing).div_euclid(self.step)).min(self.count)
        }
    }

    /// Sum of the values between `low` and `high`.
    pub(crate) fn sum(&self, low: i128, high: i128) -> i128 {
        let below = self.numerators_below(low * self.divisor);
        let until = self.numerators_below((high + 1) * self.divisor).max(below);
        let start = self.step * below + self.offset;
        let whole = start.div_euclid(self.divisor);
        let rest = start.rem_euclid(self.divisor);
        let between = until - below;
        let middle = whole * between + from_zero(between, self.step, rest, self.divisor);
        below * low + middle + (self.count - until) * high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_those_of_the_terms(
            count in 0_i128..40, step in 0_i128..50, offset in -200_i128..200,
            divisor in 1_i128..30, low in -20_i128..20, width in 0_i128..40,
        ) {
            let floors = Floors { count, step, offset, divisor };
            let terms = (0..count).map(|i| (step * i + offset).div_euclid(divisor));
            let sum: i128 = terms.map(|term| term.clamp(low, low + width)).sum();
            prop_assert_eq!(floors.sum(low, low + width), sum);
            let below = (0..count).filter(|i| step * i + offset < low).count();
            prop_assert_eq!(floors.numerators_below(low), below as i128);
        }
    }
}
