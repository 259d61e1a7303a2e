//! Chunk shapes that are wanted, by position or by dimension name.

use std::fmt;

use rechunk_grid::{ArraySpec, AxisChunks, Edges, GridError};
use serde::{Deserialize, Serialize};

use crate::WordError;
use crate::extent::Extent;
use crate::lengths::ChunkLengths;
use crate::span::unresolved;

/// Name of the chunk shape in errors, where the caller gives no other.
const OPTION: &str = "--chunks";

/// Chunk shape that is wanted. Parsed from the text that the command line takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum ChunkSpec {
    /// As the source along every axis: `keep`.
    #[default]
    Keep,
    /// Near the wanted bytes, whatever the axis: `auto`.
    Auto,
    /// One chunk of all: `-1`.
    Whole,
    /// One entry per axis, slowest first: `1460,30,30`.
    Positional(Vec<Extent>),
    /// By dimension name, axes that are not named as the source: `time=-1,lat=30`.
    Named(Vec<(String, Extent)>),
}

impl ChunkSpec {
    /// Parses a specification; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let text = text.trim();
        let entries: Vec<&str> =
            if text.is_empty() { Vec::new() } else { text.split(',').map(str::trim).collect() };
        if entries.contains(&"") {
            return Err(usage(format!("`{text}` has an empty entry")));
        }
        match entries.as_slice() {
            ["keep"] => return Ok(Self::Keep),
            ["auto"] => return Ok(Self::Auto),
            ["-1"] => return Ok(Self::Whole),
            _ => {}
        }
        if entries.iter().any(|entry| entry.contains('=')) {
            let named = entries.iter().map(|entry| {
                let (name, extent) = entry.split_once('=').ok_or_else(|| {
                    usage(format!("`{entry}` has no name: name all dimensions or none"))
                })?;
                Ok((name.trim().to_owned(), Extent::parse(extent.trim())?))
            });
            return Ok(Self::Named(named.collect::<Result<_, WordError>>()?));
        }
        Ok(Self::Positional(entries.into_iter().map(Extent::parse).collect::<Result<_, _>>()?))
    }

    /// Returns this with no number of elements cut by its axis, if `keeps`.
    #[must_use]
    pub fn keeping_extents(mut self, keeps: bool) -> Self {
        let entries = if keeps { self.entries_mut() } else { Vec::new() };
        for (_, extent) in entries {
            *extent = extent.clone().kept();
        }
        self
    }

    /// True if the length of an axis follows from a size.
    pub fn has_auto(&self) -> bool {
        match self {
            Self::Auto => true,
            Self::Keep | Self::Whole => false,
            Self::Positional(extents) => extents.contains(&Extent::Auto),
            Self::Named(named) => named.iter().any(|(_, extent)| *extent == Extent::Auto),
        }
    }

    /// Entries of the text, each with the name of its dimension where it has one; none of a word
    /// that is for all axes.
    pub fn entries_mut(&mut self) -> Vec<(Option<&str>, &mut Extent)> {
        match self {
            Self::Positional(extents) => extents.iter_mut().map(|extent| (None, extent)).collect(),
            Self::Named(named) => {
                named.iter_mut().map(|(name, extent)| (Some(&**name), extent)).collect()
            }
            Self::Keep | Self::Auto | Self::Whole => Vec::new(),
        }
    }

    /// Extents that the axes of `source` cut, by position: `time=10 (3)`. `lengths` are how long a
    /// chunk (or a shard) can be along each axis.
    pub fn cut(&self, source: &ArraySpec, lengths: &[u64]) -> Result<Vec<String>, WordError> {
        let wanted = self.extents(OPTION, source)?;
        let cut = wanted.iter().zip(lengths).enumerate().filter_map(|(axis, (extent, &length))| {
            let Extent::Elements(elements) = extent.clone() else { return None };
            let name = source.dimension_name(axis);
            let name = name.map_or_else(|| format!("axis {axis}"), str::to_owned);
            (elements > length).then(|| format!("{name}={elements} ({length})"))
        });
        Ok(cut.collect())
    }

    /// The chunk shape it means for `source`, elements; `chunk_bytes` is what `auto` aims at.
    /// Chunks of different lengths are refused.
    pub fn resolve(&self, source: &ArraySpec, chunk_bytes: u64) -> Result<Vec<u64>, WordError> {
        let (chunk, edges) = self.resolve_lengths(source, chunk_bytes)?;
        let axis = edges.and_then(|edges| {
            let axis = (0..chunk.len()).find(|axis| edges.axis(*axis).is_some())?;
            edges.axis(axis).map(|edges| (axis, edges.shortest(), edges.longest()))
        });
        axis.map_or(Ok(chunk), |(axis, shortest, longest)| {
            Err(different(source, axis, (shortest, longest)))
        })
    }

    /// [`ChunkSpec::resolve`] where chunks may differ in length: the shape of the largest, and the
    /// ends of those that do.
    pub fn resolve_lengths(
        &self,
        source: &ArraySpec,
        chunk_bytes: u64,
    ) -> Result<(Vec<u64>, Option<Edges>), WordError> {
        let wanted = self.extents(OPTION, source)?;
        let mut edges = vec![None; wanted.len()];
        let mut chunk: Vec<u64> = Vec::with_capacity(wanted.len());
        for (axis, extent) in wanted.iter().enumerate() {
            let length = source.shape[axis].max(1);
            chunk.push(match extent {
                Extent::Elements(elements) => (*elements).min(length),
                Extent::Exactly(elements) => *elements,
                Extent::Whole => length,
                Extent::Keep => {
                    edges[axis] = source.edges.as_ref().and_then(|all| all.axis(axis)).cloned();
                    source.chunk_shape[axis]
                }
                Extent::Auto => 1,
                Extent::Lengths(lengths) => {
                    let chunks = lengths_on(lengths, source, axis)?;
                    let longest = chunks.longest();
                    edges[axis] = chunks.into_edges();
                    longest
                }
                Extent::Span { span, .. } => return Err(unresolved(OPTION, *span)),
            });
        }
        size_auto(&wanted, &source.shape, chunk_bytes / sizing_bytes(source), &mut chunk);
        Ok((chunk, Edges::new(edges)))
    }

    /// Returns the wish for each axis; `option` is the option that the user gave it to.
    pub fn extents(&self, option: &str, source: &ArraySpec) -> Result<Vec<Extent>, WordError> {
        let rank = source.shape.len();
        match self {
            Self::Keep => Ok(vec![Extent::Keep; rank]),
            Self::Auto => Ok(vec![Extent::Auto; rank]),
            Self::Whole => Ok(vec![Extent::Whole; rank]),
            Self::Positional(extents) if extents.len() == rank => Ok(extents.clone()),
            Self::Positional(extents) => Err(usage(format!(
                "{option} has {} entries but the array has {rank} axes ({})",
                extents.len(),
                axes(source),
            ))),
            Self::Named(named) => by_name(named, source),
        }
    }
}

