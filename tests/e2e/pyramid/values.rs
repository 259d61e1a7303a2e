//! Elements of levels.

use std::path::Path;

use serde_json::{Value, json};

use super::{SCRIPT, assert_right, attributes, document, image, made};
use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, on_two_threads, rechunk, tree};
use crate::oracle::{World, answer};

const METHODS: [&str; 6] = ["mean", "mode", "median", "min", "max", "stride"];

/// Sources of the oracle, chunks of the target, and factors of levels.
const SOURCES: [(&str, &str, &[&[u64]]); 10] = [
    ("line.zarr", "9", &[&[2], &[3], &[8]]),
    ("plane.zarr", "keep", &[&[2, 2], &[4, 6], &[5, 16]]),
    ("signed.zarr", "keep", &[&[2, 2], &[2, 3]]),
    ("volume.zarr", "3,9,9", &[&[1, 2, 2], &[3, 8, 20]]),
    ("large.zarr", "keep", &[&[2, 2], &[3, 4]]),
    ("unsigned.zarr", "keep", &[&[1, 1, 2, 2], &[2, 3, 4, 6]]),
    ("bits.zarr", "keep", &[&[2, 2], &[3, 5]]),
    ("floats.zarr", "keep", &[&[1, 1, 1, 2, 2], &[2, 1, 3, 8, 8]]),
    ("turned.zarr", "10,10", &[&[2, 2], &[3, 4]]),
    ("file.npy", "5,8,8", &[&[1, 2, 2], &[5, 4, 4]]),
];

