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
    let recipe = &image(&target)["metadata"]["kwargs"];
    assert_eq!(*recipe, serde_json::Value::Null, "nobody has made all levels of this image alike");
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

#[test]
fn levels_that_are_complete_are_left_as_they_are() {
    let folder = Folder::new();
    let target = folder.at("image.zarr");
    write_image(&target);
    let both = "1,1,1,2,2;1,1,2,4,4";
    add(&target, &["--factors", both]);
    let before = tree(folder.path());
    let run = |options: &[&str]| {
        let done = rechunk(&[&["pyramid", &target, &target][..], options].concat());
        assert_eq!(tree(folder.path()), before, "{options:?}");
        done
    };
    for options in [&["--factors", both][..], &["--factors", "1,1,2,4,4"]] {
        let more = [&["--resume"][..], &["--resume", "--verify"]];
        for more in more {
            run(&[options, more].concat()).ok().says(&["already complete"]);
        }
        run(options).ends_with(4).says(&["is a level of factors", "--overwrite removes it"]);
        run(&[options, &["--dry-run"]].concat()).ok().says(&["is a level of factors"]);
    }
    let others: [&[&str]; 4] = [
        &["--factors", both, "--chunks", "1,1,2,8,8"],
        &["--factors", both, "--codec", "gzip"],
        &["--factors", both, "--method", "max"],
        &["--factors", "1,1,2,4,4;1,1,4,8,8"],
    ];
    for options in others {
        run(&[options, &["--resume"]].concat()).ends_with(4).says(&["is a level", "--overwrite"]);
    }
}

/// Metadata prove no method: most writers say none.
#[test]
fn levels_of_another_method_are_none_that_are_complete() {
    let folder = Folder::new();
    let target = folder.at("image.zarr");
    write_image(&target);
    add(&target, &["--factors", "1,1,1,2,2", "--method", "min"]);
    let before = tree(folder.path());
    let run = ["pyramid", &target, &target, "--factors", "1,1,1,2,2", "--resume"];
    let done = rechunk(&[&run[..], &["--method", "max"]].concat()).ends_with(4);
    done.says(&["s1", "other elements than `max` gives", "--overwrite"]);
    rechunk(&[&run[..], &["--method", "min"]].concat()).ok();
    assert_eq!(tree(folder.path()), before);
}

#[test]
fn a_level_is_made_anew_and_all_else_stays() {
    let folder = Folder::new();
    for version in ["0.5", "0.4"] {
        let (source, target) = (folder.at("s.zarr"), folder.at(&format!("image-{version}.zarr")));
        if version == "0.5" {
            RawArray::v3(&[40, 60], &[16, 16]).of_uint16().write(&source);
        }
        let dialect = format!("ome-zarr-{version}");
        let levels = ["--factors", "2,2;4,4;8,8", "--method", "max", "--as", &dialect, "-q"];
        rechunk(&[&["pyramid", &source, &target][..], &levels].concat()).ok();
        let wanted = folder.at(&format!("wanted-{version}.zarr"));
        let anew = ["--factors", "4,4", "--as", &dialect, "-q"];
        rechunk(&[&["pyramid", &source, &wanted][..], &anew].concat()).ok();
        let group = if version == "0.4" { ".zattrs" } else { "zarr.json" };
        let said = || document(&format!("{target}/{group}"));
        let (before, files) = (said(), tree(target.as_ref()));
        rechunk(&["pyramid", &target, &target, "--factors", "4,4", "--overwrite", "-q"]).ok();
        assert_eq!(tree(format!("{target}/s2").as_ref()), tree(format!("{wanted}/s1").as_ref()));
        let now = tree(target.as_ref());
        let is_else = |key: &&String| !key.starts_with("s2/") && !key.starts_with(['.', 'z']);
        for key in files.keys().filter(is_else) {
            assert_eq!(now.get(key), files.get(key), "{key}");
        }
        assert_eq!(now.len(), files.len());
        // The recipe is that of the others.
        let mut expected = before.clone();
        let root = |said: &mut serde_json::Value| {
            let images = match version {
                "0.4" => said["multiscales"].take(),
                _ => said["attributes"]["ome"]["multiscales"].take(),
            };
            images[0].clone()
        };
        let (mut after, mut image) = (said(), root(&mut expected));
        image["metadata"]["kwargs"]["factors"] = json!([[1, 1], [2, 2], [8, 8]]);
        assert_eq!(root(&mut after), image);
        rechunk(&["verify", &format!("{wanted}/s1"), &format!("{target}/s2")]).ok();
    }
}

#[test]
fn a_level_that_is_a_link_is_not_removed() {
    let folder = Folder::new();
    let target = folder.at("image.zarr");
    write_image(&target);
    add(&target, &["--factors", "1,1,1,2,2"]);
    std::fs::rename(format!("{target}/s1"), folder.at("mine")).unwrap();
    std::os::unix::fs::symlink(folder.at("mine"), format!("{target}/s1")).unwrap();
    let before = tree(folder.path());
    let run = ["pyramid", &target, &target, "--factors", "1,1,1,2,2", "--overwrite"];
    rechunk(&run).ends_with(4).says(&["s1", "is a link"]);
    assert_eq!(tree(folder.path()), before);
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
