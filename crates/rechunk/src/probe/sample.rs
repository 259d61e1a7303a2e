//! Data that looks like measurements: a smooth field with noise, the same on every run.

/// Elements of a row of the field.
const ROW: usize = 1024;

/// A smooth field of `elements` with noise, as float32, little-endian.
pub(super) fn float32(elements: usize) -> Vec<u8> {
    #[expect(clippy::cast_possible_truncation, reason = "float32 is what is wanted")]
    let element = |value: f64| (value as f32).to_le_bytes();
    field(elements).flat_map(element).collect()
}

/// The field packed into int16, in hundredths, little-endian.
pub(super) fn int16(elements: usize) -> Vec<u8> {
    #[expect(clippy::cast_possible_truncation, reason = "within ±3500")]
    let element = |value: f64| ((value * 100.0).round() as i16).to_le_bytes();
    field(elements).flat_map(element).collect()
}

/// Degrees of a sea, within ±35: waves of some hundred elements, and noise of a few hundredths.
fn field(elements: usize) -> impl Iterator<Item = f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..elements).map(move |at| {
        let (row, column) = ((at / ROW) as f64, (at % ROW) as f64);
        let smooth = 14.0 + 12.0 * (row / 90.0).sin() + 6.0 * (column / 130.0 + row / 70.0).cos();
        smooth + 0.05 * noise(&mut state)
    })
}

/// The next number of a row without pattern, within ±1 (splitmix64).
fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_smooth_noisy_and_always_the_same() {
        let values: Vec<f64> = field(10_000).collect();
        assert_eq!(values, field(10_000).collect::<Vec<_>>());
        assert!(values.iter().all(|value| value.abs() < 35.0));
        let steps = values.windows(2).filter(|pair| (pair[0] - pair[1]).abs() < 0.2).count();
        assert!(steps > 9_980, "{steps} small steps");
        let repeated = values.windows(2).filter(|pair| (pair[0] - pair[1]).abs() < 1e-9).count();
        assert!(repeated < 10, "{repeated}");
        assert_eq!(int16(100).len(), 200);
        assert_eq!(float32(100).len(), 400);
    }
}
