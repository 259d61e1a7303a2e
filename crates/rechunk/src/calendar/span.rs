//! Lengths of time as they are typed: `30D`, `6h`, `1Y`.

use std::fmt;

use crate::Error;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// Number of units; not 0.
    pub count: u64,
    /// The unit.
    pub unit: SpanUnit,
}

/// A unit of a length of time, as pandas names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SpanUnit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

impl SpanUnit {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "Y" | "YS" => Self::Year,
            "M" | "MS" => Self::Month,
            "W" => Self::Week,
            "D" => Self::Day,
            "h" | "H" => Self::Hour,
            "min" => Self::Minute,
            "s" | "S" => Self::Second,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Year => "Y",
            Self::Month => "M",
            Self::Week => "W",
            Self::Day => "D",
            Self::Hour => "h",
            Self::Minute => "min",
            Self::Second => "s",
        }
    }
}

impl TimeSpan {
    /// `30D`: digits and a unit, more than nothing. `None` if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let count = text.get(..digits)?.parse().ok().filter(|count| *count > 0)?;
        SpanUnit::from_name(text.get(digits..)?.trim_start()).map(|unit| Self { count, unit })
    }

    /// Length of the span.
    pub(super) fn length(self) -> Length {
        let count = self.count as f64;
        match self.unit {
            SpanUnit::Year => Length::Months(count * 12.0),
            SpanUnit::Month => Length::Months(count),
            SpanUnit::Week => Length::Seconds(count * 604_800.0),
            SpanUnit::Day => Length::Seconds(count * 86_400.0),
            SpanUnit::Hour => Length::Seconds(count * 3600.0),
            SpanUnit::Minute => Length::Seconds(count * 60.0),
            SpanUnit::Second => Length::Seconds(count),
        }
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, self.unit.name())
    }
}

/// A length of time in what it is counted in: months are no fixed number of seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Length {
    Seconds(f64),
    Months(f64),
}

impl Length {
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

/// Refusal of a time in `option` where no coordinate says how many elements it is.
pub(crate) fn unresolved(option: &str, span: TimeSpan) -> Error {
    let reason = format!("{span} is a time, and there is no coordinate that says how long that is");
    usage(option, &reason, "give a number of elements")
}

/// Refusal of what `option` says.
pub(super) fn usage(option: &str, reason: &str, hint: &str) -> Error {
    Error::Usage { message: format!("{option}: {reason}"), hint: Some(hint.into()) }
}
