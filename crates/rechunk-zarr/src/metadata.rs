//! An array's metadata, whichever version of Zarr wrote it.

use rechunk_codec::blosc;
use rechunk_format::{ElementOrder, ShardFormat};
use rechunk_grid::{ArraySpec, DataType};
use serde_json::{Map, Value};

use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::Field;
use crate::fill_value::{write_bits, write_byte_list, write_fill_value};
use crate::types_v3;

/// Largest chunk that is accepted, decoded: beyond any real one, and small enough that sums of
/// such sizes cannot overflow.
pub const CHUNK_BYTES_MAX: u64 = 1 << 40;

/// Largest chunk Blosc can hold, decoded (its `BLOSC_MAX_BUFFERSIZE`).
pub const BLOSC_CHUNK_BYTES_MAX: u64 = blosc::CHUNK_BYTES_MAX;

/// Most codecs of a chain: more than anybody needs, and few enough to bound their work.
pub(crate) const CHAIN_LENGTH_MAX: usize = 64;

/// Version of the Zarr format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZarrVersion {
    /// `.zarray` and `.zattrs`.
    V2,
    /// `zarr.json`.
    V3,
}

impl ZarrVersion {
    /// The name people use: `zarr2`, `zarr3`.
    pub fn format_name(self) -> &'static str {
        match self {
            Self::V2 => "zarr2",
            Self::V3 => "zarr3",
        }
    }

    /// Key of the array's own document.
    pub(crate) fn document_key(self) -> &'static str {
        match self {
            Self::V2 => ".zarray",
            Self::V3 => "zarr.json",
        }
    }

    /// Field that names the chunk shape.
    pub(crate) fn chunk_field(self) -> Field {
        let name = match self {
            Self::V2 => "chunks",
            Self::V3 => "chunk_grid.configuration.chunk_shape",
        };
        Field::new(self.document_key(), name)
    }

    /// Field that names the codecs.
    pub(crate) fn codec_field(self) -> Field {
        let name = match self {
            Self::V2 => "compressor",
            Self::V3 => "codecs",
        };
        Field::new(self.document_key(), name)
    }
}

/// Beginning of the keys of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyStyle {
    /// v3's own: `c/0/1`, and `c` for a scalar.
    Default,
    /// As in v2: `0.1`, and `0` for a scalar.
    V2,
}

/// Encoding of a chunk's index as its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyEncoding {
    /// With or without the `c`.
    pub style: KeyStyle,
    /// Between the parts: `/` or `.`.
    pub separator: char,
}

impl KeyEncoding {
    /// Key of chunk `index`, relative to the array.
    pub fn chunk_key(&self, index: &[u64]) -> String {
        let mut key = match (self.style, index.is_empty()) {
            (KeyStyle::Default, _) => "c".to_owned(),
            (KeyStyle::V2, true) => "0".to_owned(),
            (KeyStyle::V2, false) => String::new(),
        };
        for position in index {
            if !key.is_empty() {
                key.push(self.separator);
            }
            key.push_str(&position.to_string());
        }
        key
    }

    /// The index a key stands for in an array of `rank` axes; `None` if it is no chunk key.
    pub fn chunk_index(&self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let mut parts = key.split(self.separator);
        let index: Vec<u64> = match (self.style, rank) {
            (KeyStyle::V2, 0) => return (key == "0").then(Vec::new),
            (KeyStyle::Default, _) if parts.next() != Some("c") => return None,
            _ => parts.map(|part| part.parse().ok()).collect::<Option<_>>()?,
        };
        // Equal again from the index: `01` or `+1` name no chunk.
        (index.len() == rank && self.chunk_key(&index) == key).then_some(index)
    }
}

/// Parts that are carried as they stand in the metadata. Nothing here has to understand them, or
/// there is more than one way to say them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verbatim {
    /// The data type where [`DataType`] alone does not say it: records, raw bits, what differs in
    /// length.
    pub data_type: Option<Value>,
    /// The fill value of such a type.
    pub fill_value: Option<Value>,
    /// Codecs of elements that differ in length: v3's list, or an object of v2's `filters` and
    /// `compressor`.
    pub codecs: Option<Value>,
    /// Fields of a v3 document that need not be understood.
    pub fields: Map<String, Value>,
}

