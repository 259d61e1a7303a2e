//! Attributes by which other formats know what a volume says in fields of its own.
//!
//! `resolution`, `offset` and `units` are those of N5 and funlib, in the order of the array's axes;
//! the rest of the `info` is in `precomputed`, and goes back into it.

use serde_json::{Map, Value, json};

use crate::info::AT_TYPE;
use crate::metadata::PrecomputedMetadata;
use crate::scale::{CHUNK_SIZES, KEY, RESOLUTION as SCALE_RESOLUTION, SIZE, VOXEL_OFFSET};

/// Field of an `info` that holds the attributes of the user, which a volume has no place for.
pub(crate) const ATTRIBUTES: &str = "attributes";

/// Attributes that a volume says itself.
const RESOLUTION: &str = "resolution";
const OFFSET: &str = "offset";
const UNITS: &str = "units";
pub(crate) const PRECOMPUTED: &str = "precomputed";
/// Member of [`PRECOMPUTED`] with the fields of the scale.
pub(crate) const SCALE: &str = "scale";

/// The unit of a resolution.
const NANOMETRE: &str = "nm";

/// Names of the attributes that follow from the fields of a volume.
pub fn derived_names() -> [&'static str; 4] {
    [RESOLUTION, OFFSET, UNITS, PRECOMPUTED]
}

/// A number as JSON: without a point where it is an integer.
pub(crate) fn number(value: f64) -> Value {
    /// Integers below this are exact, and look so.
    const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;
    let integer = (value.fract() == 0.0 && value.abs() < INTEGER_MAX)
        .then(|| format!("{value:.0}").parse::<i64>().ok())
        .flatten();
    integer.map_or_else(|| json!(value), Value::from)
}

/// The attributes of an array; `user` are those that its document has as such.
pub(crate) fn of(metadata: &PrecomputedMetadata, user: Map<String, Value>) -> Map<String, Value> {
    let has_channels = metadata.channels > 1;
    let by_axis = |channel: Value, xyz: [Value; 3]| {
        let mut list: Vec<Value> = has_channels.then_some(channel).into_iter().collect();
        list.extend(xyz.into_iter().rev());
        Value::Array(list)
    };
    let mut attributes = user;
    for name in derived_names() {
        attributes.shift_remove(name);
    }
    let mut put = |name: &str, value| attributes.insert(name.to_owned(), value);
    put(RESOLUTION, by_axis(1.into(), metadata.resolution.map(number)));
    if metadata.voxel_offset != [0; 3] {
        let offset =
            |axis: usize| number(wide(metadata.voxel_offset[axis]) * metadata.resolution[axis]);
        put(OFFSET, by_axis(0.into(), [offset(0), offset(1), offset(2)]));
    }
    put(UNITS, by_axis("".into(), [NANOMETRE, NANOMETRE, NANOMETRE].map(Value::from)));
    let others = others(metadata);
    if !others.is_empty() {
        put(PRECOMPUTED, Value::Object(others));
    }
    attributes
}

/// Fields of the document that say nothing of the array.
fn others(metadata: &PrecomputedMetadata) -> Map<String, Value> {
    let of_array = [AT_TYPE, crate::voxel_type::DATA_TYPE, crate::info::NUM_CHANNELS, ATTRIBUTES];
    let of_scale = [
        SIZE,
        SCALE_RESOLUTION,
        VOXEL_OFFSET,
        CHUNK_SIZES,
        crate::encoding::ENCODING,
        crate::encoding::BLOCK_SIZE,
        crate::encoding::JPEG_QUALITY,
        crate::encoding::PNG_LEVEL,
        crate::metadata::GZIP_LEVEL,
    ];
    let without = |map: &Map<String, Value>, names: &[&str]| -> Map<String, Value> {
        let kept = map.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let mut others = without(&metadata.info, &of_array);
    let mut scale = without(&metadata.scale, &of_scale);
    if metadata.key.is_empty() {
        scale.shift_remove(KEY);
    }
    if !scale.is_empty() {
        others.insert(SCALE.to_owned(), Value::Object(scale));
    }
    others
}

#[expect(clippy::cast_precision_loss, reason = "nanometres are numbers with a point anyway")]
fn wide(voxels: i64) -> f64 {
    voxels as f64
}
