//! Numbers that look random and are the same for the same seed.

/// A number from a seed and a counter, by SplitMix64 (Steele, Lea, Flood: "Fast splittable
/// pseudorandom number generators", 2014).
pub(crate) fn draw(seed: u64, number: u64) -> u64 {
    let gamma = 0x9E37_79B9_7F4A_7C15_u64;
    mix(mix(seed).wrapping_add(number.wrapping_add(1).wrapping_mul(gamma)))
}

/// The mixing function of SplitMix64.
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A drawn number as a fraction of 1, in `0.0..1.0`.
pub(crate) fn fraction(drawn: u64) -> f64 {
    (drawn >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_both_and_are_spread_evenly() {
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        for seed in 0..4 {
            let below = (0..10_000).filter(|&number| fraction(draw(seed, number)) < 0.3).count();
            assert!((2_800..3_200).contains(&below), "seed {seed}: {below} of 10000 below 0.3");
        }
    }
}
