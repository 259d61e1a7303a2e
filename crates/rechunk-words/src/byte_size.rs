//! Byte sizes as people write them.

/// Parses `512MiB`, `2GB`, `1.5g`, `4096`. Units with an `i` are binary, and the bare letters `k m
/// g t`, as in most tools; those with a `B` alone are decimal. `None` if it is not a size.
pub fn parse_byte_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut bytes = whole.checked_mul(factor)?;
    if !fraction.is_empty() {
        let part = u128::from(fraction.parse::<u64>().ok()?) * u128::from(factor);
        let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
        bytes = bytes.checked_add(u64::try_from(part / scale).ok()?)?;
    }
    Some(bytes)
}

/// `1.2 GiB`: three significant digits, binary units.
pub fn format_byte_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_people_write() {
        for (text, bytes) in [
            ("512MiB", 512 << 20),
            ("2GB", 2_000_000_000),
            ("1.5g", 3 << 29),
            ("4096", 4096),
            ("16 kib", 16 << 10),
            (".5k", 512),
        ] {
            assert_eq!(parse_byte_size(text), Some(bytes), "{text}");
        }
        for text in
            ["", "GB", "-1", "1e9", "3 apples", "99999999999999999999", "18446744073709551615t"]
        {
            assert_eq!(parse_byte_size(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_we_show() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1_048_575, "1.00 MiB"),
            (512 << 20, "512 MiB"),
            (8_349_664_104_000, "7.59 TiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(format_byte_size(bytes), text);
        }
    }
}
