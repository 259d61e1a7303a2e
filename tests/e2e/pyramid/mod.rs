//! `rechunk pyramid`: elements are those of NumPy and tensorstore, metadata is right for those who
//! read it, and an image that gets levels loses nothing.

mod added;
mod described;
mod labels;
mod readers;
mod refused;
mod values;

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::Folder;
use crate::oracle::{World, answer, ask, available};

const SCRIPT: &str = "tests/oracle/pyramid.py";

/// The arrays and images of the oracle; `None` where there is no oracle.
fn made() -> Option<Folder> {
    if !available() {
        return None;
    }
    let folder = Folder::new();
    ask(World::Z3, SCRIPT, &["make", &folder.path().display().to_string()]);
    Some(folder)
}

/// Has the oracle do jobs: it finds no problem.
#[track_caller]
fn assert_right(jobs: &[Value]) {
    let answers = answer(World::Z3, SCRIPT, jobs);
    assert_eq!(answers.len(), jobs.len());
    let wrong: Vec<_> =
        jobs.iter().zip(&answers).filter(|(_, found)| **found != json!([])).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), jobs.len());
}

/// A JSON document.
#[track_caller]
fn document(path: &str) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_slice(&text).unwrap()
}

/// Attributes of a Zarr v3 node.
#[track_caller]
fn attributes(node: &str) -> Value {
    document(&format!("{node}/zarr.json"))["attributes"].clone()
}

/// The first image of a group of OME-Zarr 0.5.
#[track_caller]
fn image(group: &str) -> Value {
    attributes(group)["ome"]["multiscales"][0].clone()
}

/// Path, scale and translation of each level of an image of OME-Zarr up to 0.5. A translation that
/// is not said is one of zeros.
fn places(image: &Value) -> Vec<(String, Vec<f64>, Vec<f64>)> {
    let numbers = |list: &Value| -> Vec<f64> {
        list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let place = |dataset: &Value| {
        let steps = dataset["coordinateTransformations"].as_array().unwrap();
        assert_eq!(steps[0]["type"], "scale");
        let scale = numbers(&steps[0]["scale"]);
        let translation = match steps.get(1) {
            Some(step) => numbers(&step["translation"]),
            None => vec![0.0; scale.len()],
        };
        (dataset["path"].as_str().unwrap().to_owned(), scale, translation)
    };
    image["datasets"].as_array().unwrap().iter().map(place).collect()
}

/// A level of [`places`].
fn place(path: &str, scale: &[f64], translation: &[f64]) -> (String, Vec<f64>, Vec<f64>) {
    (path.to_owned(), scale.to_vec(), translation.to_vec())
}

/// Writes a Zarr v3 group of these attributes.
fn write_group(path: &str, attributes: &Value) {
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    write_json(&Path::new(path).join("zarr.json"), &group);
}

/// Writes an image of OME-Zarr 0.5: two times, three channels, planes of 40 × 60; scale and
/// translation are those of microscopes.
fn write_image(path: &str) {
    RawArray::v3(&[2, 3, 8, 40, 60], &[1, 1, 4, 16, 32]).of_uint16().write(&format!("{path}/s0"));
    let steps = json!([
        {"type": "scale", "scale": [2.0, 1.0, 2.0, 0.5, 0.25]},
        {"type": "translation", "translation": [0.0, 0.0, 10.0, -4.0, 3.0]},
    ]);
    let space = |name: &str| json!({"name": name, "type": "space", "unit": "micrometer"});
    let channel =
        |label: &str| json!({"label": label, "color": "00FF00", "window": {"start": 0, "end": 9}});
    let attributes = json!({
        "ome": {
            "version": "0.5",
            "multiscales": [{
                "name": "embryo",
                "axes": [{"name": "t", "type": "time", "unit": "second"},
                         {"name": "c", "type": "channel"}, space("z"), space("y"), space("x")],
                "datasets": [{"path": "s0", "coordinateTransformations": steps}],
            }],
            "omero": {"channels": [channel("DAPI"), channel("GFP"), channel("RFP")]},
        },
        "operator": "somebody",
    });
    write_group(path, &attributes);
}
