//! The metadata of one scale, which is an array.

use std::sync::Arc;

use rechunk_format::field::Field;
use rechunk_format::json::write_pretty;
use rechunk_format::{FormatError, ShardFormat, ShardTables};
use rechunk_grid::{ArraySpec, ChunkGrid, DataType, FillValue, element_count};
use serde_json::{Map, Value, json};

use crate::attributes::{self, Said};
use crate::encoding::Encoding;
use crate::field::{field, integer, triple};
use crate::info::{Volume, with_scales};
use crate::names::{
    ATTRIBUTES, CHUNK_SIZES, DATA_TYPE, ENCODING, GZIP_LEVEL, INFO_KEY, KEY, NUM_CHANNELS,
    RESOLUTION, SHARDING, SIZE, VOXEL_OFFSET,
};
use crate::scale::{Scale, check_key};
use crate::sharding::{Minishards, Sharding};
use crate::voxel_type;

/// Largest chunk, decoded, bytes.
pub const CHUNK_BYTES_MAX: u64 = 2_147_483_647;

/// Level of gzip where nothing is said.
pub const GZIP_LEVEL_DEFAULT: u8 = 6;
/// Highest level of gzip.
pub(crate) const GZIP_LEVEL_MAX: u8 = 9;

/// Compression of whole objects, around the encoding of their chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// None.
    None,
    /// Gzip, and `.gz` at the end of names, as cloud-volume has it on disks.
    Gzip {
        /// 0 to 9.
        level: u8,
    },
    /// Brotli, and `.br` at the end of names; only read.
    Brotli,
    /// Not known: a store may hold gzip or brotli under the name of the chunk (`Content-Encoding`),
    /// and the bytes tell.
    Told,
}

/// Metadata of a scale: its array, and the form of its chunks. Lists are in the order x, y, z.
///
/// Made by [`Volume::array`] or [`PrecomputedMetadata::new_target`], which check it.
#[derive(Debug, Clone, PartialEq)]
pub struct PrecomputedMetadata {
    /// Extent of each axis, voxels.
    pub size: [u64; 3],
    /// Position of the first voxel, where names of chunks begin to count.
    pub voxel_offset: [i64; 3],
    /// Shape of a chunk, voxels.
    pub chunk_size: [u64; 3],
    /// Number of channels, all of which are in each chunk.
    pub channels: u64,
    /// Type of a voxel.
    pub data_type: DataType,
    /// Encoding of a chunk.
    pub encoding: Encoding,
    /// Size of a voxel, nanometres.
    pub resolution: [f64; 3],
    /// Path of the chunks, relative to the document; empty: beside it.
    pub key: String,
    /// Compression around chunks.
    pub packing: Packing,
    /// Shards that chunks lie in; `None` if each is an object.
    pub sharding: Option<Sharding>,
    /// Each chunk of a shard is found by itself, whatever the shards: for parts of the array that
    /// cut through some.
    pub(crate) finds_each_chunk: bool,
    /// The attributes of the array: those that the volume says in its own way, and the user's.
    pub attributes: Map<String, Value>,
    /// The document without scales and attributes, where the scales are in it, and the scale.
    pub(crate) info: Map<String, Value>,
    pub(crate) scales_at: usize,
    pub(crate) scale: Map<String, Value>,
}

