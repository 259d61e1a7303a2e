//! `rechunk migrate`: documents of another format over the chunks that are there, and the way back.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, copy_directory, rechunk, tree};
use crate::oracle::{World, available, groups, job, make, make_n5, read};

/// Documents of the new format in a tree, and all other files.
fn split(place: &str) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    tree(place.as_ref()).into_iter().partition(|(key, _)| key.ends_with("zarr.json"))
}

/// A group of Zarr v2: an image in two resolutions, and a group in it.
fn group(place: &str) {
    let root = Path::new(place);
    write_json(&root.join(".zgroup"), &json!({"zarr_format": 2}));
    let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    let level = |path: &str, scale: f64| json!({"path": path, "coordinateTransformations": [{"type": "scale", "scale": [scale, scale]}]});
    write_json(
        &root.join(".zattrs"),
        &json!({"multiscales": [{"version": "0.4", "axes": axes,
            "datasets": [level("0", 0.5), level("1", 1.0)]}]}),
    );
    for (name, extent) in [("0", 4_u64), ("1", 2), ("deep/er/a", 3)] {
        let place = root.join(name);
        std::fs::create_dir_all(&place).unwrap();
        write_json(
            &place.join(".zarray"),
            &json!({
                "zarr_format": 2, "shape": [extent, extent], "chunks": [2, 2], "dtype": ">i2",
                "compressor": null, "fill_value": 7, "order": "F", "filters": null,
                "dimension_separator": "/",
            }),
        );
        for y in 0..extent.div_ceil(2) {
            std::fs::create_dir_all(place.join(y.to_string())).unwrap();
            for x in 0..extent.div_ceil(2) {
                let byte = u8::try_from(y * 16 + x).unwrap();
                std::fs::write(place.join(format!("{y}/{x}")), [byte; 8]).unwrap();
            }
        }
    }
    write_json(&root.join("deep/.zgroup"), &json!({"zarr_format": 2}));
    write_json(&root.join("deep/er/.zgroup"), &json!({"zarr_format": 2}));
    write_json(&root.join("deep/.zattrs"), &json!({"mine": [1, 2.5]}));
}

#[test]
fn a_group_is_of_both_versions_and_goes_back_byte_for_byte() {
    let folder = Folder::new();
    let place = folder.at("image.zarr");
    group(&place);
    let before = tree(place.as_ref());
    let planned = rechunk(&["migrate", &place, "--dry-run"]).ok();
    assert!(planned.stdout.contains("deep/er/a/zarr.json"), "{}", planned.stdout);
    assert_eq!(tree(place.as_ref()), before, "a dry run writes nothing");
    let report = rechunk(&["migrate", &place, "--json"]).ok().json();
    assert_eq!((&report["arrays"], &report["groups"]), (&json!(3), &json!(3)));
    assert_eq!(report["written"].as_array().unwrap().len(), 6);
    assert_eq!(report["written"][5]["key"], "zarr.json", "the root comes last");
    let (documents, others) = split(&place);
    assert_eq!(others, before, "nothing else is touched");
    assert_eq!(documents.len(), 6);
    let root: Value = read_json(&place, "zarr.json");
    assert_eq!(root["attributes"]["ome"]["version"], "0.5");
    assert!(root.get("consolidated_metadata").is_none(), "the source had none");
    // The old one and the new one hold the same.
    let v2 = folder.at("v2.zarr");
    copy_directory(place.as_ref(), v2.as_ref());
    let done = rechunk(&["migrate", &v2, "--undo", "--json"]).ok().json();
    assert_eq!(done["removed"][0], "zarr.json", "the root goes first");
    assert_eq!(tree(v2.as_ref()), before);
    for name in ["0", "1", "deep/er/a"] {
        let (a, b) = (format!("{place}/{name}"), format!("{v2}/{name}"));
        assert_eq!(rechunk(&["info", &a, "--json"]).ok().json()["format"], "zarr3");
        rechunk(&["verify", &a, &b]).ok();
    }
    // Again there is nothing to do; and again nothing to undo.
    let again = rechunk(&["migrate", &place, "--json"]).ok().json();
    assert_eq!((&again["written"], &again["already_there"]), (&json!([]), &json!(6)));
    let told = rechunk(&["migrate", &v2, "--undo"]).ok().stdout;
    assert!(told.contains("nothing to do"), "{told}");
}

