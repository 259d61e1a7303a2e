//! A block of N5 in memory.

use rechunk_format::{CodecCost, FormatError};
use rechunk_grid::element_count;

use super::Chain;
use crate::codec_spec::CodecSpec;
use crate::n5_block::N5BlockCodec;

/// Bytes of a header before the sizes: mode and number of axes.
const HEAD_BYTES: usize = 4;
/// Bytes of a size in a header.
const SIZE_BYTES: usize = 4;
/// More axes than any array has.
const RANK_MAX: u64 = 255;

/// The chain of a block of `shape`.
fn chain(block: &N5BlockCodec, shape: &[u64]) -> Result<Chain, FormatError> {
    let codecs: Vec<CodecSpec> = block.compressor.iter().cloned().collect();
    let elements = element_count(shape).unwrap_or(u64::MAX);
    Chain::new(&codecs, elements.saturating_mul(block.data_type.item_bytes()), shape)
}

/// Cost of encoding and decoding `decoded` bytes.
fn cost(block: &N5BlockCodec, decoded: u64) -> Option<CodecCost> {
    let elements = decoded / block.data_type.item_bytes().max(1);
    chain(block, &[elements]).ok().map(|chain| chain.cost())
}

/// Most bytes of a block of `decoded` bytes: whole, or clipped.
pub(super) fn encoded_bytes_max(block: &N5BlockCodec, decoded: u64) -> u64 {
    let header = HEAD_BYTES as u64 + RANK_MAX * SIZE_BYTES as u64;
    let inside = cost(block, decoded).map_or(decoded, |cost| cost.encoded_bytes_max);
    inside.saturating_add(header)
}

/// Bytes beside the chunk and its encoded form: the elements, or the compressed ones, once more.
pub(super) fn workspace_bytes(
    block: &N5BlockCodec,
    decoded: u64,
    of: fn(&CodecCost) -> u64,
) -> u64 {
    let Some(cost) = cost(block, decoded) else { return 0 };
    cost.encoded_bytes_max.max(decoded).saturating_add(of(&cost))
}

/// Decodes a block into `decoded`, a chunk of `shape` as its elements lie, the slowest axis first.
/// What the block has not is filled.
pub(super) fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bytes: usize,
    (block, shape): (&N5BlockCodec, &[u64]),
) -> Result<(), String> {
    let (sizes, payload) = header(encoded, shape)?;
    let text = |error: FormatError| error.to_string();
    let chain = chain(block, &sizes).map_err(text)?;
    if sizes == shape {
        let mut scratch = std::mem::take(decoded);
        let elements = chain.decode(payload, &mut scratch).map_err(text)?;
        if block.compressor.is_none() {
            decoded.extend_from_slice(elements);
        } else {
            *decoded = scratch;
        }
        return Ok(());
    }
    let mut scratch = Vec::new();
    let elements = chain.decode(payload, &mut scratch).map_err(text)?;
    decoded.clear();
    decoded.resize(bytes, 0);
    let item_bytes = block.data_type.item_bytes();
    let (into, from) = (strides(shape, item_bytes), strides(&sizes, item_bytes));
    let said = |error: rechunk_kernel::KernelError| error.to_string();
    if block.fill.iter().any(|byte| *byte != 0) {
        rechunk_kernel::fill_region(&block.fill, shape, decoded, 0, &into).map_err(said)?;
    }
    let item = usize::try_from(item_bytes).map_err(|error| error.to_string())?;
    rechunk_kernel::copy_region(item, &sizes, elements, 0, &from, decoded, 0, &into, 1)
        .map_err(said)
}

/// Encodes a chunk of `shape` as a whole block.
pub(super) fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    (block, shape): (&N5BlockCodec, &[u64]),
) -> Result<(), String> {
    let text = |error: FormatError| error.to_string();
    let mut payload = Vec::new();
    chain(block, shape).map_err(text)?.encode(decoded, &mut payload).map_err(text)?;
    let rank = u16::try_from(shape.len()).map_err(|error| error.to_string())?;
    encoded.clear();
    encoded.extend_from_slice(&0_u16.to_be_bytes());
    encoded.extend_from_slice(&rank.to_be_bytes());
    for size in shape.iter().rev() {
        let size = u32::try_from(*size).map_err(|_| format!("{size} elements along an axis"))?;
        encoded.extend_from_slice(&size.to_be_bytes());
    }
    encoded.append(&mut payload);
    Ok(())
}

/// The sizes a header says, the slowest axis first, and what follows it.
fn header<'a>(encoded: &'a [u8], shape: &[u64]) -> Result<(Vec<u64>, &'a [u8]), String> {
    let short = || format!("{} bytes are too few for the header of a block", encoded.len());
    let (head, rest) = encoded.split_at_checked(HEAD_BYTES).ok_or_else(short)?;
    let (mode, rank) = (number(&head[..2]), number(&head[2..]));
    match mode {
        0 => {}
        1 => return Err("a block of variable length (n5_varlen)".to_owned()),
        2 => return Err("a block of a serialised object".to_owned()),
        other => return Err(format!("mode {other} is not known")),
    }
    if usize::try_from(rank) != Ok(shape.len()) {
        return Err(format!("the header says {rank} axes, but the array has {}", shape.len()));
    }
    let (sizes, payload) = rest.split_at_checked(SIZE_BYTES * shape.len()).ok_or_else(short)?;
    let sizes: Vec<u64> = sizes.chunks(SIZE_BYTES).rev().map(number).collect();
    if sizes.iter().zip(shape).any(|(size, most)| size > most) {
        return Err(format!("the header says {sizes:?}, which is more than the chunk, {shape:?}"));
    }
    Ok((sizes, payload))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Bytes from one element to the next along each axis, in C order.
fn strides(shape: &[u64], item_bytes: u64) -> Vec<u64> {
    let mut strides = vec![item_bytes; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}
