//! Metadata of an array in the terms of its format. Here alone all formats are known.

use std::borrow::Cow;
use std::sync::Arc;

use rechunk_format::{FormatError, Layout, RegionLayout, json};
use rechunk_grid::{ArraySpec, Region};
use rechunk_n5::{ATTRIBUTES_KEY, N5Layout, N5Metadata, N5Version};
use rechunk_raw::{ARRAY_JSON, Files, RawLayout, RawMetadata};
use rechunk_zarr::{ArrayMetadata as ZarrMetadata, GroupMetadata, ZarrLayout};
use serde_json::{Map, Value};

use crate::attributes::meant;
use crate::axes::Axes;
use crate::format::Format;

/// The metadata of an array in one of the formats.
#[derive(Debug, Clone, PartialEq)]
pub enum Metadata {
    /// Zarr v2 or v3.
    Zarr(Box<ZarrMetadata>),
    /// N5, and what becomes of its axes.
    N5(Box<N5Metadata>, Axes),
    /// Files of raw elements.
    Raw(Box<RawMetadata>),
}

impl Metadata {
    /// The array.
    pub fn spec(&self) -> ArraySpec {
        match self {
            Self::Zarr(metadata) => metadata.spec.clone(),
            Self::N5(metadata, axes) => metadata.spec(axes.of_n5()),
            Self::Raw(metadata) => metadata.spec.clone(),
        }
    }

    /// Its format.
    pub fn format(&self) -> Format {
        match self {
            Self::Zarr(metadata) => metadata.version.into(),
            Self::N5(..) => Format::N5,
            Self::Raw(metadata) => {
                Format::from_name(metadata.files.format_name()).unwrap_or(Format::Raw)
            }
        }
    }

    /// The byte layout it describes.
    pub(crate) fn layout(&self) -> Result<Arc<dyn Layout>, FormatError> {
        Ok(match self {
            Self::Zarr(metadata) => Arc::new(ZarrLayout::new((**metadata).clone())?),
            Self::N5(metadata, axes) => {
                Arc::new(N5Layout::new((**metadata).clone(), axes.of_n5())?)
            }
            Self::Raw(metadata) => Arc::new(RawLayout::new((**metadata).clone())?),
        })
    }

    /// Returns this array in the file that holds it until it is whole, if it is one file.
    pub(crate) fn under_way(&self) -> Option<Self> {
        let Self::Raw(metadata) = self else { return None };
        let Files::Single { name, offset_bytes, header } = &metadata.files else { return None };
        let (name, offset_bytes) = (format!("{name}.part"), *offset_bytes);
        let files = Files::Single { name, offset_bytes, header: header.clone() };
        Some(Self::Raw(Box::new(RawMetadata { files, ..(**metadata).clone() })))
    }

    /// Returns this metadata with another shape. Chunks that differ in length are no longer said.
    #[must_use]
    pub(crate) fn with_shape(&self, shape: &[u64]) -> Self {
        let resized = |spec: &ArraySpec| ArraySpec { shape: shape.to_vec(), ..spec.clone() };
        match self {
            Self::Zarr(metadata) => Self::Zarr(Box::new(ZarrMetadata {
                spec: resized(&metadata.spec),
                ..(**metadata).clone()
            })),
            Self::N5(metadata, axes) => {
                Self::N5(Box::new(metadata.with_shape(shape, axes.of_n5())), *axes)
            }
            Self::Raw(metadata) => Self::Raw(Box::new(RawMetadata {
                spec: resized(&metadata.spec),
                ..(**metadata).clone()
            })),
        }
    }

    /// Gives its axes names where it has none itself, and the names are as many; false if it does
    /// not take them. N5 and raw files keep to their own.
    pub(crate) fn take_names(&mut self, names: &[String]) -> bool {
        let Self::Zarr(metadata) = self else { return false };
        let spec = &mut metadata.spec;
        let takes = names.len() == spec.shape.len() && !has_names(spec);
        if takes {
            spec.dimension_names = Some(names.iter().cloned().map(Some).collect());
        }
        takes
    }

    /// The layout of a region of the array that is laid out so.
    pub(crate) fn layout_of(&self, region: &Region) -> Result<Arc<dyn Layout>, FormatError> {
        let mut layout = self.layout()?;
        if let Self::Zarr(metadata) = self
            && let Some(shards) = &metadata.sharding
            && !RegionLayout::begins_with(shards, &region.start)
        {
            layout = Arc::new(ZarrLayout::new(metadata.with_whole_shards())?);
        }
        region_of(layout, region)
    }

    /// The layout, of a region where one is named, with each shard taken for one chunk.
    pub(crate) fn layout_without_shards(
        &self,
        region: Option<&Region>,
    ) -> Result<Arc<dyn Layout>, FormatError> {
        let layout = match self {
            Self::Zarr(metadata) if metadata.sharding.is_some() => {
                Arc::new(ZarrLayout::new(metadata.with_whole_shards())?)
            }
            other => other.layout()?,
        };
        region.map_or_else(
            || Ok(Arc::clone(&layout)),
            |region| region_of(Arc::clone(&layout), region),
        )
    }