fn read_json(place: &str, key: &str) -> Value {
    serde_json::from_slice(&std::fs::read(Path::new(place).join(key)).unwrap()).unwrap()
}

/// After a kill some documents are there, in whatever order: the root's is not.
#[test]
fn a_run_after_a_kill_goes_on_or_goes_back() {
    let folder = Folder::new();
    let whole = folder.at("whole.zarr");
    group(&whole);
    let before = tree(whole.as_ref());
    rechunk(&["migrate", &whole, "-q"]).ok();
    let after = tree(whole.as_ref());
    let keys: Vec<&String> = after.keys().filter(|key| key.ends_with("zarr.json")).collect();
    for left in 0..keys.len() {
        let place = folder.at(&format!("{left}.zarr"));
        copy_directory(whole.as_ref(), place.as_ref());
        let removed =
            keys.iter().enumerate().filter(|(at, key)| **key == "zarr.json" || *at >= left);
        for (_, key) in removed {
            std::fs::remove_file(Path::new(&place).join(key)).unwrap();
        }
        let info = rechunk(&["info", &place, "--json"]).ok().json();
        assert_eq!(info["format"], "zarr2", "the old one is read until the root is there");
        let back = folder.at(&format!("back-{left}.zarr"));
        copy_directory(place.as_ref(), back.as_ref());
        rechunk(&["migrate", &back, "--undo", "-q"]).ok();
        assert_eq!(tree(back.as_ref()), before);
        rechunk(&["migrate", &place, "-q"]).ok();
        assert_eq!(tree(place.as_ref()), after);
    }
}

#[test]
fn old_documents_are_removed_and_written_again() {
    let folder = Folder::new();
    let place = folder.at("image.zarr");
    group(&place);
    let before = tree(place.as_ref());
    rechunk(&["migrate", &place, "--remove-old", "-q"]).ok();
    let is_old =
        |key: &String| [".zarray", ".zgroup", ".zattrs"].iter().any(|old| key.ends_with(old));
    assert!(!tree(place.as_ref()).keys().any(is_old));
    let told = rechunk(&["migrate", &place]).ok().stdout;
    assert!(told.contains("it is zarr3 already"), "{told}");
    rechunk(&["migrate", &place, "--undo"]).ends_with(4).says(&["has no documents of zarr2"]);
    rechunk(&["migrate", &place, "--to", "zarr2", "--remove-old", "-q"]).ok();
    let again = tree(place.as_ref());
    let keys = |tree: &BTreeMap<String, String>| tree.keys().cloned().collect::<Vec<_>>();
    // The names of axes, which the image alone had, are also the arrays' now.
    let mut found = keys(&again);
    found.retain(|key| !["0/.zattrs", "1/.zattrs"].contains(&key.as_str()));
    assert_eq!(found, keys(&before));
    let expected = folder.at("expected.zarr");
    group(&expected);
    rechunk(&["verify", &place, &expected]).ok();
}

/// A kill between the removals leaves the new one whole, and the next run removes the rest.
#[test]
fn a_removal_after_a_kill_goes_on() {
    let folder = Folder::new();
    let place = folder.at("image.zarr");
    group(&place);
    rechunk(&["migrate", &place, "-q"]).ok();
    for key in [".zattrs", ".zgroup", "0/.zarray"] {
        std::fs::remove_file(Path::new(&place).join(key)).unwrap();
    }
    let documents = split(&place).0;
    rechunk(&["migrate", &place, "--remove-old", "-q"]).ok();
    let (left, others) = split(&place);
    assert_eq!(left, documents);
    assert!(!others.keys().any(|key| key.contains("/.z") || key.starts_with(".z")), "{others:?}");
}

