//! Neuroglancer's precomputed volumes, there and back, against tensorstore and by themselves.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, on_two_threads, rechunk};
use crate::oracle::{World, available, python};

/// Largest difference between two decoders of JPEG, of colours that change slowly.
const JPEG_DIFFERENCE_MAX: f64 = 4.0;

/// A Zarr array of uint8, uint16 or uint64 with these attributes, one chunk; the elements count up.
fn zarr(at: &Path, shape: &[u64], data_type: &str, attributes: &Value) {
    let item_bytes: usize = match data_type {
        "uint8" => 1,
        "uint16" => 2,
        _ => 8,
    };
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": attributes,
    });
    let chunk = at.join("c").join(vec!["0"; shape.len()].join("/"));
    fs::create_dir_all(chunk.parent().unwrap()).unwrap();
    let elements = (0..shape.iter().product::<u64>())
        .flat_map(|number| (number / 3 + 1).to_le_bytes().into_iter().take(item_bytes));
    fs::write(chunk, elements.collect::<Vec<u8>>()).unwrap();
    write_json(&at.join("zarr.json"), &document);
}

fn read_json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Every type, encoding, bounding box and offset of tensorstore: to Zarr, from there back, and to
/// another volume with other chunks.
#[test]
fn volumes_of_tensorstore_survive() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    fs::create_dir(folder.path().join("made")).unwrap();
    let made = python(World::Z3, "tests/oracle/precomputed.py", &["make", &folder.at("made")], b"");
    let made: Vec<Value> = serde_json::from_slice(&made).unwrap();
    assert_eq!(made.len(), 13 * 4);
    let copies = on_two_threads(&made, |volume| {
        let source = volume["path"].as_str().unwrap();
        let name = source.rsplit('/').next().unwrap();
        let at = |kind: &str| folder.at(&format!("{kind}-{name}"));
        let (zarr, back, recut) = (at("zarr"), at("back"), at("recut"));
        let codec = match volume["encoding"].as_str().unwrap() {
            "jpeg" => "raw",
            encoding => encoding,
        };
        rechunk(&["copy", source, &zarr, "--quiet"]).ok();
        rechunk(&["verify", source, &zarr, "--quiet"]).ok();
        rechunk(&["copy", &zarr, &back, "--format", "precomputed", "--codec", codec, "--quiet"])
            .ok();
        let chunks =
            if volume["shape"].as_array().unwrap().len() == 4 { "3,5,4,7" } else { "5,4,7" };
        rechunk(&[
            "copy",
            source,
            &recut,
            "--format",
            "precomputed",
            "--chunks",
            chunks,
            "--quiet",
        ])
        .ok();
        [back, recut]
    });
    let pairs = made.iter().zip(&copies);
    let paths: Vec<(&String, &Value)> = pairs
        .flat_map(|(volume, copies)| copies.iter().map(|path| (path, &volume["path"])))
        .collect();
    let input = serde_json::to_vec(&paths).unwrap();
    let found = python(World::Z3, "tests/oracle/precomputed.py", &["read"], &input);
    let found: Vec<Value> = serde_json::from_slice(&found).unwrap();
    assert_eq!(found.len(), 2 * made.len());
    for (number, ((path, _), found)) in paths.iter().zip(&found).enumerate() {
        let volume = &made[number / 2];
        // Decoders of JPEG round as they like; what they agree on is what is written then.
        let is_jpeg = volume["encoding"] == "jpeg";
        let most = if is_jpeg { JPEG_DIFFERENCE_MAX } else { 0.0 };
        let difference = found["difference"].as_f64().unwrap_or(f64::NAN);
        assert!(difference <= most, "{path} of {volume}: {found}");
        for key in ["shape", "offset", "sha256"].iter().take(if is_jpeg { 2 } else { 3 }) {
            assert_eq!(found[key], volume[key], "{path} of {volume}: {found}");
        }
        assert_eq!(found["resolution"], json!([4.0, 4.5, 40.0]), "{path}");
    }
}

