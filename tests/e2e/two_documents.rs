//! Places with the documents of two formats: which count, what `info` says of the others, and how
//! to choose.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk};
use crate::n5::decoded_sha256;

/// Extents that tell what was read: those of v2, of v3, and of N5.
const OF_V2: u64 = 4;
const OF_V3: u64 = 6;
const OF_N5: u64 = 8;

/// Zarr v2 at a place.
fn zarray(place: &Path) {
    let document = json!({
        "zarr_format": 2, "shape": [OF_V2], "chunks": [OF_V2], "dtype": "|u1", "compressor": null,
        "fill_value": 1, "order": "C", "filters": null,
    });
    write_json(&place.join(".zarray"), &document);
}

/// Zarr v3 at a place, with these codecs.
fn zarr_json(place: &Path, codecs: &Value) {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [OF_V3], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [OF_V3]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}},
        "fill_value": 0, "attributes": {}, "codecs": codecs,
    });
    write_json(&place.join("zarr.json"), &document);
}

fn plain(place: &Path) {
    zarr_json(place, &json!([{"name": "bytes"}]));
}

fn block(place: &Path) {
    let codecs = json!([
        {"name": "transpose", "configuration": {"order": [0]}}, {"name": "bytes"},
        {"name": "gzip", "configuration": {"level": 5}},
    ]);
    zarr_json(place, &json!([{"name": "n5_default", "configuration": {"codecs": codecs}}]));
}

/// N5 at a place.
fn dataset(place: &Path) {
    let document = json!({
        "dimensions": [OF_N5], "blockSize": [OF_N5], "dataType": "uint8",
        "compression": {"type": "gzip", "level": 5},
    });
    write_json(&place.join("attributes.json"), &document);
}

/// Groups at a place: v2, v3, and the root of a container of N5.
fn zgroup(place: &Path) {
    write_json(&place.join(".zgroup"), &json!({"zarr_format": 2}));
}

fn v3_group(place: &Path, attributes: &Value) {
    let document = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    write_json(&place.join("zarr.json"), &document);
}

fn container(place: &Path) {
    write_json(&place.join("attributes.json"), &json!({"n5": "4.0.0"}));
}

/// The extent of the array `name` in a copy of the group, or of the array itself.
fn copied(source: &Path, name: &str, options: &[&str]) -> u64 {
    let folder = Folder::new();
    let target = folder.at("copy.zarr");
    let source = source.display().to_string();
    rechunk(&[&["copy", &source, &target, "-q"], options].concat()).ok();
    let place = format!("{target}/{name}");
    let info = rechunk(&["info", place.trim_end_matches('/'), "--json"]).ok().json();
    info["shape"][0].as_u64().unwrap()
}