#[test]
fn what_cannot_be_migrated_is_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let place = folder.at("image.zarr");
    group(&place);
    let root = Path::new(&place);
    let mut odd = read_json(&place, "1/.zarray");
    odd["filters"] = json!([{"id": "delta", "dtype": ">i2"}]);
    write_json(&root.join("1/.zarray"), &odd);
    let before = tree(root);
    rechunk(&["migrate", &place]).ends_with(3).says(&["1 (", "big-endian", "nothing was written"]);
    assert_eq!(tree(root), before);
    odd["filters"] = Value::Null;
    write_json(&root.join("1/.zarray"), &odd);
    // Somebody else's document.
    rechunk(&["migrate", &place, "-q"]).ok();
    let mut other = read_json(&place, "0/zarr.json");
    other["shape"] = json!([5, 4]);
    write_json(&root.join("0/zarr.json"), &other);
    let before = tree(root);
    for options in [&[][..], &["--undo"], &["--remove-old"]] {
        rechunk(&[&["migrate", &*place], options].concat())
            .ends_with(4)
            .says(&["say something else", ": 0"]);
        assert_eq!(tree(root), before);
    }
    // A member of a group that stays as it is.
    let lone = folder.at("lone.zarr");
    group(&lone);
    let member = format!("{lone}/0");
    rechunk(&["migrate", &member, "--remove-old"]).ends_with(4).says(&["lies in the zarr2 group"]);
    rechunk(&["migrate", &member, "-q"]).ok();
    rechunk(&["migrate", &folder.at("nothing"), "--json"]).ends_with(3);
    rechunk(&["migrate", "http://127.0.0.1:9/a.zarr"]).ends_with(2).says(&["is only read"]);
    let npy = folder.at("a.npy");
    std::fs::write(&npy, b"no array").unwrap();
    rechunk(&["migrate", &npy]).ends_with(2).says(&["a.npy is not a directory", "but a file"]);
    rechunk(&["migrate", &place, "--source-format", "n5", "--to", "zarr2"])
        .ends_with(2)
        .says(&["cannot become zarr2 in place"]);
}

/// Arrays of every type and codec that zarr-python 2 writes are, over the same chunks, what they
/// were.
#[test]
fn what_zarr_python_2_wrote_is_read_as_v3_by_others() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let mut jobs = Vec::new();
    for (number, (path, version)) in make(World::Z2, &folder.at("made")).into_iter().enumerate() {
        if version != 2 {
            continue;
        }
        let place = folder.at(&format!("{number}.zarr"));
        copy_directory(path.as_ref(), place.as_ref());
        let before = tree(place.as_ref());
        let done = rechunk(&["migrate", &place, "--json"]);
        if done.code == 0 {
            assert_eq!(split(&place).1, before);
            jobs.push((path, place));
        } else {
            assert!([2, 3].contains(&done.code), "{path}: {}", done.stderr);
            assert_eq!(tree(place.as_ref()), before);
            println!("refused: {path}: {}", done.stderr.lines().next().unwrap_or_default());
        }
    }
    assert!(jobs.len() > 30, "{} were migrated", jobs.len());
    let old: Vec<Value> = jobs.iter().map(|(path, _)| job(path, 2, "any")).collect();
    let new: Vec<Value> = jobs.iter().map(|(_, place)| job(place, 3, "any")).collect();
    let (old, new) = (read(World::Z3, &old), read(World::Z3, &new));
    let mut unread = Vec::new();
    for ((path, _), (old, new)) in jobs.iter().zip(old.iter().zip(&new)) {
        if let Some(error) = new.get("error").filter(|_| old.get("error").is_none()) {
            unread.push(format!("{path}: {error}"));
            continue;
        }
        assert_eq!((&old["sha256"], &old["shape"]), (&new["sha256"], &new["shape"]), "{path}");
        assert_eq!(old["dimension_names"], new["dimension_names"], "{path}");
    }
    assert!(unread.is_empty(), "{unread:#?}");
}

/// Groups that zarr-python has consolidated are so in both versions.
#[test]
fn consolidated_groups_stay_consolidated() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let place = folder.at("image.zarr");
    group(&place);
    groups(World::Z2, &[json!({"do": "consolidate", "path": place})]);
    assert!(Path::new(&place).join(".zmetadata").is_file());
    rechunk(&["migrate", &place, "-q"]).ok();
    let root = read_json(&place, "zarr.json");
    let members = root["consolidated_metadata"]["metadata"].as_object().unwrap();
    assert!(members.contains_key("deep/er/a") && members.contains_key("0"), "{members:?}");
    rechunk(&["migrate", &place, "-q", "--remove-old"]).ok();
    assert_eq!(read_json(&place, "zarr.json"), root);
    assert!(!Path::new(&place).join(".zmetadata").exists());
}

