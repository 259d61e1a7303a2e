//! Lengths of time as they are typed: `30D`, `6h`, `1Y`.

use std::fmt;

use crate::WordError;

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
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, self.unit.name())
    }
}

/// Refusal of a time in `option` where no coordinate says how many elements it is.
pub fn unresolved(option: &str, span: TimeSpan) -> WordError {
    let message = format!(
        "{option}: {span} is a time, and there is no coordinate that says how long that is"
    );
    WordError::new(message, Some("give a number of elements"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_digits_and_a_unit() {
        for (text, shown) in [
            ("30D", "30D"),
            ("6h", "6h"),
            ("6H", "6h"),
            ("15 min", "15min"),
            ("90S", "90s"),
            ("2W", "2W"),
            ("1MS", "1M"),
            ("1YS", "1Y"),
        ] {
            assert_eq!(TimeSpan::parse(text).unwrap().to_string(), shown);
        }
        for text in ["D", "0D", "-1D", "1.5D", "30d", "30", "30Days", "99999999999999999999D", "é"]
        {
            assert_eq!(TimeSpan::parse(text), None, "{text}");
        }
    }
}