/// A pyramid to be made, and compared with that of the oracle.
#[derive(Debug, Clone)]
struct Case {
    source: String,
    target: String,
    factors: Vec<Vec<u64>>,
    /// Method, size, rounding, and from where.
    how: [&'static str; 4],
    more: Vec<&'static str>,
}

impl Case {
    /// Makes it; the job for the oracle.
    fn run(&self) -> Value {
        let list = |factors: &Vec<u64>| {
            factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        };
        let factors: Vec<String> = self.factors.iter().map(list).collect();
        let [method, size, rounding, from] = self.how;
        let mut arguments = vec!["pyramid", &self.source, &self.target, "-q", "--no-fsync"];
        let factors = factors.join(";");
        arguments.extend(["--factors", &factors, "--method", method, "--size", size]);
        arguments.extend(["--round", rounding, "--from", from]);
        arguments.extend(&self.more);
        rechunk(&arguments).ok();
        let rank = self.factors[0].len();
        let all: Vec<_> = [vec![1; rank]].into_iter().chain(self.factors.clone()).collect();
        let paths: Vec<String> =
            (0..all.len()).map(|level| format!("{}/s{level}", self.target)).collect();
        json!({"do": "levels", "source": self.source, "paths": paths, "factors": all,
               "method": method, "size": size, "rounding": rounding, "from": from})
    }
}

/// Cases of every source, with its chunks, in each of these ways.
fn cases(folder: &Folder, ways: &[[&'static str; 4]]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, chunks, factors) in SOURCES {
        for how in ways {
            cases.push(Case {
                source: folder.at(name),
                target: folder.at(&format!("target-{}.zarr", cases.len())),
                factors: factors.iter().map(|factors| factors.to_vec()).collect(),
                how: *how,
                more: vec!["--chunks", chunks],
            });
        }
    }
    cases
}

#[test]
fn levels_are_those_of_tensorstore() {
    let Some(folder) = made() else { return };
    let ways = METHODS.map(|method| [method, "ceil", "half-even", "s0"]);
    assert_right(&on_two_threads(&cases(&folder, &ways), Case::run));
}

#[test]
fn means_are_rounded_once_as_asked() {
    let Some(folder) = made() else { return };
    let ways = [
        ["mean", "floor", "half-away", "s0"],
        ["mean", "floor", "down", "s0"],
        ["mean", "ceil", "half-away", "s0"],
        ["median", "floor", "half-away", "s0"],
    ];
    assert_right(&on_two_threads(&cases(&folder, &ways), Case::run));
}

#[test]
fn levels_of_the_level_before_are_rounded_each() {
    let Some(folder) = made() else { return };
    let mut cases = Vec::new();
    for size in ["floor", "ceil"] {
        for (source, factors) in [
            ("plane.zarr", vec![vec![2, 2], vec![4, 4], vec![4, 16]]),
            ("signed.zarr", vec![vec![1, 3], vec![2, 6]]),
            ("volume.zarr", vec![vec![2, 2, 1], vec![2, 4, 4], vec![6, 8, 8]]),
        ] {
            cases.push(Case {
                source: folder.at(source),
                target: folder.at(&format!("target-{}.zarr", cases.len())),
                factors,
                how: ["mean", size, "half-away", "previous"],
                more: vec![],
            });
        }
    }
    assert_right(&on_two_threads(&cases, Case::run));
}

#[test]
fn chunks_and_shards_are_those_asked_for() {
    let Some(folder) = made() else { return };
    let shards = ["--chunks", "1,1,8,8,8", "--shards", "1,3,16,16,16", "--codec", "zstd:1"];
    let case = Case {
        source: folder.at("times.zarr"),
        target: folder.at("target.zarr"),
        factors: vec![vec![1, 1, 1, 2, 2], vec![1, 1, 2, 4, 4]],
        how: ["mean", "floor", "half-away", "s0"],
        more: shards.to_vec(),
    };
    assert_right(&[case.run()]);
    for (level, inner, outer) in [
        ("s0", [1, 1, 8, 8, 8], [1, 3, 16, 16, 16]),
        ("s1", [1, 1, 8, 8, 8], [1, 3, 16, 8, 16]),
        ("s2", [1, 1, 4, 4, 5], [1, 3, 4, 4, 5]),
    ] {
        let info = rechunk(&["info", &format!("{}/{level}", case.target), "--json"]).ok().json();
        assert_eq!((&info["chunk_shape"], &info["shard_shape"]), (&json!(inner), &json!(outer)));
        assert!(info["codecs"].to_string().contains("zstd"), "{info:#}");
    }
}

#[test]
fn chunks_that_nothing_is_stored_for_are_not_written() {
    let Some(folder) = made() else { return };
    for (rule, target) in [("fill", "fill.zarr"), ("skip", "skip.zarr")] {
        let case = Case {
            source: folder.at("gaps.zarr"),
            target: folder.at(target),
            factors: vec![vec![3, 3], vec![4, 4]],
            how: ["mean", "ceil", "half-away", "s0"],
            more: vec!["--missing", rule],
        };
        let job = case.run();
        for (level, files) in [("s0", 1), ("s1", 1), ("s2", 1)] {
            let tree = tree(&Path::new(&case.target).join(level).join("c"));
            assert_eq!(tree.values().filter(|digest| !digest.is_empty()).count(), files, "{level}");
        }
        if rule == "fill" {
            assert_right(&[job]);
        } else {
            // The cell of elements 15, 16 and 17, of which only 15 is stored, is its mean.
            let problems = &answer(World::Z3, SCRIPT, &[job])[0];
            assert_eq!(problems.as_array().unwrap().len(), 1, "{problems}");
            assert!(problems[0].to_string().contains("mean [3, 3]"), "{problems}");
        }
    }
}

/// A chunk that is not stored reads as the source's fill value; most formats have another or none.
#[test]
fn fill_values_are_written_where_the_target_has_another() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    let array = RawArray::v3(&[8, 24, 20], &[4, 8, 10]).of_uint16();
    array.write(&source);
    let metadata = format!("{source}/zarr.json");
    let mut said = document(&metadata);
    said["fill_value"] = json!(7);
    write_json(metadata.as_ref(), &said);
    for chunk in ["c/0/1/0", "c/1/0/0", "c/1/1/0", "c/1/2/0", "c/1/0/1", "c/1/1/1", "c/1/2/1"] {
        std::fs::remove_file(format!("{source}/{chunk}")).unwrap();
    }
    for missing in ["fill", "skip"] {
        let run = |target: &str, more: &[&str]| {
            let target = folder.at(&format!("{target}-{missing}"));
            let how = ["--factors", "2,2,2;4,4,4", "--chunks", "4,4,5", "--missing", missing];
            let arguments = [&["pyramid", &source, &target, "--verify"][..], &how, more].concat();
            rechunk(&arguments).ok();
            target
        };
        // It has the fill value, and is compared with other libraries elsewhere.
        let expected = run("zarr3", &["--as", "plain"]);
        for (name, more, levels) in [
            ("zarr2", &["--as", "plain", "--format", "zarr2"][..], ["s0", "s1", "s2"]),
            ("n5", &["--as", "plain", "--format", "n5"], ["s0", "s1", "s2"]),
            (
                "n5-never",
                &["--as", "plain", "--format", "n5", "--write-empty", "never"],
                ["s0", "s1", "s2"],
            ),
            (
                "bdv",
                &["--as", "bdv-n5"],
                ["setup0/timepoint0/s0", "setup0/timepoint0/s1", "setup0/timepoint0/s2"],
            ),
            ("precomputed", &["--as", "precomputed"], ["1_1_1", "2_2_2", "4_4_4"]),
            (
                "sharded",
                &["--as", "precomputed", "--shards", "8,8,10"],
                ["1_1_1", "2_2_2", "4_4_4"],
            ),
        ] {
            let target = run(name, more);
            for (level, found) in levels.iter().enumerate() {
                let (expected, found) =
                    (format!("{expected}/s{level}"), format!("{target}/{found}"));
                rechunk(&["verify", &expected, &found, "-q"]).ok();
            }
        }
    }
}

/// Requests are counted for the array that they are for: those of the source for level 0.
#[test]
fn each_array_has_its_own_traffic() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    RawArray::v3(&[8, 24, 20], &[4, 8, 10]).write(&source);
    let how = ["--as", "plain", "--factors", "2,2,2;4,4,4", "--chunks", "4,4,5", "--json"];
    let report = rechunk(&[&["pyramid", &source, &folder.at("t")][..], &how].concat()).ok().json();
    let arrays = report["arrays"].as_array().unwrap();
    for count in ["get_requests", "read_bytes", "decoded_read_bytes"] {
        let of = |array: &Value, what: &str| array[what]["source"][count].as_u64().unwrap();
        for array in arrays {
            assert_eq!(of(array, "traffic"), of(array, "estimate"), "{} {count}", array["path"]);
        }
        assert!(of(&arrays[0], "traffic") > 0);
        let sum: u64 = arrays.iter().map(|array| of(array, "traffic")).sum();
        assert_eq!(sum, of(&report, "traffic"), "{count}");
    }
}

