//! Questions that the metadata of an array answers in whatever format.

use std::sync::Arc;

use rechunk_format::field::Field;
use rechunk_format::{FormatError, Layout};
use rechunk_grid::ArraySpec;
use rechunk_zarr::{ArrayMetadata as ZarrMetadata, CodecSpec};
use serde_json::Value;

use super::Format;

/// The metadata of an array in a family of formats. A family is one implementation.
pub(crate) trait Described {
    /// The array.
    fn spec(&self) -> ArraySpec;

    /// Its format.
    fn format(&self) -> Format;

    /// The byte layout it describes.
    fn layout(&self) -> Result<Arc<dyn Layout>, FormatError>;

    /// Shape of one object, elements: a shard, else a chunk; all of the array where it is one file.
    fn object_shape(&self) -> Vec<u64>;

    /// The data type for people.
    fn data_type_name(&self) -> String;

    /// The fill value as people read it.
    fn fill_value_text(&self) -> String;

    /// The documents that make a place this array, by key; the last makes it one.
    fn documents(&self) -> Vec<(String, Vec<u8>)>;

    /// The array as Zarr would describe it; an error where it cannot.
    fn as_zarr(&self) -> Result<ZarrMetadata, FormatError>;

    /// The array as Zarr would describe it over the same chunks; an error where it cannot.
    fn stored_as_zarr(&self) -> Result<ZarrMetadata, FormatError> {
        let row = self.format().row();
        let what = format!("{} as Zarr, over the same chunks", row.family);
        let hint = "a copy writes them anew: rechunk copy";
        Err(Field::new(row.keys.node, "").unsupported(what, hint))
    }

    /// Its codecs by the names that Zarr has for them; `None` where the format has no codecs.
    fn codecs(&self) -> Option<Vec<CodecSpec>>;

    /// The fields of its document that say how long it is, with their values: the shape first.
    fn extent_fields(&self) -> Vec<(&'static str, Value)> {
        vec![("shape", Value::from(self.spec().shape))]
    }

    /// The fields of a record as NumPy spells them, where the format does so too.
    fn record(&self) -> Option<Value> {
        None
    }

    /// The name of its file, if it is one: it has no place of its own.
    fn file_name(&self) -> Option<String> {
        None
    }

    /// The header of its files, where files have one; it may be empty.
    fn header(&self) -> Option<Vec<u8>> {
        None
    }

    /// Bytes that tell it from others where no document does.
    fn identity_in_files(&self) -> Option<Vec<u8>> {
        None
    }

    /// The cells of the table of readers that tell who reads it; `None` where nobody has tried.
    fn tried(&self) -> Option<Tried> {
        None
    }
}

/// Cells of the table of readers (`docs/support.md`).
#[derive(Debug)]
pub(crate) struct Tried {
    /// The heading above the table.
    pub section: &'static str,
    /// Names of the rows; who reads all of them reads the array.
    pub rows: Vec<String>,
    /// Name of the column; `None`: that of the data type.
    pub column: Option<&'static str>,
    /// A library that its attributes keep from reading it, by its short name.
    pub kept_out: Option<&'static str>,
}