impl Volume {
    /// The metadata of the array that one of its scales is.
    pub fn array(&self, scale: &Scale) -> Result<PrecomputedMetadata, FormatError> {
        let map = &scale.map;
        let at = Field::new(INFO_KEY, &format!("scale {:?}", scale.key));
        let needed = |name: &str| {
            let at = at.child(name);
            map.get(name).map(|value| (at.clone(), value)).ok_or_else(|| at.invalid("is missing"))
        };
        let sharding = map.get(SHARDING).filter(|value| !value.is_null());
        let sharding = sharding.map(|value| Sharding::parse(&at.child(SHARDING), value));
        let sharding = sharding.transpose()?;
        let unsigned = |value: &Value| integer(value).and_then(|n| u64::try_from(n).ok());
        let extents = "three non-negative integers";
        let (size_at, size) = needed(SIZE)?;
        let (resolution_at, resolution) = needed(RESOLUTION)?;
        let (chunks_at, chunks) = needed(CHUNK_SIZES)?;
        let (encoding_at, encoding) = needed(ENCODING)?;
        let first = chunks_at.list(chunks)?.first().ok_or_else(|| chunks_at.invalid("is empty"))?;
        let voxel_offset = match map.get(VOXEL_OFFSET).filter(|value| !value.is_null()) {
            None => [0; 3],
            Some(value) => triple(&at.child(VOXEL_OFFSET), value, integer, "three integers")?,
        };
        let mut info = self.info.clone();
        let user = match info.get(ATTRIBUTES) {
            Some(Value::Object(user)) => user.clone(),
            _ => Map::new(),
        };
        let mut scales_at = self.scales_at;
        if !user.is_empty() {
            // Attributes are written last.
            let before = info.keys().take(scales_at).any(|name| name == ATTRIBUTES);
            scales_at -= usize::from(before);
            info.shift_remove(ATTRIBUTES);
        }
        let level = map.get(GZIP_LEVEL).and_then(integer).and_then(|n| u8::try_from(n).ok());
        let level = match sharding {
            Some(sharding) => sharding.has_gzip_chunks.then_some(GZIP_LEVEL_DEFAULT),
            None => level.filter(|level| *level <= GZIP_LEVEL_MAX),
        };
        let mut metadata = PrecomputedMetadata {
            size: triple(&size_at, size, unsigned, extents)?,
            voxel_offset,
            // Several sizes are several copies of all chunks.
            chunk_size: triple(&chunks_at, first, unsigned, extents)?,
            channels: self.channels,
            data_type: self.data_type,
            encoding: Encoding::parse(encoding_at.text(encoding)?, map, &at)?,
            resolution: triple(&resolution_at, resolution, Value::as_f64, "three numbers")?,
            key: scale.key.clone(),
            packing: level.map_or(Packing::None, |level| Packing::Gzip { level }),
            sharding,
            finds_each_chunk: false,
            attributes: Map::new(),
            info,
            scales_at,
            scale: map.clone(),
        };
        metadata.check()?;
        metadata.settle(user);
        Ok(metadata)
    }
}

impl PrecomputedMetadata {
    /// The array.
    pub fn spec(&self) -> ArraySpec {
        let names = if self.channels > 1 { &["c", "z", "y", "x"][..] } else { &["z", "y", "x"] };
        let of_axes = |[x, y, z]: [u64; 3]| {
            let channels = (self.channels > 1).then_some(self.channels);
            channels.into_iter().chain([z, y, x]).collect()
        };
        ArraySpec {
            shape: of_axes(self.size),
            data_type: self.data_type,
            chunk_shape: of_axes(self.chunk_size),
            edges: None,
            fill_value: Some(FillValue::zero(self.data_type.item_bytes())),
            dimension_names: Some(names.iter().map(|name| Some((*name).to_owned())).collect()),
        }
    }

    /// Returns the array with another shape, of as many axes.
    #[must_use]
    pub fn with_shape(&self, shape: &[u64]) -> Self {
        let mut resized = self.clone();
        if let [before @ .., z, y, x] = shape {
            resized.size = [*x, *y, *z];
            resized.channels = before.first().copied().unwrap_or(self.channels);
        }
        resized
    }

    /// Returns the array with chunks in files that are compressed as a whole, or not. Unchanged
    /// where chunks lie in shards, whose `sharding` says it.
    #[must_use]
    pub fn with_packing(&self, packing: Packing) -> Self {
        let packing = if self.sharding.is_some() { self.packing } else { packing };
        Self { packing, ..self.clone() }
    }

    /// Returns the array with shards of which each chunk is found by itself, so that any part of it
    /// can be read.
    #[must_use]
    pub fn finding_each_chunk(&self) -> Self {
        Self { finds_each_chunk: true, ..self.clone() }
    }

    /// Place of the corner of the first voxel along an axis (0 is x), nanometres.
    pub(crate) fn offset(&self, axis: usize) -> f64 {
        attributes::wide(self.voxel_offset[axis]) * self.resolution[axis]
    }

    /// Chunks of the grid along x, y and z.
    pub(crate) fn grid(&self) -> [u64; 3] {
        std::array::from_fn(|axis| self.size[axis].div_ceil(self.chunk_size[axis].max(1)))
    }

    /// The directories and tables of its shards, and their format; `None` without.
    pub(crate) fn shards(&self) -> Result<Option<(Arc<Minishards>, ShardFormat)>, FormatError> {
        let Some(sharding) = self.sharding else { return Ok(None) };
        let spec = self.spec();
        let rank = spec.shape.len();
        let found = Minishards::new(sharding, self.grid(), rank, self.finds_each_chunk);
        let found = found.ok_or_else(|| {
            let hint = "use larger chunks";
            field(SHARDING).unsupported("a volume of more chunks than 64 bits can tell", hint)
        })?;
        let tables = Arc::new(found);
        let shared: Arc<dyn ShardTables> = Arc::<Minishards>::clone(&tables);
        let format = ShardFormat::with_tables(&spec.chunk_shape, shared);
        let format = format.map_err(|reason| field(SHARDING).invalid(reason))?;
        Ok(Some((tables, format)))
    }

