//! Answers of the metadata of files of raw elements.

use std::sync::Arc;

use rechunk_format::{ElementOrder, FormatError, Layout};
use rechunk_grid::{ArraySpec, FillValue};
use rechunk_raw::{ARRAY_JSON, RawLayout, RawMetadata};
use rechunk_zarr::{ArrayMetadata, CodecSpec, KeyEncoding, KeyStyle, Verbatim, ZarrVersion};
use serde_json::Value;

use crate::formats::Format;
use crate::formats::described::Described;

impl Described for RawMetadata {
    fn spec(&self) -> ArraySpec {
        self.spec.clone()
    }

    fn format(&self) -> Format {
        Format::from_name(self.files.format_name()).unwrap_or(Format::Raw)
    }

    fn layout(&self) -> Result<Arc<dyn Layout>, FormatError> {
        Ok(Arc::new(RawLayout::new(self.clone())?))
    }

    fn object_shape(&self) -> Vec<u64> {
        self.runs().block_shape
    }

    fn data_type_name(&self) -> String {
        // As other formats name it: the fields of a record.
        let zarr = self.as_zarr();
        zarr.map_or_else(|_| self.spec.data_type.name(), |zarr| zarr.data_type_name())
    }

    fn fill_value_text(&self) -> String {
        "none: every element is stored".to_owned()
    }

    fn documents(&self) -> Vec<(String, Vec<u8>)> {
        // It was written once when the metadata was made.
        let document = self.array_json().ok().flatten();
        document.map(|bytes| (ARRAY_JSON.to_owned(), bytes)).into_iter().collect()
    }

    /// In C order, little-endian, of version 2, without codecs. Files have no fill value: it is 0.
    fn as_zarr(&self) -> Result<ArrayMetadata, FormatError> {
        let zero = || FillValue::zero(self.spec.item_bytes());
        let fill_value = self.spec.fill_value.clone().unwrap_or_else(zero);
        Ok(ArrayMetadata {
            order: ElementOrder::c_little(self.spec.shape.len()),
            spec: ArraySpec { fill_value: Some(fill_value), ..self.spec.clone() },
            version: ZarrVersion::V2,
            codecs: Vec::new(),
            sharding: None,
            key_encoding: KeyEncoding { style: KeyStyle::V2, separator: '.' },
            attributes: self.attributes.clone(),
            verbatim: Verbatim { data_type: self.record.clone(), ..Verbatim::default() },
        })
    }

    fn codecs(&self) -> Option<Vec<CodecSpec>> {
        None
    }

    fn record(&self) -> Option<Value> {
        self.record.clone()
    }

    fn file_name(&self) -> Option<String> {
        self.key_template().is_none().then(|| self.file_key(&[]))
    }

    fn header(&self) -> Option<Vec<u8>> {
        Some(self.runs().header)
    }

    fn identity_in_files(&self) -> Option<Vec<u8>> {
        let mut identity = self.runs().header;
        identity.extend(format!("{:?} {:?}", self.spec, self.order).into_bytes());
        Some(identity)
    }
}
