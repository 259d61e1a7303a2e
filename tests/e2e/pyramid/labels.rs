//! Images of labels below an image: they go along as they are.

use std::path::Path;

use serde_json::{Value, json};

use super::{attributes, document, write_group, write_image};
use crate::arrays::RawArray;
use crate::harness::{Folder, rechunk, tree};

/// An image of OME-Zarr 0.5 with an image of labels of two levels.
fn labelled(folder: &Folder) -> String {
    let image = folder.at("image.zarr");
    write_image(&image);
    let cells = format!("{image}/labels/cells");
    RawArray::v3(&[2, 1, 8, 40, 60], &[1, 1, 4, 16, 32]).write(&format!("{cells}/0"));
    RawArray::v3(&[2, 1, 8, 20, 30], &[1, 1, 4, 16, 30]).write(&format!("{cells}/1"));
    let scale = |by: f64| json!([{"type": "scale", "scale": [2.0, 1.0, 2.0, 0.5 * by, 0.25 * by]}]);
    let axes: Vec<Value> =
        ["t", "c", "z", "y", "x"].iter().map(|name| json!({"name": name})).collect();
    write_group(
        &format!("{image}/labels"),
        &json!({"ome": {"version": "0.5", "labels": ["cells"]}}),
    );
    write_group(
        &cells,
        &json!({"ome": {"version": "0.5", "multiscales": [{"axes": axes, "datasets": [
            {"path": "0", "coordinateTransformations": scale(1.0)},
            {"path": "1", "coordinateTransformations": scale(2.0)}]}],
            "image-label": {"source": {"image": "../../"}}}}),
    );
    image
}

fn pyramid(image: &str, target: &str, more: &[&str]) -> crate::harness::Done {
    let run = ["pyramid", image, target, "--factors", "1,1,1,2,2", "--no-fsync"];
    rechunk(&[&run[..], more].concat())
}

/// Chunks of an array, by their keys.
fn chunks(array: &str) -> Vec<(String, String)> {
    let all = tree(Path::new(array)).into_iter();
    all.filter(|(key, _)| !key.starts_with(['.', 'z'])).collect()
}

#[test]
fn images_of_labels_go_along_as_they_are() {
    let folder = Folder::new();
    let image = labelled(&folder);
    for (version, format) in [("0.5", "zarr3"), ("0.6", "zarr3"), ("0.4", "zarr2")] {
        let target = folder.at(&format!("{version}.zarr"));
        let dialect = format!("ome-zarr-{version}");
        let options = ["--as", &dialect, "--chunks", "1,1,2,8,8", "--codec", "zstd"];
        let done = pyramid(&image, &target, &options).ok();
        assert!(
            done.stderr.contains("2 arrays copied as they are: labels/cells/0, labels/cells/1")
        );
        assert!(!done.stderr.contains("not taken along"), "{}", done.stderr);
        for level in ["0", "1"] {
            let place = |root: &str| format!("{root}/labels/cells/{level}");
            rechunk(&["verify", &place(&image), &place(&target)]).ok();
            if format == "zarr3" {
                assert_eq!(chunks(&place(&target)), chunks(&place(&image)));
            }
        }
        let said = |path: &str| match format {
            "zarr2" => document(&format!("{target}/{path}/.zattrs")),
            _ => attributes(&format!("{target}/{path}"))["ome"].clone(),
        };
        assert_eq!(said("labels")["labels"], json!(["cells"]));
        let cells = said("labels/cells");
        assert_eq!(cells["image-label"]["source"], json!({"image": "../../"}));
        assert_eq!(cells["multiscales"][0]["datasets"][1]["path"], "1");
        if format == "zarr3" {
            assert_eq!(
                (&said("labels")["version"], &cells["version"]),
                (&json!(version), &json!(version))
            );
        }
        let before = tree(Path::new(&target));
        pyramid(&image, &target, &[&options[..], &["--resume"]].concat()).ok().says(&["already"]);
        assert_eq!(tree(Path::new(&target)), before);
    }
}

#[test]
fn images_of_labels_that_do_not_fit_are_named() {
    let folder = Folder::new();
    let image = labelled(&folder);
    let refused: [(&str, &str, &[&str]); 3] = [
        ("part.zarr", "a region of it is taken", &["--select", "y=0:20"]),
        ("scan.n5", "only OME-Zarr has such a group", &[]),
        ("plain.zarr", "only OME-Zarr has such a group", &["--as", "plain"]),
    ];
    for (name, why, options) in refused {
        let target = folder.at(name);
        pyramid(&image, &target, options).ok().says(&["labels are not taken along", why]);
        assert!(!std::fs::exists(format!("{target}/labels")).unwrap(), "{name}");
    }
    let target = folder.at("more.zarr");
    let run = ["pyramid", &image, &target, "--factors", "1,1,1,2,2;1,1,1,4,4"];
    rechunk(&run).ok().says(&["which has 3: cells has 2", "add levels to each"]);
    let cells = format!("{target}/labels/cells");
    rechunk(&["pyramid", &cells, &cells, "--factors", "1,1,1,4,4"]).ok();
    let datasets = attributes(&cells)["ome"]["multiscales"][0]["datasets"].clone();
    assert_eq!(
        (&datasets[2]["path"], document(&format!("{cells}/2/zarr.json"))["shape"].clone()),
        (&json!("2"), json!([2, 1, 8, 10, 15]))
    );
    // Levels that are added leave all else.
    let labels = tree(Path::new(&format!("{image}/labels")));
    let done = pyramid(&image, &image, &[]).ok();
    assert!(!done.stderr.contains("labels"), "{}", done.stderr);
    assert_eq!(tree(Path::new(&format!("{image}/labels"))), labels);
    let level = format!("{image}/s1");
    let run = ["pyramid", &level, &folder.at("coarse.zarr"), "--factors", "1,1,1,2,2"];
    rechunk(&run).ok().says(&["a coarser level is taken"]);
}

#[test]
fn images_of_labels_are_whole_after_a_run_that_was_killed() {
    let folder = Folder::new();
    let image = labelled(&folder);
    super::refused::killed(
        &image,
        false,
        &["--factors", "1,1,1,2,2", "--as", "ome-zarr-0.5"],
        None,
        5,
    );
}
