//! Number of chunks that may be on their way at once.

use super::error::RegionError;
use super::geometry::Geometry;
use super::options::RegionOptions;
use crate::Array;

/// Most chunks on their way: more would not be faster.
const AT_ONCE_MAX: u64 = 32;
/// Most bytes that one read of elements stored as they are spans.
const SPAN_BYTES_MAX: u64 = 8 << 20;
/// Shards sent to an object store hold two parts of this size each while they are written.
const PARTS_BYTES: u64 = 2 * rechunk_store::PartSizes::DEFAULT.log_part_bytes;

/// Number of pieces of `each_bytes` that are on their way at once within the budget. An error if
/// there is no room for one.
fn at_once(array: &Array, options: &RegionOptions, each_bytes: u64) -> Result<usize, RegionError> {
    let count = options.memory_bytes / each_bytes.max(1);
    if count == 0 {
        return Err(RegionError::Memory {
            array: array.location().to_owned(),
            needed_bytes: each_bytes,
            memory_bytes: options.memory_bytes,
        });
    }
    Ok(usize::try_from(count.min(AT_ONCE_MAX)).unwrap_or(1))
}

/// Bytes of an index of a shard, as stored and as read.
fn index_bytes(geometry: &Geometry) -> u64 {
    let stored = geometry.shards.as_ref().map_or(0, |(_, format)| format.index_bytes());
    stored.saturating_mul(2)
}

/// Bytes of what finds a chunk in a shard, as stored and as read.
fn found_by_bytes(geometry: &Geometry) -> u64 {
    let stored = geometry.shards.as_ref().map_or(0, |(_, format)| format.found_by_bytes());
    stored.saturating_mul(2)
}

/// Number of chunks that are read at once. Each takes its stored form, its decoded form, what its
/// codecs need beside them, and the part that is wanted.
pub(crate) fn reads(
    array: &Array,
    geometry: &Geometry,
    options: &RegionOptions,
) -> Result<usize, RegionError> {
    let cost = array.layout().codec_cost();
    let decoded = if cost.is_raw { 0 } else { geometry.chunk_bytes };
    let each = [
        decoded,
        cost.encoded_bytes_max,
        cost.decode_workspace_bytes,
        geometry.chunk_bytes.min(geometry.region_bytes),
        found_by_bytes(geometry),
    ];
    at_once(array, options, each.into_iter().fold(0, u64::saturating_add))
}

/// Bytes that one read of plain elements may span, and number of reads at once. Each takes its
/// bytes twice: as they are stored, and those that are wanted.
pub(crate) fn plain_reads(
    array: &Array,
    geometry: &Geometry,
    options: &RegionOptions,
) -> Result<(u64, usize), RegionError> {
    let within = options.memory_bytes / 4;
    let span = SPAN_BYTES_MAX.min(within).min(geometry.chunk_bytes).max(geometry.item_bytes);
    Ok((span, at_once(array, options, span.saturating_mul(2))?))
}

/// Number of objects that are written at once. Each takes a chunk that is read back and written,
/// both stored and decoded.
pub(crate) fn writes(
    array: &Array,
    geometry: &Geometry,
    options: &RegionOptions,
) -> Result<usize, RegionError> {
    let cost = array.layout().codec_cost();
    let sends_parts = geometry.shards.is_some() && array.store().local_root().is_none();
    let each = [
        geometry.chunk_bytes.saturating_mul(2),
        cost.encoded_bytes_max.saturating_mul(2),
        cost.decode_workspace_bytes.max(cost.encode_workspace_bytes),
        index_bytes(geometry),
        if sends_parts { PARTS_BYTES } else { 0 },
    ];
    at_once(array, options, each.into_iter().fold(0, u64::saturating_add))
}
