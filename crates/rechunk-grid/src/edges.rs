//! Chunks of different lengths along an axis: the grids that Zarr calls rectilinear.

use std::fmt::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{GridError, Region};

/// Most chunks of an array along the axes where lengths differ, all those axes together. A few
/// bytes of metadata can claim any number (`[[1, 1000000000], 2]`), and each costs memory and time.
pub const EDGES_MAX: usize = 1 << 20;

/// Ends of chunks beyond this are refused, so that sums cannot overflow.
const END_LIMIT: u64 = 1 << 63;

/// Chunks of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisChunks {
    /// In chunks of this length, the last one reaching over the end.
    Regular(u64),
    /// In chunks of several lengths.
    Edges(AxisEdges),
}

/// Ends of the chunks of one axis. There are at least two, and their lengths are not all equal; or
/// they hold only some of the elements, and there is a gap before them or behind.
///
/// Stored as text, runs of equal lengths as `length` or `length x count`: `31 28 31 30x2`; before
/// them, where there is a gap, the elements that are held: `3..13: 4x3`.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AxisEdges {
    /// Ends of the chunks, elements, ascending. The last may lie beyond the array.
    ends: Arc<[u64]>,
    longest: u64,
    shortest: u64,
    /// First element that is held and end of those; `None` if there is no gap.
    held: Option<(u64, u64)>,
}

impl AxisChunks {
    /// An axis of `extent` elements cut in chunks of these lengths, each with how often it is
    /// repeated. Chunks that lie wholly beyond the end are no part of the grid. Where all lengths
    /// are equal the axis is regular.
    pub fn of_runs(
        axis: usize,
        extent: u64,
        runs: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<Self, GridError> {
        let fault = |reason: String| GridError::ChunkLengths { axis, reason };
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let (mut reached, mut first) = (0_u64, None);
        for (length, count) in runs {
            if length == 0 || count == 0 {
                return Err(fault("have a 0 among them".to_owned()));
            }
            first = first.or(Some(length));
            if reached < extent {
                let count = (extent - reached).div_ceil(length).min(count);
                let end = length.checked_mul(count).and_then(|bytes| bytes.checked_add(reached));
                reached = end
                    .filter(|&end| end < END_LIMIT)
                    .ok_or_else(|| fault("add up to more than 63 bits".to_owned()))?;
                taken.push((length, count));
            }
        }
        if reached < extent {
            return Err(fault(format!("add up to {reached}, but the axis has {extent} elements")));
        }
        let regular = taken.first().map_or(first.unwrap_or(1), |run| run.0);
        if taken.iter().all(|run| run.0 == regular) {
            return Ok(Self::Regular(regular));
        }
        AxisEdges::expand(&taken, None).map(Self::Edges).map_err(fault)
    }

    /// Puts chunks on only a part of an axis of `extent` elements, from `held.0` up to and without
    /// `held.1`. They begin there and are cut as `self`, an axis by itself, is. The first chunk
    /// stands for the gap before it too, the last for the one behind.
    pub fn within(self, axis: usize, extent: u64, held: (u64, u64)) -> Result<Self, GridError> {
        let fault = |reason: &str| GridError::ChunkLengths { axis, reason: reason.to_owned() };
        if held.0 >= held.1 || held.1 > extent {
            return Err(fault("lie outside of the axis"));
        }
        if held == (0, extent) {
            return Ok(self);
        }
        let runs = match &self {
            Self::Regular(0) => return Err(fault("have a 0 among them")),
            Self::Regular(length) => vec![(*length, (held.1 - held.0).div_ceil(*length))],
            Self::Edges(edges) => edges.runs(),
        };
        let edges = AxisEdges::expand(&runs, Some(held)).map_err(|reason| fault(&reason))?;
        Ok(Self::Edges(edges))
    }

    /// The longest chunk, elements.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Regular(length) => *length,
            Self::Edges(edges) => edges.longest,
        }
    }

    /// The edges, where lengths differ.
    pub fn into_edges(self) -> Option<AxisEdges> {
        match self {
            Self::Regular(_) => None,
            Self::Edges(edges) => Some(edges),
        }
    }
}

