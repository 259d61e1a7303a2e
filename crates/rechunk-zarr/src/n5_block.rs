//! `n5_default`: a block of N5 as a codec of Zarr v3, so that one set of chunks is an array of
//! both.
//!
//! A header that says mode, number of axes and the size along each (which is smaller at the edges,
//! where the writer clips), then the elements: the first axis fastest, big-endian, and compressed
//! by at most one codec. zarr-extensions has it as `codecs/n5_default`.

use rechunk_format::FormatError;
use rechunk_grid::{DataType, Endian, FillValue};
use serde_json::{Map, Value, json};

use crate::codec_names::N5_BLOCK;
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::Field;
use crate::metadata::{ArrayMetadata, KeyEncoding, KeyStyle};

/// Attribute in which `n5tozarr` repeats what the `attributes.json` beside says.
const REPEATED: &str = "_n5";

/// A block as a codec: elements, with the first axis fastest and big-endian, into bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct N5BlockCodec {
    /// Compressor of the elements, if there is one.
    pub compressor: Option<CodecSpec>,
    /// Axes of a block.
    pub rank: usize,
    /// Type of the elements.
    pub data_type: DataType,
    /// Element, big-endian, in place of those that a smaller block does not have.
    pub fill: Vec<u8>,
}

impl N5BlockCodec {
    /// The codec with these `codecs` in its configuration, for elements of `data_type`: behind them
    /// they lie in the order of `axes`.
    pub(crate) fn new(
        field: &Field,
        (axes, codecs): (&[usize], Vec<CodecSpec>),
        data_type: DataType,
        is_big_endian: bool,
    ) -> Result<Self, FormatError> {
        if !axes.iter().copied().eq((0..axes.len()).rev()) {
            let all = (0..axes.len()).rev().collect::<Vec<_>>();
            return Err(field.invalid(format!("its transpose has to be {all:?}")));
        }
        if data_type.swap_bytes() > 1 && !is_big_endian {
            return Err(field.invalid("its elements have to be big-endian"));
        }
        let mut codecs = codecs.into_iter();
        let compressor = codecs.next();
        let is_bytes = |codec: &CodecSpec| !codec.is_array_to_array() && !codec.is_array_to_bytes();
        if codecs.next().is_some() || compressor.as_ref().is_some_and(|codec| !is_bytes(codec)) {
            return Err(field.invalid("it has transpose, bytes and at most one compressor"));
        }
        Ok(Self { compressor, rank: axes.len(), data_type, fill: Vec::new() })
    }

    /// As metadata says it, with the `compressor` as it says that.
    pub(crate) fn write(&self, compressor: Option<Value>) -> Value {
        let order: Vec<usize> = (0..self.rank).rev().collect();
        let bytes = if self.data_type.swap_bytes() > 1 {
            json!({"name": "bytes", "configuration": {"endian": "big"}})
        } else {
            json!({"name": "bytes"})
        };
        let transpose = json!({"name": "transpose", "configuration": {"order": order}});
        let codecs: Vec<Value> = [transpose, bytes].into_iter().chain(compressor).collect();
        json!({"name": N5_BLOCK, "configuration": {"codecs": codecs}})
    }
}

/// `source` as if its chunks were no blocks of N5: its elements in the same order, and compressed
/// alike. `None` if they are none.
pub(crate) fn without_n5_blocks(source: &ArrayMetadata) -> Option<ArrayMetadata> {
    let at = source.codecs.iter().position(|codec| matches!(codec, CodecSpec::N5Block(_)))?;
    let mut plain = source.clone();
    if let CodecSpec::N5Block(block) = plain.codecs.remove(at)
        && let Some(compressor) = block.compressor
    {
        plain.codecs.insert(at, compressor);
    }
    plain.attributes.shift_remove(REPEATED);
    Some(plain)
}

impl ArrayMetadata {
    /// Returns this array with its chunks as blocks of N5, under the keys that N5 has for them. It
    /// has the axes of N5 in their order, the fastest first, and at most a compressor.
    #[must_use]
    pub fn in_n5_blocks(mut self) -> Self {
        let rank = self.spec.shape.len();
        let data_type = self.spec.data_type;
        let fill = self.spec.fill_value.clone();
        let fill = fill.unwrap_or_else(|| FillValue::zero(self.spec.item_bytes()));
        self.order.axes = (0..rank).rev().collect();
        self.order.endian = ElementType::new(data_type, Endian::Big).endian;
        let fill = fill.stored(data_type, self.order.endian);
        let compressor = self.codecs.pop();
        let block = N5BlockCodec { compressor, rank, data_type, fill };
        self.codecs = vec![CodecSpec::N5Block(Box::new(block))];
        self.key_encoding = KeyEncoding { style: KeyStyle::V2, separator: '/' };
        self
    }
}

/// True for a `zarr.json` of the array that the `attributes.json` beside it describes. Its chunks
/// are blocks of N5 then, or it repeats that document.
pub fn stands_for_n5(zarr_json: &[u8]) -> bool {
    let has = |text: &str| zarr_json.windows(text.len()).any(|found| found == text.as_bytes());
    if !has(N5_BLOCK) && !has(REPEATED) {
        return false;
    }
    let Ok(document) = crate::json::read_object("zarr.json", zarr_json) else { return false };
    let attributes = document.get("attributes").and_then(Value::as_object);
    let repeats = |map: &Map<String, Value>| map.get(REPEATED).is_some_and(Value::is_object);
    let codecs = document.get("codecs").and_then(Value::as_array);
    let is_block = |codec: &Value| codec.get("name").and_then(Value::as_str) == Some(N5_BLOCK);
    attributes.is_some_and(repeats) || codecs.is_some_and(|list| list.iter().any(is_block))
}
