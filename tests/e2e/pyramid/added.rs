//! Levels that are added to an image.

use serde_json::json;

use super::{
    assert_right, attributes, document, image, made, place, places, write_group, write_image,
};
use crate::arrays::RawArray;
use crate::harness::{Folder, rechunk, tree};

/// Adds levels to an image.
fn add(image: &str, options: &[&str]) {
    rechunk(&[&["pyramid", image, image, "--no-fsync", "-q"][..], options].concat()).ok();
}

/// Images as ngff-zarr writes them: levels in groups, and consolidated metadata, by which
/// zarr-python and ngff-zarr see an image.
#[test]
fn consolidated_metadata_names_levels_that_are_added() {
    let Some(folder) = made() else { return };
    for version in [2, 3] {
        let target = folder.at(&format!("nested-{version}.zarr"));
        add(&target, &["--factors", "4,4,4;4,8,8"]);
        let paths: Vec<String> = (0..4).map(|level| format!("scale{level}/cells")).collect();
        let of_levels: Vec<String> = paths.iter().map(|path| format!("{target}/{path}")).collect();
        let added = [of_levels[0].clone(), of_levels[2].clone(), of_levels[3].clone()];
        assert_right(&[
            json!({"do": "group", "path": target, "paths": paths}),
            json!({"do": "levels", "source": of_levels[0], "paths": added,
                "factors": [[1, 1, 1], [4, 4, 4], [4, 8, 8]], "method": "mean", "size": "floor",
                "rounding": "half-away", "from": "s0"}),
        ]);
        let said = match version {
            2 => document(&format!("{target}/.zattrs"))["multiscales"][0].clone(),
            _ => image(&target),
        };
        assert_eq!(
            places(&said),
            [
                place("scale0/cells", &[2.0, 0.5, 0.5], &[10.0, -3.0, 7.5]),
                place("scale1/cells", &[4.0, 1.0, 1.0], &[10.0, -3.0, 7.5]),
                place("scale2/cells", &[8.0, 2.0, 2.0], &[13.0, -2.25, 8.25]),
                place("scale3/cells", &[8.0, 4.0, 4.0], &[13.0, -1.25, 9.25]),
            ],
            "{version}"
        );
        // Zarr v2 knows no implied groups: the one between has its document.
        let document = if version == 2 { ".zgroup" } else { "zarr.json" };
        assert!(std::fs::exists(format!("{target}/scale2/{document}")).unwrap(), "{version}");
    }
}

#[test]
fn what_others_say_of_an_image_stays() {
    let Some(folder) = made() else { return };
    for version in [2, 3] {
        let target = folder.at(&format!("nested-{version}.zarr"));
        let said = || match version {
            2 => document(&format!("{target}/.zattrs")),
            _ => attributes(&target),
        };
        let mut before = said();
        add(&target, &["--factors", "4,4,4"]);
        let mut after = said();
        let datasets = |said: &mut serde_json::Value| {
            let root = if version == 2 { said } else { &mut said["ome"] };
            root["multiscales"][0]["datasets"].take()
        };
        let (old, new) = (datasets(&mut before), datasets(&mut after));
        // All but the list of levels, which has one more.
        assert_eq!(after, before, "{version}");
        assert_eq!(new.as_array().unwrap()[..2], old.as_array().unwrap()[..], "{version}");
        assert_eq!(new.as_array().unwrap().len(), 3, "{version}");
    }
}

#[test]
fn levels_are_added_where_they_belong() {
    let folder = Folder::new();
    let target = folder.at("image.zarr");
    write_image(&target);
    add(&target, &["--factors", "1,1,2,4,4"]);
    let first = tree(format!("{target}/s1").as_ref());
    add(&target, &["--factors", "1,1,1,2,2;1,1,4,8,8"]);
    assert_eq!(tree(format!("{target}/s1").as_ref()), first);
    let found = places(&image(&target));
    let scales: Vec<_> = found.iter().map(|(_, scale, _)| scale[4] / 0.25).collect();
    assert_eq!(scales, [1.0, 2.0, 4.0, 8.0]);
    let shape = |path: &str| document(&format!("{target}/{path}/zarr.json"))["shape"].clone();
    let shapes: Vec<_> = found.iter().map(|(path, ..)| shape(path)).collect();
    let wanted = [[2, 3, 8, 40, 60], [2, 3, 8, 20, 30], [2, 3, 4, 10, 15], [2, 3, 2, 5, 7]];
    assert_eq!(shapes, wanted.map(|shape| json!(shape)));
    assert_eq!(attributes(&target)["operator"], "somebody");
    assert_eq!(attributes(&target)["ome"]["omero"]["channels"].as_array().unwrap().len(), 3);
}

