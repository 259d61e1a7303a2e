//! Voxels beyond the border of a source: which voxel inside stands for each.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::voxel_box::Span;

/// Rule for voxels beyond the border of a source, named as in `numpy.pad`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// Each is one value.
    #[default]
    Constant,
    /// Each is the nearest inside (NumPy's `edge`): `a a a | a b c d | d d d`.
    Nearest,
    /// They mirror those inside, the outermost too: `c b a | a b c d | d c b`.
    Symmetric,
    /// They mirror those inside, about the outermost: `d c b | a b c d | c b a`.
    Reflect,
    /// The source begins anew: `b c d | a b c d | a b c`.
    Wrap,
}

/// Why a padded buffer cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BoundaryError {
    /// A buffer has not the bytes of its box.
    #[error("{name} has {found} bytes instead of {expected}")]
    Bytes {
        /// Name of the buffer.
        name: &'static str,
        /// Bytes that it has.
        found: usize,
        /// Bytes that it should have.
        expected: u128,
    },
    /// There is no such rule.
    #[error("`{0}` is no boundary; there are constant, nearest, symmetric, reflect, wrap")]
    Unknown(String),
}

impl Boundary {
    /// Every rule.
    pub const ALL: [Self; 5] =
        [Self::Constant, Self::Nearest, Self::Symmetric, Self::Reflect, Self::Wrap];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Nearest => "nearest",
            Self::Symmetric => "symmetric",
            Self::Reflect => "reflect",
            Self::Wrap => "wrap",
        }
    }

    /// Voxel of a source of `extent` that stands for the voxel at `at`; `None` for the constant,
    /// and where the source has no voxel. Positions may be any distance away.
    ///
    /// ```
    /// use rechunk_apply::Boundary;
    /// let seen =
    ///     |rule: Boundary| (-3..7).map(|at| rule.index(at, 4).unwrap()).collect::<Vec<_>>();
    /// assert_eq!(seen(Boundary::Symmetric), [2, 1, 0, 0, 1, 2, 3, 3, 2, 1]);
    /// assert_eq!(seen(Boundary::Reflect), [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]);
    /// assert_eq!(Boundary::Constant.index(-1, 4), None);
    /// ```
    pub fn index(self, at: i64, extent: u64) -> Option<u64> {
        let last = i128::from(extent.checked_sub(1)?);
        let (at, count) = (i128::from(at), last + 1);
        let found = match self {
            Self::Constant => Some(at).filter(|at| (0..count).contains(at))?,
            Self::Nearest => at.clamp(0, last),
            Self::Symmetric => {
                let within = at.rem_euclid(2 * count);
                within.min(2 * count - 1 - within)
            }
            Self::Reflect => {
                let period = (2 * last).max(1);
                let within = at.rem_euclid(period);
                within.min(2 * last - within)
            }
            Self::Wrap => at.rem_euclid(count),
        };
        u64::try_from(found).ok()
    }

    /// Voxels of a source of `extent` that a padded range `span` needs.
    pub fn window(self, span: Span, extent: u64) -> AxisWindow {
        let intervals = self.intervals(span, extent);
        // They are read one after the other.
        let place = |index: u64| {
            let before = intervals.iter().take_while(|range| range.start <= index);
            let within = before.map(|range| range.end.min(index) - range.start);
            usize::try_from(within.sum::<u64>()).unwrap_or(usize::MAX)
        };
        let map = (span.start..span.end).map(|at| self.index(at, extent).map(place)).collect();
        AxisWindow { intervals, map }
    }

    /// Ranges of a source of `extent` that a padded range `span` needs, ascending and apart from
    /// each other.
    ///
    /// ```
    /// use rechunk_apply::{Boundary, Span};
    /// assert_eq!(Boundary::Wrap.intervals(Span::new(-2, 3), 10), [0..3, 8..10]);
    /// assert_eq!(Boundary::Reflect.intervals(Span::new(7, 14), 10), [5..10]);
    /// assert_eq!(Boundary::Constant.intervals(Span::new(11, 14), 10), []);
    /// ```
    pub fn intervals(self, span: Span, extent: u64) -> Vec<Range<u64>> {
        let Some(last) = extent.checked_sub(1).filter(|_| !span.is_empty()) else {
            return Vec::new();
        };
        let (start, end) = (i128::from(span.start), i128::from(span.end));
        let (last, count) = (i128::from(last), i128::from(extent));
        // Voxels turn about, or begin anew, after a block, and all have been seen after a period.
        let (start, end, block, period) = match self {
            Self::Constant => (start.max(0), end.min(count), count, count),
            Self::Nearest => (start.clamp(0, last), (end - 1).clamp(0, last) + 1, count, count),
            Self::Symmetric => (start, end, count, 2 * count),
            Self::Reflect => (start, end, last.max(1), (2 * last).max(1)),
            Self::Wrap => (start, end, count, count),
        };
        let index = |at: i128| i64::try_from(at).ok().and_then(|at| self.index(at, extent));
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut at = start;
        while at < end.min(start + period) {
            let next = ((at.div_euclid(block) + 1) * block).min(end);
            if let (Some(first), Some(last)) = (index(at), index(next - 1)) {
                ranges.push(first.min(last)..first.max(last) + 1);
            }
            at = next;
        }
        ranges.sort_unstable_by_key(|range| range.start);
        let mut intervals: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match intervals.last_mut().filter(|before| before.end >= range.start) {
                Some(before) => before.end = before.end.max(range.end),
                None => intervals.push(range),
            }
        }
        intervals
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Boundary {
    type Err = BoundaryError;

    fn from_str(text: &str) -> Result<Self, BoundaryError> {
        let found = Self::ALL.into_iter().find(|rule| rule.name() == text);
        found.ok_or_else(|| BoundaryError::Unknown(text.to_owned()))
    }
}

