//! Units of time, as NumPy has them.

use serde::{Deserialize, Serialize};

/// Unit of a date or a length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TimeUnit {
    /// No unit is said.
    Generic,
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Picosecond,
    Femtosecond,
    Attosecond,
}

impl TimeUnit {
    /// Every unit.
    pub const ALL: [Self; 14] = [
        Self::Generic,
        Self::Year,
        Self::Month,
        Self::Week,
        Self::Day,
        Self::Hour,
        Self::Minute,
        Self::Second,
        Self::Millisecond,
        Self::Microsecond,
        Self::Nanosecond,
        Self::Picosecond,
        Self::Femtosecond,
        Self::Attosecond,
    ];

    /// NumPy's name, which Zarr v3 takes over.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Year => "Y",
            Self::Month => "M",
            Self::Week => "W",
            Self::Day => "D",
            Self::Hour => "h",
            Self::Minute => "m",
            Self::Second => "s",
            Self::Millisecond => "ms",
            Self::Microsecond => "us",
            Self::Nanosecond => "ns",
            Self::Picosecond => "ps",
            Self::Femtosecond => "fs",
            Self::Attosecond => "as",
        }
    }

    /// The unit of a name; `μs` is `us`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if matches!(name, "\u{3bc}s" | "\u{b5}s") { "us" } else { name };
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }
}
