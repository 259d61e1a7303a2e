//! Targets that their readers can read: attributes that mean something else in N5, and codecs that
//! few readers of Zarr v3 have.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk};
use crate::n5::decoded_sha256;
use crate::oracle::{World, available, job, make_n5, read, read_n5};

fn document(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Has tensorstore read N5 datasets, all of which it has to open; their digests.
fn tensorstore_reads(paths: &[String]) -> Vec<String> {
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let answers = read_n5(World::Z3, &paths);
    let digest = |(path, answer): (&&str, &Value)| {
        let answer = &answer["tensorstore"];
        let digest = answer["sha256"].as_str();
        digest
            .unwrap_or_else(|| {
                panic!("{path}: {answer}\n{}", document(&format!("{path}/attributes.json")))
            })
            .to_owned()
    };
    paths.iter().zip(&answers).map(digest).collect()
}

/// Attributes that N5 has a type for, in words that climate models, images and maps have for them.
#[test]
fn attributes_of_zarr_do_not_keep_n5_from_being_opened() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let names = json!(["time", "lat", "lon"]);
    let (mut made, mut sources) = (Vec::new(), Vec::new());
    for (number, (names, attributes, is_odd)) in [
        (&names, json!({"units": "K", "long_name": "temperature", "scale_factor": 0.01}), true),
        (&names, json!({"units": "degrees_north", "axis": "Y", "valid_min": -90}), true),
        (&names, json!({"axes": [{"name": "t", "type": "time"}, {"name": "y"}, {"name": "x"}]}), true),
        (&names, json!({"axes": ["T", "Y", "X"], "units": ["s", "m", "m"]}), true),
        (&names, json!({"resolution": "0.25 degree", "offset": 273.15, "transform": [30, 0, 0, 0, -30, 0]}), true),
        (&names, json!({"dimensions": "time lat lon", "compression": "none", "dataType": "float"}), true),
        (&names, json!({"valid_range": "see [NaN]", "scales": "log", "n5": 5}), true),
        (&json!(null), json!({"axes": ["z", "y", "x"], "resolution": [40, 4, 4], "units": ["nm", "nm", "nm"]}), false),
        (&json!(null), json!({"axes": ["band", "band", "x"]}), true),
        (&json!(["band", "band", "x"]), json!({"units": ["a", "b"]}), true),
        (&json!(["z", null, ""]), json!({"resolution": [1]}), true),
    ]
    .into_iter()
    .enumerate()
    {
        let source = folder.at(&format!("{number}.zarr"));
        RawArray::v3(&[4, 5, 6], &[2, 5, 3]).write(&source);
        let path = format!("{source}/zarr.json");
        let mut zarr = document(&path);
        zarr["attributes"] = attributes.clone();
        if !names.is_null() {
            zarr["dimension_names"] = names.clone();
        }
        write_json(Path::new(&path), &zarr);
        let (n5, back) = (folder.at(&format!("{number}.n5")), folder.at(&format!("back{number}.zarr")));
        let there = rechunk(&["copy", &source, &n5, "--chunks", "3,5,4"]).ok();
        assert_eq!(there.stderr.contains("put back by a copy back"), is_odd, "{attributes}");
        rechunk(&["copy", &n5, &back, "--chunks", "2,5,3", "-q"]).ok();
        let again = document(&format!("{back}/zarr.json"));
        assert_eq!(again["attributes"], attributes, "{number}");
        if !names.is_null() {
            let named = |names: &Value| -> Vec<String> {
                let text = |name: &Value| name.as_str().unwrap_or_default().to_owned();
                names.as_array().unwrap().iter().map(text).collect()
            };
            assert_eq!(named(&again["dimension_names"]), named(names), "{number}");
        }
        rechunk(&["verify", &source, &back]).ok();
        sources.push(decoded_sha256(&source));
        made.push(n5);
    }
    assert_eq!(tensorstore_reads(&made), sources);
}

