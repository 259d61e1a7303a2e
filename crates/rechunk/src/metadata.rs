//! What the documents of an array say, in the terms of its format. One place that knows them all.

use std::sync::Arc;

use rechunk_format::{FormatError, Layout};
use rechunk_grid::ArraySpec;
use rechunk_zarr::{ArrayMetadata as ZarrMetadata, ZarrLayout};
use serde_json::Value;

use crate::format::Format;

/// The metadata of an array in one of the formats.
#[derive(Debug, Clone, PartialEq)]
pub enum Metadata {
    /// Zarr v2 or v3.
    Zarr(ZarrMetadata),
}

impl Metadata {
    /// The array.
    pub fn spec(&self) -> &ArraySpec {
        match self {
            Self::Zarr(metadata) => &metadata.spec,
        }
    }

    /// Its format.
    pub fn format(&self) -> Format {
        match self {
            Self::Zarr(metadata) => metadata.version.into(),
        }
    }

    /// The byte layout it describes.
    pub(crate) fn layout(&self) -> Result<Arc<dyn Layout>, FormatError> {
        Ok(match self {
            Self::Zarr(metadata) => Arc::new(ZarrLayout::new(metadata.clone())?),
        })
    }

    /// Shape of what one object holds, elements: a shard, else a chunk.
    pub fn object_shape(&self) -> &[u64] {
        match self {
            Self::Zarr(metadata) => metadata.object_shape(),
        }
    }

    /// The data type for people.
    pub fn data_type_name(&self) -> String {
        match self {
            Self::Zarr(metadata) => metadata.data_type_name(),
        }
    }

    /// The fill value as people read it.
    pub fn fill_value_text(&self) -> String {
        match self {
            Self::Zarr(metadata) => metadata.fill_value_text(),
        }
    }

    /// The user's attributes as plain JSON.
    pub fn plain_attributes(&self) -> Value {
        match self {
            Self::Zarr(metadata) => metadata.plain_attributes(),
        }
    }

    /// The documents that make a place this array, by key; what makes it one comes last.
    pub(crate) fn documents(&self) -> Vec<(String, Vec<u8>)> {
        match self {
            Self::Zarr(metadata) => {
                let mut documents = metadata.documents();
                // .zattrs before .zarray
                documents.sort_by_key(|(key, _)| key == ".zarray" || key == "zarr.json");
                documents
            }
        }
    }

    /// The index of the object that a key stands for; `None` if it is the key of none.
    pub(crate) fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        match self {
            Self::Zarr(metadata) => {
                metadata.key_encoding.chunk_index(key, metadata.spec.shape.len())
            }
        }
    }

    /// The Zarr metadata, if it is that.
    #[expect(clippy::unnecessary_wraps, reason = "other formats follow")]
    pub(crate) fn zarr(&self) -> Option<&ZarrMetadata> {
        match self {
            Self::Zarr(metadata) => Some(metadata),
        }
    }
}

/// The documents that make a place a group without attributes, by key.
pub(crate) fn group_documents(format: Format) -> Vec<(String, Vec<u8>)> {
    match format.zarr_version() {
        Some(version) => rechunk_zarr::group_documents(version),
        None => Vec::new(),
    }
}
