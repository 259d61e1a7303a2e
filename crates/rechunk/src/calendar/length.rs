//! Lengths of time, in months or in seconds.

use std::fmt;

use rechunk_words::{SpanUnit, TimeSpan};

/// A length of time in what it is counted in: months are no fixed number of seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Length {
    Seconds(f64),
    Months(f64),
}

impl Length {
    /// Returns the length of `span`.
    pub(super) fn of(span: TimeSpan) -> Self {
        let count = span.count as f64;
        match span.unit {
            SpanUnit::Year => Self::Months(count * 12.0),
            SpanUnit::Month => Self::Months(count),
            SpanUnit::Week => Self::Seconds(count * 604_800.0),
            SpanUnit::Day => Self::Seconds(count * 86_400.0),
            SpanUnit::Hour => Self::Seconds(count * 3600.0),
            SpanUnit::Minute => Self::Seconds(count * 60.0),
            SpanUnit::Second => Self::Seconds(count),
        }
    }

    /// So many times as long.
    pub(super) fn times(self, factor: f64) -> Self {
        match self {
            Self::Seconds(seconds) => Self::Seconds(seconds * factor),
            Self::Months(months) => Self::Months(months * factor),
        }
    }
}

/// `6 h`, `31 days`, `1 month`: in the largest unit that there is a whole number of.
impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (amount, units): (f64, &[(f64, &str)]) = match self {
            Self::Months(months) => (*months, &[(12.0, "year"), (1.0, "month")]),
            Self::Seconds(seconds) => (
                *seconds,
                &[(86_400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second")],
            ),
        };
        let is_whole = |unit: &&(f64, &str)| {
            let count = amount / unit.0;
            count.abs() >= 1.0 - 1e-9 && (count - count.round()).abs() < 1e-6 * count.abs()
        };
        let (length, name) =
            units.iter().find(is_whole).or(units.last()).copied().unwrap_or((1.0, ""));
        let count = amount / length;
        let rounded =
            if (count - count.round()).abs() < 1e-6 * count.abs() { count.round() } else { count };
        let plural = if (rounded - 1.0).abs() < f64::EPSILON { "" } else { "s" };
        write!(f, "{rounded} {name}{plural}")
    }
}
