//! GeoZarr: conventions `multiscales`, `spatial` and `proj`.

use serde_json::json;

use super::{image_of, object};
use crate::{Dialect, check_image, documents, read_image};

#[test]
fn a_pyramid_is_written_as_the_conventions_show_it() {
    let mut image = image_of(
        &["t", "Y", "X"],
        &[3, 1200, 1200],
        (&[1.0, -10.0, 10.0], &[0.0, 4_999_995.0, 500_005.0]),
        &[&[1, 1, 1], &[1, 2, 2], &[1, 4, 4]],
    );
    image.carried =
        object(&json!({"proj:code": "EPSG:32633", "own": 1, "spatial:transform": [1]})).clone();
    let documents = documents(&image, Dialect::GeoZarr).unwrap();
    let group = &documents.group;
    let entry = |size: f64, shape: u64| {
        json!({"spatial:shape": [shape, shape],
               "spatial:transform": [size, 0.0, 500_000.0, 0.0, -size, 5_000_000.0]})
    };
    let with = |rest: serde_json::Value, entry: serde_json::Value| {
        let mut all = rest.as_object().unwrap().clone();
        all.extend(entry.as_object().unwrap().clone());
        serde_json::Value::Object(all)
    };
    let transform = |scale: f64| json!({"scale": [scale, scale], "translation": [0.0, 0.0]});
    let layout = json!([
        with(json!({"asset": "s0", "transform": transform(1.0)}), entry(10.0, 1200)),
        with(
            json!({"asset": "s1", "derived_from": "s0", "transform": transform(2.0)}),
            entry(20.0, 600)
        ),
        with(
            json!({"asset": "s2", "derived_from": "s1", "transform": transform(2.0)}),
            entry(40.0, 300)
        ),
    ]);
    assert_eq!(group["multiscales"]["layout"], layout);
    assert_eq!(group["multiscales"]["resampling_method"], "average");
    assert_eq!(group["spatial:dimensions"], json!(["Y", "X"]));
    assert_eq!(group["proj:code"], "EPSG:32633");
    assert_eq!(group["own"], 1);
    assert!(group.get("spatial:transform").is_none());
    let names = group["zarr_conventions"].as_array().unwrap().iter().map(|entry| &entry["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["multiscales", "spatial", "proj"]);
    let spec = "https://github.com/zarr-conventions/spatial/blob/v0.1/README.md";
    assert_eq!(group["zarr_conventions"][1]["spec_url"], spec);
    assert_eq!(documents.levels[2]["spatial:shape"], json!([300, 300]));
    assert_eq!(documents.levels[2]["proj:code"], "EPSG:32633");

    let found = read_image(group).unwrap();
    assert_eq!(found.base_scale, Some(vec![-10.0, 10.0]));
    assert_eq!(found.levels[1].translation, Some(vec![4_999_990.0, 500_010.0]));
    let shapes = [vec![3, 1200, 1200], vec![3, 600, 600], vec![3, 300, 300]];
    assert_eq!(check_image(&found, &shapes), Vec::<String>::new());

    let again = {
        let mut image = image;
        image.carried = found.rest;
        documents_again(&image)
    };
    assert_eq!(&again, group);
}

fn documents_again(image: &crate::Image) -> serde_json::Map<String, serde_json::Value> {
    documents(image, Dialect::GeoZarr).unwrap().group
}

#[test]
fn an_affine_with_rotation_is_carried_through_the_levels() {
    let mut image =
        image_of(&["y", "x"], &[100, 100], (&[1.0, 1.0], &[0.0, 0.0]), &[&[1, 1], &[2, 4]]);
    image.spatial_transform = Some([1.0, 0.5, 10.0, 0.25, -1.0, 20.0]);
    let levels = documents(&image, Dialect::GeoZarr).unwrap().levels;
    assert_eq!(levels[1]["spatial:transform"], json!([4.0, 1.0, 10.0, 1.0, -2.0, 20.0]));
}

#[test]
fn strides_begin_before_the_corner() {
    let mut image =
        image_of(&["y", "x"], &[100, 100], (&[1.0, 1.0], &[0.0, 0.0]), &[&[1, 1], &[2, 2]]);
    image.levels[1].translation = vec![0.0, 0.0];
    image.spatial_transform = Some([10.0, 0.0, 100.0, 0.0, -10.0, 200.0]);
    let group = documents(&image, Dialect::GeoZarr).unwrap().group;
    let entry = &group["multiscales"]["layout"][1];
    assert_eq!(entry["transform"]["translation"], json!([-0.5, -0.5]));
    // The first element of the level has the centre of the first of level 0.
    assert_eq!(entry["spatial:transform"], json!([20.0, 0.0, 95.0, 0.0, -20.0, 205.0]));
}

#[test]
fn layouts_without_places_are_read_by_their_steps() {
    let attributes = json!({"multiscales": {"layout": [
        {"asset": "0/data", "transform": {"scale": [1.0, 1.0]}},
        {"asset": "1/data", "derived_from": "0/data",
         "transform": {"scale": [2.0, 2.0], "translation": [0.5, 0.5]}},
        {"asset": "2/data", "derived_from": "1/data",
         "transform": {"scale": [2.0, 2.0], "translation": [0.5, 0.5]}}],
        "resampling_method": "average"}});
    let found = read_image(object(&attributes)).unwrap();
    assert_eq!(found.dialect, Dialect::GeoZarr);
    assert_eq!(found.levels[2].path, "2/data");
    assert_eq!(found.levels[2].scale, Some(vec![4.0, 4.0]));
    assert_eq!(found.levels[2].translation, Some(vec![1.5, 1.5]));
    assert_eq!(found.method.as_deref(), Some("average"));
}

#[test]
fn an_axis_beside_rows_and_columns_does_not_shrink() {
    let image =
        image_of(&["z", "y", "x"], &[8, 8, 8], (&[1.0; 3], &[0.0; 3]), &[&[1, 1, 1], &[2, 2, 2]]);
    let error = documents(&image, Dialect::GeoZarr).unwrap_err();
    assert!(error.to_string().contains("axis \"z\" shrinks"), "{error}");
}
