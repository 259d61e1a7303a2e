//! Layouts that see another one differently.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use rechunk_grid::ArraySpec;

use crate::variable::VariableLayout;
use crate::{CodecCost, ElementOrder, FormatError, Layout, Plain, ShardFormat};

/// A layout that is another but for what it says itself. What a [`Layout`] can be asked is handed
/// on here and nowhere else, so that no view forgets it.
///
/// How elements lie in raw files ([`Layout::runs`]) is not handed on: of a view that is not known.
pub(crate) trait View: Debug + Send + Sync {
    /// Layout that is seen.
    fn inner(&self) -> &dyn Layout;

    /// [`Layout::spec`].
    fn spec(&self) -> &ArraySpec;

    /// [`Layout::encoding_identity`].
    fn identity(&self) -> &str;

    /// [`Layout::element_order`].
    fn order(&self) -> &ElementOrder {
        self.inner().element_order()
    }

    /// [`Layout::codec_cost`].
    fn cost(&self) -> &CodecCost {
        self.inner().codec_cost()
    }

    /// [`Layout::codec_summary`].
    fn summary(&self) -> &str {
        self.inner().codec_summary()
    }

    /// [`Layout::plain`], which follows from the cost by default. Where a view cuts chunks, they
    /// may be clipped at the end of one array and not at that of the other.
    fn plain(&self) -> Option<Plain> {
        (self.cost().is_raw && self.inner().shards().is_none()).then_some(Plain::Padded)
    }

    /// [`Layout::shards`].
    fn shards(&self) -> Option<&ShardFormat> {
        self.inner().shards()
    }

    /// Index, in what is seen, of chunk `index`.
    fn chunk_in<'i>(&self, index: &'i [u64]) -> Cow<'i, [u64]> {
        Cow::Borrowed(index)
    }

    /// Index, in what is seen, of object `index`.
    fn object_in<'i>(&self, index: &'i [u64]) -> Cow<'i, [u64]> {
        Cow::Borrowed(index)
    }

    /// The inverse of [`View::object_in`]; `None` for an object before the first.
    fn object_of(&self, in_inner: Vec<u64>) -> Option<Vec<u64>> {
        Some(in_inner)
    }

    /// [`Layout::stored_part`].
    fn stored_part(&self, index: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        self.inner().stored_part(&self.chunk_in(index))
    }

    /// [`Layout::decode`].
    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        self.inner().decode(&self.chunk_in(index), encoded, scratch)
    }

    /// [`Layout::decode_part`]: all is decoded, as chunks may be others than those that are seen.
    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        _wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        View::decode(self, index, encoded, scratch)
    }

    /// [`Layout::head_bytes`]: `None`, as [`View::decode_part`] is by default.
    fn head_bytes(&self) -> Option<usize> {
        None
    }

    /// [`Layout::block_bytes`]: `None`, as [`View::decode_part`] is by default.
    fn block_bytes(&self) -> Option<u64> {
        None
    }

    /// [`Layout::narrow`].
    fn narrow(
        &self,
        _index: &[u64],
        _head: &mut [u8],
        _stored_bytes: u64,
        _wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        None
    }

    /// [`Layout::encode`].
    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        self.inner().encode(&self.chunk_in(index), elements, encoded)
    }
}

impl<V: View> Layout for V {
    fn spec(&self) -> &ArraySpec {
        View::spec(self)
    }

    fn format_name(&self) -> &'static str {
        self.inner().format_name()
    }

    fn element_order(&self) -> &ElementOrder {
        self.order()
    }

    fn codec_cost(&self) -> &CodecCost {
        self.cost()
    }

    fn encoding_identity(&self) -> &str {
        self.identity()
    }

    fn codec_summary(&self) -> &str {
        self.summary()
    }

    fn plain(&self) -> Option<Plain> {
        View::plain(self)
    }

    fn has_checksum(&self) -> bool {
        self.inner().has_checksum()
    }

    fn shards(&self) -> Option<&ShardFormat> {
        View::shards(self)
    }

    fn shard_number(&self, index: &[u64]) -> u64 {
        self.inner().shard_number(&self.object_in(index))
    }

    fn object_key(&self, index: &[u64]) -> String {
        self.inner().object_key(&self.object_in(index))
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        self.object_of(self.inner().object_index(key)?)
    }

    fn chunk_range(&self, index: &[u64]) -> Option<(u64, u64)> {
        self.inner().chunk_range(&self.chunk_in(index))
    }

    fn variable(&self) -> Option<&dyn VariableLayout> {
        self.inner().variable()
    }

    fn stored_part(&self, index: &[u64]) -> Option<(Vec<u64>, Vec<u64>)> {
        View::stored_part(self, index)
    }

    fn tells_absence(&self) -> bool {
        self.inner().tells_absence()
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        View::decode(self, index, encoded, scratch)
    }

    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        View::decode_part(self, index, encoded, wanted, scratch)
    }

    fn head_bytes(&self) -> Option<usize> {
        View::head_bytes(self)
    }

    fn block_bytes(&self) -> Option<u64> {
        View::block_bytes(self)
    }

    fn narrow(
        &self,
        index: &[u64],
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        View::narrow(self, index, head, stored_bytes, wanted)
    }

    fn check_stored(&self, index: &[u64], encoded: &[u8]) -> Result<(), FormatError> {
        self.inner().check_stored(&self.chunk_in(index), encoded)
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        View::encode(self, index, elements, encoded)
    }
}
