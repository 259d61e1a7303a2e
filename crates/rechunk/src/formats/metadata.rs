//! Metadata of an array in the terms of its format.

use std::borrow::Cow;
use std::sync::Arc;

use rechunk_format::field::Field;
use rechunk_format::{FormatError, Layout, RegionLayout, json};
use rechunk_grid::{ArraySpec, AxisEdges, Edges, Region};
use rechunk_n5::N5Metadata;
use rechunk_precomputed::{INFO_KEY, Packing, PrecomputedLayout, PrecomputedMetadata};
use rechunk_raw::{Files, RawMetadata};
use rechunk_zarr::{ArrayMetadata as ZarrMetadata, CodecSpec, KeyEncoding, ZarrLayout};
use serde_json::{Map, Value};

use super::Format;
use super::described::{Described, Tried};
use super::n5::N5Array;
use crate::attributes::meant;
use crate::axes::Axes;

/// The metadata of an array in one of the formats.
#[derive(Debug, Clone, PartialEq)]
pub enum Metadata {
    /// Zarr v2 or v3.
    Zarr(Box<ZarrMetadata>),
    /// N5, and what becomes of its axes.
    N5(Box<N5Metadata>, Axes),
    /// A scale of a precomputed volume.
    Precomputed(Box<PrecomputedMetadata>),
    /// Files of raw elements.
    Raw(Box<RawMetadata>),
}

impl Metadata {
    /// Asks the implementation of its family.
    fn ask<T>(&self, question: impl FnOnce(&dyn Described) -> T) -> T {
        match self {
            Self::Zarr(metadata) => question(&**metadata),
            Self::N5(metadata, axes) => question(&N5Array { metadata, axes: *axes }),
            Self::Precomputed(metadata) => question(&**metadata),
            Self::Raw(metadata) => question(&**metadata),
        }
    }

    /// The array.
    pub fn spec(&self) -> ArraySpec {
        self.ask(|array| array.spec())
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.ask(|array| array.format())
    }

    /// The byte layout it describes.
    pub(crate) fn layout(&self) -> Result<Arc<dyn Layout>, FormatError> {
        self.ask(|array| array.layout())
    }

    /// Returns this array in the file that holds it until it is whole, if it is one file.
    pub(crate) fn under_way(&self) -> Option<Self> {
        let Self::Raw(metadata) = self else { return None };
        let Files::Single { name, offset_bytes, header } = &metadata.files else { return None };
        let (name, offset_bytes) = (format!("{name}.part"), *offset_bytes);
        let files = Files::Single { name, offset_bytes, header: header.clone() };
        Some(Self::Raw(Box::new(RawMetadata { files, ..(**metadata).clone() })))
    }

