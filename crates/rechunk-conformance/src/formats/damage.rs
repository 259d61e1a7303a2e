use super::chunk::Chunk;
use super::cuts::Cuts;
use crate::Violation;
use crate::violation::ensure;

/// Prefixes of a chunk that are tried, and bits that are flipped.
const CUTS_MAX: usize = 64;
const FLIPS: usize = 128;
/// Bytes that a buffer may have beyond what is declared: allocators and `Vec` round up.
const SLACK_BYTES: u64 = 4096;

/// Checks what becomes of stored bytes that are damaged.
pub(super) fn check(chunk: &Chunk<'_>, encoded: &[u8], cuts: Cuts) -> Result<(), Violation> {
    let elements = chunk.inside(&chunk.elements());
    for length in lengths_below(encoded.len()) {
        if let Some(decoded) = decode(chunk, &encoded[..length])? {
            let is_told = chunk.inside(&decoded) == elements;
            ensure(is_told || cuts == Cuts::MayBeSilent, || {
                let all = encoded.len();
                chunk.wrong(&format!("its first {length} of {all} bytes decode to other elements"))
            })?;
        }
    }
    for bit in flips(8 * encoded.len()) {
        let mut flipped = encoded.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let decoded = decode(chunk, &flipped)?;
        let is_silent = decoded.is_some_and(|decoded| chunk.inside(&decoded) != elements);
        ensure(!is_silent || !chunk.layout.has_checksum(), || {
            chunk.wrong(&format!("bit {bit} is flipped, and its checksum does not tell"))
        })?;
    }
    for length in [0, 1, 8, 64, encoded.len(), encoded.len() + 1] {
        for byte in [0, 0x28, 0xff] {
            decode(chunk, &vec![byte; length])?;
        }
    }
    Ok(())
}

/// Decodes bytes that may be refused: within the memory that is declared, to a chunk's size.
fn decode(chunk: &Chunk<'_>, stored: &[u8]) -> Result<Option<Vec<u8>>, Violation> {
    let Ok((decoded, capacity)) = chunk.decode(stored) else { return Ok(None) };
    ensure(decoded.len() == chunk.bytes(), || chunk.wrong("damaged, it has another size"))?;
    let declared = chunk.layout.codec_cost().decode_workspace_bytes + chunk.bytes() as u64;
    ensure(capacity as u64 <= declared + SLACK_BYTES, || {
        chunk.wrong(&format!("damaged, it takes {capacity} bytes instead of {declared}"))
    })?;
    Ok(Some(decoded))
}

/// Lengths below `bytes`, all of them if they are few.
fn lengths_below(bytes: usize) -> impl Iterator<Item = usize> {
    (0..bytes).step_by(bytes.div_ceil(CUTS_MAX).max(1))
}

/// Positions below `bits`, drawn once for all.
fn flips(bits: usize) -> impl Iterator<Item = usize> {
    let draw = |state: &mut u64| {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*state >> 33).ok()
    };
    let drawn = std::iter::repeat_n((), FLIPS).scan(1_u64, move |state, ()| draw(state));
    drawn.filter_map(move |drawn| drawn.checked_rem(bits))
}
