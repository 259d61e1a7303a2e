//! An array in files of raw elements.

use rechunk_format::field::Field;
use rechunk_format::{ElementOrder, FormatError, RunFormat};
use rechunk_grid::{ArraySpec, DataType, Endian, GridError, ITEM_BYTES_MAX, element_count};
use serde_json::{Map, Value};

use crate::{Files, Header, KeyTemplate};

/// Largest chunk that is accepted: beyond any real one, and small enough that sums of such sizes
/// cannot overflow.
pub const CHUNK_BYTES_MAX: u64 = 1 << 40;

/// An array in files of raw elements.
#[derive(Debug, Clone, PartialEq)]
pub struct RawMetadata {
    /// The array; without a fill value, because every element is stored. Its chunks are the blocks,
    /// or slabs of the one file.
    pub spec: ArraySpec,
    /// Order of the elements in a file, and so in a chunk.
    pub order: ElementOrder,
    /// Which files.
    pub files: Files,
    /// The fields of a record as Zarr v2 spells them; `None` for other types.
    pub record: Option<Value>,
    /// Attributes of the array, from users or the header.
    pub attributes: Map<String, Value>,
}

impl RawMetadata {
    /// Refuses what no files can hold. What else was said about it is refused where it was said.
    pub fn check(&self) -> Result<(), FormatError> {
        let field = |name: &str| Field::new("raw array", name);
        let wrong = |error: GridError| field("shape").invalid(error.to_string());
        let (spec, rank) = (&self.spec, self.spec.shape.len());
        let grid = spec.grid().map_err(wrong)?;
        let mut axes = self.order.axes.clone();
        axes.sort_unstable();
        if !axes.iter().copied().eq(0..rank) {
            let reason = format!("{:?} is not an order of {rank} axes", self.order.axes);
            return Err(field("order").invalid(reason));
        }
        if spec.dimension_names.as_ref().is_some_and(|names| names.len() != rank) {
            let reason = format!("there is not one name for each of {rank} axes");
            return Err(field("dimension_names").invalid(reason));
        }
        let item_bytes = spec.item_bytes();
        if spec.data_type.is_variable() || !(1..=ITEM_BYTES_MAX).contains(&item_bytes) {
            let what = format!("data type {} in files of raw elements", spec.data_type);
            return Err(field("data_type").unsupported(what, ""));
        }
        let is_record = matches!(spec.data_type, DataType::Structured { .. });
        if is_record != self.record.is_some() {
            return Err(field("data_type").invalid("a record and its fields go together"));
        }
        let chunk_bytes = grid.chunk_elements().checked_mul(item_bytes);
        if chunk_bytes.is_none_or(|bytes| bytes > CHUNK_BYTES_MAX) {
            let reason = format!("chunks of more than {CHUNK_BYTES_MAX} bytes");
            return Err(field("chunk_shape").invalid(reason));
        }
        // The whole array fits 63 bits, so that every offset does; an axis of extent 0 must not
        // hide absurd others.
        let bytes = element_count(&whole_shape(spec))
            .and_then(|elements| elements.checked_mul(item_bytes))
            .and_then(|bytes| bytes.checked_add(self.files.offset_bytes()));
        if bytes.is_none_or(|bytes| i64::try_from(bytes).is_err()) {
            let (what, shape) = ("the size in bytes of an array", spec.shape.clone());
            return Err(wrong(GridError::TooLarge { what, shape }));
        }
        Ok(())
    }

    /// Bytes of a chunk that is not clipped.
    pub fn chunk_bytes(&self) -> u64 {
        self.spec.chunk_shape.iter().product::<u64>() * self.spec.item_bytes()
    }

    /// Positions of runs of elements in the files.
    pub fn runs(&self) -> RunFormat {
        let (header, is_single) = match &self.files {
            Files::Blocks { .. } => (&Header::None, false),
            Files::Single { header, .. } => (header, true),
        };
        RunFormat {
            block_shape: if is_single {
                whole_shape(&self.spec)
            } else {
                self.spec.chunk_shape.clone()
            },
            offset_bytes: self.files.offset_bytes(),
            axes: self.order.axes.clone(),
            header: header.bytes().to_vec(),
            has_tail: header.allows_tail(),
            is_single,
        }
    }

    /// Bytes file `index` has to have; with [`RunFormat::has_tail`] it may have more.
    pub fn file_bytes(&self, index: &[u64]) -> Result<u64, GridError> {
        self.runs().file_bytes(&self.spec, index)
    }

    /// Name of file `index`, relative to the array.
    pub fn file_key(&self, index: &[u64]) -> String {
        match &self.files {
            Files::Blocks { key, .. } => key.key(index),
            Files::Single { name, .. } => name.clone(),
        }
    }

    /// The index of the file that a name stands for, which may lie outside the array; `None` if it
    /// is the name of none.
    pub fn file_index(&self, name: &str) -> Option<Vec<u64>> {
        let rank = self.spec.shape.len();
        match &self.files {
            Files::Blocks { key, .. } => key.index(name, rank),
            Files::Single { name: own, .. } => (own == name).then(|| vec![0; rank]),
        }
    }

    /// The template of the names of blocks, if these are blocks.
    pub fn key_template(&self) -> Option<&KeyTemplate> {
        match &self.files {
            Files::Blocks { key, .. } => Some(key),
            Files::Single { .. } => None,
        }
    }

    /// Order and byte order in words: `C order, little-endian`.
    pub(crate) fn order_text(&self) -> String {
        let rank = self.order.axes.len();
        let order = if self.order.axes.iter().copied().eq(0..rank) {
            "C order".to_owned()
        } else if self.order.axes.iter().copied().eq((0..rank).rev()) {
            "F order".to_owned()
        } else {
            format!("axes {:?} slowest first", self.order.axes)
        };
        match (self.spec.data_type.swap_bytes(), self.order.endian) {
            (1, _) => order,
            (_, Endian::Little) => format!("{order}, little-endian"),
            (_, Endian::Big) => format!("{order}, big-endian"),
        }
    }
}

/// The block that is the whole array.
fn whole_shape(spec: &ArraySpec) -> Vec<u64> {
    spec.shape.iter().map(|&extent| extent.max(1)).collect()
}
