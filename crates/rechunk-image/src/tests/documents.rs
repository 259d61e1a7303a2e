//! Attributes as they are written, literally.

use serde_json::json;

use super::{image_of, object};
use crate::{Axis, AxisKind, Dialect, Image, ImageError, documents, labels_group};

fn yx() -> Image {
    let mut image = image_of(&["y", "x"], &[5, 7], (&[0.5, 1.0], &[0.0, 0.0]), &[&[1, 1], &[2, 1]]);
    image.axes[0].unit = Some("um".to_owned());
    image
}

#[test]
fn an_image_of_04_is_written() {
    let mut image = yx();
    image.carried =
        object(&json!({"omero": {"version": "0.3"}, "own": [1], "ome": {"odd": 2}})).clone();
    let documents = documents(&image, Dialect::OmeZarr04).unwrap();
    let expected = json!({
        "multiscales": [{
            "version": "0.4",
            "name": "image",
            "axes": [{"name": "y", "type": "space", "unit": "micrometer"},
                     {"name": "x", "type": "space"}],
            "datasets": [
                {"path": "s0", "coordinateTransformations": [
                    {"type": "scale", "scale": [0.5, 1.0]}]},
                {"path": "s1", "coordinateTransformations": [
                    {"type": "scale", "scale": [1.0, 1.0]},
                    {"type": "translation", "translation": [0.25, 0.0]}]}],
            "type": "mean",
            "metadata": {
                "description": "levels reduced by mean",
                "method": "rechunk.mean",
                "version": env!("CARGO_PKG_VERSION"),
                "kwargs": {"factors": [[1, 1], [2, 1]]}}}],
        "omero": {"version": "0.4"},
        "odd": 2,
        "own": [1]});
    assert_eq!(json!(documents.group), expected);
    assert_eq!(documents.levels.len(), 2);
}

#[test]
fn an_image_of_05_is_written_under_ome() {
    let mut image = yx();
    image.is_label = true;
    image.carried = object(&json!({"omero": {"version": "0.4", "id": 1}, "own": [1]})).clone();
    let group = documents(&image, Dialect::OmeZarr05).unwrap().group;
    assert_eq!(group.keys().collect::<Vec<_>>(), ["ome", "own"]);
    let ome = &group["ome"];
    assert_eq!(ome["version"], "0.5");
    assert_eq!(ome["omero"], json!({"id": 1}));
    assert_eq!(ome["image-label"], json!({}));
    assert!(ome["multiscales"][0].get("version").is_none());
}

#[test]
fn an_image_of_06_names_its_coordinate_system() {
    let mut image = yx();
    image.method = None;
    let group = documents(&image, Dialect::OmeZarr06).unwrap().group;
    let expected = json!({"ome": {"version": "0.6", "multiscales": [{
        "name": "image",
        "coordinateSystems": [{"name": "intrinsic", "axes": [
            {"name": "y", "type": "space", "unit": "micrometer"},
            {"name": "x", "type": "space"}]}],
        "datasets": [
            {"path": "s0", "coordinateTransformations": [
                {"type": "scale", "scale": [0.5, 1.0],
                 "input": {"path": "s0"}, "output": {"name": "intrinsic"}}]},
            {"path": "s1", "coordinateTransformations": [
                {"type": "sequence", "transformations": [
                    {"type": "scale", "scale": [1.0, 1.0]},
                    {"type": "translation", "translation": [0.25, 0.0]}],
                 "input": {"path": "s1"}, "output": {"name": "intrinsic"}}]}]}]}});
    assert_eq!(json!(group), expected);
}

#[test]
fn a_translation_of_level_0_is_written_where_it_is_not_zero() {
    let image = image_of(&["y", "x"], &[4, 4], (&[1.0, 1.0], &[3.0, 0.0]), &[&[1, 1]]);
    let group = documents(&image, Dialect::OmeZarr05).unwrap().group;
    let steps = &group["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"];
    assert_eq!(steps[1]["translation"], json!([3.0, 0.0]));
}

