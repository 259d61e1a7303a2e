//! Cost of reading an array the way people do: one place through all times, or one map.
//!
//! Pure: from shape, chunks and shards. It is the number of chunks that such a read meets and what
//! they decode to, beside what is wanted of them; how long that takes on the array's kind of store,
//! by its built-in profile, one request after the other; and which chunks would serve it better.

use rechunk_format::ShardFormat;
use rechunk_grid::{ArraySpec, ChunkGrid};
use rechunk_plan::StoreProfile;
use rechunk_store::store_kind;
use serde::Serialize;

use crate::Error;
use rechunk_words::ChunkSpec;
use rechunk_words::Extent;

/// Chunks that are suggested are near this, decoded bytes.
const SUGGESTED_CHUNK_BYTES: u64 = 16 << 20;
/// Other chunks are suggested where they take less than this share of the time.
const BETTER: f64 = 0.25;

/// A way to read an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// One index of all axes but the two fastest, which are read whole.
    Map,
    /// The whole of the axis of this name, at one index of all others. `time` is the slowest axis
    /// where axes have no names.
    Along(String),
}

impl Access {
    /// Several, with commas between them: `time,map`.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Error> {
        let one = |name: &str| match name.trim() {
            "" => Err(usage(format!("`{text}` has an empty entry"))),
            "map" => Ok(Self::Map),
            name => Ok(Self::Along(name.to_owned())),
        };
        text.split(',').map(one).collect()
    }

    /// Its name, as it is given.
    pub fn name(&self) -> &str {
        match self {
            Self::Map => "map",
            Self::Along(name) => name,
        }
    }

    /// Which axes are read whole; `None` if the array has no such axis.
    fn whole_axes(&self, spec: &ArraySpec) -> Option<Vec<usize>> {
        let rank = spec.shape.len();
        match self {
            Self::Map => (rank >= 2).then(|| vec![rank - 2, rank - 1]),
            Self::Along(name) => {
                let unnamed = spec.dimension_names.is_none() && name == "time" && rank >= 2;
                let mut axes: Vec<usize> = spec.axes_named(name).collect();
                axes.extend(unnamed.then_some(0));
                (!axes.is_empty()).then_some(axes)
            }
        }
    }
}

/// Cost of one read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AccessCost {
    /// The way it is read: `map`, or the axis that is read whole.
    pub access: String,
    /// Shape of the read, elements.
    pub shape: Vec<u64>,
    /// Size of the read, bytes.
    pub wanted_bytes: u64,
    /// Chunks that it lies in.
    pub chunks: u64,
    /// Requests: one for each chunk, and for the index of each shard.
    pub requests: u64,
    /// Decoded bytes of these chunks.
    pub decoded_bytes: u64,
    /// Decoded bytes for each byte that is wanted.
    pub amplification: f64,
    /// Seconds by the built-in profile of the array's kind of store, one request after the other.
    /// The bytes are taken as if they were not compressed.
    pub seconds: f64,
    /// Chunks that would take a fourth of the time, or less.
    pub better: Option<BetterChunks>,
}

/// Chunks for a way to read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BetterChunks {
    /// As `--chunks` takes it.
    pub spec: String,
    /// Elements.
    pub chunk_shape: Vec<u64>,
    /// Requests of the same read.
    pub requests: u64,
    /// Seconds of the same read.
    pub seconds: f64,
}

/// Cost of `access` to an array at `location` whose chunks lie in `shards` (`None` where each is an
/// object). `None` if the array has no such axes, or no elements, or elements that
/// differ in length.
pub(crate) fn access_cost(
    access: &Access,
    location: &str,
    spec: &ArraySpec,
    shards: Option<&ShardFormat>,
) -> Option<AccessCost> {
    let whole = access.whole_axes(spec)?;
    if spec.data_type.is_variable() || spec.shape.contains(&0) {
        return None;
    }
    let profile = StoreProfile::built_in(store_kind(location)).unwrap_or_else(StoreProfile::local);
    let shape: Vec<u64> = (0..spec.shape.len())
        .map(|axis| if whole.contains(&axis) { spec.shape[axis] } else { 1 })
        .collect();
    let wanted_bytes = product(&shape).saturating_mul(spec.item_bytes());
    let chunks = Touched::of(&spec.grid().ok()?, &whole);
    let indexes = match shards {
        Some(shards) => {
            let grid = ChunkGrid::new(&spec.shape, &shards.index_shape()).ok()?;
            Touched::of(&grid, &whole).chunks.saturating_mul(shards.index_reads())
        }
        None => 0,
    };
    let decoded_bytes = chunks.elements.saturating_mul(spec.item_bytes());
    let requests = chunks.chunks.saturating_add(indexes);
    let seconds = seconds(&profile, requests, decoded_bytes);
    Some(AccessCost {
        access: access.name().to_owned(),
        better: better(spec, &whole, wanted_bytes, &profile)
            .filter(|better| better.seconds < seconds * BETTER),
        shape,
        wanted_bytes,
        chunks: chunks.chunks,
        requests,
        decoded_bytes,
        amplification: decoded_bytes as f64 / wanted_bytes as f64,
        seconds,
    })
}

