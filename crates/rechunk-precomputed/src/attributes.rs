//! Attributes by which other formats know what a volume says in fields of its own.
//!
//! `resolution`, `offset` and `units` are those of N5 and funlib, in the order of the array's axes;
//! the rest of the `info` is in `precomputed`, and goes back into it.

use serde_json::{Map, Value, json};

use crate::names::{
    AT_TYPE, ATTRIBUTES, BLOCK_SIZE, CHUNK_SIZES, DATA_TYPE, ENCODING, GZIP_LEVEL, JPEG_QUALITY,
    KEY, NUM_CHANNELS, PNG_LEVEL, RESOLUTION as SCALE_RESOLUTION, SHARDING, SIZE, VOXEL_OFFSET,
};

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

/// Fields of a volume that attributes follow from.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    pub channels: u64,
    /// Along x, y and z.
    pub resolution: [f64; 3],
    pub voxel_offset: [i64; 3],
    /// Fields of the document, and of the scale.
    pub info: &'a Map<String, Value>,
    pub scale: &'a Map<String, Value>,
}

impl Said<'_> {
    /// The attributes of the array; `user` are those that its document has as such.
    pub(crate) fn attributes(&self, user: Map<String, Value>) -> Map<String, Value> {
        let mut attributes = user;
        for name in derived_names() {
            attributes.shift_remove(name);
        }
        let mut put = |name: &str, value| attributes.insert(name.to_owned(), value);
        put(RESOLUTION, self.by_axis(1.into(), self.resolution.map(number)));
        if self.voxel_offset != [0; 3] {
            let offset =
                |axis: usize| number(wide(self.voxel_offset[axis]) * self.resolution[axis]);
            put(OFFSET, self.by_axis(0.into(), [offset(0), offset(1), offset(2)]));
        }
        put(UNITS, self.by_axis("".into(), [NANOMETRE, NANOMETRE, NANOMETRE].map(Value::from)));
        let others = self.others();
        if !others.is_empty() {
            put(PRECOMPUTED, Value::Object(others));
        }
        attributes
    }

    /// A list in the order of the array's axes.
    fn by_axis(&self, channel: Value, xyz: [Value; 3]) -> Value {
        let mut list: Vec<Value> = (self.channels > 1).then_some(channel).into_iter().collect();
        list.extend(xyz.into_iter().rev());
        Value::Array(list)
    }

    /// Fields of the document that say nothing of the array.
    fn others(&self) -> Map<String, Value> {
        let of_array = [AT_TYPE, DATA_TYPE, NUM_CHANNELS, ATTRIBUTES];
        let of_scale = [
            SIZE,
            SCALE_RESOLUTION,
            VOXEL_OFFSET,
            CHUNK_SIZES,
            ENCODING,
            BLOCK_SIZE,
            JPEG_QUALITY,
            PNG_LEVEL,
            GZIP_LEVEL,
            SHARDING,
        ];
        let without = |map: &Map<String, Value>, names: &[&str]| -> Map<String, Value> {
            let kept = map.iter().filter(|(name, _)| !names.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let mut others = without(self.info, &of_array);
        let mut scale = without(self.scale, &of_scale);
        // A scale that is named by its own place has none.
        if scale.get(KEY) == Some(&Value::from("")) {
            scale.shift_remove(KEY);
        }
        if !scale.is_empty() {
            others.insert(SCALE.to_owned(), Value::Object(scale));
        }
        others
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanometres are numbers with a point anyway")]
pub(crate) fn wide(voxels: i64) -> f64 {
    voxels as f64
}
