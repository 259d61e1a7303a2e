//! Levels of data sets as sources and targets: `datastore+http://…`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::serving::{BYTES, Serving};
use crate::harness::{Done, Folder, Run, tree};

/// Elements along z, y, x: whole blocks in no axis.
pub(super) const SHAPE: [u64; 3] = [19, 53, 71];

/// A server of data sets, and a place for what is copied to and from it.
pub(super) struct Lab {
    pub folder: Folder,
    pub serving: Serving,
}

impl Lab {
    pub(super) fn new() -> Self {
        let folder = Folder::new();
        let serving = Serving::start(&["datastore", &folder.at("root"), "--write"]);
        Self { folder, serving }
    }

    pub(super) fn at(&self, name: &str) -> String {
        self.folder.at(name)
    }

    /// Creates a data set of `SHAPE`, with these changes; its name.
    pub(super) fn create(&self, changes: &Value) -> String {
        let [z, y, x] = SHAPE;
        let mut description = json!({
            "voxelType": "uint16", "dimensions": [x, y, z], "compression": "gzip",
            "voxelUnit": "um", "voxelResolution": [0.4, 0.4, 1.0],
            "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [16, 16, 8]}],
        });
        for (key, value) in changes.as_object().unwrap() {
            description[key] = value.clone();
        }
        let body = description.to_string().into_bytes();
        let (status, id) =
            self.serving.ask("POST", "/datasets", "application/json", &body).unwrap();
        assert_eq!(status, 200, "{id:?}");
        String::from_utf8(id).unwrap()
    }

    /// Location of a version of the finest level.
    pub(super) fn level(&self, id: &str, version: &str) -> String {
        format!("datastore+{}", self.serving.url(&format!("datasets/{id}/1/1/1/{version}")))
    }

    pub(super) fn versions(&self, id: &str) -> Value {
        let (status, body) =
            self.serving.ask("GET", &format!("/datasets/{id}"), BYTES, b"").unwrap();
        assert_eq!(status, 200);
        serde_json::from_slice::<Value>(&body).unwrap()["versions"].clone()
    }

    /// Blocks that a version has, by their keys.
    pub(super) fn blocks(&self, id: &str, version: u64) -> Vec<String> {
        let place = self.at(&format!("root/{id}/{version}/export.n5"));
        let all = if Path::new(&place).exists() { tree(place.as_ref()) } else { BTreeMap::new() };
        all.into_keys().filter(|key| key.split('/').count() == 6).collect()
    }

    /// Runs the program where state of runs may be left.
    pub(super) fn run(&self, words: &[&str]) -> Done {
        Run::rechunk(words).in_directory(self.folder.path()).go()
    }

    /// Runs it, and holds what it counted to what it had predicted.
    pub(super) fn run_counted(&self, words: &[&str]) -> Value {
        let report = self.run(&[words, &["--json", "--max-mem", "64MiB"]].concat()).ok().json();
        for role in ["source", "target"] {
            let (planned, counted) = (&report["estimate"][role], &report["traffic"][role]);
            let gets = |of: &Value| {
                of["get_requests"].as_u64().unwrap_or(0) + of["get_missing"].as_u64().unwrap_or(0)
            };
            let puts = |of: &Value| {
                of["put_requests"].as_u64().unwrap_or(0) + of["put_skipped"].as_u64().unwrap_or(0)
            };
            assert_eq!(gets(counted), gets(planned), "{role}: {report:#}");
            assert_eq!(puts(counted), puts(planned), "{role}: {report:#}");
        }
        report
    }
}

/// Writes an array of one chunk, as Zarr v2, of bytes that look like none other. Its bytes.
pub(super) fn write_array(path: &str, dtype: &str, shape: &[u64], seed: u64) -> Vec<u8> {
    std::fs::create_dir_all(path).unwrap();
    let item: u64 = dtype[2..].parse().unwrap();
    let document = json!({
        "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "compressor": null,
        "fill_value": 0, "order": "C", "filters": null, "dimension_separator": ".",
    });
    std::fs::write(format!("{path}/.zarray"), document.to_string()).unwrap();
    let count = shape.iter().product::<u64>() * item;
    let byte = |at: u64| {
        let at = (at + seed * 1_000_003).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        at.to_be_bytes()[1]
    };
    let bytes: Vec<u8> = (0..count).map(byte).collect();
    let key = vec!["0"; shape.len()].join(".");
    std::fs::write(format!("{path}/{key}"), &bytes).unwrap();
    bytes
}

/// Options of a copy to one chunk as it is.
fn plain(shape: &[u64]) -> Vec<String> {
    let chunks = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    ["--format", "zarr2", "--codec", "none", "--chunks"]
        .into_iter()
        .map(ToOwned::to_owned)
        .chain([chunks])
        .collect()
}