#[test]
fn a_volume_says_what_the_attributes_said() {
    let folder = Folder::new();
    let attributes = json!({
        "resolution": [0.04, 0.008, 0.008], "offset": [0.4, 0.0, -0.08], "units": ["um", "um", "um"],
        "made_by": "µ"
    });
    zarr(&folder.path().join("a.zarr"), &[5, 6, 7], "uint16", &attributes);
    let (source, target) = (folder.at("a.zarr"), folder.at("volume"));
    rechunk(&["copy", &source, &target, "--format", "precomputed", "--chunks", "2,4,4"]).ok();
    let info = read_json(folder.path().join("volume/info"));
    assert_eq!(
        info,
        json!({
            "@type": "neuroglancer_multiscale_volume", "type": "image", "data_type": "uint16",
            "num_channels": 1, "attributes": {"made_by": "µ"}, "scales": [{
                "key": "8_8_40", "size": [7, 6, 5], "resolution": [8, 8, 40], "voxel_offset": [-10, 0, 10],
                "chunk_sizes": [[4, 4, 2]], "encoding": "raw"
            }]
        })
    );
    assert!(folder.path().join("volume/8_8_40/-6--3_4-6_14-15").is_file());
    rechunk(&["verify", &source, &target]).ok();
    // Back: in nanometres, and nothing else is said.
    rechunk(&["copy", &target, &folder.at("b.zarr")]).ok();
    let back = read_json(folder.path().join("b.zarr/zarr.json"));
    let expected = json!({
        "made_by": "µ", "resolution": [40, 8, 8], "offset": [400, 0, -80], "units": ["nm", "nm", "nm"],
        "precomputed": {"type": "image", "scale": {"key": "8_8_40"}}
    });
    assert_eq!(back["attributes"], expected);
    assert_eq!(back["dimension_names"], json!(["z", "y", "x"]));
    // A part of it begins where it lies; in N5 the lists are turned round.
    let part = folder.at("part");
    rechunk(&["copy", &target, &part, "--format", "precomputed", "--select", "z=1:4,x=2:7"]).ok();
    let scale = &read_json(folder.path().join("part/info"))["scales"][0];
    assert_eq!((&scale["size"], &scale["voxel_offset"]), (&json!([5, 6, 3]), &json!([-8, 0, 11])));
    rechunk(&["copy", &target, &folder.at("c.n5")]).ok();
    let n5 = read_json(folder.path().join("c.n5/attributes.json"));
    assert_eq!((&n5["resolution"], &n5["offset"]), (&json!([8, 8, 40]), &json!([-80, 0, 400])));
}

#[test]
fn files_compressed_as_a_whole_are_found() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), &[9, 8, 7], "uint64", &json!({}));
    let source = folder.at("a.zarr");
    for (codec, has_field) in [("gzip:1", true), ("gzip:1", false), ("cseg:4,4,4+gzip", false)] {
        let target = folder.at(&format!("{}-{has_field}", codec.replace([':', ',', '+'], "-")));
        rechunk(&[
            "copy",
            &source,
            &target,
            "--format",
            "precomputed",
            "--codec",
            codec,
            "--chunks",
            "4,4,4",
        ])
        .ok();
        assert!(Path::new(&target).join("1_1_1/0-4_0-4_0-4.gz").is_file());
        if !has_field {
            // As another program leaves them.
            let info = Path::new(&target).join("info");
            let mut document = read_json(&info);
            document["scales"][0].as_object_mut().unwrap().remove("rechunk_gzip_level").unwrap();
            write_json(&info, &document);
        }
        rechunk(&["verify", &source, &target]).ok();
        let again = format!("{target}.zarr");
        rechunk(&["copy", &target, &again]).ok();
        rechunk(&["verify", &source, &again]).ok();
    }
}

