//! Attributes of one version of OME-Zarr as those of another.

use serde_json::{Value, json};

use super::object;
use crate::{Dialect, ImageError, upgrade};

fn upgraded(attributes: &Value, to: Dialect) -> (Value, Vec<String>) {
    let upgraded = upgrade(object(attributes), to).unwrap();
    (json!(upgraded.attributes), upgraded.notes)
}

fn image_04() -> Value {
    json!({
        "_creator": {"name": "omero-zarr"},
        "multiscales": [{
            "version": "0.4", "name": "a",
            "axes": [{"name": "c", "type": "channel"}, {"name": "y", "type": "space"},
                     {"name": "x", "type": "space"}],
            "datasets": [
                {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 2, 2]}]},
                {"path": "1", "coordinateTransformations": [
                    {"type": "scale", "scale": [1, 4, 4]},
                    {"type": "translation", "translation": [0, 1, 1]}]}],
            "metadata": {"version": "1.0"}}],
        "omero": {"version": "0.4", "id": 1}})
}

#[test]
fn an_image_of_04_moves_under_ome() {
    let (new, notes) = upgraded(&image_04(), Dialect::OmeZarr05);
    assert!(notes.is_empty());
    assert_eq!(new["_creator"], json!({"name": "omero-zarr"}));
    assert!(new.get("multiscales").is_none());
    assert_eq!(new["ome"]["version"], "0.5");
    assert_eq!(new["ome"]["omero"], json!({"id": 1}));
    let image = &new["ome"]["multiscales"][0];
    assert!(image.get("version").is_none());
    assert_eq!(image["metadata"]["version"], "1.0");
    assert_eq!(image["datasets"], image_04()["multiscales"][0]["datasets"]);
}

#[test]
fn an_image_of_04_becomes_one_of_06_and_comes_back() {
    let (new, notes) = upgraded(&image_04(), Dialect::OmeZarr06);
    assert!(notes.is_empty());
    let image = &new["ome"]["multiscales"][0];
    assert_eq!(image["coordinateSystems"][0]["name"], "intrinsic");
    assert_eq!(
        image["datasets"][1]["coordinateTransformations"],
        json!([
        {"type": "sequence", "transformations": [
            {"type": "scale", "scale": [1, 4, 4]},
            {"type": "translation", "translation": [0, 1, 1]}],
         "input": {"path": "1"}, "output": {"name": "intrinsic"}}])
    );
    let (back, notes) = upgraded(&new, Dialect::OmeZarr04);
    assert!(notes.is_empty());
    // Numbers of a lone scale are written as floats.
    let numbers = |value: &Value| value.to_string().replace(".0", "");
    let mut expected = image_04();
    let creator = expected.as_object_mut().unwrap().shift_remove("_creator").unwrap();
    expected["_creator"] = creator;
    assert_eq!(numbers(&back["multiscales"]), numbers(&expected["multiscales"]));
    assert_eq!(back["omero"], expected["omero"]);
}

#[test]
fn transformations_of_the_whole_image_go_into_the_levels() {
    let mut old = image_04();
    old["multiscales"][0]["coordinateTransformations"] =
        json!([{"type": "scale", "scale": [1, 10, 10]}]);
    let (new, notes) = upgraded(&old, Dialect::OmeZarr06);
    assert_eq!(notes.len(), 1);
    let image = &new["ome"]["multiscales"][0];
    assert!(image.get("coordinateTransformations").is_none());
    let steps = &image["datasets"][1]["coordinateTransformations"][0]["transformations"];
    assert_eq!(steps[0]["scale"], json!([1.0, 40.0, 40.0]));
    assert_eq!(steps[1]["translation"], json!([0.0, 10.0, 10.0]));
}

#[test]
fn plates_wells_and_labels_move_too() {
    for (key, value) in [
        ("plate", json!({"version": "0.4", "rows": []})),
        ("well", json!({"version": "0.4", "images": []})),
        ("labels", json!(["cells"])),
        ("bioformats2raw.layout", json!(3)),
        ("series", json!(["0"])),
    ] {
        let mut old = serde_json::Map::new();
        old.insert(key.to_owned(), value.clone());
        let new = upgrade(&old, Dialect::OmeZarr05).unwrap();
        let moved = &new.attributes["ome"][key];
        assert!(moved.get("version").is_none(), "{key}");
        let back = upgrade(&new.attributes, Dialect::OmeZarr04).unwrap();
        assert_eq!(json!(back.attributes), json!(old), "{key}");
    }
}

#[test]
fn what_cannot_be_kept_is_told() {
    let new = json!({"labels": 1, "ome": {"version": "0.6", "labels": ["a"], "scene": {},
        "multiscales": [{
            "coordinateSystems": [{"name": "a", "axes": ["y", "x"]}, {"name": "b", "axes": []}],
            "coordinateTransformations": [{"type": "identity"}],
            "datasets": [{"path": "0", "coordinateTransformations": [
                {"type": "identity", "input": {"path": "0"}, "output": {"name": "a"}}]}]}]}});
    let (old, notes) = upgraded(&new, Dialect::OmeZarr04);
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert_eq!(old["labels"], json!(["a"]));
    let steps = &old["multiscales"][0]["datasets"][0]["coordinateTransformations"];
    assert_eq!(*steps, json!([{"type": "scale", "scale": [1.0, 1.0]}]));
}

#[test]
fn others_are_refused() {
    let refused = |attributes: Value, to: Dialect| {
        let error = upgrade(object(&attributes), to).unwrap_err();
        assert!(matches!(error, ImageError::Upgrade { .. }), "{error}");
    };
    refused(json!({"own": 1}), Dialect::OmeZarr05);
    refused(image_04(), Dialect::GeoZarr);
    refused(json!({"multiscales": {"layout": []}}), Dialect::OmeZarr05);
    refused(json!({"multiscales": [{"datasets": [{"transform": {}}]}]}), Dialect::OmeZarr05);
    let without_scale = json!({"multiscales": [{"axes": ["y", "x"], "datasets": [{"path": "0"}]}]});
    refused(without_scale.clone(), Dialect::OmeZarr06);
    let (new, _) = upgraded(&without_scale, Dialect::OmeZarr05);
    assert_eq!(new["ome"]["multiscales"][0]["axes"][0], json!({"name": "y", "type": "space"}));
}
