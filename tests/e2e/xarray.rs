//! Copies of a data set look the same to xarray.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::arrays::RawArray;
use crate::harness::{Folder, fixture, rechunk};
use crate::oracle::{World, answer, available};

/// Kinds of copies, with the `ostia` data set's dimensions.
const COPIES: [&[&str]; 6] = [
    &["--chunks", "auto"],
    &["--format", "zarr2", "--chunks", "time=-1,latitude=9", "--codec", "zstd:1"],
    &[
        "--chunks",
        "time=10,longitude=36",
        "--shards",
        "time=-1,longitude=216",
        "--coords",
        "follow",
    ],
    &["--chunks", "keep", "--coords", "keep"],
    &[
        "--chunks",
        "time=20",
        "--var",
        "surface_temperature: chunks time=-1,latitude=5; codec gzip:1",
    ],
    &["--chunks", "time=1", "--write-empty", "always"],
];

const GROUP: &str = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"title": "two"}}"#;

fn job(a: &str, b: &str, tree: bool) -> Value {
    json!({"a": a, "b": b, "tree": tree})
}

/// Fails with what xarray says of the first pair that is not identical.
fn assert_identical(jobs: &[Value]) {
    let answers = answer(World::Z3, "tests/oracle/same_dataset.py", jobs);
    for (job, difference) in jobs.iter().zip(&answers) {
        assert!(difference.is_null(), "{job}: {}", difference.as_str().unwrap_or_default());
    }
    assert_eq!(answers.len(), jobs.len());
}

/// Copies `source`, and its copy again into the other version.
fn copies(folder: &Folder, name: &str, source: &str, options: &[&str]) -> Vec<String> {
    let (first, second) =
        (folder.at(&format!("{name}.zarr")), folder.at(&format!("{name}-2.zarr")));
    rechunk(&[&["copy", source, &first][..], options].concat()).ok();
    rechunk(&["copy", &first, &second, "--chunks", "auto"]).ok();
    vec![first, second]
}

#[test]
fn a_copy_of_a_data_set_is_identical_to_xarray() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let source = fixture("ostia_monthly.zarr");
    let mut jobs = Vec::new();
    for (number, options) in COPIES.iter().enumerate() {
        let made = copies(&folder, &number.to_string(), &source, options);
        jobs.extend(made.iter().map(|copy| job(&source, copy, false)));
    }
    // What was v3, back in v2.
    let back = folder.at("back.zarr");
    rechunk(&["copy", &folder.at("0.zarr"), &back, "--format", "zarr2", "--chunks", "time=7"]).ok();
    jobs.push(job(&source, &back, false));
    // Chunks that are missing are zero, which is not missing data; nor is it in v2.
    let sparse = folder.at("sparse.zarr");
    RawArray::v3(&[8, 6], &[4, 6]).write(&format!("{sparse}/a"));
    std::fs::remove_file(format!("{sparse}/a/c/1/0")).unwrap();
    let place = format!("{sparse}/a/zarr.json");
    let mut array: Value = serde_json::from_slice(&std::fs::read(&place).unwrap()).unwrap();
    array["dimension_names"] = json!(["y", "x"]);
    std::fs::write(&place, array.to_string()).unwrap();
    std::fs::write(format!("{sparse}/zarr.json"), GROUP).unwrap();
    for format in ["zarr2", "zarr3"] {
        let copy = folder.at(&format!("sparse-{format}.zarr"));
        let options = ["--format", format, "--chunks", "y=2", "--verify"];
        rechunk(&[&["copy", &sparse, &copy][..], &options].concat()).ok();
        jobs.push(job(&sparse, &copy, false));
    }
    // NetCDF files by references, which are Zarr v2 with `_FillValue` as attributes.
    let references = fixture("references/virtualizarr.json");
    let in_version = |format| {
        let copy = folder.at(&format!("references-{format}.zarr"));
        rechunk(&["copy", &references, &copy, "--format", format, "--chunks", "time=-1"]).ok();
        copy
    };
    jobs.push(job(&in_version("zarr2"), &in_version("zarr3"), false));
    // Groups in a group, and what they have above them.
    let tree = folder.at("tree.zarr");
    for below in ["a", "b/c"] {
        rechunk(&["copy", &source, &format!("{tree}/{below}"), "--chunks", "auto"]).ok();
    }
    for place in ["", "b/"] {
        std::fs::write(format!("{tree}/{place}zarr.json"), GROUP).unwrap();
    }
    let copied = folder.at("tree-copy.zarr");
    rechunk(&["copy", &tree, &copied, "--chunks", "time=-1,latitude=9"]).ok();
    jobs.push(job(&tree, &copied, true));
    assert_identical(&jobs);
}

#[test]
fn cast_arrays_are_the_same_data_to_xarray() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    RawArray::v3(&[8, 6], &[4, 6]).of_uint16().write(&format!("{source}/a"));
    let place = format!("{source}/a/zarr.json");
    let mut array: Value = serde_json::from_slice(&std::fs::read(&place).unwrap()).unwrap();
    array["dimension_names"] = json!(["y", "x"]);
    array["attributes"] = json!({"_FillValue": 7});
    std::fs::write(&place, array.to_string()).unwrap();
    std::fs::write(format!("{source}/zarr.json"), GROUP).unwrap();
    let mut jobs = Vec::new();
    // To a float, on to another, back to an integer; in either version, and from one to the other.
    let mut from = source.clone();
    for (number, (cast, format)) in [
        ("float64", "zarr3"),
        ("float32", "zarr3"),
        ("int32", "zarr3"),
        ("float64", "zarr2"),
        ("float32", "zarr2"),
        ("int16", "zarr3"),
    ]
    .into_iter()
    .enumerate()
    {
        let copy = folder.at(&format!("{number}.zarr"));
        let options = ["--cast", cast, "--format", format, "--chunks", "y=2"];
        rechunk(&[&["copy", &from, &copy][..], &options].concat()).ok();
        jobs.push(job(&source, &copy, false));
        from = copy;
    }
    assert_identical(&jobs);
}

#[test]
fn copies_of_public_data_sets_are_identical_to_xarray() {
    let Some(data) = std::env::var_os("RECHUNK_TEST_DATA").map(PathBuf::from) else {
        println!(
            "SKIPPED: RECHUNK_TEST_DATA is not set, the larger public data sets are not copied"
        );
        return;
    };
    if !available() {
        return;
    }
    let folder = Folder::new();
    let mut jobs = Vec::new();
    for name in ["eraint_uvz.v2.zarr", "eraint_uvz.v3-sharded.zarr", "trefht2.v2.zarr"] {
        let source = data.join("built").join(name).display().to_string();
        let made = copies(&folder, name, &source, &["--chunks", "auto", "--codec", "zstd:1"]);
        jobs.extend(made.iter().map(|copy| job(&source, copy, false)));
    }
    // In Zarr v2 the fill value is a missing one: it cannot stay zero.
    let (sharded, v2) = (data.join("built/eraint_uvz.v3-sharded.zarr"), folder.at("v2.zarr"));
    let sharded = sharded.display().to_string();
    let copy = ["copy", &sharded, &v2, "--format", "zarr2", "--chunks", "auto", "--verify"];
    rechunk(&copy).ok().says(&[
        "level: xarray takes the fill value of Zarr v2 for missing data",
        "(and 4 more arrays)",
    ]);
    jobs.push(job(&sharded, &v2, false));
    assert_identical(&jobs);
}