    /// Names of the directories beside its chunks that the document names: meshes and the like.
    pub fn other_directories(&self) -> Vec<String> {
        crate::info::directories(&self.info)
    }

    /// Bytes of a decoded chunk. Checked metadata has at most [`CHUNK_BYTES_MAX`].
    pub fn chunk_bytes(&self) -> u64 {
        let voxels = element_count(&self.chunk_size).unwrap_or(u64::MAX);
        voxels.saturating_mul(self.channels).saturating_mul(self.data_type.item_bytes())
    }

    /// The document of a volume that has this scale alone.
    pub fn document(&self) -> Vec<u8> {
        let scales = vec![Value::Object(self.scale.clone())];
        let mut whole = with_scales(&self.info, self.scales_at, scales);
        let derived = attributes::derived_names();
        let own = self.attributes.iter().filter(|(name, _)| !derived.contains(&name.as_str()));
        let own: Map<String, Value> =
            own.map(|(name, value)| (name.clone(), value.clone())).collect();
        if !own.is_empty() {
            whole.insert(ATTRIBUTES.to_owned(), Value::Object(own));
        }
        write_pretty(&Value::Object(whole))
    }

    /// Has the fields of the document say what is known, in one spelling, and the attributes too;
    /// `user` are those of the user.
    pub(crate) fn settle(&mut self, user: Map<String, Value>) {
        let mut put = |name: &str, value: Value| {
            self.info.insert(name.to_owned(), value);
        };
        put(DATA_TYPE, self.data_type.plain_name().into());
        put(NUM_CHANNELS, self.channels.into());
        let mut put = |name: &str, value: Value| {
            self.scale.insert(name.to_owned(), value);
        };
        put(KEY, self.key.as_str().into());
        put(SIZE, json!(self.size));
        put(RESOLUTION, self.resolution.map(attributes::number).to_vec().into());
        put(VOXEL_OFFSET, json!(self.voxel_offset));
        put(CHUNK_SIZES, json!([self.chunk_size]));
        match self.packing {
            Packing::Gzip { level } if self.sharding.is_none() => put(GZIP_LEVEL, level.into()),
            Packing::Gzip { .. } | Packing::Brotli | Packing::None | Packing::Told => {
                self.scale.shift_remove(GZIP_LEVEL);
            }
        }
        match self.sharding {
            Some(sharding) => {
                self.scale.insert(SHARDING.to_owned(), Value::Object(sharding.document()));
            }
            None => {
                self.scale.shift_remove(SHARDING);
            }
        }
        self.encoding.write(&mut self.scale);
        let said = Said {
            channels: self.channels,
            resolution: self.resolution,
            voxel_offset: self.voxel_offset,
            info: &self.info,
            scale: &self.scale,
        };
        self.attributes = said.attributes(user);
    }

    /// Checks what the rest of the crate relies on, so that a layout cannot fail.
    pub(crate) fn check(&self) -> Result<(), FormatError> {
        check_key(&self.key)?;
        voxel_type::check(self.data_type)?;
        for (name, list) in [(SIZE, &self.size), (CHUNK_SIZES, &self.chunk_size)] {
            if list.contains(&0) {
                return Err(field(name).invalid(format!("{list:?} has an extent of 0")));
            }
        }
        if self.channels == 0 {
            return Err(field(NUM_CHANNELS).invalid("there is no channel"));
        }
        if !self.resolution.iter().all(|size| size.is_finite() && *size > 0.0) {
            return Err(field(RESOLUTION).invalid(format!("{:?} are no sizes", self.resolution)));
        }
        for (begin, extent) in self.voxel_offset.iter().zip(self.size) {
            let end = i64::try_from(extent).ok().and_then(|extent| begin.checked_add(extent));
            if end.is_none() {
                let reason = format!("{extent} voxels from {begin} on end beyond 63 bits");
                return Err(field(VOXEL_OFFSET).invalid(reason));
            }
        }
        let spec = self.spec();
        ChunkGrid::new(&spec.shape, &spec.chunk_shape)
            .map_err(|error| field(CHUNK_SIZES).invalid(error.to_string()))?;
        if self.chunk_bytes() > CHUNK_BYTES_MAX {
            let what = format!("a chunk of {} bytes", self.chunk_bytes());
            return Err(field(CHUNK_SIZES).unsupported(what, "use smaller chunks: less than 2 GiB"));
        }
        self.shards()?;
        self.encoding.check(self.data_type, self.channels)
    }
}