#[test]
fn row_19_elements_of_every_type_go_there_and_back() {
    let lab = Lab::new();
    let types = [
        ("|u1", "uint8"),
        ("<u2", "uint16"),
        ("<u4", "uint32"),
        ("<u8", "uint64"),
        ("|i1", "int8"),
        ("<i2", "int16"),
        ("<i4", "int32"),
        ("<i8", "int64"),
        ("<f4", "float32"), // with every kind of NaN
        ("<f8", "float64"),
    ];
    for (seed, (dtype, name)) in (0..).zip(types) {
        let id = lab.create(&json!({ "voxelType": name }));
        let (source, back) = (lab.at(&format!("{name}.zarr")), lab.at(&format!("{name}.back")));
        let sent = write_array(&source, dtype, &SHAPE, seed);
        let there = lab.level(&id, "0");
        lab.run_counted(&["copy", &source, &there]);
        let options = plain(&SHAPE);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let report = lab.run_counted(&[&["copy", &there, &back][..], &options].concat());
        assert!(std::fs::read(format!("{back}/0.0.0")).unwrap() == sent, "{name}");
        // 60 blocks; some wait until a request can go.
        let attempts = report["traffic"]["source"]["http_attempts"].as_u64().unwrap();
        assert_eq!(report["traffic"]["source"]["get_requests"], 60);
        assert!((1..=60).contains(&attempts), "{attempts}");
        // And where BigDataViewer reads them.
        let array = lab.at(&format!("root/{id}/0/export.n5/setup0/timepoint0/s0"));
        lab.run(&["verify", &source, &array]).ok();
    }
    assert!(!Path::new(&lab.at("root/.rechunk")).exists());
}

#[test]
fn rows_41_42_44_versions_are_read_as_they_are_named() {
    let lab = Lab::new();
    let id = lab.create(&json!({}));
    let [first, second] = ["first.zarr", "second.zarr"].map(|name| lab.at(name));
    write_array(&first, "<u2", &SHAPE, 1);
    write_array(&second, "<u2", &[8, 16, 16], 2);
    lab.run(&["copy", &first, &lab.level(&id, "latest")]).ok();
    // Row 16: a version is made once for each run that asks for one.
    for number in 1..3 {
        let target = lab.level(&id, "new");
        let report = lab.run_counted(&["copy", &second, &target, "--region", "8:16,16:32,0:16"]);
        assert_eq!(report["version_made"], lab.level(&id, &number.to_string()));
    }
    assert_eq!(lab.versions(&id), json!([0, 1, 2]));
    let part = |version: &str, select: &str| {
        let target = lab.at("part.zarr");
        let _ = std::fs::remove_dir_all(&target);
        lab.run(&["copy", &lab.level(&id, version), &target, "--select", select]).ok();
        target
    };
    let written = "8:16,16:32,0:16";
    for version in ["1", "2", "latest", "mixedLatest"] {
        lab.run(&["verify", &second, &part(version, written)]).ok();
    }
    // Elsewhere the newest version has nothing, and the mixed one what the first has.
    let beside = "0:8,0:53,0:71";
    let reference = lab.at("reference.zarr");
    lab.run(&["copy", &first, &reference, "--select", beside]).ok();
    lab.run(&["verify", &reference, &part("mixedLatest", beside)]).ok();
    lab.run(&["verify", &reference, &part("latest", beside)]).ends_with(6);
    assert_eq!(lab.blocks(&id, 2).len(), 1, "only what was sent is stored");
}

#[test]
fn times_channels_and_angles_are_axes_or_are_chosen() {
    let lab = Lab::new();
    let counts = json!({
        "timepointIds": [3, 7], "channels": 3, "angles": 2, "dimensions": [20, 10, 9],
        "timepointResolution": {"value": 2.0, "unit": "min"},
    });
    let id = lab.create(&counts);
    let shape = [2, 2, 3, 9, 10, 20];
    let source = lab.at("all.zarr");
    let sent = write_array(&source, "<u2", &shape, 5);
    let there = lab.level(&id, "latest");
    lab.run_counted(&["copy", &source, &there]);
    let said = lab.run(&["info", &there]).ok();
    for line in [
        "shape       a 2 × t 2 × c 3 × z 9 × y 10 × x 20",
        "chunks      1 × 1 × 1 × 8 × 16 × 16 (4.00 KiB)",
        "resolution = [0.4,0.4,1.0,1.0,2.0,1.0]",
        "units = [\"um\",\"um\",\"um\",\"\",\"min\",\"\"]",
    ] {
        assert!(said.stdout.contains(line), "{line}\n{}", said.stdout);
    }
    let back = lab.at("back.zarr");
    let options = plain(&shape);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    lab.run_counted(&[&["copy", &there, &back][..], &options].concat());
    assert!(std::fs::read(format!("{back}/0.0.0.0.0.0")).unwrap() == sent);
    for (angle, time, channel) in [(0, 3, 0), (1, 7, 2), (0, 7, 1)] {
        let chosen = format!("{there}?time={time}&channel={channel}&angle={angle}");
        let setup = channel * 2 + angle;
        let array = lab.at(&format!("root/{id}/0/export.n5/setup{setup}/timepoint{time}/s0"));
        lab.run(&["verify", &chosen, &array]).ok();
    }
    // One view of another version, and nothing else of it.
    let view = lab.at("view.zarr");
    write_array(&view, "<u2", &[9, 10, 20], 6);
    let target = format!("{}?angle=1&channel=2&time=7", lab.level(&id, "new"));
    lab.run_counted(&["copy", &view, &target]);
    lab.run(&["verify", &view, &lab.at(&format!("root/{id}/1/export.n5/setup5/timepoint7/s0"))])
        .ok();
    let blocks = lab.blocks(&id, 1);
    assert!(blocks.iter().all(|key| key.starts_with("setup5/timepoint7/")), "{blocks:?}");
}

