//! Answers of the metadata of N5.

use std::sync::Arc;

use rechunk_format::field::Field;
use rechunk_format::{ElementOrder, FormatError, Layout};
use rechunk_grid::ArraySpec;
use rechunk_n5::{
    ATTRIBUTES_KEY, Compression, N5Layout, N5Metadata, keeps_from_opening, suits_dataset,
};
use rechunk_zarr::{ArrayMetadata, CodecSpec, KeyEncoding, KeyStyle, Verbatim, ZarrVersion};
use serde_json::Value;

use super::codecs;
use crate::axes::Axes;
use crate::formats::Format;
use crate::formats::described::{Described, Tried};

/// Attribute that xarray keeps dimension names in, where a format has no place for them.
const XARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The metadata of a dataset, and what becomes of its axes.
#[derive(Debug)]
pub(crate) struct N5Array<'a> {
    pub metadata: &'a N5Metadata,
    pub axes: Axes,
}

impl Described for N5Array<'_> {
    fn spec(&self) -> ArraySpec {
        self.metadata.spec(self.axes.of_n5())
    }

    fn format(&self) -> Format {
        Format::N5
    }

    fn layout(&self) -> Result<Arc<dyn Layout>, FormatError> {
        Ok(Arc::new(N5Layout::new(self.metadata.clone(), self.axes.of_n5())?))
    }

    fn object_shape(&self) -> Vec<u64> {
        self.spec().chunk_shape
    }

    fn data_type_name(&self) -> String {
        self.metadata.data_type_name()
    }

    fn fill_value_text(&self) -> String {
        "none: what is absent is no data, and reads as 0".to_owned()
    }

    fn documents(&self) -> Vec<(String, Vec<u8>)> {
        vec![(ATTRIBUTES_KEY.to_owned(), self.metadata.document())]
    }

    /// In C order, little-endian, of version 3, with the codecs that are N5's compressions.
    fn as_zarr(&self) -> Result<ArrayMetadata, FormatError> {
        let spec = self.spec();
        if spec.data_type.is_variable() {
            return Err(variable(self.metadata));
        }
        let item_bytes = spec.item_bytes();
        // The names are in `spec`. What says them stays where N5 is the array's own format.
        let source = self.metadata;
        let mut attributes = match Axes::noted(&source.attributes) {
            Some(_) => source.user_attributes(),
            None => source.attributes.clone(),
        };
        attributes.shift_remove(XARRAY_DIMENSIONS);
        Ok(ArrayMetadata {
            order: ElementOrder::c_little(spec.shape.len()),
            spec,
            version: ZarrVersion::V3,
            codecs: codecs::zarr_of_n5(source.compression, item_bytes),
            sharding: None,
            key_encoding: KeyEncoding { style: KeyStyle::Default, separator: '/' },
            attributes,
            verbatim: Verbatim::default(),
        })
    }

    /// In the order of N5, with its blocks as the codec `n5_default`.
    fn stored_as_zarr(&self) -> Result<ArrayMetadata, FormatError> {
        let Self { metadata, axes: _ } = self;
        if let Compression::Lz4 { .. } = metadata.compression {
            let what = "lz4 of N5, which is framed in blocks, as a codec of Zarr";
            let hint = "a copy writes chunks anew: rechunk copy";
            return Err(Field::new(ATTRIBUTES_KEY, "compression").unsupported(what, hint));
        }
        let plain = N5Array { metadata, axes: Axes::Keep }.as_zarr()?;
        Ok(plain.in_n5_blocks())
    }

    fn codecs(&self) -> Option<Vec<CodecSpec>> {
        Some(codecs::zarr_of_n5(self.metadata.compression, self.spec().item_bytes()))
    }

    fn extent_fields(&self) -> Vec<(&'static str, Value)> {
        vec![("dimensions", Value::from(&self.metadata.dimensions[..]))]
    }

    fn tried(&self) -> Option<Tried> {
        let metadata = self.metadata;
        let column = match metadata.compression {
            Compression::Gzip { use_zlib: true, .. } => "zlib",
            other => other.name(),
        };
        let rank = metadata.dimensions.len();
        let is_in_the_way = |(name, value)| {
            let name: &String = name;
            keeps_from_opening(name) && !suits_dataset(name, value, rank)
        };
        let is_kept_out = metadata.attributes.iter().any(is_in_the_way);
        Some(Tried {
            section: "## N5",
            rows: vec![format!("`{}`", metadata.data_type_name())],
            column: Some(column),
            kept_out: is_kept_out.then_some("ts"),
        })
    }
}

/// Elements of variable length mean in Zarr what they do not in N5.
fn variable(source: &N5Metadata) -> FormatError {
    let what = format!("data type {:?} in another format", source.data_type_name());
    let hint = "--format n5 with the same blocks copies them as they are";
    Field::new(ATTRIBUTES_KEY, "dataType").unsupported(what, hint)
}
