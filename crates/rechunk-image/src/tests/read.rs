//! Metadata as other programs write it.

use serde_json::json;

use super::object;
use crate::{Axis, AxisKind, Dialect, read_axes_from_array, read_image};

#[test]
fn an_image_of_ome_zarr_py_is_read() {
    let attributes = json!({"ome": {"version": "0.5", "multiscales": [{
        "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
        "datasets": [
            {"path": "s0", "coordinateTransformations": [
                {"type": "scale", "scale": [1.0, 1.0]},
                {"type": "translation", "translation": [0.0, 0.0]}]},
            {"path": "s1", "coordinateTransformations": [
                {"type": "scale", "scale": [2.5, 2.333]},
                {"type": "translation", "translation": [0.75, 0.6665]}]}],
        "name": "image"}], "image-label": {"version": "0.5"}, "_creator": "x"}, "own": 1});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.dialect, Dialect::OmeZarr05);
    assert_eq!(image.version.as_deref(), Some("0.5"));
    assert_eq!(image.name.as_deref(), Some("image"));
    assert_eq!(image.axes, vec![Axis::of_name("y"), Axis::of_name("x")]);
    assert_eq!(image.levels[1].path, "s1");
    assert_eq!(image.levels[1].scale, Some(vec![2.5, 2.333]));
    assert_eq!(image.levels[1].translation, Some(vec![0.75, 0.6665]));
    assert!(image.is_label);
    let rest = json!({"own": 1, "image-label": {"version": "0.5"}, "ome": {"_creator": "x"}});
    assert_eq!(json!(image.rest), rest);
    assert!(image.problems.is_empty(), "{:?}", image.problems);
}

#[test]
fn an_image_of_ngff_zarr_06_is_read() {
    let attributes = json!({"ome": {"version": "0.6", "multiscales": [{
        "coordinateSystems": [{"name": "intrinsic", "axes": [
            {"name": "y", "type": "space", "unit": "micrometer"},
            {"name": "x", "type": "space", "unit": "micrometer"}]}],
        "datasets": [
            {"path": "scale0/image", "coordinateTransformations": [{
                "input": {"path": "scale0/image"}, "output": {"name": "intrinsic"},
                "name": "scale0_to_intrinsic", "type": "sequence", "transformations": [
                    {"type": "scale", "scale": [0.5, 0.5]},
                    {"type": "translation", "translation": [10.0, 0.0]}]}]},
            {"path": "scale1/image", "coordinateTransformations": [{
                "input": {"path": "scale1/image"}, "output": {"name": "intrinsic"},
                "name": "scale1_to_intrinsic", "type": "sequence", "transformations": [
                    {"type": "scale", "scale": [1.0, 1.0]},
                    {"type": "translation", "translation": [10.25, 0.25]}]}]}],
        "name": "image", "type": "itkwasm_gaussian",
        "metadata": {"method": "itkwasm_downsample.downsample", "version": "1"}}]}});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.dialect, Dialect::OmeZarr06);
    assert_eq!(image.axes[0].unit.as_deref(), Some("micrometer"));
    assert_eq!(image.base_scale, Some(vec![0.5, 0.5]));
    assert_eq!(image.base_translation, Some(vec![10.0, 0.0]));
    assert_eq!(image.levels[1].translation, Some(vec![10.25, 0.25]));
    assert_eq!(image.method.as_deref(), Some("itkwasm_gaussian"));
    assert!(image.problems.is_empty(), "{:?}", image.problems);
}

#[test]
fn the_coordinate_system_of_06_is_the_one_that_levels_lead_to() {
    // As the examples of the specification have it: another system stands before.
    let axes = |unit: &str| {
        json!([{"name": "y", "type": "space", "unit": unit},
                                   {"name": "x", "type": "space", "unit": unit}])
    };
    let attributes = json!({"ome": {"version": "0.6rc0", "multiscales": [{
        "coordinateSystems": [{"name": "physical", "axes": axes("meter")},
                              {"name": "intrinsic", "axes": axes("micrometer")}],
        "datasets": [{"path": "s0", "coordinateTransformations": [{
            "scale": [1, 1], "type": "scale",
            "input": {"path": "s0"}, "output": {"name": "intrinsic"}}]}],
        "coordinateTransformations": [{"scale": [10, 10], "type": "scale",
            "input": {"name": "intrinsic"}, "output": {"name": "physical"}}]}]}});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.axes[0].unit.as_deref(), Some("micrometer"));
    assert_eq!(image.base_scale, Some(vec![1.0, 1.0]));
    assert_eq!(image.problems.len(), 1);
}