/// Maker of a place, the options, the extent that is read, and the words of `info` on the other
/// document.
type Case = (&'static str, fn(&Path), &'static [&'static str], u64, &'static [&'static str]);

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn members_are_read_in_the_format_of_the_group() {
    let both = |place: &Path| {
        zarray(&place.join("a"));
        plain(&place.join("a"));
    };
    let cases: [Case; 9] = [
        (
            "half moved from v2",
            |place| {
                zgroup(place);
                zarray(&place.join("a"));
                plain(&place.join("a"));
            },
            &[],
            OF_V2,
            &[],
        ),
        (
            "moved from v2",
            |place| {
                zgroup(place);
                v3_group(place, &json!({}));
                zarray(&place.join("a"));
                plain(&place.join("a"));
            },
            &[],
            OF_V3,
            &[".zgroup", "zarr2"],
        ),
        (
            "v2 is asked for",
            |place| {
                zgroup(place);
                v3_group(place, &json!({}));
                zarray(&place.join("a"));
                plain(&place.join("a"));
            },
            &["--source-format", "zarr2"],
            OF_V2,
            &["zarr.json", "zarr3"],
        ),
        (
            "v3 in a group of v2",
            |place| {
                zgroup(place);
                plain(&place.join("a"));
            },
            &[],
            OF_V3,
            &[],
        ),
        (
            "v2 in a group of v3",
            |place| {
                v3_group(place, &json!({}));
                zarray(&place.join("a"));
            },
            &[],
            OF_V2,
            &[],
        ),
        (
            "left by a converter",
            |place| {
                container(place);
                v3_group(place, &json!({"_n5": {"n5": "4.0.0"}}));
                dataset(&place.join("a"));
                block(&place.join("a"));
            },
            &[],
            OF_N5,
            &["zarr.json", "zarr3"],
        ),
        (
            "a container that says so",
            |place| {
                container(place);
                v3_group(place, &json!({}));
                dataset(&place.join("a"));
                block(&place.join("a"));
            },
            &[],
            OF_N5,
            &["zarr.json", "zarr3"],
        ),
        (
            "the blocks as Zarr",
            |place| {
                container(place);
                v3_group(place, &json!({"_n5": {}}));
                dataset(&place.join("a"));
                block(&place.join("a"));
            },
            &["--source-format", "zarr3"],
            OF_V3,
            &["attributes.json", "n5"],
        ),
        (
            "a group of v3 with blocks of N5",
            |place| {
                v3_group(place, &json!({}));
                dataset(&place.join("a"));
                block(&place.join("a"));
            },
            &[],
            OF_V3,
            &[],
        ),
    ];
    for (what, make, options, extent, also) in cases {
        let folder = Folder::new();
        let place = folder.path().join("store");
        make(&place);
        assert_eq!(copied(&place, "a", options), extent, "{what}");
        let location = place.display().to_string();
        let info = rechunk(&[&["info", &location], options].concat()).ok().stdout;
        let json = rechunk(&[&["info", &location, "--json"], options].concat()).ok().json();
        assert_eq!(json["members"][0]["shape"], json!([extent]), "{what}");
        let said = also.iter().all(|word| info.contains(word)) && info.contains("also has");
        assert_eq!(said, !also.is_empty(), "{what}: {info}");
    }
    // Consolidated metadata is of the group's own format.
    let folder = Folder::new();
    let place = folder.path().join("store");
    both(&place);
    zgroup(&place);
    let array = std::fs::read(place.join("a/.zarray")).unwrap();
    let array: Value = serde_json::from_slice(&array).unwrap();
    let document = json!({
        "zarr_consolidated_format": 1,
        "metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": array},
    });
    write_json(&place.join(".zmetadata"), &document);
    assert_eq!(copied(&place, "a", &[]), OF_V2);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn an_array_that_was_named_is_the_newest_that_can_be_read() {
    let unknown = |place: &Path| zarr_json(place, &json!([{"name": "unheard_of"}]));
    let cases: [Case; 9] = [
        (
            "both",
            |place| {
                zarray(place);
                plain(place);
            },
            &[],
            OF_V3,
            &[".zarray", "--source-format zarr2"],
        ),
        (
            "v2 is asked for",
            |place| {
                zarray(place);
                plain(place);
            },
            &["--source-format", "zarr2"],
            OF_V2,
            &["zarr.json", "--source-format zarr3"],
        ),
        (
            "v3 is broken",
            |place| {
                zarray(place);
                std::fs::write(place.join("zarr.json"), "{").unwrap();
            },
            &[],
            OF_V2,
            &["zarr.json"],
        ),
        (
            "v3 has a codec nobody knows",
            |place| {
                zarray(place);
                zarr_json(place, &json!([{"name": "unheard_of"}]));
            },
            &[],
            OF_V2,
            &["zarr.json"],
        ),
        (
            "N5 with blocks as Zarr",
            |place| {
                dataset(place);
                block(place);
            },
            &[],
            OF_N5,
            &["zarr.json", "--source-format zarr3"],
        ),
        (
            "the blocks as Zarr",
            |place| {
                dataset(place);
                block(place);
            },
            &["--source-format", "zarr3"],
            OF_V3,
            &["attributes.json", "--source-format n5"],
        ),
        (
            "N5 beside v3 that is no block",
            |place| {
                dataset(place);
                plain(place);
            },
            &[],
            OF_V3,
            &["attributes.json"],
        ),
        (
            "N5 beside v2",
            |place| {
                dataset(place);
                zarray(place);
            },
            &[],
            OF_V2,
            &["attributes.json"],
        ),
        (
            "N5 is asked for",
            |place| {
                dataset(place);
                zarray(place);
                plain(place);
            },
            &["--source-format", "n5"],
            OF_N5,
            &[".zarray", "zarr.json"],
        ),
    ];
    for (what, make, options, extent, also) in cases {
        let folder = Folder::new();
        let place = folder.path().join("array");
        make(&place);
        assert_eq!(copied(&place, "", options), extent, "{what}");
        let location = place.display().to_string();
        let info = rechunk(&[&["info", &location], options].concat()).ok().stdout;
        assert!(info.contains("also has"), "{what}: {info}");
        assert!(also.iter().all(|word| info.contains(word)), "{what}: {info}");
    }
    let folder = Folder::new();
    let place = folder.path().join("array");
    unknown(&place);
    let location = place.display().to_string();
    let refused = rechunk(&["info", &location]);
    assert!(refused.code == 3 && refused.stderr.contains("unheard_of"), "{}", refused.stderr);
    let refused = rechunk(&["copy", &location, &folder.at("t"), "--source-format", "zarr2"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let refused = rechunk(&["copy", &location, &folder.at("t"), "--source-format", "raw"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

/// The option goes everywhere a source is named, and a job that stopped goes on with what it had.
#[test]
fn the_choice_is_kept_by_plans_jobs_and_verify() {
    let folder = Folder::new();
    let place = folder.path().join("array");
    zarray(&place);
    plain(&place);
    std::fs::write(place.join("0"), [7; 4]).unwrap();
    let (source, target) = (place.display().to_string(), folder.at("t.zarr"));
    let chosen = ["--source-format", "zarr2"];
    let plan = rechunk(&[&["plan", &source, "--json"], &chosen[..]].concat()).ok().json();
    assert_eq!(plan["plan"]["shape"], json!([OF_V2]), "{plan}");
    let saved = folder.at("plan.json");
    rechunk(&[&["plan", &source, &target, "--out", &saved, "-q"], &chosen[..]].concat()).ok();
    rechunk(&["run", &saved, "-q"]).ok();
    rechunk(&[&["verify", &source, &target], &chosen[..]].concat()).ok();
    assert_eq!(rechunk(&["verify", &source, &target]).code, 6, "v3 has another shape");
    let job = folder.path().join("job.toml");
    std::fs::write(&job, format!("source = {source:?}\ntarget = {target:?}\nsource-format = \"zarr2\"\noverwrite = true\n")).unwrap();
    rechunk(&["copy", "--job", &job.display().to_string(), "-q"]).ok();
    rechunk(&[&["verify", &source, &target], &chosen[..]].concat()).ok();
}

/// `n5_default` in the shapes it has, against the same blocks read as N5.
#[test]
fn blocks_of_n5_are_read_as_zarr_v3() {
    let folder = Folder::new();
    for (number, (shape, chunks, compressor)) in [
        (vec![9, 10], vec![5, 4], None),
        (vec![9, 10], vec![5, 4], Some(json!({"name": "gzip", "configuration": {"level": 5}}))),
        (vec![5, 7, 6], vec![2, 3, 6], Some(json!({"name": "zstd", "configuration": {"level": 3, "checksum": false}}))),
        (vec![5, 7, 6], vec![2, 3, 4], Some(json!({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0}}))),
        (vec![11], vec![4], Some(json!({"name": "gzip", "configuration": {"level": 1}}))),
        (vec![3, 2, 4, 5], vec![2, 2, 3, 2], Some(json!({"name": "numcodecs.bz2", "configuration": {"level": 1}}))),
    ]
    .into_iter()
    .enumerate()
    {
        let at = |name: &str| folder.at(&format!("{number}-{name}"));
        let (source, n5) = (at("source"), at("blocks"));
        RawArray::v2(&shape, &chunks).of_uint16().write(&source);
        let codec = match compressor.as_ref().map(|codec| codec["name"].as_str().unwrap()) {
            None => "none",
            Some("gzip") => "gzip:5",
            Some("zstd") => "zstd:3",
            Some("blosc") => "blosc:lz4:5:shuffle",
            _ => "bz2:1",
        };
        rechunk(&["copy", &source, &n5, "--format", "n5", "--codec", codec, "-q"]).ok();
        let turned = |list: &[u64]| list.iter().rev().copied().collect::<Vec<_>>();
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        let mut codecs = vec![
            json!({"name": "transpose", "configuration": {"order": order}}),
            json!({"name": "bytes", "configuration": {"endian": "big"}}),
        ];
        codecs.extend(compressor);
        let mut document = json!({
            "zarr_format": 3, "node_type": "array", "shape": turned(&shape), "data_type": "uint16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": turned(&chunks)}},
            "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}},
            "fill_value": 0, "attributes": {"_n5": {"dimensions": turned(&shape)}, "a": 1},
            "codecs": [{"name": "n5_default", "configuration": {"codecs": codecs}}],
        });
        let path = Path::new(&n5).join("zarr.json");
        write_json(&path, &document);
        let as_zarr = ["--source-format", "zarr3"];
        let kept = at("kept.zarr");
        let as_n5 = ["--source-format", "n5", "--axes", "keep"];
        rechunk(&[&["copy", &n5, &kept, "-q"], &as_n5[..]].concat()).ok();
        rechunk(&[&["verify", &n5, &kept], &as_zarr[..]].concat()).ok();
        assert_eq!(decoded_sha256(&n5), decoded_sha256(&source), "{codec}: as N5");
        let info = rechunk(&["info", &n5, "--json", "--source-format", "zarr3"]).ok().json();
        assert_eq!(info["format"], "zarr3");
        assert!(info["codecs"].as_str().unwrap().starts_with("n5_default"), "{info}");
        // Written with a chain that every reader has, and nothing that is of N5 alone.
        let copy = at("copy.zarr");
        rechunk(&[&["copy", &n5, &copy, "--verify", "-q"], &as_zarr[..]].concat()).ok();
        let written = std::fs::read_to_string(Path::new(&copy).join("zarr.json")).unwrap();
        assert!(!written.contains("n5"), "{written}");
        rechunk(&["verify", &copy, &kept]).ok();
        // A block may be all there is of a chunk at the edge; what it has not is the fill value.
        document["fill_value"] = json!(9);
        document["attributes"] = json!({});
        write_json(&path, &document);
        rechunk(&[&["verify", &n5, &kept], &as_zarr[..]].concat()).ok();
        // What is no such codec is refused by name.
        let mut order = document["codecs"][0]["configuration"]["codecs"][0].clone();
        order["configuration"]["order"] = json!((0..shape.len()).collect::<Vec<_>>());
        if shape.len() > 1 {
            document["codecs"][0]["configuration"]["codecs"][0] = order;
            write_json(&path, &document);
            let done = rechunk(&["info", &n5, "--source-format", "zarr3"]);
            assert!(done.code == 3 && done.stderr.contains("transpose"), "{}", done.stderr);
        }
    }
}
