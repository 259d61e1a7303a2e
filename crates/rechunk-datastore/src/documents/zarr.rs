//! Documents of a version as OME-Zarr 0.5.
//!
//! Each angle is an image of t, c, z, y, x, in the layout of bioformats2raw, which viewers list as
//! series.

use rechunk_image::{Axis, Dialect, Image, Level, documents as image_documents, level_transform};
use rechunk_zarr::{GroupMetadata, ZarrVersion, group_documents_of};
use serde_json::{Map, Value, json};

use super::Document;
use crate::{Dataset, DatastoreError};

/// The group of all images.
const CONTAINER: &str = "export.ome.zarr";
/// Version of OME-Zarr.
const VERSION: &str = "0.5";

/// The place of an array in the folder of a version.
pub(crate) fn array_path(angle: u64, level: usize) -> String {
    format!("{CONTAINER}/{angle}/s{level}")
}

/// All documents of a version.
pub(super) fn documents(dataset: &Dataset) -> Result<Vec<Document>, DatastoreError> {
    let series: Vec<String> = (0..dataset.angles).map(|angle| angle.to_string()).collect();
    let ome = |mut attributes: Value| {
        attributes["version"] = json!(VERSION);
        Map::from_iter([("ome".to_owned(), attributes)])
    };
    let mut all = group(CONTAINER, ome(json!({"bioformats2raw.layout": 3})));
    all.extend(group(&format!("{CONTAINER}/OME"), ome(json!({"series": series}))));
    for name in &series {
        let written = image_documents(&image(dataset, name), Dialect::OmeZarr05)?;
        all.extend(group(&format!("{CONTAINER}/{name}"), written.group));
    }
    all.extend(array_documents(dataset)?);
    Ok(all)
}

/// Documents of the arrays of a version.
pub(super) fn array_documents(dataset: &Dataset) -> Result<Vec<Document>, DatastoreError> {
    let mut all = Vec::new();
    for (number, level) in dataset.resolution_levels.iter().enumerate() {
        let documents = dataset.zarr_layout(level)?.metadata().documents();
        for angle in 0..dataset.angles {
            let array = array_path(angle, number);
            let named = |(key, bytes): &Document| (format!("{array}/{key}"), bytes.clone());
            all.extend(documents.iter().map(named));
        }
    }
    Ok(all)
}

fn group(place: &str, attributes: Map<String, Value>) -> Vec<Document> {
    let group = GroupMetadata::with_attributes(attributes);
    let documents = group_documents_of(ZarrVersion::V3, &group).into_iter();
    documents.map(|(key, bytes)| (format!("{place}/{key}"), bytes)).collect()
}

/// The image of an angle.
fn image(dataset: &Dataset, name: &str) -> Image {
    let distance = |measure: &Option<crate::Measure>| {
        measure.as_ref().map(|measure| measure.value).filter(|value| *value > 0.0).unwrap_or(1.0)
    };
    let [x, y, z] = dataset.voxel_resolution.unwrap_or([1.0; 3]);
    let base = [distance(&dataset.timepoint_resolution), 1.0, z, y, x];
    let mut axes: Vec<Axis> = ["t", "c", "z", "y", "x"].map(Axis::of_name).into();
    for axis in axes.iter_mut().skip(2) {
        axis.unit.clone_from(&dataset.voxel_unit);
    }
    if let Some(axis) = axes.first_mut() {
        axis.unit = dataset.timepoint_resolution.as_ref().map(|measure| measure.unit.clone());
    }
    let mut finest_first: Vec<usize> = (0..dataset.resolution_levels.len()).collect();
    finest_first.sort_by_key(|number| dataset.resolution_levels[*number].volume());
    let levels = finest_first.into_iter().map(|number| {
        let level = &dataset.resolution_levels[number];
        let [x, y, z] = level.resolutions;
        let factors = vec![1, 1, z, y, x];
        let (scale, translation) = level_transform(&base, &[0.0; 5], &factors, true);
        let shape = dataset.array_shape(level);
        Level { path: format!("s{number}"), factors, scale, translation, shape }
    });
    Image {
        name: dataset.label.clone().unwrap_or_else(|| name.to_owned()),
        axes,
        levels: levels.collect(),
        data_type: dataset.voxel_type.clone(),
        ..Image::default()
    }
}
