//! The `info` of a volume.

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use rechunk_format::json::{read_object, text, write_pretty};
use rechunk_grid::DataType;
use serde_json::{Map, Value};

use crate::field::{field, integer};
use crate::names::{AT_TYPE, DATA_TYPE, INFO_KEY, KEY, NUM_CHANNELS, SCALES};
use crate::scale::Scale;
use crate::voxel_type;

/// The `@type` of a volume; meshes, skeletons and annotations have others.
pub(crate) const VOLUME_TYPE: &str = "neuroglancer_multiscale_volume";

/// Most channels of a volume.
const CHANNELS_MAX: i64 = 1 << 20;

/// A volume: its scales, and fields that all of them share.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// Type of a voxel.
    pub(crate) data_type: DataType,
    /// Number of channels.
    pub(crate) channels: u64,
    /// The document without its scales, in its order.
    pub(crate) info: Map<String, Value>,
    /// Position of the scales in it.
    pub(crate) scales_at: usize,
    /// In the order of the document, finest first.
    pub scales: Vec<Scale>,
}

/// True for the `info` of a volume. Other programs call other things so, and so do the meshes,
/// skeletons and annotations that lie below a volume.
pub fn is_volume(document: &[u8]) -> bool {
    let Ok(map) = read_object(INFO_KEY, document) else { return false };
    match map.get(AT_TYPE) {
        Some(said) => text(said) == Some(VOLUME_TYPE),
        None => map.get(SCALES).is_some_and(Value::is_array) && map.contains_key(DATA_TYPE),
    }
}

/// Reads the `info` of a volume. Its scales are looked at one by one, by [`Volume::array`]: where
/// one of them cannot be read, others can.
pub fn parse_info(document: &[u8]) -> Result<Volume, FormatError> {
    let mut info = read_object(INFO_KEY, document)?;
    if let Some(said) = info.get(AT_TYPE)
        && text(said) != Some(VOLUME_TYPE)
    {
        let hint = "only volumes are arrays";
        return Err(field(AT_TYPE).unsupported(rechunk_format::field::shown(said), hint));
    }
    let needed = |name: &str| info.get(name).ok_or_else(|| field(name).invalid("is missing"));
    let data_type = voxel_type::parse(field(DATA_TYPE).text(needed(DATA_TYPE)?)?)?;
    let channels = match info.get(NUM_CHANNELS) {
        None => 1,
        Some(value) => {
            let found = integer(value).filter(|count| (1..=CHANNELS_MAX).contains(count));
            let wrong = || {
                let shown = rechunk_format::field::shown(value);
                field(NUM_CHANNELS).invalid(format!("{shown} is not from 1 to {CHANNELS_MAX}"))
            };
            found.ok_or_else(wrong)?.unsigned_abs()
        }
    };
    let list = field(SCALES).list(needed(SCALES)?)?;
    let read =
        |(number, scale)| Scale::read(&Field::new(INFO_KEY, &format!("{SCALES}[{number}]")), scale);
    let scales = list.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    if scales.is_empty() {
        return Err(field(SCALES).invalid("the volume has no scale"));
    }
    let scales_at = info.keys().position(|name| name == SCALES).unwrap_or_default();
    info.shift_remove(SCALES);
    Ok(Volume { data_type, channels, info, scales_at, scales })
}

impl Volume {
    /// The scale of this key.
    pub fn scale(&self, key: &str) -> Option<&Scale> {
        self.scales.iter().find(|scale| scale.key == key)
    }

    /// Fields that say nothing of its arrays, in their order: `type`, `mesh` and the like.
    pub fn others(&self) -> Map<String, Value> {
        let is_other = |name: &str| ![AT_TYPE, DATA_TYPE, NUM_CHANNELS].contains(&name);
        let others = self.info.iter().filter(|(name, _)| is_other(name));
        others.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Names of the directories beside the scales that the document names: meshes, skeletons,
    /// properties of segments.
    pub fn other_directories(&self) -> Vec<String> {
        directories(&self.info)
    }

    /// The document of a volume that has this scale alone, in the directory of its chunks.
    pub fn document_of(&self, scale: &Scale) -> Vec<u8> {
        let mut own = scale.map.clone();
        own.insert(KEY.to_owned(), "".into());
        write_pretty(&Value::Object(with_scales(
            &self.info,
            self.scales_at,
            vec![Value::Object(own)],
        )))
    }
}

/// Names of directories that the fields of a document name.
pub(crate) fn directories(info: &Map<String, Value>) -> Vec<String> {
    let named = ["mesh", "skeletons", "segment_properties"].iter();
    let named = named.filter_map(|name| info.get(*name).and_then(text));
    named.map(str::to_owned).collect()
}

/// The document of these fields, with scales where they were.
pub(crate) fn with_scales(
    info: &Map<String, Value>,
    scales_at: usize,
    scales: Vec<Value>,
) -> Map<String, Value> {
    let mut whole = info.clone();
    whole.shift_insert(scales_at.min(info.len()), SCALES.to_owned(), Value::Array(scales));
    whole
}

#[cfg(test)]
mod tests;
