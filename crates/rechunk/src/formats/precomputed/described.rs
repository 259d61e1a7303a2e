//! Answers of the metadata of a scale.

use std::sync::Arc;

use rechunk_format::{ElementOrder, FormatError, Layout};
use rechunk_grid::ArraySpec;
use rechunk_precomputed::{Encoding, INFO_KEY, Packing, PrecomputedLayout, PrecomputedMetadata};
use rechunk_zarr::{ArrayMetadata, CodecSpec, KeyEncoding, KeyStyle, Verbatim, ZarrVersion};
use serde_json::Value;

use crate::formats::Format;
use crate::formats::described::Described;

/// Level of zstd in place of an encoding that only volumes have.
const ZSTD_LEVEL: i32 = 3;

impl Described for PrecomputedMetadata {
    fn spec(&self) -> ArraySpec {
        Self::spec(self)
    }

    fn format(&self) -> Format {
        Format::Precomputed
    }

    fn layout(&self) -> Result<Arc<dyn Layout>, FormatError> {
        Ok(Arc::new(PrecomputedLayout::new(self.clone())?))
    }

    fn object_shape(&self) -> Vec<u64> {
        let layout = PrecomputedLayout::new(self.clone()).ok();
        let shard = layout.and_then(|layout| Some(layout.shards()?.shard_shape().to_vec()));
        shard.unwrap_or_else(|| Self::spec(self).chunk_shape)
    }

    fn data_type_name(&self) -> String {
        self.data_type.name()
    }

    fn fill_value_text(&self) -> String {
        "0: chunks that are absent".to_owned()
    }

    fn documents(&self) -> Vec<(String, Vec<u8>)> {
        vec![(INFO_KEY.to_owned(), self.document())]
    }

    /// In C order, little-endian, of version 3.
    fn as_zarr(&self) -> Result<ArrayMetadata, FormatError> {
        let spec = Self::spec(self);
        Ok(ArrayMetadata {
            order: ElementOrder::c_little(spec.shape.len()),
            spec,
            version: ZarrVersion::V3,
            codecs: zarr_codecs(self),
            sharding: None,
            key_encoding: KeyEncoding { style: KeyStyle::Default, separator: '/' },
            attributes: self.attributes.clone(),
            verbatim: Verbatim::default(),
        })
    }

    fn codecs(&self) -> Option<Vec<CodecSpec>> {
        Some(zarr_codecs(self))
    }

    fn extent_fields(&self) -> Vec<(&'static str, Value)> {
        vec![("size", Value::from(&self.size[..]))]
    }
}

/// The codecs of Zarr in place of an encoding. Gzip stays gzip; what Zarr has not, and what each
/// object tells by itself, becomes zstd.
fn zarr_codecs(metadata: &PrecomputedMetadata) -> Vec<CodecSpec> {
    match (metadata.encoding, metadata.packing) {
        (Encoding::Raw, Packing::None) => Vec::new(),
        (Encoding::Raw, Packing::Gzip { level }) => vec![CodecSpec::Gzip { level: level.into() }],
        _ => vec![CodecSpec::Zstd { level: ZSTD_LEVEL, checksum: false }],
    }
}