impl AxisEdges {
    fn expand(runs: &[(u64, u64)], held: Option<(u64, u64)>) -> Result<Self, String> {
        let count = runs.iter().fold(0_u64, |sum, run| sum.saturating_add(run.1));
        let most = usize::try_from(count).ok().filter(|count| *count <= EDGES_MAX);
        let Some(count) = most else {
            return Err(format!("are {count}, more than the {EDGES_MAX} that are supported"));
        };
        if runs.iter().any(|&(length, count)| length == 0 || count == 0) {
            return Err("have a 0 among them".to_owned());
        }
        let mut ends = Vec::with_capacity(count);
        let mut end = held.map_or(0, |held| held.0);
        for &(length, count) in runs {
            for _ in 0..count {
                let next = end.checked_add(length).filter(|&next| next < END_LIMIT);
                end = next.ok_or("add up to more than 63 bits")?;
                ends.push(end);
            }
        }
        let lengths = || runs.iter().map(|run| run.0);
        let (longest, shortest) = (lengths().max(), lengths().min());
        let (Some(longest), Some(shortest)) = (longest, shortest) else {
            return Err("are none".to_owned());
        };
        if longest == shortest && held.is_none() {
            return Err("are all equal".to_owned());
        }
        if let Some((first, until)) = held {
            let before = ends.len().checked_sub(2).and_then(|at| ends.get(at)).unwrap_or(&first);
            if first >= until || *before >= until || ends.last().is_none_or(|end| *end < until) {
                return Err(format!("do not end at {until}, where what they hold does"));
            }
        }
        Ok(Self { ends: ends.into(), longest, shortest, held })
    }

    /// Number of chunks.
    pub fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    /// The longest chunk, elements.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// The shortest chunk, elements.
    pub fn shortest(&self) -> u64 {
        self.shortest
    }

    /// Where the chunks end, elements, ascending.
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// First element that chunks hold and end of those; `None` if they hold all of the axis.
    pub fn held(&self) -> Option<(u64, u64)> {
        self.held
    }

    /// Start of the first chunk.
    fn first(&self) -> u64 {
        self.held.map_or(0, |held| held.0)
    }

    /// First element of chunk `position`, and its length; `None` if there is no such chunk.
    pub fn chunk(&self, position: u64) -> Option<(u64, u64)> {
        let position = usize::try_from(position).ok()?;
        let end = *self.ends.get(position)?;
        let start = position.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = start.copied().unwrap_or(self.first());
        Some((start, end - start))
    }

    /// First element and end of the range that chunk `position` stands for on an axis of `extent`
    /// elements. That is its part of the axis, and the gap beside it.
    pub fn reach(&self, position: u64, extent: u64) -> Option<(u64, u64)> {
        let (start, length) = self.chunk(position)?;
        let is_last = self.held.is_some() && position + 1 == self.count();
        let end = if is_last { extent } else { (start + length).min(extent) };
        Some((if position == 0 { 0 } else { start }, end))
    }

    /// The chunk that `element` lies in, or that stands for the gap in which it does; the number of
    /// chunks if it lies behind them.
    pub fn position(&self, element: u64) -> u64 {
        let position = self.ends.partition_point(|&end| end <= element) as u64;
        if self.held.is_some() { position.min(self.count() - 1) } else { position }
    }

    /// Number of the chunks at the elements from `first` to `last`, and their own elements.
    pub fn met(&self, first: u64, last: u64) -> (u64, u64) {
        let (first, last) = (self.position(first), self.position(last));
        let chunk = |position| self.chunk(position).unwrap_or_default();
        let (start, (from, length)) = (chunk(first).0, chunk(last));
        (last.saturating_sub(first) + 1, (from + length).saturating_sub(start))
    }

    /// First element and end of every chunk.
    pub fn chunks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let starts = std::iter::once(self.first()).chain(self.ends.iter().copied());
        starts.zip(self.ends.iter().copied())
    }

    /// Lengths of chunks, equal neighbours together: length and number.
    pub fn runs(&self) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (start, end) in self.chunks() {
            match runs.last_mut() {
                Some((length, count)) if *length == end - start => *count += 1,
                _ => runs.push((end - start, 1)),
            }
        }
        runs
    }
}

/// Not every edge: there may be a million.
impl fmt::Debug for AxisEdges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} to {}", self.count(), self.shortest, self.longest)
    }
}

impl From<AxisEdges> for String {
    fn from(edges: AxisEdges) -> Self {
        let mut text = Self::new();
        if let Some((first, end)) = edges.held {
            let _ = write!(text, "{first}..{end}:"); // writing to a String cannot fail
        }
        for (length, count) in edges.runs() {
            let gap = if text.is_empty() { "" } else { " " };
            let times = if count > 1 { format!("x{count}") } else { Self::new() };
            let _ = write!(text, "{gap}{length}{times}"); // writing to a String cannot fail
        }
        text
    }
}

