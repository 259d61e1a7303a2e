//! A whole shard in memory.

use rechunk_format::{CodecCost, ElementOrder, FormatError, IndexLocation, ShardIndex};
use rechunk_grid::Region;

use super::{Chain, stored_shape};
use crate::shard_codec::ShardCodec;

/// The chain of the chunks inside.
fn chain(shards: &ShardCodec) -> Result<Chain, FormatError> {
    let shape = stored_shape(&shards.order, &shards.chunk_shape);
    Chain::new(&shards.codecs, shards.chunk_bytes(), &shape)
}

fn cost(shards: &ShardCodec) -> Option<CodecCost> {
    chain(shards).ok().map(|chain| chain.cost())
}

/// Most bytes of an encoded shard: what its chunks can have become, but no more than twice its
/// elements and 256 bytes a chunk.
pub(super) fn encoded_bytes_max(shards: &ShardCodec, decoded: u64) -> u64 {
    const SLACK_BYTES: u64 = 64 << 10;
    let chunks = shards.format.chunk_count();
    let by_chunk = cost(shards).map_or(u64::MAX, |cost| cost.encoded_bytes_max);
    let generous = decoded.saturating_mul(2).saturating_add(chunks.saturating_mul(256));
    by_chunk
        .saturating_mul(chunks)
        .min(generous.saturating_add(SLACK_BYTES))
        .saturating_add(shards.format.index_bytes())
}

/// Bytes beside the shard and its encoded form: one chunk of either, and the index.
pub(super) fn workspace_bytes(shards: &ShardCodec, of: fn(&CodecCost) -> u64) -> u64 {
    let Some(cost) = cost(shards) else { return 0 };
    let index_bytes = shards.format.index_bytes().saturating_mul(2);
    shards
        .chunk_bytes()
        .saturating_add(cost.encoded_bytes_max)
        .saturating_add(of(&cost))
        .saturating_add(index_bytes)
}

/// Places of the chunks in the decoded shard.
struct Places<'a> {
    shards: &'a ShardCodec,
    item_bytes: usize,
    shard_strides: Vec<u64>,
    chunk_strides: Vec<u64>,
}

impl<'a> Places<'a> {
    fn new(shards: &'a ShardCodec) -> Result<Self, String> {
        let shape = shards.format.shard_shape();
        let order = ElementOrder::c_little(shape.len());
        let item_bytes = shards.data_type.item_bytes();
        Ok(Self {
            item_bytes: usize::try_from(item_bytes).map_err(|error| error.to_string())?,
            shard_strides: order.strides_bytes(shape, item_bytes),
            chunk_strides: shards.order.strides_bytes(&shards.chunk_shape, item_bytes),
            shards,
        })
    }

    /// Offset of chunk `index` in the decoded shard, bytes.
    fn offset_bytes(&self, index: &[u64]) -> u64 {
        let axes = index.iter().zip(&self.shards.chunk_shape).zip(&self.shard_strides);
        axes.map(|((index, extent), stride)| index * extent * stride).sum()
    }
}

/// Decodes a shard into `decoded`, of `bytes` bytes.
pub(super) fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    bytes: usize,
    shards: &ShardCodec,
) -> Result<(), String> {
    let text = |error: FormatError| error.to_string();
    let index = shards.format.index_of(0, encoded).map_err(text)?;
    let (chain, places) = (chain(shards).map_err(text)?, Places::new(shards)?);
    decoded.clear();
    decoded.resize(bytes, 0);
    let mut scratch = Vec::new();
    let chunk_shape = &shards.chunk_shape;
    for (slot, at) in (0..).zip(Region::whole(shards.format.chunks()).positions()) {
        let offset = places.offset_bytes(&at);
        let strides = &places.shard_strides;
        let done = match index.entry(slot) {
            None => {
                rechunk_kernel::fill_region(&shards.fill, chunk_shape, decoded, offset, strides)
            }
            Some(entry) => {
                let named = |error| format!("chunk {at:?} in it: {error}");
                let chunk =
                    chain.decode(ShardIndex::slice(encoded, entry), &mut scratch).map_err(named)?;
                rechunk_kernel::copy_region(
                    places.item_bytes,
                    chunk_shape,
                    chunk,
                    0,
                    &places.chunk_strides,
                    decoded,
                    offset,
                    strides,
                    1,
                )
            }
        };
        done.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Encodes a shard. Chunks that hold nothing but the fill value are left out.
pub(super) fn encode(
    decoded: &[u8],
    encoded: &mut Vec<u8>,
    shards: &ShardCodec,
) -> Result<(), String> {
    let text = |error: FormatError| error.to_string();
    let (chain, places) = (chain(shards).map_err(text)?, Places::new(shards)?);
    let index_len = usize::try_from(shards.format.index_bytes()).unwrap_or(usize::MAX);
    let at_start = shards.format.location() == IndexLocation::Start;
    encoded.clear();
    encoded.resize(if at_start { index_len } else { 0 }, 0);
    let mut index = ShardIndex::empty(&shards.format);
    let chunk_len = usize::try_from(shards.chunk_bytes()).map_err(|error| error.to_string())?;
    let (mut chunk, mut stored) = (vec![0; chunk_len], Vec::new());
    for (slot, at) in (0..).zip(Region::whole(shards.format.chunks()).positions()) {
        rechunk_kernel::copy_region(
            places.item_bytes,
            &shards.chunk_shape,
            decoded,
            places.offset_bytes(&at),
            &places.shard_strides,
            &mut chunk,
            0,
            &places.chunk_strides,
            1,
        )
        .map_err(|error| error.to_string())?;
        if rechunk_kernel::is_all(&shards.fill, &chunk) {
            continue;
        }
        chain.encode(&chunk, &mut stored).map_err(text)?;
        index.set(slot, encoded.len() as u64, stored.len() as u64);
        encoded.extend_from_slice(&stored);
    }
    let index = shards.format.encode_index(&index);
    if at_start {
        encoded[..index_len].copy_from_slice(&index);
    } else {
        encoded.extend_from_slice(&index);
    }
    Ok(())
}
