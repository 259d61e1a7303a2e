//! Counts, times and money as people write them.

/// `1,234,567`: digits in groups of three.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 array`, `2 arrays`.
pub(crate) fn plural(count: u64, what: &str) -> String {
    let number = number(count);
    if count == 1 { format!("{number} {what}") } else { format!("{number} {what}s") }
}

/// A time as people say it: `1.2 s`, `3 min`, `4.5 h`, `2.1 days`.
///
/// ```
/// assert_eq!(rechunk_render::seconds(0.25), "250 ms");
/// assert_eq!(rechunk_render::seconds(16_200.0), "4.5 h");
/// ```
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => "< 1 ms".to_owned(),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86400.0),
    }
}

/// `12.30 $`; with two significant digits below a cent.
pub(crate) fn dollars(usd: f64) -> String {
    match usd {
        usd if usd <= 0.0 => "0 $".to_owned(),
        usd if usd < 1e-6 => "< 0.000001 $".to_owned(),
        usd if usd < 0.01 => {
            let two = format!("{usd:.1e}").parse::<f64>().unwrap_or(usd);
            format!("{two} $")
        }
        usd => format!("{usd:.2} $"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times() {
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(12), "12");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(600.0), "10 min");
    }

    #[test]
    fn small_sums_keep_two_digits() {
        assert_eq!(dollars(12.3), "12.30 $");
        assert_eq!(dollars(0.0), "0 $");
        assert_eq!(dollars(0.004_44), "0.0044 $");
        assert_eq!(dollars(0.000_01), "0.00001 $");
        assert_eq!(dollars(1e-9), "< 0.000001 $");
    }
}
