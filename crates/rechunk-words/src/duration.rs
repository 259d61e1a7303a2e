//! Times to wait, as people write them.

use std::time::Duration;

/// Parses `90`, `90s`, `250ms`, `5m`, `2h`. `None` if it is not a time, or none at all.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(rechunk_words::parse_duration("1.5m"), Some(Duration::from_secs(90)));
/// assert_eq!(rechunk_words::parse_duration("soon"), None);
/// ```
pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_seconds = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = digits.parse::<f64>().ok()? * unit_seconds;
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero())
}
