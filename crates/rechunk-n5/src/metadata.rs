//! The metadata of a dataset.

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use rechunk_format::json::{plain, write_pretty};
use rechunk_grid::{ArraySpec, ChunkGrid, FillValue, element_count};
use serde_json::{Map, Value, json};

use crate::ATTRIBUTES_KEY;
use crate::compression::Compression;
use crate::data_type::N5Type;
use crate::dimension_names::{AxisOrder, read_names};
use crate::version::{N5Version, VERSION_KEY};

/// Largest block, decoded, bytes: what an array of Java can hold.
pub const BLOCK_BYTES_MAX: u64 = 2_147_483_647;

/// Largest extent of an axis: Java's `long`.
const EXTENT_MAX: u64 = i64::MAX.unsigned_abs();

/// Fields of a dataset, which are no attributes of the user.
pub(crate) const DIMENSIONS: &str = "dimensions";
pub(crate) const BLOCK_SIZE: &str = "blockSize";
pub(crate) const DATA_TYPE: &str = "dataType";
pub(crate) const COMPRESSION: &str = "compression";
pub(crate) const COMPRESSION_TYPE: &str = "compressionType";

/// The field `name` of the document.
pub(crate) fn field(name: &str) -> Field {
    Field::new(ATTRIBUTES_KEY, name)
}

/// Metadata of a dataset: its array, and the form of its blocks. Lists are in N5's order, fastest
/// axis first.
///
/// Made by [`crate::parse_dataset`] or [`N5Metadata::new_target`], which check it.
#[derive(Debug, Clone, PartialEq)]
pub struct N5Metadata {
    /// Extent of each axis, elements.
    pub dimensions: Vec<u64>,
    /// Shape of a block, elements.
    pub block_size: Vec<u64>,
    /// Type of an element.
    pub data_type: N5Type,
    /// Compression of the elements of a block.
    pub compression: Compression,
    /// The version of a dataset that is the root of its container, if it says one.
    pub version: Option<N5Version>,
    /// Everything else in the document, in its order, dimension names too. Bare tokens such as
    /// `NaN` are kept as strings that only [`rechunk_format::json`] knows.
    pub attributes: Map<String, Value>,
}

impl N5Metadata {
    /// The array, its axes in `axis_order`.
    pub fn spec(&self, axis_order: AxisOrder) -> ArraySpec {
        let data_type = self.data_type.data_type();
        let names = read_names(&self.attributes, self.dimensions.len(), axis_order);
        ArraySpec {
            shape: axis_order.turn(&self.dimensions),
            data_type,
            chunk_shape: axis_order.turn(&self.block_size),
            edges: None,
            fill_value: Some(FillValue::zero(data_type.item_bytes())),
            dimension_names: names.map(|found| found.names),
        }
    }

    /// Returns the dataset with other dimensions, given as `shape` of the array with axes in
    /// `axis_order`.
    #[must_use]
    pub fn with_shape(&self, shape: &[u64], axis_order: AxisOrder) -> Self {
        Self { dimensions: axis_order.turn(shape), ..self.clone() }
    }

    /// The attributes without the one that the dimension names come from: what another format,
    /// which has its own place for names, keeps.
    pub fn user_attributes(&self) -> Map<String, Value> {
        let mut attributes = self.attributes.clone();
        let rank = self.dimensions.len();
        let found = read_names(&attributes, rank, AxisOrder::Kept);
        if let Some(attribute) = found.and_then(|found| found.attribute) {
            attributes.shift_remove(attribute);
        }
        attributes
    }

    /// The attributes as plain JSON: bare tokens such as `NaN` become strings.
    pub fn plain_attributes(&self) -> Value {
        plain(&Value::Object(self.attributes.clone()))
    }

    /// The data type for people.
    pub fn data_type_name(&self) -> String {
        self.data_type.shown_name().to_owned()
    }

    /// Bytes of a decoded block. Checked metadata has at most [`BLOCK_BYTES_MAX`].
    pub fn block_bytes(&self) -> u64 {
        let elements = element_count(&self.block_size).unwrap_or(u64::MAX);
        elements.saturating_mul(self.data_type.data_type().item_bytes())
    }

    /// The document of the dataset.
    pub fn document(&self) -> Vec<u8> {
        let mut map = Map::new();
        if let Some(version) = self.version {
            map.insert(VERSION_KEY.to_owned(), version.to_string().into());
        }
        map.insert(DIMENSIONS.to_owned(), json!(self.dimensions));
        map.insert(BLOCK_SIZE.to_owned(), json!(self.block_size));
        map.insert(DATA_TYPE.to_owned(), self.data_type.name().into());
        map.insert(COMPRESSION.to_owned(), self.compression.to_json());
        // The fields are the dataset's own, whatever a caller has put into the attributes.
        for (key, value) in &self.attributes {
            map.entry(key.as_str()).or_insert_with(|| value.clone());
        }
        write_pretty(&Value::Object(map))
    }

    /// Checks what the rest of the crate relies on, so that a layout cannot fail.
    pub(crate) fn check(&self) -> Result<(), FormatError> {
        if self.dimensions.is_empty() {
            let hint = "give the array an axis, or use --format zarr3";
            return Err(field(DIMENSIONS).unsupported("a dataset without dimensions", hint));
        }
        let of = |name, list: &[u64], low: u64, high: u64| {
            let wrong = list.iter().find(|extent| !(low..=high).contains(extent));
            wrong.map_or(Ok(()), |extent| {
                Err(field(name).invalid(format!("{extent} is not from {low} to {high}")))
            })
        };
        of(DIMENSIONS, &self.dimensions, 0, EXTENT_MAX)?;
        of(BLOCK_SIZE, &self.block_size, 1, BLOCK_BYTES_MAX)?;
        // With blocks of one element only the dimensions themselves can be too much.
        let single = vec![1; self.dimensions.len()];
        for (name, block_size) in [(DIMENSIONS, &single), (BLOCK_SIZE, &self.block_size)] {
            ChunkGrid::new(&self.dimensions, block_size)
                .map_err(|error| field(name).invalid(error.to_string()))?;
        }
        let bytes = self.block_bytes();
        if bytes > BLOCK_BYTES_MAX {
            let what = format!("a block of {bytes} bytes");
            return Err(field(BLOCK_SIZE).unsupported(what, "N5 holds less than 2 GiB in one"));
        }
        self.check_compression(bytes)
    }

    fn check_compression(&self, bytes: u64) -> Result<(), FormatError> {
        let most = match self.compression {
            Compression::Blosc { .. } => rechunk_codec::blosc::CHUNK_BYTES_MAX,
            Compression::Lz4 { .. } => rechunk_codec::lz4_block::CHUNK_BYTES_MAX,
            _ => BLOCK_BYTES_MAX,
        };
        if bytes > most {
            let name = self.compression.name();
            let what = format!("a block of {bytes} bytes with {name:?}");
            let hint = format!("{name} holds at most {most} bytes: use smaller blocks");
            return Err(field(COMPRESSION).unsupported(what, &hint));
        }
        Ok(())
    }
}