/// ome-zarr-py says ratios of sizes: cells of 2 × 2 are said to be 2.5 × 2.33.
#[test]
fn levels_that_are_there_are_known_by_their_shapes() {
    let folder = Folder::new();
    let target = folder.at("image.zarr");
    for (path, shape) in [("s0", [5, 7]), ("s1", [2, 3])] {
        RawArray::v3(&shape, &shape).write(&format!("{target}/{path}"));
    }
    let scale = |y: f64, x: f64| json!([{"type": "scale", "scale": [y, x]}]);
    write_group(
        &target,
        &json!({"ome": {"version": "0.5", "multiscales": [{
            "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
            "datasets": [{"path": "s0", "coordinateTransformations": scale(1.0, 1.0)},
                         {"path": "s1", "coordinateTransformations": scale(2.5, 7.0 / 3.0)}],
        }]}}),
    );
    let before = tree(folder.path());
    let run = ["pyramid", &target, &target, "--factors", "2,2"];
    rechunk(&run).ends_with(4).says(&["s1", "already"]);
    assert_eq!(tree(folder.path()), before);
    rechunk(&["pyramid", &target, &target, "--factors", "4,4"]).ok();
    let paths: Vec<_> = places(&image(&target)).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(paths, ["s0", "s1", "s2"]);
}

#[test]
fn levels_that_are_no_levels_of_the_image_are_refused() {
    let folder = Folder::new();
    let target = folder.at("image.zarr");
    write_image(&target);
    add(&target, &["--factors", "1,1,1,2,2"]);
    let before = tree(folder.path());
    let refused: [(&[&str], i32); 5] = [
        (&["--factors", "1,1,1,2,2"], 4),
        (&["--factors", "1,1,1,4,4", "--select", "y=0:20"], 2),
        (&["--factors", "1,1,1,4,4", "--cast", "float32"], 2),
        (&["--factors", "1,1,1,4,4", "--as", "ome-zarr-0.6"], 2),
        (&["--factors", "1,1,1,4,4", "--format", "zarr2"], 2),
    ];
    for (options, code) in refused {
        rechunk(&[&["pyramid", &target, &target][..], options].concat()).ends_with(code);
        assert_eq!(tree(folder.path()), before, "{options:?}");
    }
}

/// An image of a setup has the levels that its attributes say: BigDataViewer needs both.
#[test]
fn a_setup_of_bigdataviewer_never_loses_its_factors() {
    let folder = Folder::new();
    let (source, n5) = (folder.at("s.zarr"), folder.at("scan.n5"));
    RawArray::v3(&[9, 10, 11], &[4, 4, 4]).of_uint16().write(&source);
    rechunk(&["pyramid", &source, &n5, "--factors", "2,2,2", "-q"]).ok();
    let setup = format!("{n5}/setup0");
    let before = tree(folder.path());
    let done = rechunk(&["pyramid", &setup, &setup, "--factors", "4,4,4", "-q"]);
    let said = document(&format!("{setup}/attributes.json"));
    assert_eq!(said["dataType"], "uint16");
    let levels = said["downsamplingFactors"].as_array().unwrap().len();
    let is_there = |level| std::fs::exists(format!("{setup}/timepoint0/s{level}")).unwrap();
    if done.code == 0 {
        assert_eq!((levels, is_there(2)), (3, true));
    } else {
        done.fails();
        assert_eq!(tree(folder.path()), before);
    }
}
