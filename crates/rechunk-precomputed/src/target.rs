//! The metadata of a volume that is about to be written.

use rechunk_format::FormatError;
use rechunk_grid::ArraySpec;
use serde_json::{Map, Value};

use crate::attributes::{PRECOMPUTED, SCALE, number};
use crate::choice::Choice;
use crate::encoding::Encoding;
use crate::field::field;
use crate::info::VOLUME_TYPE;
use crate::metadata::PrecomputedMetadata;
use crate::names::{AT_TYPE, DATA_TYPE, KEY, NUM_CHANNELS, SCALES, SHARDING, SIZE};
use crate::voxel_type;

/// Field of an `info` that says whether voxels are intensities or labels.
const TYPE: &str = "type";

/// Choices for a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecomputedTarget {
    /// Encoding of chunks, and compression of their files.
    pub choice: Choice,
    /// Size of a voxel along x, y and z, nanometres.
    pub resolution: [f64; 3],
    /// Position of the first voxel along x, y and z.
    pub voxel_offset: [i64; 3],
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
        let key = key.map_or_else(|| key_of(target.resolution), str::to_owned);
        let mut metadata = Self {
            size: [x, y, z],
            voxel_offset: target.voxel_offset,
            chunk_size: [chunk_x, chunk_y, chunk_z],
            channels,
            data_type: spec.data_type,
            encoding: target.choice.encoding,
            resolution: target.resolution,
            key,
            packing: target.choice.packing,
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

/// The key of a scale by the size of its voxels: `4_4_40`.
fn key_of(resolution: [f64; 3]) -> String {
    resolution.map(|size| number(size).to_string()).join("_")
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