text_form!(ChunkSpec);

/// Writes what [`ChunkSpec::parse`] reads.
impl fmt::Display for ChunkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = match self {
            Self::Keep => return Extent::Keep.fmt(f),
            Self::Auto => return Extent::Auto.fmt(f),
            Self::Whole => return Extent::Whole.fmt(f),
            Self::Positional(extents) => extents.iter().map(Extent::to_string).collect(),
            Self::Named(named) => {
                named.iter().map(|(name, extent)| format!("{name}={extent}")).collect()
            }
        };
        f.write_str(&entries.join(","))
    }
}

/// Bytes of an element that `auto` reckons with: where elements differ in length, those of a short
/// text.
pub fn sizing_bytes(source: &ArraySpec) -> u64 {
    const TEXT_BYTES: u64 = 64;
    if source.data_type.is_variable() { TEXT_BYTES } else { source.item_bytes().max(1) }
}

/// Shares `elements` among the `auto` axes: short axes whole, the others equal.
pub fn size_auto(wanted: &[Extent], shape: &[u64], elements: u64, chunk: &mut [u64]) {
    let mut auto: Vec<usize> =
        (0..wanted.len()).filter(|&axis| wanted[axis] == Extent::Auto).collect();
    auto.sort_by_key(|&axis| shape[axis]);
    let fixed = chunk.iter().fold(1_u64, |product, &extent| product.saturating_mul(extent));
    let mut room = (elements / fixed.max(1)).max(1);
    for (done, &axis) in auto.iter().enumerate() {
        let share = root(room, auto.len() - done);
        chunk[axis] = share.clamp(1, shape[axis].max(1));
        room = (room / chunk[axis]).max(1);
    }
}