#[test]
fn scales_are_members_of_their_volume() {
    let folder = Folder::new();
    let volume = folder.path().join("volume");
    let mut scales = Vec::new();
    for (name, shape) in [("4_4_4", [4, 6, 8]), ("8_8_8", [2, 3, 4])] {
        let made = folder.path().join(name);
        zarr(&made.join("a.zarr"), &shape, "uint16", &json!({}));
        let (source, target) =
            (folder.at(&format!("{name}/a.zarr")), folder.at(&format!("{name}/v")));
        rechunk(&["copy", &source, &target, "--format", "precomputed"]).ok();
        fs::create_dir_all(&volume).unwrap();
        fs::rename(made.join("v/1_1_1"), volume.join(name)).unwrap();
        let mut scale = read_json(made.join("v/info"))["scales"][0].take();
        scale["key"] = json!(name);
        scales.push(scale);
    }
    fs::create_dir(volume.join("mesh")).unwrap();
    write_json(&volume.join("mesh/info"), &json!({"@type": "neuroglancer_legacy_mesh"}));
    let info = json!({
        "data_type": "uint16", "num_channels": 1, "type": "segmentation", "mesh": "mesh", "scales": scales
    });
    write_json(&volume.join("info"), &info);
    let info = rechunk(&["info", &folder.at("volume")]).ok().stdout;
    assert!(["2 arrays", "4_4_4", "8_8_8"].iter().all(|text| info.contains(text)), "{info}");
    // One by one, and all of them.
    rechunk(&["verify", &folder.at("volume/8_8_8"), &folder.at("8_8_8/a.zarr")]).ok();
    let group = folder.at("group.zarr");
    rechunk(&["copy", &folder.at("volume"), &group]).ok().says(&["mesh"]);
    for name in ["4_4_4", "8_8_8"] {
        rechunk(&["verify", &format!("{group}/{name}"), &folder.at(&format!("{name}/a.zarr"))])
            .ok();
    }
    let attributes = &read_json(folder.path().join("group.zarr/zarr.json"))["attributes"];
    let fields = [&attributes["type"], &attributes["mesh"]];
    assert_eq!(fields, [&json!("segmentation"), &json!("mesh")]);
    let image = &attributes["ome"]["multiscales"][0];
    assert_eq!(image["datasets"][1]["path"], "8_8_8", "{attributes}");
    // What is no array is named.
    rechunk(&["info", &folder.at("volume/mesh")]).ends_with(3).says(&["meshes", "precomputed"]);
    let whole = folder.at("whole");
    rechunk(&["copy", &group, &whole, "--format", "precomputed"]).ok();
    let info = read_json(folder.path().join("whole/info"));
    assert_eq!([&info["type"], &info["mesh"]], fields);
    let keys = [&info["scales"][0]["key"], &info["scales"][1]["key"]];
    assert_eq!(keys, ["4_4_4", "8_8_8"]);
}

#[test]
fn arrays_that_no_volume_holds_are_refused() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), &[6, 7], "uint16", &json!({}));
    zarr(&folder.path().join("b.zarr"), &[6, 7, 2], "uint16", &json!({}));
    let copy = |source: &str, more: &[&str]| {
        let (source, target) = (folder.at(source), folder.at("out"));
        let base = ["copy", &source, &target, "--format", "precomputed"];
        rechunk(&[&base[..], more].concat())
    };
    copy("a.zarr", &[]).fails().says(&["an array of 2 axes", "zarr3"]);
    copy("b.zarr", &["--cast", "float64"]).fails().says(&["float64", "float32"]);
    copy("b.zarr", &["--codec", "jpeg"]).fails().says(&["uint8 of 1 or 3 channels"]);
    zarr(&folder.path().join("c.zarr"), &[70, 1000, 2], "uint8", &json!({}));
    copy("c.zarr", &["--codec", "jpeg"]).fails().says(&["2 x 70000 pixels", "at most 65535"]);
    zarr(&folder.path().join("d.zarr"), &[2, 1, 3, 5, 6, 7], "uint8", &json!({}));
    copy("d.zarr", &[]).ends_with(2).says(&["an array of 5 axes", "channels before them"]);
    let image = ["pyramid", &folder.at("d.zarr"), &folder.at("out"), "--as", "precomputed"];
    rechunk(&[&image[..], &["--factors", "1,1,1,2,2"]].concat()).ends_with(2).says(&["axes"]);
    copy("c.zarr", &["--codec", "jpeg", "--chunks", "60,1000,1"]).fails().says(&["too narrow"]);
    copy("b.zarr", &["--codec", "cseg"]).fails().says(&["uint32 and uint64"]);
    assert!(!folder.path().join("out").exists());
}

