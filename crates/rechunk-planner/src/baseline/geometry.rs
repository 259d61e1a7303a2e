//! Counts on regular grids in closed form: the cost does not depend on the length of an axis.

use std::iter;

use super::BaselineError;

/// The number of chunks of a regular grid over `shape` (elements); 1 for an array of no axes.
pub fn chunk_count(shape: &[u64], chunks: &[u64]) -> Result<u64, BaselineError> {
    check_chunks("the chunk shape", shape, chunks)?;
    let per_axis =
        shape.iter().zip(chunks).map(|(&length, &chunk)| u128::from(length.div_ceil(chunk)));
    checked_product("the number of chunks", per_axis)
}

/// Counts the pairs (input chunk, output chunk) that meet when `shape` (elements) is copied from
/// one regular grid to another. They are the chunk operations of one stage.
///
/// Along an axis this is the number of distinct `(i / in, i / out)`, that is of intervals between
/// the union of both grids' boundaries: multiples of either, those of both counted once.
/// Rechunker's `calculate_single_stage_io_ops`, without its walk along one period.
pub fn calculate_single_stage_io_ops(
    shape: &[u64],
    in_chunks: &[u64],
    out_chunks: &[u64],
) -> Result<u64, BaselineError> {
    check_chunks("the input chunk shape", shape, in_chunks)?;
    check_chunks("the output chunk shape", shape, out_chunks)?;
    let per_axis = shape.iter().zip(in_chunks).zip(out_chunks);
    let pairs = per_axis.map(|((&length, &a), &b)| axis_pairs(length, a, b));
    checked_product("the number of chunk operations", pairs)
}

/// The piece lengths (elements) along an axis cut by both grids at once, in order: cubed's
/// rectilinear intermediate grid.
///
/// An iterator, because the list grows with the axis.
pub fn split_chunksizes(
    length: u64,
    source_chunk: u64,
    target_chunk: u64,
) -> Result<impl Iterator<Item = u64>, BaselineError> {
    check_nonzero("a chunk extent", source_chunk)?;
    check_nonzero("a chunk extent", target_chunk)?;
    let next_edge = move |start: u64, chunk: u64| (start / chunk + 1).saturating_mul(chunk);
    let mut start = 0;
    Ok(iter::from_fn(move || {
        if start >= length {
            return None;
        }
        let end = next_edge(start, source_chunk).min(next_edge(start, target_chunk)).min(length);
        let piece = end - start;
        start = end;
        Some(piece)
    }))
}

/// The decoded bytes of one whole chunk. Saturates: such a chunk fits no 64-bit memory limit.
pub(super) fn memory_bytes(itemsize_bytes: u64, chunks: &[u64]) -> u128 {
    chunks
        .iter()
        .fold(u128::from(itemsize_bytes), |bytes, &chunk| bytes.saturating_mul(u128::from(chunk)))
}

/// Fails unless `list` has as many axes as `shape`.
pub(super) fn check_rank(
    what: &'static str,
    shape: &[u64],
    list: &[u64],
) -> Result<(), BaselineError> {
    if list.len() == shape.len() {
        return Ok(());
    }
    Err(BaselineError::RankMismatch { what, expected: shape.len(), found: list.len() })
}

/// Fails unless `chunks` has as many axes as `shape` and no extent of 0.
pub(super) fn check_chunks(
    what: &'static str,
    shape: &[u64],
    chunks: &[u64],
) -> Result<(), BaselineError> {
    check_rank(what, shape, chunks)?;
    chunks.iter().try_for_each(|&chunk| check_nonzero("a chunk extent", chunk))
}

/// Fails if `value` is 0.
pub(super) fn check_nonzero(what: &'static str, value: u64) -> Result<(), BaselineError> {
    if value == 0 { Err(BaselineError::Zero { what }) } else { Ok(()) }
}

/// The product of `factors` as 64 bits.
pub(super) fn checked_product(
    what: &'static str,
    factors: impl IntoIterator<Item = u128>,
) -> Result<u64, BaselineError> {
    let product = factors.into_iter().fold(1_u128, u128::saturating_mul);
    u64::try_from(product).map_err(|_| BaselineError::TooLarge { what })
}

fn axis_pairs(length: u64, a: u64, b: u64) -> u128 {
    let [length, a, b] = [length, a, b].map(u128::from);
    let common = a / greatest_common_divisor(a, b) * b;
    length.div_ceil(a) + length.div_ceil(b) - length.div_ceil(common)
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
