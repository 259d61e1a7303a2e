//! Bytes that are wanted of an object: all of them, a range, or an end.

use std::ops::Range;

use crate::condition::Condition;
use crate::narrow::Narrow;

/// An end of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its first bytes.
    First,
    /// Its last bytes.
    Last,
}

impl End {
    /// First byte and number of bytes of `length` at this end of an object of so many.
    pub(crate) fn of(self, size_bytes: u64, length: u64) -> (u64, u64) {
        let length = length.min(size_bytes);
        match self {
            Self::First => (0, length),
            Self::Last => (size_bytes - length, length),
        }
    }
}

/// Bytes that are wanted of an object, and sizes that are accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// All of it, if it has no more bytes than that.
    Whole { limit_bytes: u64 },
    /// All of it, within the limit, or the part that is needed.
    Part { limit_bytes: u64, narrow: &'a Narrow },
    /// All of it, which has to be so long.
    Exactly { size_bytes: u64 },
    /// A range of one that has to be so long.
    RangeOf { size_bytes: u64, start: u64, length: u64 },
    /// So many bytes from there on.
    Range { start: u64, length: u64 },
    /// So many bytes from there on, of an object that is not known to be so long; one in another
    /// state is refused.
    Within { start: u64, length: u64, condition: Option<&'a Condition> },
    /// So many bytes at an end, or all it has.
    End { end: End, length: u64 },
}

impl Wanted<'_> {
    /// `range` of an object of exactly `size_bytes`.
    pub(crate) fn of_size(size_bytes: u64, range: &Range<u64>) -> Self {
        let (start, length) = (range.start, range.end.saturating_sub(range.start));
        if length == size_bytes {
            Self::Exactly { size_bytes }
        } else {
            Self::RangeOf { size_bytes, start, length }
        }
    }

    /// The most bytes that come.
    pub(crate) fn bytes_max(self) -> u64 {
        match self {
            Self::Whole { limit_bytes: bytes }
            | Self::Part { limit_bytes: bytes, .. }
            | Self::Exactly { size_bytes: bytes }
            | Self::RangeOf { length: bytes, .. }
            | Self::Range { length: bytes, .. }
            | Self::Within { length: bytes, .. }
            | Self::End { length: bytes, .. } => bytes,
        }
    }
}