#[test]
fn transformations_of_the_whole_image_of_04_count() {
    let attributes = json!({"multiscales": [{"version": "0.4",
        "axes": [{"name": "c", "type": "channel"}, {"name": "y", "type": "space"},
                 {"name": "x", "type": "space"}],
        "datasets": [{"path": "/0/", "coordinateTransformations": [
            {"type": "scale", "scale": [1, 2, 2]},
            {"type": "translation", "translation": [0, 1, 1]}]}],
        "coordinateTransformations": [
            {"type": "scale", "scale": [1, 10, 10]},
            {"type": "translation", "translation": [0, 5, 0]}]}], "omero": {"id": 1}});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.dialect, Dialect::OmeZarr04);
    assert_eq!(image.levels[0].path, "0");
    assert_eq!(image.base_scale, Some(vec![1.0, 20.0, 20.0]));
    assert_eq!(image.base_translation, Some(vec![0.0, 15.0, 10.0]));
    assert_eq!(json!(image.rest), json!({"omero": {"id": 1}}));
}

#[test]
fn an_image_of_01_has_five_axes_and_no_scales() {
    let attributes = json!({"multiscales": [{"version": "0.1", "datasets": [{"path": "0"}]}]});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.axes.len(), 5);
    assert_eq!(image.axes[0].kind, AxisKind::Time);
    assert_eq!(image.levels[0].scale, None);
}

#[test]
fn what_is_malformed_is_told_and_left_out() {
    let attributes = json!({"multiscales": [{
        "axes": [{"name": "y"}, {"name": "x", "orientation": {"type": "anatomical"}}],
        "datasets": [
            {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": ["NaN", 1]}]},
            {"path": "../1"},
            {"path": "2", "coordinateTransformations": [{"type": "affine", "affine": [[1]]}]},
            {"path": "3", "coordinateTransformations": [{"type": "scale", "scale": [1]}]}]},
        {"datasets": []}]});
    let image = read_image(object(&attributes)).unwrap();
    let paths: Vec<_> = image.levels.iter().map(|level| level.path.as_str()).collect();
    assert_eq!(paths, ["0", "2", "3"]);
    assert!(image.levels.iter().all(|level| level.scale.is_none()));
    assert_eq!(image.problems.len(), 6, "{:?}", image.problems);
}

#[test]
fn a_setup_of_pybdv_is_read() {
    let attributes = json!({"dataType": "uint8", "downsamplingFactors": [[1, 1, 1], [2, 4, 8]]});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.dialect, Dialect::BdvN5);
    assert_eq!(image.axes, vec![Axis::of_name("z"), Axis::of_name("y"), Axis::of_name("x")]);
    assert_eq!(image.levels[1].path, "timepoint0/s1");
    assert_eq!(image.levels[1].scale, Some(vec![8.0, 4.0, 2.0]));
    assert_eq!(image.levels[1].translation, Some(vec![3.5, 1.5, 0.5]));
}

#[test]
fn a_group_of_n5_viewer_is_read() {
    let attributes = json!({"name": "some data", "scales": [[1, 1, 1], [2, 2, 1]],
        "pixelResolution": {"unit": "um", "dimensions": [0.097, 0.097, 0.18]}});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.dialect, Dialect::N5Viewer);
    assert_eq!(image.name.as_deref(), Some("some data"));
    assert_eq!(image.base_scale, Some(vec![0.18, 0.097, 0.097]));
    assert_eq!(image.levels[1].scale, Some(vec![0.18, 0.194, 0.194]));
    assert_eq!(image.axes[0].unit.as_deref(), Some("um"));
}

