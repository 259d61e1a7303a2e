//! The metadata of a volume that is about to be written.

use rechunk_format::{FormatError, ShardTables};
use rechunk_grid::ArraySpec;
use serde_json::{Map, Value};

use crate::attributes::{PRECOMPUTED, SCALE};
use crate::choice::Choice;
use crate::encoding::Encoding;
use crate::field::field;
use crate::info::VOLUME_TYPE;
use crate::metadata::{Packing, PrecomputedMetadata};
use crate::names::{AT_TYPE, DATA_TYPE, KEY, NUM_CHANNELS, SCALES, SHARDING, SIZE};
use crate::sharding::{Boxes, Minishards, Nearest, Sharding};
use crate::volume::scale_key;
use crate::voxel_type;

/// Field of an `info` that says whether voxels are intensities or labels.
const TYPE: &str = "type";

/// Choices for a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecomputedTarget {
    /// Encoding of chunks, and compression of their files.
    pub choice: Choice,
    /// Shards that chunks are put into; `None` for none.
    pub shards: Option<TargetShards>,
    /// True for a scale of a volume of several, which lies in a directory of its own below it.
    pub is_member: bool,
    /// Size of a voxel along x, y and z, nanometres.
    pub resolution: [f64; 3],
    /// Position of the first voxel along x, y and z.
    pub voxel_offset: [i64; 3],
}

/// Shards of a target: those that were asked for, or the nearest there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetShards {
    /// Elements along z, y and x.
    pub zyx: [u64; 3],
    /// Another shape is refused.
    pub is_exact: bool,
    /// Another shape is worth a warning.
    pub is_told: bool,
    /// Shards that those of the target are like where these have the shape.
    pub like: Option<Sharding>,
}

impl PrecomputedMetadata {
    /// The metadata of a volume of one scale that holds the array `spec`, with chunks of
    /// `spec.chunk_shape`, and a sentence for whatever cannot be kept. `attributes` may have the
    /// fields of the volume that the array came from.
    pub fn new_target(
        spec: &ArraySpec,
        attributes: &Map<String, Value>,
        target: &PrecomputedTarget,
    ) -> Result<(Self, Vec<String>), FormatError> {
        voxel_type::check(spec.data_type)?;
        let (channels, [z, y, x]) = axes(&spec.shape)?;
        if channels == 1 && spec.shape.len() > 3 {
            // It would be read with the axes z, y, x.
            let hint = "a volume of one channel has the axes z, y, x: write the array without its \
                        axis of channels, or take zarr3";
            return Err(field(SIZE).unsupported("an axis of one channel", hint));
        }
        let (chunk_channels, [chunk_z, chunk_y, chunk_x]) = axes(&spec.chunk_shape)?;
        let mut warnings = Vec::new();
        if chunk_channels != channels {
            warnings.push(format!(
                "a chunk of a precomputed volume has all {channels} channels: not {chunk_channels}, as was asked for"
            ));
        }
        warnings.extend(names_lost(spec));
        let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        if spec.fill_value.as_ref().is_some_and(|fill| !is_zero(&fill.bytes)) {
            warnings.push(
                "precomputed volumes have no fill value: chunks that are missing are written in full".to_owned(),
            );
        }
        let (mut info, scale, user) = taken_apart(attributes);
        if !info.contains_key(TYPE) {
            let is_labels = matches!(target.choice.encoding, Encoding::CompressedSegmentation(_))
                || (channels == 1
                    && spec.data_type.item_bytes() > 2
                    && spec.data_type.integer_range().is_some());
            info.insert(TYPE.to_owned(), if is_labels { "segmentation" } else { "image" }.into());
        }
        info.shift_insert(0, AT_TYPE.to_owned(), VOLUME_TYPE.into());
        let scales_at = info.len() + 2;
        let key = scale.get(KEY).and_then(rechunk_format::json::text);
        let key = match key {
            _ if target.is_member => String::new(),
            Some(key) => key.to_owned(),
            None => scale_key(target.resolution),
        };
        let (size, chunk_size) = ([x, y, z], [chunk_x, chunk_y, chunk_z]);
        let sharding = match &target.shards {
            Some(shards) => {
                let (sharding, warning) = shards.sharding(size, chunk_size, target.choice)?;
                warnings.extend(warning);
                Some(sharding)
            }
            None => None,
        };
        let mut metadata = Self {
            size,
            voxel_offset: target.voxel_offset,
            chunk_size,
            channels,
            data_type: spec.data_type,
            encoding: target.choice.encoding,
            resolution: target.resolution,
            key,
            packing: target.choice.packing,
            sharding,
            finds_each_chunk: false,
            attributes: Map::new(),
            info,
            scales_at,
            scale,
        };
        metadata.check()?;
        metadata.settle(user);
        Ok((metadata, warnings))
    }
}