#[test]
fn rows_25_26_blocks_at_the_edge_are_sent_clipped_and_read_whole() {
    let lab = Lab::new();
    let id = lab.create(&json!({ "dimensions": [20, 16, 8] }));
    let source = lab.at("edge.zarr");
    write_array(&source, "<u2", &[8, 16, 20], 3);
    let there = lab.level(&id, "0");
    lab.run_counted(&["copy", &source, &there]);
    let path = format!("/datasets/{id}/1/1/1/0/1/0/0/0/0/0");
    let (status, block) = lab.serving.ask("GET", &path, BYTES, b"").unwrap();
    assert_eq!((status, &block[..12]), (200, &[0, 0, 0, 4, 0, 0, 0, 16, 0, 0, 0, 8][..]));
    // Another client stores it in full: beyond the image there is nothing to be read.
    let mut full = [16_u32, 16, 8].map(u32::to_be_bytes).concat();
    for row in block[12..].chunks(8) {
        full.extend_from_slice(row);
        full.extend_from_slice(&[0xee; 24]);
    }
    assert_eq!(lab.serving.ask("POST", &path, BYTES, &full).unwrap().0, 200);
    lab.run(&["verify", &source, &there]).ok();
}

#[test]
fn row_38_many_blocks_go_in_requests_that_any_server_takes() {
    let lab = Lab::new();
    let shape = [40, 96, 96];
    let level = json!([{"resolutions": [1, 1, 1], "blockDimensions": [8, 8, 8]}]);
    let id = lab.create(&json!({
        "dimensions": [96, 96, 40], "resolutionLevels": level, "compression": "raw",
    }));
    let source = lab.at("many.zarr");
    write_array(&source, "<u2", &shape, 4);
    let there = lab.level(&id, "0");
    lab.run_counted(&["copy", &source, &there, "--verify"]);
    let report = lab.run_counted(&["copy", &there, &lab.at("b.zarr"), "--chunks", "40,96,96"]);
    let (blocks, requests) = (
        &report["traffic"]["source"]["get_requests"],
        &report["traffic"]["source"]["http_attempts"],
    );
    assert_eq!(blocks, 720);
    assert!(requests.as_u64().unwrap() < 360, "{requests} requests for 720 blocks");
    let Lab { mut serving, folder: _folder } = lab;
    serving.signal(rustix::process::Signal::TERM);
    let (_, said) = serving.ended();
    let paths = said.lines().filter_map(|line| line.split_once("path=\"")?.1.split_once('"'));
    let longest = paths.map(|(path, _)| path.len()).max().unwrap();
    assert!((150..2000).contains(&longest), "{longest}");
}

#[test]
fn a_pyramid_of_a_version_is_that_of_its_array() {
    let lab = Lab::new();
    let id = lab.create(&json!({}));
    let source = lab.at("a.zarr");
    write_array(&source, "<u2", &SHAPE, 7);
    lab.run(&["copy", &source, &lab.level(&id, "0")]).ok();
    for (from, to) in [(lab.level(&id, "latest"), "there.zarr"), (source, "here.zarr")] {
        let target = lab.at(to);
        let words =
            ["pyramid", &from, &target, "--factors", "1,2,2;2,4,4", "--as", "plain", "--chunks"];
        lab.run(&[&words[..], &["16,32,32"]].concat()).ok();
    }
    for level in ["s0", "s1", "s2"] {
        let of = |name: &str| lab.at(&format!("{name}/{level}"));
        lab.run(&["verify", &of("there.zarr"), &of("here.zarr")]).ok();
    }
    // The other levels of a data set are arrays of their own.
    let levels = json!([
        {"resolutions": [1, 1, 1], "blockDimensions": [16, 16, 8]},
        {"resolutions": [2, 2, 1], "blockDimensions": [16, 16, 8]},
    ]);
    let id = lab.create(&json!({ "resolutionLevels": levels }));
    let coarse = lab.at("coarse.zarr");
    write_array(&coarse, "<u2", &[19, 26, 35], 8);
    let level = lab.level(&id, "0").replace("/1/1/1/0", "/2/2/1/0");
    lab.run_counted(&["copy", &coarse, &level]);
    lab.run(&["verify", &coarse, &lab.at(&format!("root/{id}/0/export.n5/setup0/timepoint0/s1"))])
        .ok();
}