/// Blocks of N5 are chunks of both.
#[test]
fn n5_is_zarr_too() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let made = make_n5(World::Z3, "make", &folder.at("made"));
    let mut migrated = 0;
    for dataset in &made {
        let path = dataset["path"].as_str().unwrap();
        let before = tree(path.as_ref());
        let done = rechunk(&["migrate", path, "--json"]);
        if done.code != 0 {
            assert_eq!(tree(path.as_ref()), before, "{}", done.stderr);
            println!("refused: {path}: {}", done.stderr.lines().next().unwrap_or_default());
            continue;
        }
        migrated += 1;
        assert_eq!(split(path).1, before);
        let told = done.json()["warnings"].to_string();
        assert!(told.contains("n5_default"), "{told}");
        let copy = folder.at(&format!("copy-{migrated}.zarr"));
        rechunk(&["copy", path, &copy, "--source-format", "zarr3", "-q", "--no-fsync"]).ok();
        rechunk(&["verify", path, &copy, "--axes", "keep"]).ok();
        rechunk(&["migrate", path, "--undo", "-q"]).ok();
        assert_eq!(tree(path.as_ref()), before);
    }
    assert!(migrated > 5, "{migrated} of {}", made.len());
}

/// Writes an array of v3 with the keys of v2, of which one chunk of four is there.
fn sparse_array(place: &Path, fill: &Value, attributes: &Value) {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": fill, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "dimension_names": ["x"], "attributes": attributes,
    });
    std::fs::create_dir_all(place).unwrap();
    write_json(&place.join("zarr.json"), &document);
    std::fs::write(place.join("0"), [1.0_f32; 2].map(f32::to_le_bytes).concat()).unwrap();
}

/// Chunks that are missing are read as the fill value, which has to stay.
#[test]
fn missing_chunks_are_read_as_before() {
    let folder = Folder::new();
    let place = folder.at("a.zarr");
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    std::fs::create_dir_all(&place).unwrap();
    write_json(&Path::new(&place).join("zarr.json"), &group);
    sparse_array(&Path::new(&place).join("a"), &json!(7.5), &json!({}));
    let array = folder.at("a.zarr/a");
    let old = folder.at("old.zarr");
    rechunk(&["copy", &array, &old, "-q"]).ok();
    rechunk(&["migrate", &place, "--to", "zarr2"])
        .ok()
        .says(&["elements that are 7.5 are missing"]);
    assert_eq!(read_json(&array, ".zarray")["fill_value"], json!(7.5));
    rechunk(&["migrate", &place, "--to", "zarr2", "--remove-old", "-q"]).ok();
    rechunk(&["verify", &array, &old]).ok();
    // Another value is missing: v2 has one for both.
    let marked = folder.at("marked.zarr");
    std::fs::create_dir_all(&marked).unwrap();
    write_json(&Path::new(&marked).join("zarr.json"), &group);
    sparse_array(
        &Path::new(&marked).join("a"),
        &json!(0.0),
        &json!({"_FillValue": "AAAAAAA4j8A="}),
    );
    let before = tree(marked.as_ref());
    rechunk(&["migrate", &marked, "--to", "zarr2"]).ends_with(3).says(&[
        "a (",
        "-999.0 is missing",
        "nothing was written",
    ]);
    assert_eq!(tree(marked.as_ref()), before);
}

/// Documents that say other keys than the chunks have are not believed.
#[test]
fn keys_are_said_as_they_are() {
    let folder = Folder::new();
    let place = folder.at("image.zarr");
    group(&place);
    let array = Path::new(&place).join("0");
    let mut document = read_json(&place, "0/.zarray");
    document.as_object_mut().unwrap().remove("dimension_separator");
    write_json(&array.join(".zarray"), &document);
    let old = folder.at("old.zarr");
    rechunk(&["copy", &folder.at("image.zarr/0"), &old, "-q"]).ends_with(0);
    let done = rechunk(&["migrate", &place, "--json"]).ok().json();
    let told = done["warnings"].as_array().unwrap();
    assert!(told.iter().any(|text| text.as_str().unwrap().contains("like 0/0")), "{told:?}");
    let keys = &read_json(&place, "0/zarr.json")["chunk_key_encoding"];
    assert_eq!(keys["configuration"]["separator"], "/");
    rechunk(&["verify", &folder.at("image.zarr/0"), &old]).ok();
}
