//! Precomputed volumes of several scales: made, copied there and back, and read by tensorstore.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, rechunk};
use crate::oracle::{World, available, python};

/// A Zarr array of uint16, one chunk, whose elements are smooth; with these attributes.
fn zarr(at: &Path, shape: [u64; 3], attributes: &Value) {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint16", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": attributes,
        "dimension_names": ["z", "y", "x"],
    });
    fs::create_dir_all(at.join("c/0/0")).unwrap();
    let elements = (0..shape.iter().product::<u64>()).flat_map(|n| {
        let [low, high, ..] = (n * 7 % 60_000 + 1).to_le_bytes();
        [low, high]
    });
    fs::write(at.join("c/0/0/0"), elements.collect::<Vec<u8>>()).unwrap();
    write_json(&at.join("zarr.json"), &document);
}

fn read_json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Scales of a volume as tensorstore reads them.
fn scales(path: &str) -> Vec<Value> {
    let found = python(World::Z3, "tests/oracle/precomputed.py", &["scales", path], b"");
    serde_json::from_slice(&found).unwrap()
}

const PLACE: [&str; 2] = ["offset", "resolution"];

#[test]
fn a_pyramid_becomes_the_scales_of_a_volume() {
    let folder = Folder::new();
    let attributes =
        json!({"resolution": [40, 8, 8], "offset": [80, 64, 32], "units": ["nm", "nm", "nm"]});
    zarr(&folder.path().join("a.zarr"), [8, 32, 24], &attributes);
    let (source, volume, ome) = (folder.at("a.zarr"), folder.at("v"), folder.at("p.zarr"));
    let levels = ["--factors", "1,2,2;2,4,4", "--chunks", "4,8,8", "--quiet"];
    let shards = ["--format", "precomputed", "--shards", "4,16,16"];
    rechunk(&[&["pyramid", &source, &volume][..], &levels, &shards].concat()).ok();
    rechunk(&[&["pyramid", &source, &ome][..], &levels].concat()).ok();
    let info = read_json(folder.path().join("v/info"));
    let keys: Vec<&Value> =
        info["scales"].as_array().unwrap().iter().map(|scale| &scale["key"]).collect();
    assert_eq!(keys, ["8_8_40", "16_16_40", "32_32_80"]);
    assert_eq!(info["scales"][1]["voxel_offset"], json!([2, 4, 2]));
    assert_eq!(info["scales"][2]["voxel_offset"], json!([1, 2, 1]));
    for (key, level) in [("8_8_40", "s0"), ("16_16_40", "s1"), ("32_32_80", "s2")] {
        rechunk(&["verify", &format!("{volume}/{key}"), &format!("{ome}/{level}")]).ok();
    }
    let described = rechunk(&["info", &volume, "--json"]).ok().json();
    assert_eq!(described["image"]["dialect"], "precomputed", "{described}");
    // Again: it is complete. Levels cannot be added.
    rechunk(&[&["pyramid", &source, &volume, "--resume"][..], &levels, &shards].concat()).ok();
    rechunk(&["pyramid", &volume, &volume, "--factors", "4,8,8"])
        .ends_with(2)
        .says(&["describes all of them"]);
    // To OME-Zarr and back, with places and sizes.
    let (group, back) = (folder.at("g.zarr"), folder.at("back"));
    rechunk(&["copy", &volume, &group, "--quiet"]).ok();
    let image =
        &read_json(folder.path().join("g.zarr/zarr.json"))["attributes"]["ome"]["multiscales"][0];
    let transforms = |level: usize| image["datasets"][level]["coordinateTransformations"].clone();
    assert_eq!(image["axes"][0], json!({"name": "z", "type": "space", "unit": "nanometer"}));
    assert_eq!(
        transforms(2),
        json!([
            {"type": "scale", "scale": [80.0, 32.0, 32.0]},
            {"type": "translation", "translation": [100.0, 76.0, 44.0]}
        ])
    );
    rechunk(&["verify", &volume, &group]).ok();
    rechunk(&["copy", &group, &back, "--format", "precomputed", "--quiet"]).ok();
    // From the image that a pyramid wrote, whose arrays say nothing themselves but level 0.
    let own = folder.at("own");
    rechunk(&["copy", &ome, &own, "--format", "precomputed", "--quiet"]).ok();
    if !available() {
        return;
    }
    let expected = scales(&volume);
    assert_eq!(expected.len(), 3);
    for path in [&back, &own] {
        let found = scales(path);
        assert_eq!(found.len(), 3, "{path}");
        for (found, expected) in found.iter().zip(&expected) {
            for key in PLACE.iter().chain(&["shape", "sha256"]) {
                assert_eq!(found[key], expected[key], "{key} of {path}");
            }
        }
    }
    // Levels of a volume, in another.
    let more = folder.at("more");
    let levels = ["--factors", "2,2,2", "--as", "precomputed", "--quiet"];
    rechunk(&[&["pyramid", &volume, &more][..], &levels].concat()).ok();
    let found = scales(&more);
    assert_eq!((&found[0]["sha256"], found.len()), (&expected[0]["sha256"], 2));
    assert_eq!(found[1]["resolution"], json!([16.0, 16.0, 80.0]));
}

