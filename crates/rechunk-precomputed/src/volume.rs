//! Volumes of several scales: as one image, and as one document.

use rechunk_format::FormatError;
use rechunk_format::json::write_pretty;
use serde_json::{Map, Value, json};

use crate::field::field;
use crate::info::{Volume, with_scales};
use crate::metadata::PrecomputedMetadata;
use crate::names::{ATTRIBUTES, DATA_TYPE, KEY, NUM_CHANNELS, SCALES};

/// Attribute in which a group says its image, as COSEM does in N5.
const MULTISCALES: &str = "multiscales";

/// Attributes by which other formats describe an image: a volume has its scales for that.
const OF_IMAGES: [&str; 4] = [MULTISCALES, "ome", "omero", "bioformats2raw.layout"];

/// Fields of a document, beside those of its arrays, that others look for in it.
const FIELDS: [&str; 6] =
    ["type", "mesh", "skeletons", "segment_properties", "mesh_mip", "provenance"];

impl Volume {
    /// Attributes of the group that it is: its [fields](Volume::others), and its image, a level for
    /// each scale that can be read. Lists are in C order; a place is that of the centre of a voxel,
    /// where level 0 has its own at the corner.
    pub fn group_attributes(&self) -> Map<String, Value> {
        let mut attributes = self.others();
        if let Some(Value::Object(own)) = attributes.shift_remove(ATTRIBUTES) {
            for (name, value) in own {
                attributes.entry(name).or_insert(value);
            }
        }
        let arrays: Vec<_> =
            self.scales.iter().filter_map(|scale| self.array(scale).ok()).collect();
        let Some(first) = arrays.first() else { return attributes };
        let base = first.resolution;
        let datasets = arrays.iter().map(|array| {
            let place = |axis: usize| {
                let corner = array.offset(axis);
                corner + (array.resolution[axis] - base[axis]) / 2.0
            };
            let by_axis = |channel: Value, xyz: [Value; 3]| {
                let mut list: Vec<Value> =
                    (self.channels > 1).then_some(channel).into_iter().collect();
                list.extend(xyz.into_iter().rev());
                Value::Array(list)
            };
            let number = crate::attributes::number;
            json!({"path": array.key, "transform": {
                "axes": by_axis("c".into(), ["x", "y", "z"].map(Value::from)),
                "scale": by_axis(1.into(), array.resolution.map(number)),
                "translate": by_axis(0.into(), [place(0), place(1), place(2)].map(number)),
                "units": by_axis("".into(), ["nm", "nm", "nm"].map(Value::from)),
            }})
        });
        let datasets: Vec<Value> = datasets.collect();
        attributes.insert(MULTISCALES.to_owned(), json!([{"datasets": datasets}]));
        attributes
    }
}

/// The document of a volume whose scales lie at these paths below it, finest first, and which has
/// `attributes`. An error where they are no scales of one volume.
pub fn volume_document(
    scales: &[(&str, &PrecomputedMetadata)],
    attributes: &Map<String, Value>,
) -> Result<Vec<u8>, FormatError> {
    let mut scales = scales.to_vec();
    let size = |array: &PrecomputedMetadata| array.resolution.iter().product::<f64>();
    scales.sort_by(|(_, a), (_, b)| size(a).total_cmp(&size(b)));
    let Some((_, first)) = scales.first() else {
        return Err(field(SCALES).invalid("a volume has at least one scale"));
    };
    for (path, array) in &scales {
        let differs = |name: &str, own: String, of_first: String| {
            let what = format!("{own} of {path:?} beside {of_first}");
            Err(field(name).unsupported(what, "the scales of a volume are of one type"))
        };
        if array.data_type != first.data_type {
            return differs(DATA_TYPE, array.data_type.name(), first.data_type.name());
        }
        if array.channels != first.channels {
            let shown = |array: &PrecomputedMetadata| format!("{} channels", array.channels);
            return differs(NUM_CHANNELS, shown(array), shown(first));
        }
    }
    let mut whole = first.info.clone();
    let mut others = Map::new();
    for (name, value) in attributes {
        if FIELDS.contains(&name.as_str()) {
            whole.insert(name.clone(), value.clone());
        } else if !OF_IMAGES.contains(&name.as_str()) {
            others.insert(name.clone(), value.clone());
        }
    }
    // Attributes of the finest scale are those of all, where the group does not say others.
    let derived = crate::attributes::derived_names();
    let own = first.attributes.iter().filter(|(name, _)| !derived.contains(&name.as_str()));
    for (name, value) in own {
        others.entry(name.clone()).or_insert_with(|| value.clone());
    }
    let documents = scales.iter().map(|(path, array)| {
        let mut scale = array.scale.clone();
        scale.insert(KEY.to_owned(), (*path).into());
        Value::Object(scale)
    });
    let mut whole = with_scales(&whole, whole.len(), documents.collect());
    if !others.is_empty() {
        whole.insert(ATTRIBUTES.to_owned(), Value::Object(others));
    }
    Ok(write_pretty(&Value::Object(whole)))
}

/// The key of the scale whose voxels have a size, in nanometres along x, y and z: `4_4_40`.
pub fn scale_key(resolution: [f64; 3]) -> String {
    resolution.map(|size| crate::attributes::number(size).to_string()).join("_")
}