/// The chunks that a read meets, at the first index of the axes that it does not read whole.
struct Touched {
    chunks: u64,
    /// Of whole chunks, padding included.
    elements: u64,
}

impl Touched {
    fn of(grid: &ChunkGrid, whole: &[usize]) -> Self {
        let mut touched = Self { chunks: 1, elements: 1 };
        let first = grid.chunk(&vec![0; grid.rank()]);
        for axis in 0..grid.rank() {
            let (chunks, elements) = match grid.edges().and_then(|edges| edges.axis(axis)) {
                _ if !whole.contains(&axis) => (1, first.shape[axis]),
                Some(_) => (grid.count_along(axis), grid.array_shape()[axis]),
                None => {
                    let count = grid.count_along(axis);
                    (count, count.saturating_mul(grid.chunk_shape()[axis]))
                }
            };
            touched.chunks = touched.chunks.saturating_mul(chunks);
            touched.elements = touched.elements.saturating_mul(elements);
        }
        touched
    }
}

/// Chunks that hold the axes of `whole` in one piece and share the others out. Where these would be
/// too large, the other axes are single and those of `whole` are shared out.
fn better(
    spec: &ArraySpec,
    whole: &[usize],
    wanted_bytes: u64,
    profile: &StoreProfile,
) -> Option<BetterChunks> {
    let (read, other) = if wanted_bytes <= SUGGESTED_CHUNK_BYTES {
        (Extent::Whole, Extent::Auto)
    } else {
        (Extent::Auto, Extent::Elements(1))
    };
    // A name that stands twice is no way to say what differs between its axes.
    let clear_name =
        |axis| spec.dimension_name(axis).filter(|name| spec.axes_named(name).nth(1).is_none());
    let names: Option<Vec<&str>> = (0..spec.shape.len()).map(clear_name).collect();
    let extents = (0..spec.shape.len())
        .map(|axis| if whole.contains(&axis) { read.clone() } else { other.clone() });
    let chunks = match names {
        Some(names) => {
            ChunkSpec::Named(names.into_iter().map(str::to_owned).zip(extents).collect())
        }
        None => ChunkSpec::Positional(extents.collect()),
    };
    let chunk_shape = chunks.resolve(spec, SUGGESTED_CHUNK_BYTES).ok()?;
    let touched = Touched::of(&ChunkGrid::new(&spec.shape, &chunk_shape).ok()?, whole);
    let decoded_bytes = touched.elements.saturating_mul(spec.item_bytes());
    let seconds = seconds(profile, touched.chunks, decoded_bytes);
    Some(BetterChunks { spec: chunks.to_string(), chunk_shape, requests: touched.chunks, seconds })
}

fn seconds(profile: &StoreProfile, requests: u64, bytes: u64) -> f64 {
    requests as f64 * profile.get_seconds + bytes as f64 / profile.read_bytes_per_second
}

fn product(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent))
}