#[test]
fn a_group_of_cosem_is_read_in_c_order() {
    let transform = |scale: f64, translate: f64| {
        json!({"axes": ["z", "y", "x"], "units": ["nm", "nm", "nm"],
               "scale": [scale, 4.0, 4.0], "translate": [translate, 0.0, 0.0]})
    };
    let attributes = json!({"multiscales": [{"name": "raw", "datasets": [
        {"path": "s0", "transform": transform(3.24, 0.0)},
        {"path": "s1", "transform": transform(6.48, 1.62)}]}], "scales": [[1, 1, 1], [1, 1, 2]]});
    let image = read_image(object(&attributes)).unwrap();
    assert_eq!(image.dialect, Dialect::N5Viewer);
    assert_eq!(image.axes[0].name, "z");
    assert_eq!(image.levels[1].scale, Some(vec![6.48, 4.0, 4.0]));
    assert_eq!(image.levels[1].translation, Some(vec![1.62, 0.0, 0.0]));
}

#[test]
fn axes_of_a_lone_array_are_named_or_guessed() {
    use AxisKind::{Channel, Other, Space, Time};
    let empty = serde_json::Map::new();
    let names: Vec<Option<String>> =
        ["Time", "band", "lat", "lon"].map(|name| Some(name.to_owned())).to_vec();
    let found = read_axes_from_array(4, Some(&names), &empty, false);
    let kinds: Vec<_> = found.axes.iter().map(|axis| axis.kind).collect();
    assert_eq!(kinds, [Time, Channel, Space, Space]);
    assert!(!found.is_guess);
    for (rank, kinds) in [
        (2, vec![Space, Space]),
        (4, vec![Channel, Space, Space, Space]),
        (5, vec![Time, Channel, Space, Space, Space]),
        (6, vec![Other; 6]),
    ] {
        let found = read_axes_from_array(rank, None, &empty, false);
        assert_eq!(found.axes.iter().map(|axis| axis.kind).collect::<Vec<_>>(), kinds);
        assert!(found.is_guess);
    }
    let attributes = json!({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"});
    let found = read_axes_from_array(2, Some(&[None, None]), object(&attributes), false);
    assert!(!found.is_guess);
    assert_eq!(found.axes[1].unit, None);
}

#[test]
fn lists_of_n5_are_turned_and_those_of_cosem_are_not() {
    let attributes = json!({"axes": ["x", "y", "z"], "units": ["nm", "nm", "um"],
        "resolution": [4, 4, 40], "offset": [1, 2, 3]});
    let found = read_axes_from_array(3, None, object(&attributes), true);
    assert_eq!(found.axes[0].name, "z");
    assert_eq!(found.axes[0].unit.as_deref(), Some("um"));
    assert_eq!(found.scale, Some(vec![40.0, 4.0, 4.0]));
    assert_eq!(found.translation, Some(vec![3.0, 2.0, 1.0]));
    let found = read_axes_from_array(3, None, object(&attributes), false);
    assert_eq!(found.scale, Some(vec![4.0, 4.0, 40.0]));

    let attributes = json!({"transform": {"axes": ["z", "y", "x"], "scale": [40, 4, 4],
        "translate": [1, 2, 3], "units": ["nm", "nm", "nm"]}});
    for is_fortran_order in [true, false] {
        let found = read_axes_from_array(3, None, object(&attributes), is_fortran_order);
        assert_eq!(found.scale, Some(vec![40.0, 4.0, 4.0]));
        assert_eq!(found.translation, Some(vec![1.0, 2.0, 3.0]));
    }
    let coarse = json!({"downsamplingFactors": [2, 2, 1],
        "pixelResolution": {"dimensions": [4, 4, 40], "unit": "nm"}});
    let found = read_axes_from_array(3, None, object(&coarse), true);
    assert_eq!(found.scale, Some(vec![40.0, 8.0, 8.0]));
    assert_eq!(found.translation, Some(vec![0.0, 2.0, 2.0]));
}