#[test]
fn what_cannot_be_is_refused_and_says_what_can() {
    let lab = Lab::new();
    let id = lab.create(&json!({}));
    let source = lab.at("a.zarr");
    write_array(&source, "<u2", &SHAPE, 1);
    let level = |version: &str| lab.level(&id, version);
    let other = lab.at("other.zarr");
    write_array(&other, "<f4", &[3, 4, 5], 1);
    let floats = lab.at("floats.zarr");
    write_array(&floats, "<f4", &SHAPE, 1);
    let nowhere = level("0").replace(&id, "nowhere");
    let served = format!("datastore+{}", lab.serving.url("metrics/datasets/x/1/1/1/0"));
    let coarse = level("0").replace("/1/1/1/", "/3/3/3/");
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["info", &nowhere], 3, &["there is no data set \"nowhere\""]),
        (&["info", &coarse], 3, &["no level 3/3/3, but 1/1/1"]),
        (&["info", &level("9")], 3, &["no version 9, but 0"]),
        (&["info", &level("new")], 2, &["`new` is a version that is written"]),
        (&["info", &format!("{}?channel=1", level("0"))], 3, &["no channel 1, but 0 to 0"]),
        (&["info", &format!("{}?time=9", level("0"))], 3, &["no time 9"]),
        (&["info", &format!("{}?secret=canary", level("0"))], 3, &["time=N"]),
        (&["info", &format!("datastore+{}", lab.serving.url("x"))], 3, &["RX/RY/RZ/VERSION"]),
        (&["info", &served], 3, &["there is no data set"]),
        (&["copy", &source, &nowhere], 4, &["curl -X POST", "\"dimensions\":[71,53,19]"]),
        (&["copy", &other, &level("0")], 4, &["holds uint16"]),
        (&["copy", &floats, &level("0")], 4, &["holds uint16", "--cast"]),
        (&["copy", &source, &level("mixedLatest")], 2, &["only read", "`new`"]),
        (&["copy", &source, &level("0"), "--chunks", "4,4,4"], 2, &["keeps its own"]),
        (&["copy", &source, &level("0"), "--overwrite"], 2, &["keep"]),
        (&["copy", &source, &level("0"), "--append", "0"], 2, &["cannot append", "regions"]),
        (&["copy", &level("latest"), &level("0")], 4, &["has the blocks of"]),
        (&["copy", &level("mixedLatest"), &level("new")], 4, &["has the blocks of"]),
        (&["copy", &source, &level("new"), "--resume"], 4, &["no interrupted run"]),
        (&["pyramid", &source, &level("0"), "--levels", "2"], 2, &["it is one level"]),
    ];
    for (words, code, said) in cases {
        let run = lab.run(words).ends_with(*code);
        assert!(!run.stderr.contains("canary"), "{}", run.stderr);
        run.says(said);
    }
    let shape = lab.create(&json!({ "dimensions": [71, 53, 20] }));
    lab.run(&["copy", &source, &lab.level(&shape, "0")])
        .ends_with(4)
        .says(&["has the shape 20 × 53 × 71, and the source 19 × 53 × 71", "curl -X POST"]);
    assert_eq!(lab.versions(&id), json!([0]), "nothing was begun");
    // A server that is read only says so.
    let reader = Serving::start(&["datastore", &lab.at("root")]);
    let target = format!("datastore+{}", reader.url(&format!("datasets/{id}/1/1/1/0")));
    lab.run(&["copy", &source, &target]).fails().says(&["403"]);
    // The hint works as it is.
    let said = lab.run(&["copy", &source, &nowhere]).stderr;
    let body = said.split_once("-d '").unwrap().1.split_once('\'').unwrap().0;
    let body = body.replace('\n', "");
    let (status, id) =
        lab.serving.ask("POST", "/datasets", "application/json", body.as_bytes()).unwrap();
    assert_eq!(status, 200, "{body}");
    let id = String::from_utf8(id).unwrap();
    lab.run(&["copy", &source, &lab.level(&id, "0"), "--verify"]).ok();
}
