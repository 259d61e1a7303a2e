//! Tables of minishards: numbers, offsets and lengths of chunks, each but the lengths as a
//! difference from the chunk before.

use rechunk_codec::deflate;
use rechunk_format::Place;

/// Bytes of a number.
const NUMBER_BYTES: usize = 8;
/// Bytes that a table has for each chunk.
const CHUNK_BYTES: usize = 3 * NUMBER_BYTES;
/// Level of gzip of tables.
const GZIP_LEVEL: i32 = 6;

/// Most bytes of a stored table of `chunks` chunks; with gzip also what it takes in memory beside.
pub(super) fn bytes_max(chunks: u64, is_gzip: bool) -> u64 {
    let bytes = chunks.saturating_mul(CHUNK_BYTES as u64);
    if is_gzip {
        rechunk_codec::encoded_bytes_max(bytes).saturating_add(chunks.saturating_mul(16))
    } else {
        bytes
    }
}

/// Reads a table of at most `chunks_max` chunks. Calls `enter` with the number of each and its
/// place in the shard, whose directory ends at `start`.
pub(super) fn read(
    stored: &[u8],
    (is_gzip, chunks_max): (bool, u64),
    start: u64,
    mut enter: impl FnMut(u64, Place) -> Result<(), String>,
) -> Result<(), String> {
    if stored.is_empty() {
        return Ok(());
    }
    let mut buffer = Vec::new();
    let table = if is_gzip {
        let most = chunks_max.saturating_mul(CHUNK_BYTES as u64);
        let most = usize::try_from(most).map_err(|error| error.to_string())?;
        deflate::decode_gzip(stored, &mut buffer, most)
            .map_err(|reason| format!("gzip: {reason}"))?;
        &buffer
    } else {
        stored
    };
    if !table.len().is_multiple_of(CHUNK_BYTES) {
        return Err(format!("{} bytes are no table: chunks have {CHUNK_BYTES} each", table.len()));
    }
    let count = table.len() / CHUNK_BYTES;
    if count as u64 > chunks_max {
        return Err(format!("a table of {count} chunks, but at most {chunks_max} can be right"));
    }
    let (numbers, _) = table.as_chunks::<NUMBER_BYTES>();
    let (numbers, rest) = numbers.split_at(count);
    let (offsets, lengths) = rest.split_at(count);
    let (mut number, mut end) = (0_u64, 0_u64);
    for ((more, gap), length) in numbers.iter().zip(offsets).zip(lengths) {
        // Differences may be negative, modulo 2^64.
        number = number.wrapping_add(u64::from_le_bytes(*more));
        let (offset, length) =
            (end.wrapping_add(u64::from_le_bytes(*gap)), u64::from_le_bytes(*length));
        end = offset.wrapping_add(length);
        let place = start.checked_add(offset).ok_or_else(|| {
            format!("chunk {number} is said to be at {offset} behind the directory")
        })?;
        enter(number, (place, length))?;
    }
    Ok(())
}

/// Adds the table of these chunks, numbers with places in the shard, to `tables`.
pub(super) fn write(chunks: &[(u64, Place)], is_gzip: bool, start: u64, tables: &mut Vec<u8>) {
    let mut table = Vec::with_capacity(chunks.len() * CHUNK_BYTES);
    let mut before = 0;
    for (number, _) in chunks {
        table.extend(number.wrapping_sub(before).to_le_bytes());
        before = *number;
    }
    let mut end = start;
    for (_, (offset, length)) in chunks {
        table.extend(offset.wrapping_sub(end).to_le_bytes());
        end = offset.wrapping_add(*length);
    }
    for (_, (_, length)) in chunks {
        table.extend(length.to_le_bytes());
    }
    let mut packed = Vec::new();
    if is_gzip && !table.is_empty() && deflate::encode_gzip(&table, &mut packed, GZIP_LEVEL).is_ok()
    {
        table = packed;
    }
    tables.extend(table);
}