/// Members of groups, and the groups, whose attributes N5 has meanings for too.
#[test]
fn attributes_find_back_through_groups() {
    let folder = Folder::new();
    let (source, n5, back) = (folder.at("s.zarr"), folder.at("t.n5"), folder.at("b.zarr"));
    for (place, attributes) in [
        ("", json!({"n5": "a title", "Conventions": "CF-1.8"})),
        ("/inner", json!({"dataType": "float", "dimensions": {"x": 1}, "resolution": [1, 2, 3]})),
        ("/inner/deep", json!({"units": "K", "axes": "T", "scales": [[1, 1], [2, 4]]})),
    ] {
        let group = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
        write_json(Path::new(&format!("{source}{place}/zarr.json")), &group);
    }
    for (place, units) in [("/sst", "K"), ("/inner/sst", "m"), ("/inner/deep/sst", "1")] {
        let array = format!("{source}{place}");
        RawArray::v3(&[4, 6], &[2, 3]).write(&array);
        let path = format!("{array}/zarr.json");
        let mut zarr = document(&path);
        zarr["attributes"] = json!({"units": units, "offset": 1.5});
        write_json(Path::new(&path), &zarr);
    }
    rechunk(&["copy", &source, &n5, "-q"]).ok();
    assert_eq!(document(&format!("{n5}/attributes.json"))["n5"], "2.5.1");
    assert_eq!(
        rechunk(&["info", &n5, "--json"]).ok().json()["members"].as_array().unwrap().len(),
        5
    );
    rechunk(&["copy", &n5, &back, "-q"]).ok();
    for place in ["", "/inner", "/inner/deep", "/sst", "/inner/sst", "/inner/deep/sst"] {
        let attributes =
            |root: &str| document(&format!("{root}{place}/zarr.json"))["attributes"].clone();
        assert_eq!(attributes(&back), attributes(&source), "{place}");
    }
}

/// A container of `BigDataViewer`: groups with a `dataType`, and attributes that belong to x, y and
/// z.
#[test]
fn groups_of_bigdataviewer_keep_what_it_reads() {
    let folder = Folder::new();
    let source = folder.at("dataset.n5");
    let put = |place: &str, attributes: &Value| {
        write_json(Path::new(&format!("{source}/{place}/attributes.json")), attributes);
    };
    put("", &json!({"n5": "2.5.1"}));
    put("setup0", &json!({"downsamplingFactors": [[1, 1, 1], [2, 2, 1]], "dataType": "uint16"}));
    put("setup0/timepoint0", &json!({"multiScale": true, "resolution": [0.5, 0.6, 2]}));
    put("notes", &json!({"compression": "none of the data", "blockSize": [1, 2, 3]}));
    put("notes/more", &json!({"dimensions": [1, 2], "compression": {"type": "raw"}}));
    put(
        "s",
        &json!({"pixelResolution": {"dimensions": [4, 5, 40], "unit": "nm"}, "scales": [[1, 1, 1], [2, 2, 1]]}),
    );
    let level = folder.at("level");
    RawArray::v2(&[5, 6, 7], &[4, 4, 4]).of_uint16().write(&level);
    for place in ["setup0/timepoint0/s0", "s/s0"] {
        rechunk(&["copy", &level, &format!("{source}/{place}"), "--codec", "gzip:5", "-q"]).ok();
        let path = format!("{source}/{place}/attributes.json");
        let mut attributes = document(&path);
        attributes.as_object_mut().unwrap().remove("rechunk_axes");
        attributes["downsamplingFactors"] = json!([2, 2, 1]);
        attributes["resolution"] = json!([0.5, 0.6, 2]);
        attributes["units"] = json!(["um", "um", "mm"]);
        write_json(Path::new(&path), &attributes);
    }
    let groups = ["", "setup0", "setup0/timepoint0", "notes", "notes/more", "s"];
    let same = |copy: &str, places: &[&str]| {
        for place in places {
            let of = |root: &str| document(&format!("{root}/{place}/attributes.json"));
            assert_eq!(of(copy), of(&source), "{copy} {place}");
        }
    };
    let recut = folder.at("recut.n5");
    rechunk(&["copy", &source, &recut, "--chunks", "5,3,7", "-q"]).ok();
    same(&recut, &groups);
    for axes in ["reverse", "keep"] {
        let (middle, back) = (folder.at(&format!("{axes}.zarr")), folder.at(&format!("{axes}.n5")));
        rechunk(&["copy", &source, &middle, "--axes", axes, "-q"]).ok();
        let of =
            |place: &str| document(&format!("{middle}/{place}/zarr.json"))["attributes"].clone();
        let turned = |list: Value| match axes {
            "keep" => list,
            _ => list.as_array().unwrap().iter().rev().cloned().collect(),
        };
        assert_eq!(of("setup0/timepoint0")["resolution"], turned(json!([0.5, 0.6, 2])));
        assert_eq!(of("s")["pixelResolution"]["dimensions"], turned(json!([4, 5, 40])));
        assert_eq!(of("setup0")["downsamplingFactors"][1], turned(json!([2, 2, 1])));
        assert_eq!(of("setup0")["dataType"], "uint16");
        assert_eq!(of("s/s0")["resolution"], turned(json!([0.5, 0.6, 2])));
        assert_eq!(of("s/s0")["units"], turned(json!(["um", "um", "mm"])));
        rechunk(&["copy", &middle, &back, "-q"]).ok();
        same(&back, &groups);
        same(&back, &["setup0/timepoint0/s0", "s/s0"]);
    }
}

