//! Lengths of chunks along an axis as they are typed: `31+28+31+30x2`.

use std::fmt;
use std::sync::Arc;

use rechunk_grid::{AxisChunks, GridError};

use crate::WordError;

/// Lengths of the chunks along one axis, equal neighbours together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkLengths(Arc<[(u64, u64)]>);

impl ChunkLengths {
    /// Chunks of these lengths, each so many times; `None` where there is none, or a 0 among them.
    pub fn of_runs(runs: impl IntoIterator<Item = (u64, u64)>) -> Option<Self> {
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (length, count) in runs {
            if length == 0 || count == 0 {
                return None;
            }
            match all.last_mut() {
                Some(last) if last.0 == length => last.1 = last.1.saturating_add(count),
                _ => all.push((length, count)),
            }
        }
        (!all.is_empty()).then(|| Self(all.into()))
    }

    /// Reads `31+28+31+30x2`: lengths with `+` between them, `x` and a number behind those that
    /// come so many times. `None` if the text is no list.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, WordError>> {
        let has_digit = text.contains(|character: char| character.is_ascii_digit());
        let is_list = text.contains('x') || text.trim_start_matches('+').contains('+');
        let is_list = is_list && has_digit;
        if !is_list || !text.bytes().all(|byte| byte.is_ascii_digit() || b"+x ".contains(&byte)) {
            return None;
        }
        let run = |word: &str| {
            let (length, count) = word.split_once('x').unwrap_or((word, "1"));
            Some((length.trim().parse().ok()?, count.trim().parse().ok()?))
        };
        let runs: Option<Vec<(u64, u64)>> = text.split('+').map(run).collect();
        let wanted = "lengths are written as 31+28+31+30x2";
        let error =
            || WordError::new(format!("`{text}` is no list of chunk lengths"), Some(wanted));
        Some(runs.and_then(Self::of_runs).ok_or_else(error))
    }

    /// Number of chunks.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |count, run| count.saturating_add(run.1))
    }

    /// Shortest and longest chunk, elements.
    pub fn range(&self) -> (u64, u64) {
        let lengths = || self.0.iter().map(|run| run.0);
        (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0))
    }

    /// Length of all chunks, if they have one; the last may be shorter, as that of a regular grid.
    pub fn regular(&self) -> Option<u64> {
        match *self.0 {
            [(length, _)] => Some(length),
            [(length, _), (last, 1)] if last < length => Some(length),
            _ => None,
        }
    }

    /// Chunks of these lengths on `axis`, of `extent` elements.
    pub fn on(&self, axis: usize, extent: u64) -> Result<AxisChunks, GridError> {
        AxisChunks::of_runs(axis, extent, self.0.iter().copied())
    }
}

impl fmt::Display for ChunkLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (length, count)) in self.0.iter().enumerate() {
            let plus = if position == 0 { "" } else { "+" };
            write!(f, "{plus}{length}")?;
            // A single length would be a number of elements for all chunks.
            if *count > 1 || self.0.len() == 1 {
                write!(f, "x{count}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_they_are_read() {
        for (text, shown) in [
            ("31+28+31+30x2", "31+28+31+30x2"),
            ("31 + 28", "31+28"),
            ("5x3", "5x3"),
            ("5+5+5", "5x3"),
            ("5x2+5+4", "5x3+4"),
        ] {
            let lengths = ChunkLengths::parse(text).unwrap().unwrap();
            assert_eq!(lengths.to_string(), shown);
            assert_eq!(ChunkLengths::parse(shown).unwrap().unwrap(), lengths);
        }
        let regular = |text| ChunkLengths::parse(text).unwrap().unwrap().regular();
        assert_eq!([regular("5x3"), regular("5x3+2"), regular("5+6")], [Some(5), Some(5), None]);
        assert_eq!(regular("5x3+2x2"), None);
        for text in ["5x0", "0+5", "5+", "+5+5", "x5", "5x", "5x99999999999999999999+1"] {
            assert!(ChunkLengths::parse(text).unwrap().is_err(), "{text}");
        }
        for text in ["5", "+5", "30D", "auto", "-1", "5!", "2max", "x"] {
            assert!(ChunkLengths::parse(text).is_none(), "{text}");
        }
    }
}
