use super::{HEADER_WORDS, INDEX_BITS, Labels, WORD_BYTES};

/// Decodes a chunk into `decoded`, which has the bytes of its labels. What a header says is looked
/// up, and refused where it leads out of the chunk; nothing is allocated for it.
pub(crate) fn decode(encoded: &[u8], labels: &Labels, decoded: &mut [u8]) -> Result<(), String> {
    let channel_bytes = labels.channel_bytes();
    if decoded.len() != channel_bytes * labels.channels {
        return Err(format!("{} bytes are no chunk", decoded.len()));
    }
    if !encoded.len().is_multiple_of(WORD_BYTES) {
        return Err(format!("{} bytes are no whole words of 32 bits", encoded.len()));
    }
    for (number, decoded) in decoded.chunks_exact_mut(channel_bytes).enumerate() {
        let start = word(encoded, number)
            .ok_or_else(|| format!("{} bytes are too few for its channels", encoded.len()))?;
        let channel = words_from(encoded, start).ok_or_else(|| {
            format!("channel {number} is said to begin at word {start}, behind its end")
        })?;
        decode_channel(channel, labels, decoded)?;
    }
    Ok(())
}

fn decode_channel(channel: &[u8], labels: &Labels, decoded: &mut [u8]) -> Result<(), String> {
    for number in 0..labels.blocks() {
        let header = |at: usize| {
            word(channel, number * HEADER_WORDS + at)
                .ok_or_else(|| format!("the header of block {number} is missing"))
        };
        let (first, indices_at) = (header(0)?, header(1)?);
        let (table_at, bits) = (first & 0x00ff_ffff, first >> 24);
        if !INDEX_BITS.contains(&bits) {
            return Err(format!("block {number} has indices of {bits} bits"));
        }
        let outside = |what: &str| format!("the {what} of block {number} leads out of the chunk");
        let table = words_from(channel, table_at).ok_or_else(|| outside("table"))?;
        let indices = words_from(channel, indices_at).ok_or_else(|| outside("indices"))?;
        let item_bytes = labels.item_bytes;
        labels.rows(number, |in_block, bytes| {
            for (voxel, label) in decoded[bytes].chunks_exact_mut(item_bytes).enumerate() {
                let index =
                    index_at(indices, in_block + voxel, bits).ok_or_else(|| outside("indices"))?;
                let found = entry(table, index, item_bytes).ok_or_else(|| outside("table"))?;
                label.copy_from_slice(found);
            }
            Ok::<(), String>(())
        })?;
    }
    Ok(())
}

/// The index of a voxel, of `bits` each, the lowest bits of a word first.
fn index_at(indices: &[u8], voxel: usize, bits: u32) -> Option<u32> {
    if bits == 0 {
        return Some(0);
    }
    let bits_before = voxel.checked_mul(usize::try_from(bits).ok()?)?;
    let found = word(indices, bits_before / 32)?;
    let shifted = found >> (bits_before % 32);
    Some(if bits == 32 { shifted } else { shifted & ((1 << bits) - 1) })
}

/// The bytes of a table's entry.
fn entry(table: &[u8], index: u32, item_bytes: usize) -> Option<&[u8]> {
    let start = usize::try_from(index).ok()?.checked_mul(item_bytes)?;
    table.get(start..start.checked_add(item_bytes)?)
}

/// Word `at`.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let start = at.checked_mul(WORD_BYTES)?;
    let word = bytes.get(start..)?.first_chunk()?;
    Some(u32::from_le_bytes(*word))
}

/// The bytes from word `at` on, which may be none.
fn words_from(bytes: &[u8], at: u32) -> Option<&[u8]> {
    bytes.get(usize::try_from(at).ok()?.checked_mul(WORD_BYTES)?..)
}