/// JPEG loses something: it is written where it is asked for, and never twice by itself.
#[test]
fn jpeg_is_written_where_it_is_asked_for() {
    let folder = Folder::new();
    zarr(&folder.path().join("a.zarr"), &[10, 18, 70], "uint8", &json!({}));
    let [source, volume, raw, again] =
        ["a.zarr", "volume", "raw", "again"].map(|name| folder.at(name));
    let jpeg = ["--codec", "jpeg:95", "--chunks", "4,16,32"];
    let copy = |from: &str, to: &str, more: &[&str]| {
        rechunk(&[&["copy", from, to, "--format", "precomputed", "--quiet"][..], more].concat())
    };
    copy(&source, &volume, &[&jpeg[..], &["--verify"]].concat())
        .ends_with(2)
        .says(&["jpeg:95", "nothing to compare"]);
    assert!(!Path::new(&volume).exists());
    let plan = folder.at("plan.json");
    let planned = ["plan", &source, &volume, "--format", "precomputed", "--out", &plan];
    rechunk(&[&planned[..], &jpeg].concat()).ok();
    rechunk(&["run", &plan, "--begin", "--verify"]).ends_with(2).says(&["nothing to compare"]);
    let counted = copy(&source, &volume, &[&jpeg[..], &["--json"]].concat()).ok().json();
    assert_eq!(counted["traffic"]["target"]["put_requests"], 3 * 2 * 3);
    let scale = &read_json(folder.path().join("volume/info"))["scales"][0];
    assert_eq!((&scale["encoding"], &scale["jpeg_quality"]), (&json!("jpeg"), &json!(95)));
    rechunk(&["verify", &source, &volume]).ends_with(6);
    copy(&source, &raw, &[]).ok();
    if available() {
        // Numbers from 0 to 255 in steps of 1, and an edge of black and white in some lines.
        let input = serde_json::to_vec(&[[&volume, &raw]]).unwrap();
        let found = python(World::Z3, "tests/oracle/precomputed.py", &["read"], &input);
        let found: Value = serde_json::from_slice(&found).unwrap();
        let difference = found[0]["difference"].as_f64().unwrap();
        assert!(difference > 0.0 && difference < 40.0, "{found}");
    }
    // Chunks that stay as they are keep their bytes; others are raw, unless it is asked for again.
    let chunk =
        |place: &str| fs::read(folder.path().join(place).join("1_1_1/0-32_0-16_0-4")).unwrap();
    copy(&volume, &again, &[]).ok();
    assert_eq!(chunk("again"), chunk("volume"));
    copy(&volume, &again, &["--overwrite", "--chunks", "10,18,70"]).ok();
    assert_eq!(read_json(folder.path().join("again/info"))["scales"][0]["encoding"], "raw");
    rechunk(&["verify", &volume, &again]).ok();
    copy(&volume, &again, &["--overwrite", "--codec", "jpeg:95"]).ok();
    assert_eq!(chunk("again"), chunk("volume"));
    // Once more: it is there. What was read is not in it, and is not looked for.
    copy(&source, &volume, &[&jpeg[..], &["--resume"]].concat()).ok();
    copy(&source, &volume, &[&jpeg[..], &["--resume", "--verify"]].concat())
        .ends_with(2)
        .says(&["nothing to compare"]);
    copy(&volume, &again, &["--overwrite", "--codec", "jpeg:20"]).ok();
    assert!(chunk("again").len() < chunk("volume").len());
    // Levels of a pyramid are computed of what was read.
    let levels = ["--format", "precomputed", "--factors", "1,2,2", "--quiet"];
    let pyramid = |more: &[&str]| {
        rechunk(&[&["pyramid", &source, &folder.at("p")][..], &levels, &jpeg, more].concat())
    };
    pyramid(&["--from", "previous"]).ends_with(2).says(&["loses something"]);
    pyramid(&[]).ok();
    assert_eq!(read_json(folder.path().join("p/info"))["scales"][1]["jpeg_quality"], 95);
    let kept = ["pyramid", &volume, &folder.at("q")];
    rechunk(&[&kept[..], &levels].concat()).ok();
    assert_eq!(read_json(folder.path().join("q/info"))["scales"][1]["encoding"], "raw");
}

/// A file that is called so by somebody else is a file, in the group that is copied too.
#[test]
fn another_info_is_a_file() {
    let folder = Folder::new();
    let group = folder.path().join("g.zarr");
    zarr(&group.join("a"), &[2, 3, 4], "uint16", &json!({}));
    write_json(&group.join("zarr.json"), &json!({"zarr_format": 3, "node_type": "group"}));
    fs::create_dir(group.join("notes")).unwrap();
    for place in ["info", "notes/info"] {
        fs::write(group.join(place), "written by hand").unwrap();
    }
    rechunk(&["copy", &folder.at("g.zarr"), &folder.at("h.zarr")]).ok();
    for place in ["info", "notes/info"] {
        let copied = fs::read(folder.path().join("h.zarr").join(place)).unwrap();
        assert_eq!(copied, b"written by hand", "{place}");
    }
}