/// Blosc chooses a shuffle by itself in Zarr v2; N5 has no word for that.
#[test]
fn automatic_shuffles_are_named_in_n5() {
    let folder = Folder::new();
    let mut made = Vec::new();
    for (number, (dtype, compressor, options, shuffle)) in [
        ("<u2", json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1}), &[][..], 1),
        (
            "|u1",
            json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1}),
            &["--chunks", "8"],
            2,
        ),
        (
            "<f8",
            json!({"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": -1}),
            &["--codec", "keep"],
            1,
        ),
        ("<u4", json!({"id": "zlib", "level": 1}), &["--codec", "blosc:lz4:5:auto"], 1),
        ("|i1", json!(null), &["--codec", "blosc:zstd:1:auto"], 2),
        (
            "<i8",
            json!(null),
            &["--codec", r#"{"type": "blosc", "cname": "lz4", "shuffle": -1}"#],
            1,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let source = folder.at(&format!("{number}.zarr"));
        let zarray = json!({
            "zarr_format": 2, "shape": [8], "chunks": [4], "dtype": dtype, "compressor": compressor,
            "fill_value": 0, "order": "C", "filters": null,
        });
        write_json(&Path::new(&source).join(".zarray"), &zarray);
        let n5 = folder.at(&format!("{number}.n5"));
        rechunk(&[&["copy", &source, &n5, "-q"], options].concat()).ok();
        let written = document(&format!("{n5}/attributes.json"));
        assert_eq!(written["compression"]["shuffle"], shuffle, "{dtype} {options:?}");
        made.push(n5);
        // N5 to N5, from a writer that does not name it either.
        let path = Path::new(&made[number]).join("attributes.json");
        let mut odd = written;
        odd["compression"]["shuffle"] = json!(-1);
        write_json(&path, &odd);
        let again = folder.at(&format!("{number}again.n5"));
        rechunk(&["copy", &made[number], &again, "-q"]).ok();
        let written = document(&format!("{again}/attributes.json"));
        assert_eq!(written["compression"]["shuffle"], shuffle, "{dtype} from N5");
        made[number] = again;
    }
    if available() {
        tensorstore_reads(&made);
    }
}

/// Copies N5 and Zarr v2, whatever they are compressed with, to Zarr v3. tensorstore and
/// zarr-python read all of it unless --codec keep is asked for.
#[test]
fn every_reader_of_zarr_v3_has_the_codecs_of_a_copy() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let raw = folder.at("raw.zarr");
    RawArray::v2(&[9, 10], &[4, 5]).write(&raw);
    let mut ways: Vec<(String, &str, &str)> = Vec::new();
    for (format, codec, of_v3, kept) in [
        ("n5", "gzip:5", "gzip", "gzip"),
        ("n5", "zlib:5", "gzip", "numcodecs.zlib"),
        ("n5", "bz2:9", "zstd", "numcodecs.bz2"),
        ("n5", "xz:1", "zstd", "numcodecs.lzma"),
        ("n5", "lz4", "blosc", "numcodecs.lz4"),
        ("n5", "blosc:zstd:3:bitshuffle", "blosc", "blosc"),
        ("n5", "zstd:3", "zstd", "zstd"),
        ("zarr2", "zlib:1", "gzip", "numcodecs.zlib"),
        ("zarr2", "bz2:1", "zstd", "numcodecs.bz2"),
        ("zarr2", "lzma:1", "zstd", "numcodecs.lzma"),
        ("zarr2", "lz4", "blosc", "numcodecs.lz4"),
    ] {
        let source = folder.at(&format!("{format}-{codec}"));
        rechunk(&["copy", &raw, &source, "--format", format, "--codec", codec, "-q"]).ok();
        let copy = |options: &[&str]| {
            let target = format!("{source}-{}.zarr", options.len());
            let chunks = ["--chunks", "9,3", "--verify"];
            let done = rechunk(&[&["copy", &source, &target], &chunks[..], options].concat()).ok();
            let codecs = document(&format!("{target}/zarr.json"))["codecs"].clone();
            let name =
                codecs.as_array().unwrap().last().unwrap()["name"].as_str().unwrap().to_owned();
            (target, name, done.stderr)
        };
        let (target, name, said) = copy(&[]);
        assert_eq!(name, of_v3, "{format} {codec}");
        // In one line, which is there only where something changes.
        let lines = said.lines().filter(|line| line.contains("chunks are written with")).count();
        assert_eq!(lines, usize::from(of_v3 != kept), "{format} {codec}: {said}");
        ways.push((target, of_v3, codec));
        let (_, name, _) = copy(&["--codec", "keep"]);
        assert_eq!(name, kept, "{format} {codec} kept");
        rechunk(&["verify", &raw, &ways.last().unwrap().0]).ok();
    }
    let sha256 = decoded_sha256(&raw);
    for reader in ["tensorstore", "zarr"] {
        let jobs: Vec<Value> = ways.iter().map(|(path, ..)| job(path, 3, reader)).collect();
        for (way, answer) in ways.iter().zip(read(World::Z3, &jobs)) {
            assert_eq!(answer["sha256"], json!(sha256), "{reader} reads {way:?}: {answer}");
        }
    }
}