/// Voxels of a source that a padded range needs along one axis, and where each goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisWindow {
    intervals: Vec<Range<u64>>,
    map: Vec<Option<usize>>,
}

impl AxisWindow {
    /// Ranges of the source that are read: none, one, or, of [`Boundary::Wrap`], two; ascending.
    pub fn intervals(&self) -> &[Range<u64>] {
        &self.intervals
    }

    /// Voxels that are read: the lengths of the ranges.
    pub fn read_length(&self) -> u64 {
        self.intervals.iter().map(|range| range.end - range.start).sum()
    }

    /// Of each voxel of the padded range, its place among those that are read, one range after the
    /// other; `None` for the constant.
    pub fn map(&self) -> &[Option<usize>] {
        &self.map
    }
}

/// Fills a padded buffer. `read` has the voxels that the windows read, in C order, one range of an
/// axis after the other; `constant` is one element, for voxels beyond the source; `out` has the
/// padded box.
///
/// ```
/// use rechunk_apply::{Boundary, Span, fill_padded};
/// let window = Boundary::Reflect.window(Span::new(-2, 3), 10);
/// assert_eq!(window.intervals(), [0..3]);
/// let mut padded = [0; 5];
/// fill_padded(&[5, 6, 7], &[window], &[0], &mut padded)?;
/// assert_eq!(padded, [7, 6, 5, 6, 7]);
/// # Ok::<(), rechunk_apply::BoundaryError>(())
/// ```
pub fn fill_padded(
    read: &[u8],
    windows: &[AxisWindow],
    constant: &[u8],
    out: &mut [u8],
) -> Result<(), BoundaryError> {
    let item = constant.len();
    let bytes = |lengths: &mut dyn Iterator<Item = u64>| {
        lengths.fold(item as u128, |product, length| product.saturating_mul(length.into()))
    };
    let check = |name, found: usize, expected: u128| {
        let error = BoundaryError::Bytes { name, found, expected };
        if found as u128 == expected { Ok(()) } else { Err(error) }
    };
    check("what was read", read.len(), bytes(&mut windows.iter().map(AxisWindow::read_length)))?;
    let padded = bytes(&mut windows.iter().map(|window| window.map.len() as u64));
    check("the padded buffer", out.len(), padded)?;
    if !out.is_empty() {
        fill_axis(Some(read), windows, constant, out);
    }
    Ok(())
}

/// Fills the boxes of the slowest axis; `read` is `None` beyond the source.
fn fill_axis(read: Option<&[u8]>, windows: &[AxisWindow], constant: &[u8], out: &mut [u8]) {
    let (Some(read), Some((window, faster))) = (read, windows.split_first()) else {
        let from = read.unwrap_or(constant);
        out.chunks_exact_mut(constant.len().max(1)).for_each(|item| item.copy_from_slice(from));
        return;
    };
    let to_bytes = out.len() / window.map.len().max(1);
    let count = usize::try_from(window.read_length()).unwrap_or(usize::MAX);
    let from_bytes = read.len() / count.max(1);
    let part = |place: usize| &read[place * from_bytes..(place + 1) * from_bytes];
    if !faster.is_empty() {
        for (place, to) in window.map.iter().zip(out.chunks_exact_mut(to_bytes.max(1))) {
            fill_axis(place.map(part), faster, constant, to);
        }
        return;
    }
    // Runs of neighbours are copied at once.
    let mut at = 0;
    while at < window.map.len() {
        let first = window.map[at];
        let next = |run: usize| first.map(|first| first + run);
        let run = (1..window.map.len() - at)
            .find(|&run| window.map[at + run] != next(run))
            .unwrap_or(window.map.len() - at);
        let to = &mut out[at * to_bytes..(at + run) * to_bytes];
        match first {
            Some(first) => {
                to.copy_from_slice(&read[first * from_bytes..(first + run) * from_bytes]);
            }
            None => fill_axis(None, &[], constant, to),
        }
        at += run;
    }
}
