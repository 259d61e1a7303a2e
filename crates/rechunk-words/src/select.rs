//! The region of an array that is meant, in the words of Python's slices.

use std::fmt;

use rechunk_grid::{ArraySpec, Region};
use serde::{Deserialize, Serialize};

use crate::chunk_spec::axis_in_words;
use crate::error::{Asked, WordError};

/// Region of an array that is meant. Parsed from the text that the command line takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum RegionSpec {
    /// One entry per axis, slowest first: `0:1000,:,5`.
    Positional(Vec<Slice>),
    /// By dimension name, axes that are not named as a whole: `time=0:1000,lat=10:20`.
    Named(Vec<(String, Slice)>),
}

/// Elements of an axis. Negative numbers count from its end, as in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slice {
    /// One element: `5`.
    Element(i64),
    /// From `start` up to and without `stop`; without a number it is the end of the axis: `10:20`.
    Range {
        /// The first element.
        start: Option<i64>,
        /// The element behind the last one.
        stop: Option<i64>,
    },
}

impl RegionSpec {
    /// Parses a selection; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let entries: Vec<&str> = text.split(',').map(str::trim).collect();
        if entries.contains(&"") {
            return Err(usage(&format!("`{text}` has an empty entry")));
        }
        if !text.contains('=') {
            let slices = entries.into_iter().map(Slice::parse);
            return Ok(Self::Positional(slices.collect::<Result<_, _>>()?));
        }
        let mut named: Vec<(String, Slice)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let (name, slice) = entry
                .split_once('=')
                .ok_or_else(|| usage(&format!("`{entry}` has no name: name all or none")))?;
            let name = name.trim();
            if named.iter().any(|(other, _)| other == name) {
                return Err(usage(&format!("`{name}` is there twice")));
            }
            named.push((name.to_owned(), Slice::parse(slice.trim())?));
        }
        Ok(Self::Named(named))
    }

    /// Entries of the selected dimensions that this array has. `None` if it has none of them, or if
    /// the selection goes by position.
    pub fn part(&self, spec: &ArraySpec) -> Option<Self> {
        let Self::Named(named) = self else { return None };
        let is_here = |(name, _): &&(String, Slice)| spec.axis_named(name).is_some();
        let here: Vec<_> = named.iter().filter(is_here).cloned().collect();
        (!here.is_empty()).then_some(Self::Named(here))
    }

    /// This region, for every axis.
    pub fn of_region(region: &Region) -> Self {
        let number = |at: u64| Some(i64::try_from(at).unwrap_or(i64::MAX));
        let slice = |axis: usize| Slice::Range {
            start: number(region.start[axis]),
            stop: number(region.end(axis)),
        };
        Self::Positional((0..region.rank()).map(slice).collect())
    }

    /// Whether it goes by the names of axes.
    pub fn is_named(&self) -> bool {
        matches!(self, Self::Named(_))
    }

    /// The names of dimensions in it; an error if it goes by position.
    pub fn names(&self) -> Result<Vec<String>, WordError> {
        match self {
            Self::Positional(_) => {
                Err(usage("the arrays of a group may have different axes: name them"))
            }
            Self::Named(named) => Ok(named.iter().map(|(name, _)| name.clone()).collect()),
        }
    }

    /// The region it means of an array.
    pub fn region(&self, spec: &ArraySpec) -> Result<Region, WordError> {
        let mut region = Region::whole(&spec.shape);
        self.each(spec, |axis, slice| {
            let (start, length) = slice.of(axis, spec)?;
            (region.start[axis], region.shape[axis]) = (start, length);
            Ok(())
        })?;
        check_lengths(spec, &region)?;
        Ok(region)
    }

    /// First element and the one behind the last along each axis; there may be none between them,
    /// and they may lie beyond the array.
    ///
    /// ```
    /// use rechunk_words::RegionSpec;
    /// # let spec = rechunk_grid::ArraySpec { shape: vec![10, 4], chunk_shape: vec![5, 4],
    /// #     data_type: rechunk_grid::DataType::Uint8, edges: None, fill_value: None,
    /// #     dimension_names: None };
    ///
    /// let asked = RegionSpec::parse("-3:12,2:2")?;
    /// assert_eq!(asked.bounds(&spec)?, [(7, 12), (2, 2)]);
    /// assert!(asked.region(&spec).is_err());
    /// # Ok::<(), rechunk_words::WordError>(())
    /// ```
    pub fn bounds(&self, spec: &ArraySpec) -> Result<Vec<(i64, i64)>, WordError> {
        let extent = |axis: usize| i64::try_from(spec.shape[axis]).unwrap_or(i64::MAX);
        let mut bounds: Vec<_> = (0..spec.shape.len()).map(|axis| (0, extent(axis))).collect();
        self.each(spec, |axis, slice| {
            let (start, stop) = slice.bounds();
            let at = |number: i64| if number < 0 { extent(axis) + number } else { number };
            bounds[axis] = (start.map_or(0, at), stop.map_or_else(|| extent(axis), at));
            Ok(())
        })?;
        Ok(bounds)
    }

    /// Hands each axis that it names, and its elements, to `take`.
    fn each(
        &self,
        spec: &ArraySpec,
        mut take: impl FnMut(usize, Slice) -> Result<(), WordError>,
    ) -> Result<(), WordError> {
        match self {
            Self::Positional(slices) => {
                if slices.len() != spec.shape.len() {
                    let (wanted, axes) = (slices.len(), spec.shape.len());
                    return Err(usage(&format!(
                        "it has {wanted} entries, and the array {axes} axes"
                    )));
                }
                slices.iter().enumerate().try_for_each(|(axis, slice)| take(axis, *slice))
            }
            Self::Named(named) => named.iter().try_for_each(|(name, slice)| {
                let mut axes = spec.axes_named(name).peekable();
                if axes.peek().is_none() {
                    return Err(usage(&format!("the array has no dimension `{name}`")));
                }
                axes.try_for_each(|axis| take(axis, *slice))
            }),
        }
    }
}

