//! Answers of the metadata of Zarr.

use std::sync::Arc;

use rechunk_format::{FormatError, Layout};
use rechunk_grid::ArraySpec;
use rechunk_zarr::{ArrayMetadata, CodecSpec, ZarrLayout, ZarrVersion};
use serde_json::Value;

use crate::formats::Format;
use crate::formats::described::{Described, Tried};

impl Described for ArrayMetadata {
    fn spec(&self) -> ArraySpec {
        self.spec.clone()
    }

    fn format(&self) -> Format {
        self.version.into()
    }

    fn layout(&self) -> Result<Arc<dyn Layout>, FormatError> {
        Ok(Arc::new(ZarrLayout::new(self.clone())?))
    }

    fn object_shape(&self) -> Vec<u64> {
        Self::object_shape(self).to_vec()
    }

    fn data_type_name(&self) -> String {
        Self::data_type_name(self)
    }

    fn fill_value_text(&self) -> String {
        Self::fill_value_text(self)
    }

    fn documents(&self) -> Vec<(String, Vec<u8>)> {
        let mut documents = Self::documents(self);
        // .zattrs before .zarray
        documents.sort_by_key(|(key, _)| key == ".zarray" || key == "zarr.json");
        documents
    }

    fn as_zarr(&self) -> Result<ArrayMetadata, FormatError> {
        Ok(self.clone())
    }

    fn codecs(&self) -> Option<Vec<CodecSpec>> {
        Some(self.codecs.clone())
    }

    fn extent_fields(&self) -> Vec<(&'static str, Value)> {
        Self::extent_fields(self)
    }

    fn record(&self) -> Option<Value> {
        self.verbatim.data_type.clone()
    }

    fn tried(&self) -> Option<Tried> {
        // Neither chunks of different lengths were tried, nor is it known here what elements of
        // variable length go through.
        if self.spec.edges.is_some() || self.spec.data_type.is_variable() {
            return None;
        }
        let (section, turned) = match self.version {
            ZarrVersion::V2 => ("## Zarr v2", "order F"),
            ZarrVersion::V3 => ("## Zarr v3", "transpose"),
        };
        let mut rows = self.codec_names();
        if !self.order.axes.iter().copied().eq(0..self.spec.shape.len()) {
            rows.push(turned.to_owned());
        }
        if self.sharding.is_some() {
            rows.push("sharding_indexed".to_owned());
        }
        if rows.is_empty() {
            rows.push("none".to_owned());
        }
        Some(Tried { section, rows, column: None, kept_out: None })
    }
}
