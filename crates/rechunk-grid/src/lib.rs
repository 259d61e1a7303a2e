//! Parts of a chunked array: shape, region, chunk grid, data type, array spec.
//!
//! Pure geometry and nouns; no I/O, no clock. Every shape, region and index is in C order:
//! axis 0 is the slowest. Extents are `u64` and arithmetic that could overflow is checked where
//! a value enters (see [`ChunkGrid::new`]), so that the rest can rely on it.

mod array_spec;
mod chunk_grid;
mod data_type;
mod edges;
mod error;
mod groups;
mod region;
mod rounding;
mod small_float;
mod time_unit;
mod with_number;

pub use array_spec::{ArraySpec, FillValue, WriteEmpty};
pub use chunk_grid::ChunkGrid;
pub use data_type::{DataType, Endian};
pub use edges::{AxisChunks, AxisEdges, EDGES_MAX, Edges};
pub use error::GridError;
pub use region::{IndexIter, Region};
pub use rounding::round_to_odd;
pub use small_float::SmallFloat;
pub use time_unit::TimeUnit;

/// Largest number of axes an array may have. Real data has at most 8; a header that claims more
/// than this is refused before anything is sized by it.
pub const RANK_MAX: usize = 32;

/// Largest element, bytes. NumPy's records and strings are far smaller; a claim beyond this is
/// refused before anything is sized by it.
pub const ITEM_BYTES_MAX: u64 = 1 << 20;

/// Number of elements of `shape`, or `None` if it does not fit a `u64`.
pub fn element_count(shape: &[u64]) -> Option<u64> {
    // A zero extent makes the product zero whatever the others are.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_u64, |product, &extent| product.checked_mul(extent))
}

/// Bytes of the elements of `shape`, or `None` if no buffer of so many can be addressed.
pub fn buffer_bytes(shape: &[u64], data_type: DataType) -> Option<usize> {
    let bytes = element_count(shape)?.checked_mul(data_type.item_bytes())?;
    usize::try_from(bytes).ok().filter(|&bytes| isize::try_from(bytes).is_ok())
}

/// `4 × 18 × 432`, or `scalar` for no axes: how shapes are shown to people.
pub fn format_shape(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}
