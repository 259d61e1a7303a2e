//! Rounding of floats to shorter ones.

/// Rounds to a 32-bit float: to the neighbour whose last bit is set, if it is not exact. Rounding
/// that to 16 bits rounds `value` once (Boldo and Melquiond, "Emulation of FMA and correctly
/// rounded sums: proved algorithms using rounding to odd", 2008).
///
/// Libraries and processors go through the *nearest* 32-bit float, and round twice: a number just
/// above the middle of two halves becomes the lower one.
///
/// ```
/// use rechunk_grid::round_to_odd;
/// // 1 and the next half are 2⁻¹⁰ apart.
/// let above_the_middle = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-50);
/// assert!(round_to_odd(above_the_middle) > 1.0 + 2_f32.powi(-11));
/// assert_eq!(above_the_middle as f32, 1.0 + 2_f32.powi(-11));
/// ```
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is meant to round")]
pub fn round_to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    // Exact, infinite or not a number; or odd already.
    if near.is_nan() || back.total_cmp(&value).is_eq() || near.to_bits() & 1 == 1 {
        return near;
    }
    let bits = near.to_bits();
    f32::from_bits(if back.abs() > value.abs() { bits.wrapping_sub(1) } else { bits | 1 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_exact_or_the_odd_neighbour(value in any::<f64>()) {
            let rounded = round_to_odd(value);
            let back = f64::from(rounded);
            let is_exact = back.total_cmp(&value).is_eq();
            prop_assert!(is_exact || rounded.is_infinite() || rounded.to_bits() & 1 == 1);
            if !is_exact && rounded.is_finite() {
                // No other 32-bit float lies between them.
                let next = if value > back { rounded.next_up() } else { rounded.next_down() };
                let (low, high) = (value.min(back), value.max(back));
                prop_assert!(!(low..=high).contains(&f64::from(next)));
            }
        }
    }

    #[test]
    fn numbers_that_are_no_finite_ones_stay() {
        assert!(round_to_odd(f64::NAN).is_nan());
        for value in [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.5] {
            assert!(f64::from(round_to_odd(value)).total_cmp(&value).is_eq());
        }
    }
}
