//! Volumes of arrays with times and channels: axes of length 1 that a volume has no place for are
//! left out.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, assert_read_as_planned, elements, rechunk};

const SHAPE: [u64; 5] = [4, 3, 12, 14, 16];

fn document(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Arrays of times and channels: one chunk each, several, in shards, in other orders.
fn sources(folder: &Folder) -> Vec<String> {
    let plain = folder.at("plain.zarr");
    RawArray::v3(&SHAPE, &[1, 1, 6, 7, 8]).write(&plain);
    let mut all = vec![plain.clone()];
    for (name, more) in [
        ("long.zarr", &["--chunks", "2,1,6,7,8", "--codec", "zstd:1"][..]),
        ("raw.zarr", &["--chunks", "4,3,12,14,16", "--codec", "none"]),
        ("shards.zarr", &["--chunks", "1,1,3,7,4", "--shards", "1,1,6,14,8"]),
        ("v2.zarr", &["--chunks", "1,1,6,7,16", "--format", "zarr2"]),
        ("five.n5", &["--chunks", "1,1,6,7,8", "--format", "n5"]),
    ] {
        let path = folder.at(name);
        rechunk(&[&["copy", &plain, &path, "-q"][..], more].concat()).ok();
        all.push(path);
    }
    all
}

#[test]
fn one_time_and_channel_becomes_a_volume() {
    let folder = Folder::new();
    for source in sources(&folder) {
        for (number, region) in
            ["2,1,:,:,:", "3,0,2:9,:,3:", "0,:,:,:,:", "2,:,1:,7:,:"].into_iter().enumerate()
        {
            let part = folder.at(&format!("part-{number}.zarr"));
            rechunk(&["copy", &source, &part, "--select", region, "--overwrite", "-q"]).ok();
            let expected = elements(&folder, &part);
            for more in [&[][..], &["--chunks", "-1,5,5,5"], &["--strategy", "push-pull"]] {
                let volume = folder.at("volume");
                let of_channels = region.split(',').nth(1) == Some(":");
                let more: Vec<&str> = more
                    .iter()
                    .map(|word| if of_channels { word } else { word.trim_start_matches("-1,") })
                    .collect();
                let how = ["--select", region, "--format", "precomputed", "--verify", "--json"];
                let copy = ["copy", &source, &volume, "--overwrite"];
                let report = rechunk(&[&copy[..], &how, &more].concat()).ok().json();
                let what = format!("{source} {region} {more:?}");
                assert_read_as_planned(&report, &what);
                let axes = report["plan"]["target_chunks"].as_array().unwrap().len();
                assert_eq!(axes, 3 + usize::from(of_channels));
                assert!(elements(&folder, &volume) == expected, "{what}");
                if more.is_empty() {
                    rechunk(&["verify", &part, &volume, "-q"]).ok();
                    rechunk(&["verify", &volume, &part, "-q"]).ok();
                    // It is looked at again where it is.
                    let again = ["copy", &source, &volume, "--resume", "-q"];
                    rechunk(&[&again[..], &how[..4]].concat()).ok();
                    let other =
                        ["copy", &source, &volume, "--resume", "-q", "--format", "precomputed"];
                    rechunk(&[&other[..], &["--select", "1,1,:,:,:"]].concat()).ends_with(4);
                }
            }
        }
    }
}

/// A chunk of several channels has those of other channels between the elements of one.
#[test]
fn chunks_that_mix_channels_are_refused() {
    let folder = Folder::new();
    let source = folder.at("mixed.zarr");
    RawArray::v3(&SHAPE, &[2, 3, 6, 7, 8]).write(&source);
    let copy = |region: &str| {
        let how = ["--format", "precomputed", "--select", region, "--overwrite"];
        rechunk(&[&["copy", &source, &folder.at("v")][..], &how].concat())
    };
    copy(":,1,:,:,:").ends_with(2).says(&["mixed.zarr", "axis 1", "chunks of 1 along that axis"]);
    assert!(!Path::new(&folder.at("v")).exists());
    copy("1,0,:,:,:").ok();
}

/// Images have all axes in their transformations: sizes and places of voxels are those of space.
#[test]
fn images_with_all_five_axes_become_volumes() {
    let folder = Folder::new();
    let image = folder.at("image.zarr");
    RawArray::v3(&[1, 1, 12, 14, 16], &[1, 1, 6, 7, 8]).write(&format!("{image}/0"));
    RawArray::v3(&[1, 1, 6, 7, 8], &[1, 1, 6, 7, 8]).write(&format!("{image}/1"));
    let axis = |name: &str, kind: &str| json!({"name": name, "type": kind, "unit": "micrometer"});
    let level = |path: &str, z: f64, place: f64| {
        json!({"path": path, "coordinateTransformations": [
            {"type": "scale", "scale": [1, 1, z, z / 2.0, z / 2.0]},
            {"type": "translation", "translation": [0, 0, place, 0, 0]}]})
    };
    let axes = json!([{"name": "t", "type": "time"}, {"name": "c", "type": "channel"},
        axis("z", "space"), axis("y", "space"), axis("x", "space")]);
    let multiscales =
        json!([{"axes": axes, "datasets": [level("0", 0.5, 5.0), level("1", 1.0, 5.25)]}]);
    write_json(
        &Path::new(&image).join("zarr.json"),
        &json!({"zarr_format": 3, "node_type": "group",
            "attributes": {"ome": {"version": "0.5", "multiscales": multiscales}}}),
    );
    let first = json!({"size": [16, 14, 12], "resolution": [250, 250, 500],
        "voxel_offset": [0, 0, 10]});
    let scales = |name: &str| document(&folder.at(&format!("{name}/info")))["scales"].clone();
    let is_first = |scale: &Value| {
        first.as_object().unwrap().iter().all(|(name, value)| scale[name] == *value)
    };
    let copy = |what: &str, name: &str| {
        let target = folder.at(name);
        rechunk(&["copy", what, &target, "--format", "precomputed", "--verify", "-q"]).ok();
    };
    copy(&format!("{image}/0"), "level");
    copy(&image, "whole");
    for name in ["level", "whole"] {
        assert!(is_first(&scales(name)[0]), "{:?}", scales(name));
    }
    assert_eq!(scales("whole")[1]["resolution"], json!([500, 500, 1000]));
    rechunk(&["verify", &format!("{image}/1"), &format!("{}/1", folder.at("whole"))]).ok();
    for (name, more) in
        [("pyramid", &["--as", "precomputed"][..]), ("format", &["--format", "precomputed"])]
    {
        let target = folder.at(name);
        let how = ["--factors", "2,2,2", "--verify", "-q"];
        rechunk(&[&["pyramid", &image, &target][..], &how, more].concat()).ok();
        assert!(is_first(&scales(name)[0]), "{:?}", scales(name));
        rechunk(&["verify", &format!("{image}/0"), &format!("{target}/250_250_500")]).ok();
    }
    // An operation sees the axes that its target has.
    let (target, zarr) = (folder.at("applied"), folder.at("applied.zarr"));
    let source = format!("{image}/0");
    let apply = |target: &str, work: &str, more: &[&str]| {
        let how = ["apply", &source, target, "--op", "median:size=3", "--work", work, "-q"];
        rechunk(&[&how[..], more].concat()).ok();
    };
    apply(&target, "6,7,8", &["--format", "precomputed"]);
    apply(&zarr, "1,1,6,7,8", &[]);
    rechunk(&["verify", &zarr, &target]).ok();
}