/// Datasets that tensorstore wrote as N5 are opened by it again after the way through Zarr.
#[test]
fn n5_of_tensorstore_finds_back() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let sources = make_n5(World::Z3, "make", &folder.at("made"));
    let mut made = Vec::new();
    // All compressions there are, on a few types and shapes.
    for (number, source) in sources.iter().enumerate().filter(|(number, _)| number % 7 == 0) {
        let path = source["path"].as_str().unwrap();
        let (zarr, back) =
            (folder.at(&format!("{number}.zarr")), folder.at(&format!("{number}.n5")));
        rechunk(&["copy", path, &zarr, "-q"]).ok();
        rechunk(&["copy", &zarr, &back, "-q"]).ok();
        let attributes = |path: &str| {
            let mut document = document(&format!("{path}/attributes.json"));
            let map = document.as_object_mut().unwrap();
            // What is the dataset's own may be spelled otherwise.
            for own in ["n5", "compression", "blockSize"] {
                map.remove(own);
            }
            document
        };
        assert_eq!(attributes(&back), attributes(path));
        made.push((back, source["sha256"].as_str().unwrap().to_owned()));
    }
    assert!(made.len() > 10);
    let (paths, digests): (Vec<String>, Vec<String>) = made.into_iter().unzip();
    assert_eq!(tensorstore_reads(&paths), digests);
}

/// By the table of docs/support.md.
#[test]
fn info_says_who_else_reads_an_array() {
    let folder = Folder::new();
    let raw = folder.at("raw.zarr");
    RawArray::v2(&[9, 10], &[4, 5]).write(&raw);
    let all = json!(["zarr-python 3", "zarr-python 2", "tensorstore"]);
    for (number, (options, readers)) in [
        (&["--format", "zarr2"][..], all.clone()),
        (&["--format", "zarr2", "--codec", "lz4"], json!(["zarr-python 3", "zarr-python 2"])),
        (
            &["--format", "zarr3", "--codec", "zstd:1", "--shards", "8,10"],
            json!(["zarr-python 3", "tensorstore"]),
        ),
        (&["--format", "zarr3", "--codec", "bz2"], json!(["zarr-python 3"])),
        (&["--format", "n5", "--codec", "xz"], json!(["zarr-python 2", "tensorstore", "z5py"])),
        (&["--format", "n5", "--codec", "lz4"], json!([])),
        (&["--format", "raw"], json!(null)),
    ]
    .into_iter()
    .enumerate()
    {
        let copy = folder.at(&number.to_string());
        rechunk(&[&["copy", &raw, &copy, "-q"], options].concat()).ok();
        assert_eq!(
            rechunk(&["info", &copy, "--json"]).ok().json()["readers"],
            readers,
            "{options:?}"
        );
        let said = rechunk(&["info", &copy]).ok().stdout;
        assert_eq!(said.contains("readable by"), !readers.is_null(), "{said}");
    }
}