/// floor(value^(1/n)).
fn root(value: u64, n: usize) -> u64 {
    let power = u32::try_from(n).unwrap_or(u32::MAX);
    let (mut low, mut high) = (1, value.max(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if middle.checked_pow(power).is_some_and(|p| p <= value) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

fn by_name(named: &[(String, Extent)], source: &ArraySpec) -> Result<Vec<Extent>, WordError> {
    if source.dimension_names.is_none() {
        return Err(usage(format!(
            "the array has no dimension names: give one extent for each of its {} axes",
            source.shape.len()
        )));
    }
    let mut extents = vec![Extent::Keep; source.shape.len()];
    for (position, (name, extent)) in named.iter().enumerate() {
        if named[..position].iter().any(|(earlier, _)| earlier == name) {
            return Err(usage(format!("dimension `{name}` is named twice")));
        }
        let mut named = source.axes_named(name).peekable();
        if named.peek().is_none() {
            let has = axes(source);
            return Err(usage(format!("there is no dimension `{name}`: the array has {has}")));
        }
        named.for_each(|axis| extents[axis] = extent.clone());
    }
    Ok(extents)
}

/// `time=1460, lat=720, lon=1440`, or the bare extents.
fn axes(source: &ArraySpec) -> String {
    let list: Vec<String> = source
        .shape
        .iter()
        .enumerate()
        .map(|(axis, extent)| match source.dimension_name(axis) {
            Some(name) => format!("{name}={extent}"),
            None => extent.to_string(),
        })
        .collect();
    if list.is_empty() { "none: it is a scalar".to_owned() } else { list.join(", ") }
}

/// ``dimension `time` ``, or `axis 0`.
pub fn axis_in_words(source: &ArraySpec, axis: usize) -> String {
    let name = source.dimension_name(axis);
    name.map_or_else(|| format!("axis {axis}"), |name| format!("dimension `{name}`"))
}

/// Chunks of these lengths on an axis of `source`.
fn lengths_on(
    lengths: &ChunkLengths,
    source: &ArraySpec,
    axis: usize,
) -> Result<AxisChunks, WordError> {
    lengths.on(axis, source.shape[axis]).map_err(|error| {
        let name = axis_in_words(source, axis);
        let reason = match error {
            GridError::ChunkLengths { reason, .. } => reason,
            other => other.to_string(),
        };
        usage(format!("{OPTION}: the lengths of {name} {reason}"))
    })
}

/// Refusal of chunks of different lengths where they cannot be written.
fn different(source: &ArraySpec, axis: usize, (shortest, longest): (u64, u64)) -> WordError {
    let name = axis_in_words(source, axis);
    let message = format!(
        "the chunks of {name} would have {shortest} to {longest} elements, and chunks of different \
         lengths are written by a copy as Zarr v3 only"
    );
    let hint = format!("give {OPTION} a number for it, -1 (the whole axis) or auto");
    WordError::new(message, Some(&hint))
}

fn usage(message: String) -> WordError {
    WordError::new(message, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rechunk_grid::DataType;

    fn spec(names: Option<&[&str]>) -> ArraySpec {
        ArraySpec {
            shape: vec![1460, 720, 1440],
            data_type: DataType::Int16,
            chunk_shape: vec![1, 720, 1440],
            edges: None,
            fill_value: None,
            dimension_names: names
                .map(|names| names.iter().map(|name| Some((*name).to_owned())).collect()),
        }
    }

    fn resolve(text: &str) -> Result<Vec<u64>, String> {
        let source = spec(Some(&["time", "lat", "lon"]));
        ChunkSpec::parse(text)
            .and_then(|chunks| chunks.resolve(&source, 16 << 20))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn by_position_and_by_name() {
        assert_eq!(resolve("1460,30,30").unwrap(), [1460, 30, 30]);
        assert_eq!(resolve("-1, 30, keep").unwrap(), [1460, 30, 1440]);
        assert_eq!(resolve("lon=30,time=-1").unwrap(), [1460, 720, 30]);
        assert_eq!(resolve("9999,9999,9999").unwrap(), [1460, 720, 1440]);
        assert_eq!(resolve("keep").unwrap(), [1, 720, 1440]);
    }

    #[test]
    fn an_extent_is_kept_where_that_is_asked_for() {
        assert_eq!(resolve("9999!,9999,720 !").unwrap(), [9999, 720, 720]);
        assert_eq!(resolve("time=2000!").unwrap(), [2000, 720, 1440]);
        assert_eq!(resolve("time=9!,lat=auto,lon=5").unwrap()[0], 9);
        let source = spec(Some(&["time", "lat", "lon"]));
        let kept = |text: &str| {
            let chunks = ChunkSpec::parse(text).unwrap().keeping_extents(true);
            chunks.resolve(&source, 1 << 20).unwrap()
        };
        assert_eq!(kept("2000,-1,keep"), [2000, 720, 1440]);
        assert_eq!(kept("lon=2000"), [1, 720, 2000]);
        assert_eq!(kept("keep"), [1, 720, 1440]);
        let cut = |text: &str| {
            let chunks = ChunkSpec::parse(text).unwrap();
            chunks.cut(&source, &source.shape).unwrap()
        };
        assert_eq!(cut("2000,-1,1441"), ["time=2000 (1460)", "lon=1441 (1440)"]);
        assert_eq!(cut("time=1460,lat=9999!"), [""; 0]);
        assert_eq!(cut("keep"), [""; 0]);
    }

    #[test]
    fn different_lengths_are_for_those_that_ask_for_them() {
        use rechunk_grid::{AxisChunks, AxisEdges};
        let lengths = [(300, 4), (260, 1)];
        let time = AxisChunks::of_runs(0, 1460, lengths).unwrap().into_edges();
        let mut source = spec(Some(&["time", "lat", "lon"]));
        source.chunk_shape[0] = 300;
        source.edges = Edges::new(vec![time.clone(), None, None]);
        let resolve = |text: &str| ChunkSpec::parse(text)?.resolve(&source, 1 << 20);
        let lengths = |text: &str| {
            let found = ChunkSpec::parse(text)?.resolve_lengths(&source, 1 << 20);
            found.map(|(shape, edges)| (shape, edges.and_then(|e| e.axis(0).map(AxisEdges::runs))))
        };
        let error = resolve("keep").unwrap_err();
        assert!(error.to_string().contains("dimension `time` would have 260 to 300"), "{error}");
        assert!(error.hint.unwrap().contains("--chunks"));
        assert_eq!(resolve("-1,keep,keep").unwrap(), [1460, 720, 1440]);
        assert!(resolve("lat=5").is_err());
        assert_eq!(resolve("time=10").unwrap(), [10, 720, 1440]);
        let kept = lengths("lat=5").unwrap();
        assert_eq!(kept, (vec![300, 5, 1440], Some(vec![(300, 4), (260, 1)])));
        let given = lengths("time=1000+400+60").unwrap();
        assert_eq!(given, (vec![1000, 720, 1440], Some(vec![(1000, 1), (400, 1), (60, 1)])));
        assert_eq!(lengths("time=365x4").unwrap(), (vec![365, 720, 1440], None));
        let short = lengths("time=365x3+1").unwrap_err().to_string();
        assert!(short.contains("the lengths of dimension `time` add up to 1096"), "{short}");
        assert_eq!(lengths("time=1x9999999+2").unwrap(), (vec![1, 720, 1440], None));
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for text in
            ["keep", "auto", "-1", "1460,30!,-1", "time=30D!,lat=auto", "6h,2M,1Y", "t=31+28x2", ""]
        {
            let chunks = ChunkSpec::parse(text).unwrap();
            assert_eq!(chunks.to_string(), text);
            let json = serde_json::to_string(&chunks).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<ChunkSpec>(&json).unwrap(), chunks);
        }
        let spaced = ChunkSpec::parse(" time = 30 D, lat=+5 ").unwrap();
        assert_eq!(spaced.to_string(), "time=30D,lat=5");
    }

    #[test]
    fn auto_is_near_the_wanted_bytes() {
        let chunk = resolve("time=-1,lat=auto,lon=auto").unwrap();
        assert_eq!(chunk[0], 1460);
        let bytes: u64 = chunk.iter().product::<u64>() * 2;
        assert!((12 << 20..=16 << 20).contains(&bytes), "{chunk:?}");
        let bytes: u64 = resolve("auto").unwrap().iter().product::<u64>() * 2;
        assert!((12 << 20..=16 << 20).contains(&bytes));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("30,,30", "an empty entry"),
            ("30,30", "2 entries but the array has 3 axes (time=1460, lat=720, lon=1440)"),
            ("time=1,level=2", "no dimension `level`"),
            ("time=1,time=2", "twice"),
            ("time=1,30", "name all dimensions or none"),
            ("0,1,1", "cannot be 0"),
            ("1,00,1", "cannot be 0"),
            ("a,b,c", "not a chunk extent"),
            ("-2,1,1", "not a chunk extent"),
            ("0D,1,1", "not a chunk extent"),
            ("30d,1,1", "a time like 30D"),
            ("-1!,1,1", "! keeps a number"),
            ("keep!,1,1", "! keeps a number"),
            ("auto!", "! keeps a number"),
            ("9!!,1,1", "! keeps a number"),
            ("!,1,1", "not a chunk extent"),
            ("0!,1,1", "cannot be 0"),
            ("time=30D!", "30D is a time, and there is no coordinate"),
            ("time=30D", "30D is a time, and there is no coordinate"),
        ] {
            let message = resolve(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        let unnamed = ChunkSpec::parse("time=1").unwrap().resolve(&spec(None), 1).unwrap_err();
        assert!(unnamed.to_string().contains("no dimension names"));
    }
}