/// Refuses a region in which axes of one name, of one length so far, would have two.
fn check_lengths(spec: &ArraySpec, region: &Region) -> Result<(), WordError> {
    for axis in 0..spec.shape.len() {
        let Some(name) = spec.dimension_name(axis) else { continue };
        let differs = |other: &usize| {
            spec.shape[*other] == spec.shape[axis] && region.shape[*other] != region.shape[axis]
        };
        if let Some(other) = spec.axes_named(name).find(differs) {
            let (one, two) = (region.shape[axis], region.shape[other]);
            return Err(usage(&format!(
                "axes {axis} and {other} are both named `{name}`, and would have {one} and {two} \
                 elements: select as many of each"
            )));
        }
    }
    Ok(())
}

text_form!(RegionSpec);

/// Writes what [`RegionSpec::parse`] reads.
impl fmt::Display for RegionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = match self {
            Self::Positional(slices) => slices.iter().map(Slice::to_string).collect(),
            Self::Named(named) => {
                named.iter().map(|(name, slice)| format!("{name}={slice}")).collect()
            }
        };
        f.write_str(&entries.join(","))
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: &Option<i64>| number.map_or_else(String::new, |at| at.to_string());
        match self {
            Self::Element(index) => write!(f, "{index}"),
            Self::Range { start, stop } => write!(f, "{}:{}", number(start), number(stop)),
        }
    }
}

impl Slice {
    fn parse(text: &str) -> Result<Self, WordError> {
        let number = |part: &str| -> Result<Option<i64>, WordError> {
            let part = part.trim();
            if part.is_empty() {
                return Ok(None);
            }
            let number = part.parse();
            number.map(Some).map_err(|_| usage(&format!("`{text}`: `{part}` is not a number")))
        };
        let mut parts = text.split(':');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(index), None, _) => {
                let index = number(index)?.ok_or_else(|| usage(&format!("`{text}` is empty")))?;
                Ok(Self::Element(index))
            }
            (Some(start), Some(stop), None) => {
                Ok(Self::Range { start: number(start)?, stop: number(stop)? })
            }
            _ => Err(usage(&format!("`{text}`: there are no steps, only START:STOP"))),
        }
    }

    /// Its first element, and the one behind its last: a number, or an end of the axis.
    fn bounds(self) -> (Option<i64>, Option<i64>) {
        match self {
            // The last element has none behind it that could be named.
            Self::Element(index) => (Some(index), index.checked_add(1).filter(|stop| *stop != 0)),
            Self::Range { start, stop } => (start, stop),
        }
    }

    /// First element and number of elements of `axis`. What is not there cannot be selected.
    fn of(self, axis: usize, spec: &ArraySpec) -> Result<(u64, u64), WordError> {
        let (start, stop) = self.bounds();
        let extent = spec.shape[axis];
        let name = axis_in_words(spec, axis);
        let at = |number: i64| {
            let at = match u64::try_from(number) {
                Ok(at) => Some(at),
                Err(_) => extent.checked_sub(number.unsigned_abs()),
            };
            at.filter(|at| *at <= extent)
                .ok_or_else(|| usage(&format!("`{self}`: {name} has {extent} elements")))
        };
        let start = start.map_or(Ok(0), at)?;
        let stop = stop.map_or(Ok(extent), at)?;
        match stop.checked_sub(start).filter(|length| *length > 0 || extent == 0) {
            Some(length) => Ok((start, length)),
            None => Err(usage(&format!("`{self}` selects nothing of {name}"))),
        }
    }
}