fn usage(message: String) -> Error {
    let hint = "give time, map or the name of a dimension, several with commas between them";
    Error::Usage { message, hint: Some(hint.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rechunk_grid::{AxisChunks, DataType, Edges};

    fn scenes() -> ArraySpec {
        let names = ["time", "lat", "lon"].map(|name| Some(name.to_owned()));
        ArraySpec {
            shape: vec![1460, 720, 1440],
            data_type: DataType::Int16,
            chunk_shape: vec![1, 720, 1440],
            edges: None,
            fill_value: None,
            dimension_names: Some(names.to_vec()),
        }
    }

    fn cost(text: &str, spec: &ArraySpec, shards: Option<&ShardFormat>) -> Option<AccessCost> {
        let [access] = &Access::parse_list(text).unwrap()[..] else { panic!("one access") };
        access_cost(access, "s3://bucket/a.zarr", spec, shards)
    }

    #[test]
    fn a_series_from_scenes_reads_everything() {
        let series = cost("time", &scenes(), None).unwrap();
        assert_eq!((series.shape, series.wanted_bytes), (vec![1460, 1, 1], 2920));
        assert_eq!((series.chunks, series.requests), (1460, 1460));
        assert_eq!(series.decoded_bytes, 1460 * 720 * 1440 * 2);
        assert!((series.amplification - 720.0 * 1440.0).abs() < 1e-6);
        let better = series.better.unwrap();
        assert_eq!(better.spec, "time=-1,lat=auto,lon=auto");
        assert_eq!((better.chunk_shape, better.requests), (vec![1460, 75, 76], 1));
        assert!(better.seconds < series.seconds / 100.0);
    }

    #[test]
    fn a_map_from_scenes_is_one_chunk() {
        let map = cost("map", &scenes(), None).unwrap();
        assert_eq!((map.chunks, map.wanted_bytes, map.decoded_bytes), (1, 2_073_600, 2_073_600));
        assert_eq!(map.better, None);
    }

    #[test]
    fn what_is_too_large_for_one_chunk_is_shared_out() {
        let long = ArraySpec {
            shape: vec![100_000_000, 4, 4],
            chunk_shape: vec![10_000, 4, 4],
            ..scenes()
        };
        let better = cost("time", &long, None).unwrap().better.unwrap();
        assert_eq!(better.spec, "time=auto,lat=1,lon=1");
        assert_eq!((better.chunk_shape, better.requests), (vec![8_388_608, 1, 1], 12));
    }

    #[test]
    fn shards_cost_the_request_for_their_index() {
        let small = ArraySpec { chunk_shape: vec![100, 10, 10], ..scenes() };
        let shards = ShardFormat::usual(&[500, 100, 100], &small.chunk_shape).unwrap();
        let series = cost("time", &small, Some(&shards)).unwrap();
        assert_eq!((series.chunks, series.requests), (15, 18));
        assert_eq!(series.decoded_bytes, 15 * 100 * 10 * 10 * 2, "with the padding of the last");
    }

    #[test]
    fn chunks_of_different_lengths_are_added_up() {
        let time = AxisChunks::of_runs(0, 1460, [(300, 4), (260, 1)]).unwrap();
        let edges = Edges::new(vec![time.into_edges(), None, None]);
        let uneven = ArraySpec { chunk_shape: vec![300, 10, 10], edges, ..scenes() };
        let series = cost("time", &uneven, None).unwrap();
        assert_eq!((series.chunks, series.decoded_bytes), (5, 1460 * 100 * 2));
        let map = cost("map", &uneven, None).unwrap();
        assert_eq!((map.chunks, map.decoded_bytes), (72 * 144, 300 * 720 * 1440 * 2));
        let time = AxisChunks::of_runs(0, 1460, [(60, 1), (280, 5)]).unwrap();
        let edges = Edges::new(vec![time.into_edges(), None, None]);
        let uneven = ArraySpec { chunk_shape: vec![280, 10, 10], edges, ..scenes() };
        let map = cost("map", &uneven, None).unwrap();
        assert_eq!(map.decoded_bytes, 60 * 720 * 1440 * 2, "of the first chunk");
    }

    #[test]
    fn axes_go_by_name_else_by_place() {
        assert_eq!(cost("depth", &scenes(), None), None);
        assert_eq!(cost("lon", &scenes(), None).unwrap().shape, [1, 1, 1440]);
        let unnamed = ArraySpec { dimension_names: None, ..scenes() };
        assert_eq!(cost("time", &unnamed, None).unwrap().better.unwrap().spec, "-1,auto,auto");
        assert_eq!(cost("lon", &unnamed, None), None);
        let empty = ArraySpec { shape: vec![0, 720, 1440], ..scenes() };
        assert_eq!(cost("time", &empty, None), None);
        assert!(Access::parse_list("time,,map").is_err());
    }
}
