use std::fmt::Debug;
use std::ops::Range;

use rechunk_grid::{ArraySpec, Endian};
use serde::{Deserialize, Serialize};

use crate::{CodecCost, FormatError, RunFormat, ShardFormat};

/// How the elements of a decoded chunk lie in memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ElementOrder {
    /// The array's axes, slowest-varying in storage first: `[0, 1, 2]` is C order, `[2, 1, 0]` F.
    pub axes: Vec<usize>,
    /// Byte order of an element.
    pub endian: Endian,
}

impl ElementOrder {
    /// C order of `rank` axes, little-endian.
    pub fn c_little(rank: usize) -> Self {
        Self { axes: (0..rank).collect(), endian: Endian::Little }
    }

    /// Byte distance between neighbours along each axis (indexed by C axis) in a chunk of
    /// `chunk_shape` stored contiguously in this order.
    pub fn strides_bytes(&self, chunk_shape: &[u64], item_bytes: u64) -> Vec<u64> {
        let mut strides = vec![0; chunk_shape.len()];
        let mut stride = item_bytes;
        for &axis in self.axes.iter().rev() {
            strides[axis] = stride;
            stride *= chunk_shape[axis];
        }
        strides
    }
}

/// How the elements of a chunk are stored that is stored as it is: any of them can be read by
/// themselves.
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

    /// What the codecs cost.
    fn codec_cost(&self) -> &CodecCost;

    /// A text that is equal for two layouts exactly if equal chunks have interchangeable encoded
    /// bytes: data type, element order and codecs (not the grid, the keys or the fill value).
    fn encoding_identity(&self) -> &str;

    /// The codecs in a few words, for people: `blosc(lz4, level 5, shuffle)`.
    fn codec_summary(&self) -> &str;

    /// True if a codec of every chunk has a checksum of what is stored: a bit that flips there
    /// leads to an error when the chunk is decoded, or does not change an element.
    fn has_checksum(&self) -> bool {
        false
    }

    /// The shards that chunks are put into; `None` if each chunk is an object of its own.
    fn shards(&self) -> Option<&ShardFormat>;

    /// Key of object `index`, relative to the array's own location: of a shard where there are
    /// shards, else of a chunk.
    fn object_key(&self, index: &[u64]) -> String;

    /// The inverse of [`Layout::object_key`]: the index of the object that `key` stands for, which
    /// may lie outside the grid; `None` if it is the key of none.
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

    /// How elements lie in the objects, where these are files of raw elements and
    /// [`Layout::chunk_range`] is known for every chunk.
    fn runs(&self) -> Option<&RunFormat> {
        None
    }

    /// How elements are stored, if that is nothing but the elements, in the order that
    /// [`Layout::element_order`] says: no codec, no header, one object or range for each chunk.
    fn plain(&self) -> Option<Plain> {
        (self.codec_cost().is_raw && self.shards().is_none()).then_some(Plain::Padded)
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

    /// [`Layout::decode`] for somebody who looks at the bytes `wanted` of the chunk and at no
    /// other: returns as many bytes, of which those elsewhere may be anything. Codecs that encode
    /// block by block save what they can.
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

    /// How many first bytes of a stored chunk [`Layout::narrow`] is to be shown; `None` if all of a
    /// chunk is needed whatever is wanted of it.
    fn head_bytes(&self) -> Option<usize> {
        None
    }

    /// Decoded bytes of the blocks that chunks are probably made of, where [`Layout::decode_part`]
    /// passes over those of which nothing is wanted (the last of a chunk may be shorter); `None`
    /// where it decodes all.
    fn block_bytes(&self) -> Option<u64> {
        None
    }

    /// What of a stored chunk of `stored_bytes` has to be read to decode no more than the bytes
    /// `wanted`: its first [`Layout::head_bytes`], which are shown, and behind them the range that
    /// is returned. `head` is changed so that the two together are taken by
    /// [`Layout::decode_part`], which makes the same of them or refuses them; then all has to be
    /// read. `None`, and `head` is as it was, if it has to be anyhow.
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

    /// An error if the stored bytes of chunk `index` cannot be right, as far as that is told
    /// without decoding them: by their number, a checksum around them, a header.
    fn check_stored(&self, index: &[u64], encoded: &[u8]) -> Result<(), FormatError> {
        let _ = (index, encoded);
        Ok(())
    }

    /// Encodes the elements of chunk `index`, a full one, laid out as [`Layout::element_order`]
    /// says, into `encoded`, whose contents are lost and whose capacity is used again. Where the
    /// layout is raw this is a copy that a caller can save itself: the elements are the stored
    /// bytes.
    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError>;
}