impl TryFrom<String> for AxisEdges {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let run = |word: &str| {
            let (length, count) = word.split_once('x').unwrap_or((word, "1"));
            Some((length.parse().ok()?, count.parse().ok()?))
        };
        let (held, runs) = match text.split_once(": ") {
            Some((held, runs)) => {
                let held = held.split_once("..");
                let held = held.and_then(|(a, b)| a.parse().ok().zip(b.parse().ok()));
                (Some(held.ok_or("what chunks hold is written as `3..13`")?), runs)
            }
            None => (None, &text[..]),
        };
        let runs: Option<Vec<(u64, u64)>> = runs.split(' ').map(run).collect();
        let runs = runs.ok_or("chunk lengths are numbers such as `31 28 30x2`")?;
        Self::expand(&runs, held).map_err(|reason| format!("chunk lengths {reason}"))
    }
}

/// The axes of an array whose chunks differ in length: at least one of them does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Edges {
    axes: Vec<Option<AxisEdges>>,
}

impl Edges {
    /// An entry for each axis, `None` where it is regular. `None` if all of them are.
    pub fn new(axes: Vec<Option<AxisEdges>>) -> Option<Self> {
        axes.iter().any(Option::is_some).then_some(Self { axes })
    }

    /// The edges of `axis`; `None` if it is regular.
    pub fn axis(&self, axis: usize) -> Option<&AxisEdges> {
        self.axes.get(axis)?.as_ref()
    }

    /// The elements of an array of `shape` that chunks hold; `None` if that is all of them.
    pub fn held(&self, shape: &[u64]) -> Option<Region> {
        let held = |axis: usize| self.axis(axis).and_then(AxisEdges::held);
        if (0..shape.len()).all(|axis| held(axis).is_none()) {
            return None;
        }
        let (start, shape) = shape
            .iter()
            .enumerate()
            .map(|(axis, extent)| held(axis).map_or((0, *extent), |(from, to)| (from, to - from)))
            .unzip();
        Some(Region::new(start, shape))
    }

    /// Shape of the smallest chunk; `largest` is that of the largest.
    pub fn smallest(&self, largest: &[u64]) -> Vec<u64> {
        let shortest = |axis| self.axis(axis).map(AxisEdges::shortest);
        largest.iter().enumerate().map(|(axis, &most)| shortest(axis).unwrap_or(most)).collect()
    }

