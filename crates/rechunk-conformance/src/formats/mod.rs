//! The contract of a format: keys, chunks there and back, parts of chunks, damaged bytes.

mod about;
mod chunk;
mod cuts;
mod damage;
mod keys;
mod parts;
mod specs;

use rechunk_format::Layout;
use rechunk_grid::ArraySpec;

use crate::Violation;
use crate::violation::ensure;
use about::about;
use chunk::Chunk;

pub use cuts::Cuts;

/// Most chunks of an array that are encoded; of these so many are damaged.
const CHUNKS_MAX: usize = 24;
const DAMAGED_MAX: usize = 3;

/// Number of layouts and chunks that were held to the contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Layouts, one for each array that the format can have.
    pub layouts: usize,
    /// Chunks, each encoded and decoded.
    pub chunks: usize,
}

/// Holds the layouts that `make` makes to the contract of [`Layout`].
///
/// It is called for arrays of no to four axes with chunks that fit, that reach over the edge and
/// that are larger than the array, of each data type without a parameter. `None` says that the
/// format has no such array. What is checked of each:
///
/// - it is the array that was asked for, and made again it has the same keys and identity;
/// - every object has a key of its own, which leads back to it;
/// - a chunk comes back as it was, whatever the buffers held before, and within the sizes that
///   [`Layout::codec_cost`] promises; so does a chunk of the fill value, as an absent one reads;
/// - a part of a chunk is the part of the whole;
/// - bytes that are cut off, flipped, or made up are refused, or decode to a chunk's size within
///   the memory that is declared; what is cut off never changes an element, and with a checksum
///   no flipped bit does.
pub fn check_format<L: Layout>(
    make: impl FnMut(&ArraySpec) -> Option<L>,
) -> Result<Checked, Violation> {
    check_format_with(Cuts::Told, make)
}

/// Does what [`check_format`] does where the end of a chunk may be missing as `cuts` says.
pub fn check_format_with<L: Layout>(
    cuts: Cuts,
    mut make: impl FnMut(&ArraySpec) -> Option<L>,
) -> Result<Checked, Violation> {
    let mut checked = Checked::default();
    for spec in specs::specs() {
        let (Some(layout), Some(again)) = (make(&spec), make(&spec)) else { continue };
        check_made(&layout, &spec)?;
        keys::check_equal(&layout, &again)?;
        checked.chunks += check_layout(&layout, cuts)?;
        checked.layouts += 1;
    }
    ensure(checked.layouts > 0, || "no layout is made of any array that is tried".to_owned())?;
    Ok(checked)
}

/// Holds one layout to the contract as [`check_format`] does. Returns how many chunks were tried.
pub fn check_layout(layout: &dyn Layout, cuts: Cuts) -> Result<usize, Violation> {
    let about = about(layout);
    let grid = layout.spec().grid().map_err(|error| Violation::new(format!("{about}: {error}")))?;
    let mut axes = layout.element_order().axes.clone();
    axes.sort_unstable();
    ensure(axes.into_iter().eq(0..grid.rank()), || {
        format!("{about}: the order of the elements does not name each axis once")
    })?;
    ensure(!layout.encoding_identity().is_empty() && !layout.codec_summary().is_empty(), || {
        format!("{about}: identity and summary have words")
    })?;
    keys::check(layout, &grid)?;
    let mut chunks = 0;
    for index in grid.indices().positions().take(CHUNKS_MAX) {
        let chunk = Chunk::new(layout, &grid, &index);
        let encoded = chunk.check_comes_back()?;
        chunk.check_fill()?;
        parts::check(&chunk, &encoded)?;
        if chunks < DAMAGED_MAX {
            damage::check(&chunk, &encoded, cuts)?;
        }
        chunks += 1;
    }
    Ok(chunks)
}

fn check_made(layout: &dyn Layout, asked: &ArraySpec) -> Result<(), Violation> {
    let made = layout.spec();
    let is_it = made.shape == asked.shape
        && made.chunk_shape == asked.chunk_shape
        && made.data_type == asked.data_type;
    ensure(is_it, || format!("{}: another array was asked for: {asked:?}", about(layout)))
}
