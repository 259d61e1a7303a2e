use std::fmt::Debug;
use std::ops::Range;

use rechunk_grid::ArraySpec;

use crate::variable::VariableLayout;
use crate::{CodecCost, ElementOrder, FormatError, RunFormat, ShardFormat};

/// Form of a chunk that is stored as it is: any of its elements can be read by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plain {
    /// As they are decoded, padding and all.
    Padded,
    /// Those of the array, without padding.
    Clipped,
}

/// One array's byte layout: everything about its chunks but the bytes.
///
/// A *chunk* is what is encoded by itself; where chunks lie in shards, `spec().chunk_shape` is that
/// of the chunks inside.
///
/// Chunks are whole: a decoded chunk always has `spec().chunk_shape` elements (where the spec has
/// edges, those that [`rechunk_grid::ChunkGrid::chunk`] says), edge chunks padded. How much of an
/// edge chunk is stored is the format's own affair.
pub trait Layout: Debug + Send + Sync {
    /// The array.
    fn spec(&self) -> &ArraySpec;

    /// Name of the format for people: `zarr2`, `zarr3`.
    fn format_name(&self) -> &'static str;

    /// Order of the elements in a decoded chunk.
    fn element_order(&self) -> &ElementOrder;

    /// Costs of the codecs.
    fn codec_cost(&self) -> &CodecCost;

    /// Text that is equal for two layouts exactly if equal chunks have interchangeable encoded
    /// bytes. It covers data type, element order and codecs (not the grid, the keys or the fill
    /// value).
    fn encoding_identity(&self) -> &str;

    /// The codecs in a few words, for people: `blosc(lz4, level 5, shuffle)`.
    fn codec_summary(&self) -> &str;

    /// True if a codec of every chunk has a checksum of its stored bytes. A bit that flips there
    /// leads to an error when the chunk is decoded, or does not change an element.
    fn has_checksum(&self) -> bool {
        false
    }

    /// The shards that chunks are put into; `None` if each chunk is an object of its own.
    fn shards(&self) -> Option<&ShardFormat>;

    /// Number of shard `index`, by which the tables of its index name chunks
    /// ([`crate::ShardTables`]); 0 where an index has none.
    fn shard_number(&self, index: &[u64]) -> u64 {
        let _ = index;
        0
    }

    /// Key of object `index`, relative to the array's own location: of a shard where there are
    /// shards, else of a chunk.
    fn object_key(&self, index: &[u64]) -> String;

    /// Index of the object with this key, the inverse of [`Layout::object_key`]. It may lie outside
    /// the grid; `None` if it is the key of none.
    fn object_index(&self, key: &str) -> Option<Vec<u64>>;

    /// Key of the object that chunk `index` is in.
    fn chunk_key(&self, index: &[u64]) -> String {
        match self.shards() {
            Some(shards) => self.object_key(&shards.shard_of(index)),
            None => self.object_key(index),
        }
    }

    /// The bytes of its object that chunk `index` is, offset and length, where that is known
    /// without looking: files of raw elements. Then the object has to be there. `None` if the
    /// object is the chunk, whatever its size, or has an index.
    fn chunk_range(&self, index: &[u64]) -> Option<(u64, u64)> {
        let _ = index;
        None
    }

    /// Position of elements in the objects, where these are files of raw elements and
    /// [`Layout::chunk_range`] is known for every chunk.
    fn runs(&self) -> Option<&RunFormat> {
        None
    }

    /// Form of stored elements without codec and header, in the order of [`Layout::element_order`].
    /// There is one object or range for each chunk. `None` if more than the elements is stored.
    fn plain(&self) -> Option<Plain> {
        (self.codec_cost().is_raw && self.shards().is_none()).then_some(Plain::Padded)
    }

    /// Codecs of elements that differ in length, where [`Layout::decode`] has no say and chunks can
    /// be decoded all the same. They are alike for all chunks.
    fn variable(&self) -> Option<&dyn VariableLayout> {
        None
    }

    /// Shape of chunk `index` as it is stored, where the array has not all of it, and the elements
    /// along each axis before its own. Of use where chunks are decoded by [`Layout::variable`].
    fn stored_part(&self, index: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        let _ = index;
        None
    }

    /// True if a chunk that is absent means something else than a chunk of fill values: no data,
    /// not zeros. What was stored then stays stored, and what was not stays absent.
    fn tells_absence(&self) -> bool {
        false
    }

    /// Decodes chunk `index`. Returns exactly the bytes of a full chunk: a slice of `encoded`
    /// itself where the layout is raw, else of `scratch`, which is resized (and may be replaced) as
    /// needed. Never allocates more than the decoded size and the declared workspace, whatever the
    /// bytes claim.
    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError>;

    /// Decodes chunk `index` like [`Layout::decode`] where only its bytes `wanted` matter. Returns
    /// as many bytes, of which those elsewhere may be anything. Codecs that encode block by block
    /// save what they can.
    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        let _ = wanted;
        self.decode(index, encoded, scratch)
    }

    /// Number of first bytes of a stored chunk that [`Layout::narrow`] needs. `None` if all of a
    /// chunk is needed whatever is wanted of it.
    fn head_bytes(&self) -> Option<usize> {
        None
    }

    /// Decoded bytes of the blocks that chunks are probably made of (the last of a chunk may be
    /// shorter). [`Layout::decode_part`] passes over blocks of which nothing is wanted; `None`
    /// where it decodes all.
    fn block_bytes(&self) -> Option<u64> {
        None
    }

    /// Finds the part of a stored chunk of `stored_bytes` that is read to decode no more than the
    /// bytes `wanted`. That is its `head`, the first [`Layout::head_bytes`], and behind it the
    /// range that is returned. `head` is changed so that [`Layout::decode_part`] takes the two
    /// together, and makes the same of them or refuses them; then all has to be read. `None`, and
    /// `head` is as it was, if it has to be anyhow.
    fn narrow(
        &self,
        index: &[u64],
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        let _ = (index, head, stored_bytes, wanted);
        None
    }

    /// Refuses stored bytes of chunk `index` that cannot be right, as far as is known without
    /// decoding them. Looks at their number, a checksum around them, a header.
    fn check_stored(&self, index: &[u64], encoded: &[u8]) -> Result<(), FormatError> {
        let _ = (index, encoded);
        Ok(())
    }

    /// Encodes the elements of chunk `index`, a full one, laid out as [`Layout::element_order`]
    /// says. The contents of `encoded` are lost and its capacity is used again. Where the layout is
    /// raw this is a copy that a caller can save itself: the elements are the stored bytes.
    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError>;
}