    /// Checks what a grid relies on: the chunks of every axis end in or behind its last element,
    /// and none begins behind it.
    pub(crate) fn check(&self, shape: &[u64], chunk_shape: &[u64]) -> Result<(), GridError> {
        if self.axes.len() != shape.len() {
            return Err(GridError::RankMismatch { array: shape.len(), chunk: self.axes.len() });
        }
        let mut all = 0;
        for (axis, edges) in self.axes.iter().enumerate() {
            let Some(edges) = edges else { continue };
            all += edges.ends.len();
            let fault =
                |reason: &str| Err(GridError::ChunkLengths { axis, reason: reason.to_owned() });
            if edges.longest != chunk_shape[axis] {
                return fault("have another longest chunk than the chunk shape says");
            }
            if let Some((_, end)) = edges.held {
                if end > shape[axis] {
                    return fault("hold more than the axis has");
                }
                continue; // the rest was checked when they were made
            }
            let last = edges.chunk(edges.count() - 1);
            if last
                .is_none_or(|(start, length)| start >= shape[axis] || start + length < shape[axis])
            {
                return fault("do not end where the axis does");
            }
        }
        if all > EDGES_MAX {
            let reason = format!("and those of others are more than {EDGES_MAX} together");
            return Err(GridError::ChunkLengths { axis: 0, reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(extent: u64, runs: &[(u64, u64)]) -> Result<AxisChunks, String> {
        AxisChunks::of_runs(1, extent, runs.iter().copied()).map_err(|error| error.to_string())
    }

    #[test]
    fn chunks_behind_the_end_are_no_part_of_the_grid() {
        let AxisChunks::Edges(edges) = of(6, &[(1, 3), (3, 1), (4, 1 << 60)]).unwrap() else {
            panic!("regular");
        };
        assert_eq!(edges.ends(), [1, 2, 3, 6]);
        assert_eq!((edges.longest(), edges.shortest(), edges.count()), (3, 1, 4));
        assert_eq!(edges.chunk(3), Some((3, 3)));
        assert_eq!(edges.chunk(4), None);
        assert_eq!([0, 2, 3, 5, 6].map(|element| edges.position(element)), [0, 2, 3, 3, 4]);
        assert_eq!(edges.runs(), [(1, 3), (3, 1)]);
    }

    #[test]
    fn equal_lengths_are_regular() {
        for (extent, runs, length) in [
            (10, &[(3, 4)][..], 3),
            (6, &[(4, 1), (4, 1), (9, 1)], 4),
            (1 << 40, &[(1, 1 << 41)], 1),
            (0, &[(5, 1), (6, 1)], 5),
            (0, &[], 1),
        ] {
            assert_eq!(of(extent, runs).unwrap(), AxisChunks::Regular(length), "{runs:?}");
        }
    }

    #[test]
    fn lies_are_refused() {
        for (extent, runs, reason) in [
            (6, &[(1, 3), (2, 1)][..], "add up to 5, but the axis has 6 elements"),
            (6, &[], "add up to 0"),
            (6, &[(0, 3), (6, 1)], "have a 0"),
            (6, &[(2, 0), (6, 1)], "have a 0"),
            (6, &[(6, 1), (0, 1)], "have a 0"),
            (6, &[(1, 1), (u64::MAX, 1)], "63 bits"),
            (6, &[(1, 1), (1 << 63, 1)], "63 bits"),
            (1 << 40, &[(1, 1 << 30), (2, 1 << 40)], "more than the 1048576"),
        ] {
            let error = of(extent, runs).unwrap_err();
            assert!(error.contains(reason) && error.contains("axis 1"), "{runs:?}: {error}");
        }
    }

    #[test]
    fn edges_are_stored_as_text() {
        let edges = of(120, &[(31, 1), (28, 1), (31, 1), (30, 1)]).unwrap().into_edges().unwrap();
        assert_eq!(String::from(edges.clone()), "31 28 31 30");
        assert_eq!(AxisEdges::try_from("31 28 31 30".to_owned()).unwrap(), edges);
        let edges = AxisEdges::try_from("2x3 7".to_owned()).unwrap();
        assert_eq!(
            (edges.ends(), String::from(edges.clone())),
            (&[2, 4, 6, 13][..], "2x3 7".into())
        );
        for bad in ["", "3", "3 3", "3x2", "0 1", "1 -1", "1x99999999999 2", "1  2", "a", "1x0 2x0"]
        {
            assert!(AxisEdges::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
        for big in ["9223372036854775807 9223372036854775806", "18446744073709551615 1"] {
            assert!(AxisEdges::try_from(big.to_owned()).is_err());
        }
    }

    #[test]
    fn chunks_may_stand_for_the_gaps_beside_them() {
        let regular = AxisChunks::Regular(4);
        assert_eq!(regular.clone().within(0, 10, (0, 10)).unwrap(), regular);
        let edges = regular.clone().within(0, 16, (3, 13)).unwrap().into_edges().unwrap();
        assert_eq!(
            (edges.ends(), edges.longest(), edges.held()),
            (&[7, 11, 15][..], 4, Some((3, 13)))
        );
        assert_eq!([0, 1, 2].map(|at| edges.chunk(at).unwrap()), [(3, 4), (7, 4), (11, 4)]);
        assert_eq!([0, 1, 2].map(|at| edges.reach(at, 16).unwrap()), [(0, 7), (7, 11), (11, 16)]);
        assert_eq!([0, 6, 7, 14, 15].map(|element| edges.position(element)), [0, 0, 1, 2, 2]);
        assert_eq!(String::from(edges.clone()), "3..13: 4x3");
        assert_eq!(AxisEdges::try_from("3..13: 4x3".to_owned()).unwrap(), edges);
        let own = of(5, &[(2, 1), (3, 1)]).unwrap().within(0, 7, (1, 6)).unwrap();
        assert_eq!(String::from(own.into_edges().unwrap()), "1..6: 2 3");
        // One chunk alone may have gaps on both sides.
        let one = regular.clone().within(0, 9, (4, 5)).unwrap().into_edges().unwrap();
        assert_eq!((one.count(), one.reach(0, 9)), (1, Some((0, 9))));
        for (extent, held) in [(10, (0, 11)), (10, (5, 5)), (10, (6, 5))] {
            assert!(regular.clone().within(0, extent, held).is_err(), "{held:?}");
        }
        for bad in ["3..13:", "3..13: 4", "3..13: 4x4", "13..3: 4", "3: 4", "..: 4", "3..3: 4x2"] {
            assert!(AxisEdges::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