    /// Shape of what one object holds, elements: a shard, else a chunk; all of the array where it
    /// is one file.
    pub fn object_shape(&self) -> Vec<u64> {
        match self {
            Self::Zarr(metadata) => metadata.object_shape().to_vec(),
            Self::N5(..) => self.spec().chunk_shape,
            Self::Raw(metadata) => metadata.runs().block_shape,
        }
    }

    /// The data type for people.
    pub fn data_type_name(&self) -> String {
        match self {
            Self::Zarr(metadata) => metadata.data_type_name(),
            Self::N5(metadata, _) => metadata.data_type_name(),
            Self::Raw(metadata) => metadata.spec.data_type.name(),
        }
    }

    /// The fill value as people read it.
    pub fn fill_value_text(&self) -> String {
        match self {
            Self::Zarr(metadata) => metadata.fill_value_text(),
            Self::N5(..) => "none: what is absent is no data, and reads as 0".to_owned(),
            Self::Raw(_) => "none: every element is stored".to_owned(),
        }
    }

    /// The user's attributes. Bare tokens such as `NaN` are strings that only
    /// [`rechunk_format::json`] knows.
    pub(crate) fn attributes(&self) -> &Map<String, Value> {
        match self {
            Self::Zarr(metadata) => &metadata.attributes,
            Self::N5(metadata, _) => &metadata.attributes,
            Self::Raw(metadata) => &metadata.attributes,
        }
    }

    /// The user's attributes as they are meant: also those that its format has no place for.
    pub(crate) fn meaning(&self) -> Cow<'_, Map<String, Value>> {
        meant(self.attributes())
    }

    /// The user's attributes, to be changed.
    pub(crate) fn attributes_mut(&mut self) -> &mut Map<String, Value> {
        match self {
            Self::Zarr(metadata) => &mut metadata.attributes,
            Self::N5(metadata, _) => &mut metadata.attributes,
            Self::Raw(metadata) => &mut metadata.attributes,
        }
    }

    /// The user's attributes as plain JSON.
    pub fn plain_attributes(&self) -> Value {
        json::plain(&Value::Object(self.attributes().clone()))
    }

    /// The documents that make a place this array, by key; what makes it one comes last. Files with
    /// a header of their own have none.
    pub(crate) fn documents(&self) -> Vec<(String, Vec<u8>)> {
        match self {
            Self::Zarr(metadata) => {
                let mut documents = metadata.documents();
                // .zattrs before .zarray
                documents.sort_by_key(|(key, _)| key == ".zarray" || key == "zarr.json");
                documents
            }
            Self::N5(metadata, _) => vec![(ATTRIBUTES_KEY.to_owned(), metadata.document())],
            // It was written once when the metadata was made.
            Self::Raw(metadata) => {
                let document = metadata.array_json().ok().flatten();
                document.map(|bytes| (ARRAY_JSON.to_owned(), bytes)).into_iter().collect()
            }
        }
    }

    /// The name of its file, if it is one: it has no place of its own.
    pub(crate) fn file_name(&self) -> Option<String> {
        match self {
            Self::Raw(metadata) if metadata.key_template().is_none() => {
                Some(metadata.file_key(&[]))
            }
            _ => None,
        }
    }

    /// The Zarr metadata, if it is that.
    pub(crate) fn zarr(&self) -> Option<&ZarrMetadata> {
        match self {
            Self::Zarr(metadata) => Some(metadata),
            Self::N5(..) | Self::Raw(_) => None,
        }
    }
}

/// Whether any axis of an array has a name.
pub(crate) fn has_names(spec: &ArraySpec) -> bool {
    spec.dimension_names.iter().flatten().any(Option::is_some)
}

fn region_of(layout: Arc<dyn Layout>, region: &Region) -> Result<Arc<dyn Layout>, FormatError> {
    let of_region = RegionLayout::new(layout, region).map_err(|error| FormatError::Metadata {
        key: "--select".to_owned(),
        reason: error.to_string(),
    })?;
    Ok(Arc::new(of_region))
}

/// The documents that make a place this group, by key; what makes it one comes last. `n5_version`
/// is what a container of N5 says, `None` for a group in one.
pub(crate) fn group_documents(
    format: Format,
    group: &GroupMetadata,
    n5_version: Option<N5Version>,
) -> Vec<(String, Vec<u8>)> {
    if let Some(version) = format.zarr_version() {
        return rechunk_zarr::group_documents_of(version, group);
    }
    // Without attributes any directory is a group of N5; the container says its version.
    if format == Format::N5 && (n5_version.is_some() || !group.attributes.is_empty()) {
        let document = rechunk_n5::group_document(&group.attributes, n5_version);
        return vec![(ATTRIBUTES_KEY.to_owned(), document)];
    }
    Vec::new()
}

/// Makes attributes that come from another format to Zarr v3 JSON that every reader takes. Says of
/// which it has made text; `place` is what has them.
pub(crate) fn in_strict_json(place: &str, attributes: &mut Map<String, Value>) -> Option<String> {
    let names: Vec<String> =
        json::make_strict(attributes).into_iter().map(|name| format!("{name:?}")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{place} has attributes with NaN, an infinity or a number beyond float64, which is no JSON and not every \
             reader of Zarr v3 takes: it becomes text in {}",
            names.join(", ")
        )
    })
}
