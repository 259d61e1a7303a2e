//! Arrays, whatever format stores them.

use serde::{Deserialize, Serialize};

use crate::{ChunkGrid, DataType, Edges, Endian, GridError};

/// The bytes of one element, little-endian, bit-exact (NaN payloads and all).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FillValue {
    /// `DataType::item_bytes` bytes.
    pub bytes: Vec<u8>,
}

impl FillValue {
    /// Zero of a type of `item_bytes` bytes.
    pub fn zero(item_bytes: u64) -> Self {
        Self { bytes: vec![0; usize::try_from(item_bytes).unwrap_or(0)] }
    }

    /// The element as it stands in a chunk of `data_type` in `endian`.
    pub fn stored(&self, data_type: DataType, endian: Endian) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if endian == Endian::Big {
            data_type.swap(&mut bytes);
        }
        bytes
    }
}

/// When a chunk that holds only the fill value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum WriteEmpty {
    /// Not written, except where the format tells absent from zero and the source chunk existed.
    #[default]
    Auto,
    /// Written.
    Always,
    /// Not written.
    Never,
}

impl WriteEmpty {
    /// The treatment of a word: `auto`, `always` or `never`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// An array as every format sees it. All shapes in C order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArraySpec {
    /// Extent of each axis, elements.
    pub shape: Vec<u64>,
    /// Type of an element.
    pub data_type: DataType,
    /// Shape of a chunk (the assembly unit: what is filled and encoded in memory), elements. Where
    /// chunks differ in length, the largest there is.
    pub chunk_shape: Vec<u64>,
    /// Where chunks end, on axes where they differ in length; `None` if there is no such axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Edges>,
    /// Element of a missing chunk. `None` where the metadata says `null`: a missing chunk then
    /// reads as zero and no chunk may be left out when writing.
    pub fill_value: Option<FillValue>,
    /// A name per axis, where the metadata has them.
    pub dimension_names: Option<Vec<Option<String>>>,
}

impl ArraySpec {
    /// The grid of its chunks.
    pub fn grid(&self) -> Result<ChunkGrid, GridError> {
        ChunkGrid::with_edges(&self.shape, &self.chunk_shape, self.edges.as_ref())
    }

    /// The name of `axis`, if it has one.
    pub fn dimension_name(&self, axis: usize) -> Option<&str> {
        self.dimension_names.as_deref()?.get(axis)?.as_deref()
    }

    /// The axis of this name, the slowest if there are several; `None` if there is none.
    pub fn axis_named(&self, name: &str) -> Option<usize> {
        self.axes_named(name).next()
    }

    /// All axes of this name, slowest first. A name may stand twice: a covariance is bands by
    /// bands.
    pub fn axes_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let names = self.dimension_names.as_deref().unwrap_or_default();
        let is_named = move |other: &Option<String>| other.as_deref() == Some(name);
        names.iter().enumerate().filter(move |(_, other)| is_named(other)).map(|(axis, _)| axis)
    }

    /// Bytes of one element.
    pub fn item_bytes(&self) -> u64 {
        self.data_type.item_bytes()
    }

    /// One element of a chunk that is not stored: the fill value, or zero where there is none.
    pub fn fill_item(&self, endian: Endian) -> Vec<u8> {
        let fill = self.fill_value.clone().unwrap_or_else(|| FillValue::zero(self.item_bytes()));
        fill.stored(self.data_type, endian)
    }

    /// Bytes of all elements; `None` if they differ in length, or if that is no number of 64 bits.
    pub fn decoded_bytes(&self) -> Option<u64> {
        if self.data_type.is_variable() {
            return None;
        }
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(self.item_bytes(), |bytes, &extent| bytes.checked_mul(extent))
    }
}
