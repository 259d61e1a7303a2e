//! Writes numbers and names for the picture.

/// Counts from here on are rounded: nobody reads thirteen digits.
const COUNT_EXACT_MAX: u128 = 999_999_999_999;

/// `141 790`, digits in groups of three; `3.4e38` when there are too many of them.
pub(super) fn count(value: u128) -> String {
    if value > COUNT_EXACT_MAX {
        return format!("{:.1e}", value as f64);
    }
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

/// `9 999`, `12.4 M`: a count that has to fit beside an arrow.
pub(super) fn short_count(value: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    if value < 10_000 {
        return count(value.into());
    }
    let value = value as f64;
    if value >= 1e15 {
        return format!("{value:.0e}");
    }
    for (size, unit) in UNITS {
        if value >= size {
            let scaled = value / size;
            let places = usize::from(scaled < 100.0);
            return format!("{scaled:.places$}\u{a0}{unit}");
        }
    }
    format!("{value:.0}")
}

/// `1.2 GiB`: three significant digits, binary units.
pub(super) fn bytes(value: u128) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if value < 1024 {
        return format!("{value}\u{a0}B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if scaled >= 1e6 {
        return format!("{scaled:.1e}\u{a0}{}", UNITS[unit]);
    }
    let decimals = if scaled < 9.995 { 2 } else { usize::from(scaled < 99.95) };
    format!("{scaled:.decimals$}\u{a0}{}", UNITS[unit])
}

/// `5 × 1799 × 3600`, or `scalar` for no axes.
pub(super) fn shape(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

/// Chunks along each axis; an axis without elements has none.
pub(super) fn grid(shape: &[u64], chunk: &[u64]) -> Vec<u64> {
    shape
        .iter()
        .enumerate()
        .map(|(axis, &extent)| {
            let edge = chunk.get(axis).copied().unwrap_or(extent).max(1);
            extent.div_ceil(edge)
        })
        .collect()
}

/// The product of all extents, at most `u128::MAX`.
pub(super) fn product(extents: &[u64]) -> u128 {
    if extents.contains(&0) {
        return 0;
    }
    extents.iter().fold(1_u128, |product, &extent| product.saturating_mul(extent.into()))
}