/// An array, and the way in which its chunks are stored.
///
/// Made by [`crate::parse_v2`], [`crate::parse_v3`] or [`crate::target_metadata`], which check it.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayMetadata {
    /// The array.
    pub spec: ArraySpec,
    /// The version it is written in.
    pub version: ZarrVersion,
    /// Order of the elements in a decoded chunk. Little-endian for types of one byte.
    pub order: ElementOrder,
    /// Codecs of the bytes of a chunk, in the order of encoding.
    pub codecs: Vec<CodecSpec>,
    /// The shards that chunks are put into, if they are.
    pub sharding: Option<ShardFormat>,
    /// Encoding of the keys of chunks (or of shards, where there are some).
    pub key_encoding: KeyEncoding,
    /// The user's attributes, in their order; without the dimension names of v2, which are in
    /// `spec`. Bare tokens such as `NaN` are kept as strings that only this crate's writer knows.
    pub attributes: Map<String, Value>,
    /// Parts that are written again as they were read.
    pub verbatim: Verbatim,
}

impl ArrayMetadata {
    /// The codecs as metadata of this version names them, without `bytes` and `transpose`. Of
    /// elements of variable length none is known here.
    pub fn codec_names(&self) -> Vec<String> {
        let name = |codec: &CodecSpec| match self.version {
            ZarrVersion::V3 if !codec.is_core_v3() => format!("numcodecs.{}", codec.name()),
            _ => codec.name().to_owned(),
        };
        self.codecs.iter().map(name).collect()
    }

    /// A scalar of v3: xarray opens it though it has no names, for it has no dimensions.
    pub(crate) fn is_v3_scalar(&self) -> bool {
        self.version == ZarrVersion::V3 && self.spec.shape.is_empty()
    }

    /// True if shards differ in shape. Each is then a chunk of the grid, decoded as a whole.
    pub fn has_shards_of_many_shapes(&self) -> bool {
        let is_shards = |codec: &CodecSpec| matches!(codec, CodecSpec::Shards(_));
        self.spec.edges.is_some() && self.codecs.iter().any(is_shards)
    }

    /// The attributes as plain JSON: bare tokens such as `NaN` become strings.
    pub fn plain_attributes(&self) -> Value {
        crate::json::plain(&Value::Object(self.attributes.clone()))
    }

    /// The fill value as it stands in the metadata.
    pub fn fill_value_text(&self) -> String {
        match crate::json::plain(&self.fill_value_json()) {
            Value::String(text) if !text.is_empty() => text,
            other => other.to_string(),
        }
    }

    /// The fill value as the metadata of this version says it.
    pub(crate) fn fill_value_json(&self) -> Value {
        if let Some(value) = &self.verbatim.fill_value {
            return value.clone();
        }
        let Some(fill_value) = &self.spec.fill_value else { return Value::Null };
        let is_small_float = matches!(self.spec.data_type, DataType::SmallFloat(_));
        match &self.verbatim.data_type {
            // In v2 hexadecimal digits are a number to tensorstore, the only one that reads these.
            _ if is_small_float && self.version == ZarrVersion::V3 => write_bits(fill_value),
            Some(data_type) if types_v3::is_raw_bits(data_type) => write_byte_list(fill_value),
            _ => write_fill_value(fill_value, self.spec.data_type),
        }
    }

    /// Shape of what one object holds, elements: a shard, else a chunk.
    pub fn object_shape(&self) -> &[u64] {
        self.sharding.as_ref().map_or(&self.spec.chunk_shape, ShardFormat::shard_shape)
    }

    /// Bytes of a decoded chunk; of the largest, where chunks differ. Checked metadata has at most
    /// [`CHUNK_BYTES_MAX`].
    pub fn chunk_bytes(&self) -> u64 {
        let elements = rechunk_grid::element_count(&self.spec.chunk_shape).unwrap_or(u64::MAX);
        elements.saturating_mul(self.spec.item_bytes())
    }

    /// The type of an element of a decoded chunk.
    pub(crate) fn element(&self) -> ElementType {
        ElementType::new(self.spec.data_type, self.order.endian)
    }
}