#[test]
fn labels_stay_labels() {
    let Some(folder) = made() else { return };
    let run = |source: &str, target: &str, more: &[&str]| {
        let (source, target) = (folder.at(source), folder.at(target));
        let levels = ["--factors", "2,2", "--no-fsync"];
        let done = rechunk(&[&["pyramid", &source, &target][..], &levels, more].concat()).ok();
        assert_eq!(image(&target)["type"], "mode");
        let paths = [format!("{target}/s0"), format!("{target}/s1")];
        assert_right(&[json!({"do": "levels", "source": source, "paths": paths,
            "factors": [[1, 1], [2, 2]], "method": "mode", "size": "floor",
            "rounding": "half-away", "from": "s0"})]);
        (done, target)
    };
    let (done, target) = run("plane.zarr", "labels.zarr", &["--labels"]);
    assert!(attributes(&target)["ome"]["image-label"].is_object());
    assert!(!done.stderr.contains("warning"), "{}", done.stderr);
    let (_, target) = run("bits.zarr", "bits-out.zarr", &[]);
    assert!(attributes(&target)["ome"]["image-label"].is_null());
    // An image that says it is one, and more of its labels.
    let group = format!("{target}/zarr.json");
    let mut said = document(&group);
    said["attributes"]["ome"]["image-label"] =
        json!({"colors": [{"label-value": 1, "rgba": [1, 2, 3, 4]}]});
    write_json(group.as_ref(), &said);
    rechunk(&["copy", &folder.at("plane.zarr"), &folder.at("other"), "-q"]).ok();
    std::fs::remove_dir_all(format!("{target}/s0")).unwrap();
    std::fs::rename(folder.at("other"), format!("{target}/s0")).unwrap();
    let (_, carried) = run("bits-out.zarr/s0", "carried.zarr", &[]);
    let label = &attributes(&carried)["ome"]["image-label"];
    assert_eq!(label["colors"], json!([{"label-value": 1, "rgba": [1, 2, 3, 4]}]));
    let (source, means) = (format!("{target}/s0"), folder.at("means.zarr"));
    let asked = ["pyramid", &source, &means, "--factors", "2,2", "--method", "mean"];
    rechunk(&asked).ok().says(&["elements are labels"]);
}

/// Halves that voxels allow: the plane is halved until voxels are cubes.
#[test]
fn levels_that_are_counted_keep_voxels_as_cubic_as_they_can() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[12, 64, 80], &[12, 64, 80]).of_uint16().write(&source);
    let array = format!("{source}/zarr.json");
    let mut said = document(&array);
    said["attributes"] = json!({"resolution": [4.0, 1.0, 1.0]});
    write_json(array.as_ref(), &said);
    let shapes = |levels: &[&str]| {
        let _ = std::fs::remove_dir_all(&target);
        rechunk(&[&["pyramid", &source, &target, "-q"][..], levels].concat()).ok();
        let levels = image(&target)["datasets"].as_array().unwrap().len();
        let shape = |level| document(&format!("{target}/s{level}/zarr.json"))["shape"].clone();
        (0..levels).map(shape).collect::<Vec<_>>()
    };
    let all = [json!([12, 64, 80]), json!([12, 32, 40]), json!([12, 16, 20]), json!([6, 8, 10])];
    assert_eq!(shapes(&["--levels", "3"]), all);
    assert_eq!(shapes(&["--until", "20"]), all[..3]);
    assert_eq!(shapes(&["--until", "12"]), all);
}