    /// Returns this metadata with another shape. Ends of chunks that differ in length stay, also
    /// those beyond it.
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
            Self::Precomputed(metadata) => Self::Precomputed(Box::new(metadata.with_shape(shape))),
            Self::Raw(metadata) => Self::Raw(Box::new(RawMetadata {
                spec: resized(&metadata.spec),
                ..(**metadata).clone()
            })),
        }
    }

    /// Returns this metadata with chunks of one length, that of the longest.
    #[must_use]
    pub(crate) fn without_edges(mut self) -> Self {
        if let Self::Zarr(metadata) = &mut self {
            metadata.spec.edges = None;
        }
        self
    }

    /// Returns this array grown to `shape`, with the chunks along `axis` ending at `edges`.
    pub(crate) fn grown(
        &self,
        shape: &[u64],
        (axis, edges): (usize, &AxisEdges),
    ) -> Result<Self, FormatError> {
        let Self::Zarr(metadata) = self else {
            let row = self.format().row();
            let what = format!("chunks of different lengths in {}", row.family);
            return Err(Field::new(row.keys.node, "").unsupported(what, "copy it to Zarr v3"));
        };
        let own = metadata.spec.edges.as_ref();
        let mut axes: Vec<_> =
            (0..shape.len()).map(|axis| own.and_then(|own| own.axis(axis)).cloned()).collect();
        if let Some(along) = axes.get_mut(axis) {
            *along = Some(edges.clone());
        }
        match Edges::new(axes) {
            Some(edges) => metadata.grown(shape, edges).map(|grown| Self::Zarr(Box::new(grown))),
            None => Ok(self.with_shape(shape)),
        }
    }

    /// Returns the array without its first axes, slowest first. `None` where that cannot be said:
    /// only of N5 with its axes reversed.
    pub(crate) fn without_first_axes(self, count: usize) -> Option<Self> {
        /// Attributes that have an item for each axis.
        const OF_AXES: [&str; 5] = ["axes", "units", "resolution", "voxel_size", "offset"];
        let Self::N5(mut array, axes) = self else { return (count == 0).then_some(self) };
        if count > 0 && axes != Axes::Reverse {
            return None;
        }
        let all = array.dimensions.len();
        let kept = all.checked_sub(count)?;
        array.dimensions.truncate(kept);
        array.block_size.truncate(kept);
        for name in OF_AXES {
            if let Some(Value::Array(list)) = array.attributes.get_mut(name)
                && list.len() == all
            {
                list.truncate(kept); // fastest first, as all of N5
            }
        }
        Some(Self::N5(array, axes))
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
        if let Self::Precomputed(metadata) = self
            && let Some(shards) = layout.shards()
            && !RegionLayout::begins_with(shards, &region.start)
        {
            let chunk = layout.spec().chunk_shape.clone();
            if region.start.iter().zip(&chunk).any(|(start, chunk)| !start.is_multiple_of(*chunk)) {
                let what = format!("a region from {:?} on of chunks in shards", region.start);
                let hint = format!("let it begin at multiples of the chunks, {chunk:?}");
                return Err(Field::new(INFO_KEY, "sharding").unsupported(what, &hint));
            }
            layout = Arc::new(PrecomputedLayout::new(metadata.finding_each_chunk())?);
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
        self.ask(|array| array.object_shape())
    }

    /// Whether its objects are shards, of one shape or of several.
    pub(crate) fn has_shards(&self) -> bool {
        match self {
            Self::Zarr(metadata) => {
                metadata.sharding.is_some() || metadata.has_shards_of_many_shapes()
            }
            Self::N5(..) | Self::Precomputed(_) | Self::Raw(_) => false,
        }
    }

    /// The data type for people.
    pub fn data_type_name(&self) -> String {
        self.ask(|array| array.data_type_name())
    }

    /// The fill value as people read it.
    pub fn fill_value_text(&self) -> String {
        self.ask(|array| array.fill_value_text())
    }

    /// The user's attributes. Bare tokens such as `NaN` are strings that only
    /// [`rechunk_format::json`] knows.
    pub(crate) fn attributes(&self) -> &Map<String, Value> {
        match self {
            Self::Zarr(metadata) => &metadata.attributes,
            Self::N5(metadata, _) => &metadata.attributes,
            Self::Precomputed(metadata) => &metadata.attributes,
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
            Self::Precomputed(metadata) => &mut metadata.attributes,
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
        self.ask(|array| array.documents())
    }

    /// The name of its file, if it is one: it has no place of its own.
    pub(crate) fn file_name(&self) -> Option<String> {
        self.ask(|array| array.file_name())
    }

    /// The header of its files, where files have one; it may be empty.
    pub(crate) fn header(&self) -> Option<Vec<u8>> {
        self.ask(|array| array.header())
    }

    /// Bytes that tell it from others where no document does.
    pub(crate) fn identity_in_files(&self) -> Option<Vec<u8>> {
        self.ask(|array| array.identity_in_files())
    }

    /// The fields of its document that say how long it is, with their values: the shape first.
    pub(crate) fn extent_fields(&self) -> Vec<(&'static str, Value)> {
        self.ask(|array| array.extent_fields())
    }

    /// The cells of the table of readers that tell who reads it; `None` where nobody has tried.
    pub(crate) fn tried(&self) -> Option<Tried> {
        self.ask(|array| array.tried())
    }

    /// The fields of a record as NumPy spells them, where the format does so too.
    pub(crate) fn record(&self) -> Option<Value> {
        self.ask(|array| array.record())
    }

    /// Its codecs by the names that Zarr has for them; `None` where the format has no codecs.
    pub(crate) fn codecs(&self) -> Option<Vec<CodecSpec>> {
        self.ask(|array| array.codecs())
    }

    /// The array as Zarr describes it, or would; an error where it cannot.
    pub(crate) fn as_zarr(&self) -> Result<Cow<'_, ZarrMetadata>, FormatError> {
        match self.zarr() {
            Some(metadata) => Ok(Cow::Borrowed(metadata)),
            None => self.ask(|array| array.as_zarr()).map(Cow::Owned),
        }
    }

    /// The array as Zarr describes it over the same chunks, or would; an error where it cannot.
    pub(crate) fn stored_as_zarr(&self) -> Result<Cow<'_, ZarrMetadata>, FormatError> {
        match self.zarr() {
            Some(metadata) => Ok(Cow::Borrowed(metadata)),
            None => self.ask(|array| array.stored_as_zarr()).map(Cow::Owned),
        }
    }

    /// Order of its axes that was settled when it was opened, where its format has it so.
    pub(crate) fn axes(&self) -> Option<Axes> {
        if let Self::N5(_, axes) = self { Some(*axes) } else { None }
    }

    /// True for an array whose chunks lose something where they are encoded. They are copied as
    /// they are, unless somebody asks for the codec.
    pub(crate) fn is_lossy(&self) -> bool {
        matches!(self, Self::Precomputed(array) if !array.encoding.is_lossless())
    }

    /// Returns this array as objects of a remote store are: their content may be compressed, and
    /// the name does not tell.
    pub(crate) fn into_remote(self) -> Self {
        match self {
            Self::Precomputed(metadata) if metadata.packing == Packing::None => {
                Self::Precomputed(Box::new(metadata.with_packing(Packing::Told)))
            }
            other => other,
        }
    }

    /// Returns this array with chunks in files that are compressed as a whole, in each way. None
    /// where its format has none, or the metadata tells.
    pub(crate) fn in_packed_files(&self) -> Vec<Self> {
        let Self::Precomputed(metadata) = self else { return Vec::new() };
        if metadata.packing != Packing::None || metadata.sharding.is_some() {
            return Vec::new();
        }
        let gzip = Packing::Gzip { level: rechunk_precomputed::GZIP_LEVEL_DEFAULT };
        let packed = |packing| Self::Precomputed(Box::new(metadata.with_packing(packing)));
        [gzip, Packing::Brotli].map(packed).into()
    }

    /// Returns this array with other keys of its chunks, where its format has several ways to make
    /// them.
    pub(crate) fn with_key_encoding(&self, key_encoding: KeyEncoding) -> Option<Self> {
        let metadata = ZarrMetadata { key_encoding, ..self.zarr()?.clone() };
        Some(Self::Zarr(Box::new(metadata)))
    }

    /// Returns the array of the numbers that its filters store; `None` where it has no filters.
    pub(crate) fn as_stored(&self) -> Option<Self> {
        self.zarr()?.as_stored().map(|stored| Self::Zarr(Box::new(stored)))
    }

    /// The Zarr metadata, if it is that.
    pub(crate) fn zarr(&self) -> Option<&ZarrMetadata> {
        if let Self::Zarr(metadata) = self { Some(metadata) } else { None }
    }

    /// The description of its files, if it is files of raw elements, all of which have to be there.
    pub(crate) fn files(&self) -> Option<&RawMetadata> {
        if let Self::Raw(metadata) = self { Some(metadata) } else { None }
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