#[test]
fn axes_that_ome_zarr_does_not_have_are_refused() {
    let refused = |names: &[&str]| {
        let ones = vec![1.0; names.len()];
        let zeros = vec![0.0; names.len()];
        let shape = vec![4; names.len()];
        let factors = vec![1; names.len()];
        let image = image_of(names, &shape, (&ones, &zeros), &[&factors]);
        documents(&image, Dialect::OmeZarr05).err()
    };
    for names in [
        vec!["x"],
        vec!["c", "x"],
        vec!["y", "x", "c"],
        vec!["c", "t", "y", "x"],
        vec!["t", "time", "y", "x"],
        vec!["c", "band", "y", "x"],
        vec!["t", "c", "q", "z", "y", "x"],
        vec!["y", "y"],
        vec!["lat", "z", "y", "x"],
    ] {
        let error = refused(&names);
        assert!(matches!(error, Some(ImageError::Axes { .. })), "{names:?}: {error:?}");
    }
    for names in [vec!["y", "x"], vec!["t", "q", "y", "x"], vec!["t", "c", "z", "y", "x"]] {
        assert_eq!(refused(&names), None, "{names:?}");
    }
    assert_eq!(
        refused(&["y", "x", "c"]).unwrap().to_string(),
        "ome-zarr-0.5 cannot say the axes y, x, c: their order is not time, channel, space; name, \
         transpose or drop axes until they fit, or write `plain`"
    );
}

#[test]
fn levels_that_do_not_fit_are_refused() {
    let mut image = yx();
    image.levels[1].scale = vec![1.0];
    let error = documents(&image, Dialect::Plain).unwrap_err();
    assert!(error.to_string().contains("a scale of 1 axes instead of 2"), "{error}");
    for scale in [f64::NAN, f64::INFINITY, 0.0] {
        let mut image = yx();
        image.levels[1].scale[0] = scale;
        assert!(documents(&image, Dialect::Plain).is_err());
    }
    let mut image = yx();
    image.levels.clear();
    assert!(documents(&image, Dialect::Plain).is_err());
}

#[test]
fn plain_arrays_keep_what_is_carried() {
    let mut image = yx();
    image.carried = object(&json!({"own": 1})).clone();
    let documents = documents(&image, Dialect::Plain).unwrap();
    assert_eq!(json!(documents.group), json!({"own": 1}));
    assert!(documents.levels.iter().all(serde_json::Map::is_empty));
}

#[test]
fn an_n5_viewer_finds_all_that_it_reads() {
    let mut image = image_of(
        &["z", "y", "x"],
        &[8, 8, 8],
        (&[40.0, 4.0, 4.0], &[0.0; 3]),
        &[&[1, 1, 1], &[1, 2, 2]],
    );
    for axis in &mut image.axes {
        axis.unit = Some("nanometer".to_owned());
    }
    let documents = documents(&image, Dialect::N5Viewer).unwrap();
    let transform = |scale: [f64; 3], translate: [f64; 3]| {
        json!({"axes": ["z", "y", "x"], "scale": scale, "translate": translate,
               "units": ["nm", "nm", "nm"]})
    };
    let coarse = transform([40.0, 8.0, 8.0], [0.0, 2.0, 2.0]);
    let expected = json!({
        "name": "image", "axes": ["x", "y", "z"], "units": ["nm", "nm", "nm"],
        "resolution": [4.0, 4.0, 40.0], "scales": [[1, 1, 1], [2, 2, 1]],
        "multiscales": [{"name": "image", "datasets": [
            {"path": "s0", "transform": transform([40.0, 4.0, 4.0], [0.0; 3])},
            {"path": "s1", "transform": coarse}]}]});
    assert_eq!(json!(documents.group), expected);
    let expected = json!({"downsamplingFactors": [2, 2, 1], "transform": coarse,
        "pixelResolution": {"dimensions": [4.0, 4.0, 40.0], "unit": "nm"}});
    assert_eq!(json!(documents.levels[1]), expected);
}

#[test]
fn a_custom_axis_has_no_type() {
    let mut image = yx();
    image.axes.insert(0, Axis { name: "q".to_owned(), kind: AxisKind::Other, unit: None });
    for level in &mut image.levels {
        level.factors.insert(0, 1);
        level.shape.insert(0, 3);
        level.scale.insert(0, 1.0);
        level.translation.insert(0, 0.0);
    }
    let group = documents(&image, Dialect::OmeZarr05).unwrap().group;
    assert_eq!(group["ome"]["multiscales"][0]["axes"][0], json!({"name": "q"}));
}

#[test]
fn groups_of_labels_list_them() {
    let names = ["a".to_owned(), "b".to_owned()];
    assert_eq!(json!(labels_group(&names, Dialect::OmeZarr04)), json!({"labels": ["a", "b"]}));
    let expected = json!({"ome": {"version": "0.6", "labels": ["a", "b"]}});
    assert_eq!(json!(labels_group(&names, Dialect::OmeZarr06)), expected);
    assert!(labels_group(&names, Dialect::Plain).is_empty());
}

#[test]
fn names_of_dialects_are_those_of_serde() {
    for dialect in Dialect::ALL {
        assert_eq!(json!(dialect), json!(dialect.name()));
        assert_eq!(Dialect::from_name(dialect.name()), Some(dialect));
    }
}