fn usage(reason: &str) -> WordError {
    let hint = "write it like `time=0:1000,lat=10:20` or, for every axis, `0:1000,:,5`";
    WordError::new(reason, Some(hint)).of(Asked::Selection)
}

#[cfg(test)]
mod tests {
    use rechunk_grid::DataType;

    use super::*;

    fn spec() -> ArraySpec {
        ArraySpec {
            shape: vec![10, 4, 0],
            data_type: DataType::Uint8,
            chunk_shape: vec![3, 4, 1],
            edges: None,
            fill_value: None,
            dimension_names: Some(vec![Some("time".into()), None, Some("x".into())]),
        }
    }

    fn region(text: &str) -> Result<(Vec<u64>, Vec<u64>), String> {
        let region = RegionSpec::parse(text).and_then(|selected| selected.region(&spec()));
        region.map(|region| (region.start, region.shape)).map_err(|error| error.to_string())
    }

    #[test]
    fn slices_are_those_of_python() {
        for (text, time) in [
            ("time=2:5", (2, 3)),
            ("time=:", (0, 10)),
            ("time=-3:", (7, 3)),
            ("time=:-3", (0, 7)),
            ("time=-1", (9, 1)),
            (" time = 4 ", (4, 1)),
            ("2:5,:,:", (2, 3)),
        ] {
            let expected = (vec![time.0, 0, 0], vec![time.1, 4, 0]);
            assert_eq!(region(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        for (text, reason) in [
            ("time=2:11", "has 10 elements"),
            ("time=-11:", "has 10 elements"),
            ("time=10", "has 10 elements"),
            ("time=3:3", "selects nothing"),
            ("time=5:3", "selects nothing"),
            ("time=0:5:2", "no steps"),
            ("lat=0:5", "no dimension `lat`"),
            ("time=1,time=2", "twice"),
            ("time=a", "not a number"),
            ("time=", "is empty"),
            ("0:5", "3 axes"),
            ("0:5,,", "empty entry"),
            ("time=0:5,3", "no name"),
        ] {
            let error = region(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let twice = ArraySpec {
            shape: vec![21, 4, 21],
            dimension_names: Some(["b", "x", "b"].map(|name| Some(name.to_owned())).to_vec()),
            ..spec()
        };
        let twice = |text: &str| RegionSpec::parse(text).unwrap().region(&twice);
        let both = twice("b=3:10").unwrap();
        assert_eq!((both.start, both.shape), (vec![3, 0, 3], vec![7, 4, 7]), "both axes");
        assert_eq!(twice("1:5,:,4:8").unwrap().shape, [4, 4, 4]);
        let error = twice("0:10,:,:").unwrap_err().to_string();
        assert!(error.contains("both named `b`, and would have 10 and 21"), "{error}");
        let part = |text| RegionSpec::parse(text).unwrap().part(&spec());
        assert_eq!(part("lat=0:5, time = 1:2").unwrap().to_string(), "time=1:2");
        for text in ["time=0:1000,lat=-10:", "0:5,:,-1", "x=:3"] {
            assert_eq!(RegionSpec::parse(text).unwrap().to_string(), text);
        }
        assert_eq!((part("lat=0:5"), part("1,2,3")), (None, None));
    }
}
