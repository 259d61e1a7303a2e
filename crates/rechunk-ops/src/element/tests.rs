use proptest::prelude::*;

use super::*;

/// The nearest half of `value`, ties to even, by search among all of them.
fn nearest_half(value: f64) -> f16 {
    let halves = (0..0x7c00_u16).map(f16::from_bits);
    let magnitude = value.abs();
    let near = halves
        .min_by(|a, b| {
            let distance = |half: &f16| (half.to_f64() - magnitude).abs();
            let even = |half: &f16| half.to_bits() & 1;
            distance(a).total_cmp(&distance(b)).then(even(a).cmp(&even(b)))
        })
        .unwrap();
    let near = if magnitude >= 65_520.0 { f16::INFINITY } else { near };
    if value.is_sign_negative() { -near } else { near }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn halves_are_rounded_once(bits in 0..0x7bff_u16, shift in -40_i32..=40) {
        // Around the middle of two halves, where a double rounding goes wrong.
        let [low, high] = [bits, bits + 1].map(|bits| f16::from_bits(bits).to_f64());
        let middle = f64::midpoint(low, high);
        let value = middle * (1.0 + f64::from(shift) * f64::EPSILON);
        prop_assert_eq!(<f16 as Element>::from_f64(value), nearest_half(value));
    }

    #[test]
    fn keys_keep_order_of_floats(a: f32, b: f32) {
        prop_assert_eq!(a.to_key().cmp(&b.to_key()), a.total_cmp(&b));
        prop_assert_eq!(f32::from_key(a.to_key()).to_bits(), a.to_bits());
    }

    #[test]
    fn keys_keep_order_of_integers(a: i16, b: i16) {
        prop_assert_eq!(a.to_key().cmp(&b.to_key()), a.cmp(&b));
        prop_assert_eq!(i16::from_key(a.to_key()), a);
    }

    #[test]
    fn rounding_is_to_even(value: f64, near in -1000_i32..1000) {
        prop_assert_eq!(round_even(value), value.round_ties_even());
        let half = f64::from(near) / 2.0;
        prop_assert_eq!(round_even(half), half.round_ties_even());
    }
}

#[test]
fn special_values_convert_by_the_rules() {
    assert_eq!(u8::from_f64(f64::NAN), 0);
    assert_eq!(u8::from_f64(f64::INFINITY), 255);
    assert_eq!(i64::from_f64(1e300), i64::MAX);
    assert_eq!(i8::from_f64(-128.5), -128);
    assert_eq!(i8::from_f64(2.5), 2);
    assert_eq!((-f32::NAN).to_key(), u32::MAX);
    assert!(f32::from_key(u32::MAX).is_nan());
    assert_eq!(f32::from_key((-0.0_f32).to_key()).to_bits(), (-0.0_f32).to_bits());
    assert_eq!(<f16 as Element>::from_int(65_519), Some(f16::MAX));
    assert_eq!(<f16 as Element>::from_int(65_520), None);
}