/// Whole voxels only: half a voxel less is told, the centres of cells are not.
#[test]
fn offsets_of_levels_are_rounded_down_with_a_warning() {
    let folder = Folder::new();
    for (offset, level, is_told) in
        [([0, 80, 80], [2, 2, 0], true), ([0, 96, 32], [1, 3, 0], false)]
    {
        let attributes =
            json!({"resolution": [40, 8, 8], "offset": offset, "units": ["nm", "nm", "nm"]});
        let name = format!("{offset:?}");
        zarr(&folder.path().join(&name), [8, 32, 24], &attributes);
        let (source, volume) = (folder.at(&name), folder.at(&format!("v{name}")));
        let words = ["pyramid", &source, &volume, "--as", "precomputed", "--factors", "1,4,4"];
        let done = rechunk(&[&words[..], &["--chunks", "4,8,8", "--json"]].concat()).ok().json();
        let warnings = done["warnings"].to_string();
        assert_eq!(warnings.contains("no whole number of voxels"), is_told, "{warnings}");
        let info = read_json(Path::new(&volume).join("info"));
        assert_eq!(info["scales"][1]["voxel_offset"], json!(level));
    }
}

#[test]
fn groups_that_are_no_volume_are_refused() {
    let folder = Folder::new();
    let group = folder.path().join("g.zarr");
    for (path, shape) in [("a", [2, 3, 4]), ("below/b", [2, 3, 4])] {
        zarr(&group.join(path), shape, &json!({}));
    }
    for path in ["", "below"] {
        write_json(
            &group.join(path).join("zarr.json"),
            &json!({"zarr_format": 3, "node_type": "group"}),
        );
    }
    let (source, target) = (folder.at("g.zarr"), folder.at("v"));
    rechunk(&["copy", &source, &target, "--format", "precomputed"])
        .ends_with(2)
        .says(&["below is a group"]);
    rechunk(&["copy", &source, &target, "--format", "precomputed", "--exclude", "below"]).ok();
    assert_eq!(read_json(folder.path().join("v/info"))["scales"][0]["key"], "a");
}

/// An operation reads a volume and writes another, in shards; a box of one without shards is
/// changed in place.
#[test]
fn operations_read_and_write_volumes() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), [8, 16, 16], &json!({}));
    let (source, volume) = (folder.at("a.zarr"), folder.at("v"));
    let cut = ["--format", "precomputed", "--chunks", "4,4,4"];
    let shards = ["--shards", "8,8,8"];
    rechunk(&[&["copy", &source, &volume][..], &cut, &shards].concat()).ok();
    let (of_volume, of_zarr) = (folder.at("w"), folder.at("w.zarr"));
    let blur = ["--op", "median:size=3", "--work", "8,8,8"];
    rechunk(&[&["apply", &volume, &of_volume][..], &blur, &cut, &shards].concat()).ok();
    rechunk(&[&["apply", &source, &of_zarr][..], &blur, &["--chunks", "4,4,4"]].concat()).ok();
    rechunk(&["verify", &of_volume, &of_zarr]).ok();
    // In place: files, compressed files, shards; beyond the box all stays.
    let invert = ["--op", "invert", "--work", "4,4,4", "--box", "2:7,3:9,4:16", "--update", "-q"];
    rechunk(&["copy", &source, &folder.at("u.zarr"), "--chunks", "4,4,4", "--quiet"]).ok();
    rechunk(&[&["apply", &source, &folder.at("u.zarr")][..], &invert].concat()).ok();
    for (number, more) in [&[][..], &["--codec", "gzip"], &shards].iter().enumerate() {
        let target = folder.at(&format!("u-{number}"));
        rechunk(&[&["copy", &source, &target, "--quiet"][..], &cut, more].concat()).ok();
        rechunk(&[&["apply", &source, &target][..], &invert].concat()).ok();
        rechunk(&["verify", &target, &folder.at("u.zarr")]).ok();
    }
}