impl TargetShards {
    /// Shards of an array of such size and chunks, along x, y and z. Returns a sentence too where
    /// they are not those that were asked for.
    fn sharding(
        &self,
        size: [u64; 3],
        chunk: [u64; 3],
        choice: Choice,
    ) -> Result<(Sharding, Option<String>), FormatError> {
        let grid = std::array::from_fn(|axis| size[axis].div_ceil(chunk[axis].max(1)));
        let at = field(SHARDING);
        let boxes = Boxes::new(grid).ok_or_else(|| {
            at.unsupported("more chunks than 64 bits can tell", "use larger ones")
        })?;
        let [z, y, x] = self.zyx;
        let wanted = [x, y, z];
        let chunks = std::array::from_fn(|axis| wanted[axis].div_ceil(chunk[axis].max(1)));
        let zyx = |found: Nearest| -> Vec<u64> {
            (0..3).rev().map(|axis| found.chunks[axis].saturating_mul(chunk[axis])).collect()
        };
        let (bits, warning) = match boxes.of_chunks(chunks) {
            Ok(bits) => (bits, None),
            Err(nearest) if self.is_exact => {
                let what = format!("shards of {:?} (z, y, x)", self.zyx);
                let hint = format!(
                    "a shard is an aligned box of chunks, of powers of two that grow by turns along x, y and z: the \
                     nearest has {:?} elements",
                    zyx(nearest)
                );
                return Err(at.unsupported(what, &hint));
            }
            Err(nearest) => {
                let (from, to) = (self.zyx, zyx(nearest));
                let said = format!(
                    "shards of {from:?} (z, y, x) become shards of {to:?}, as precomputed has them"
                );
                (nearest.bits, self.is_told.then_some(said))
            }
        };
        let has_gzip_chunks = matches!(choice.packing, Packing::Gzip { .. });
        let own = Sharding { has_gzip_chunks, ..Sharding::of_bits(bits, boxes.bits()) };
        let is_kept = |like: &Sharding| {
            Minishards::new(*like, grid, 3, false).is_some_and(|found| {
                let chunks = found.chunks();
                !found.is_scattered()
                    && [2, 1, 0].map(|axis| chunks.get(axis).copied().unwrap_or(1))
                        == boxes.chunks_of(bits)
            })
        };
        let like = self.like.map(|like| Sharding { has_gzip_chunks, ..like }).filter(is_kept);
        Ok((like.unwrap_or(own), warning))
    }
}

/// The channels of a shape, and its extents along z, y and x.
fn axes(shape: &[u64]) -> Result<(u64, [u64; 3]), FormatError> {
    match *shape {
        [z, y, x] => Ok((1, [z, y, x])),
        [channels, z, y, x] => Ok((channels, [z, y, x])),
        _ => {
            let what = format!("an array of {} axes", shape.len());
            let hint = "precomputed volumes have z, y, x, or channels before them: take zarr3";
            Err(field(SIZE).unsupported(what, hint))
        }
    }
}

/// Says that the names of axes are not kept, where they are others than a volume's.
fn names_lost(spec: &ArraySpec) -> Option<String> {
    let names = spec.dimension_names.as_deref()?;
    let own = &["c", "z", "y", "x"][4_usize.checked_sub(names.len())?..];
    let alike = |(name, own): (&Option<String>, &&str)| {
        let name = name.as_deref();
        name.is_none_or(|name| name.eq_ignore_ascii_case(own))
            || (*own == "c" && name == Some("channel"))
    };
    let is_kept = names.iter().zip(own).all(alike);
    (!is_kept).then(|| {
        let shown: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
        format!(
            "the axes {} become {}: precomputed has no other names",
            shown.join(", "),
            own.join(", ")
        )
    })
}

/// The fields of the volume that attributes come from, those of its scale, and other attributes.
fn taken_apart(
    attributes: &Map<String, Value>,
) -> (Map<String, Value>, Map<String, Value>, Map<String, Value>) {
    let mut user = attributes.clone();
    let mut info = match user.shift_remove(PRECOMPUTED) {
        Some(Value::Object(info)) => info,
        _ => Map::new(),
    };
    let mut scale = match info.shift_remove(SCALE) {
        Some(Value::Object(scale)) => scale,
        _ => Map::new(),
    };
    for name in [AT_TYPE, DATA_TYPE, NUM_CHANNELS, SCALES] {
        info.shift_remove(name);
    }
    scale.shift_remove(SHARDING);
    (info, scale, user)
}
