//! Chunks as long as a time (`--chunks time=30D`): what people read of them.

use std::fs;

use serde_json::json;

use crate::arrays::write_json;
use crate::harness::{Folder, Run};

#[test]
fn a_plan_says_what_a_time_became() {
    let folder = Folder::new();
    let place = |name: &str| folder.path().join("a.zarr").join(name);
    for (name, shape, data_type) in [("v", json!([100, 4]), "<f4"), ("time", json!([100]), "<i4")] {
        fs::create_dir_all(place(name)).unwrap();
        let dimensions = if name == "v" { json!(["time", "x"]) } else { json!(["time"]) };
        write_json(
            &place(name).join(".zarray"),
            &json!({"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": data_type,
                "compressor": null, "fill_value": 0, "order": "C", "filters": null}),
        );
        let attributes =
            json!({"_ARRAY_DIMENSIONS": dimensions, "units": "hours since 1900-01-01"});
        write_json(&place(name).join(".zattrs"), &attributes);
    }
    write_json(&place(".zgroup"), &json!({"zarr_format": 2}));
    let hours: Vec<u8> = (0..100_i32).flat_map(|at| (6 * at).to_le_bytes()).collect();
    fs::write(place("time/0"), hours).unwrap();
    let plan = |source: &str, chunks: &str| {
        let arguments = ["plan", source, "--chunks", chunks];
        Run::rechunk(&arguments).in_directory(folder.path()).go()
    };
    let array = plan("a.zarr/v", "time=1W,x=2").ok();
    assert!(array.stdout.contains("chunks 28 × 2"), "{}", array.stdout);
    assert!(array.stdout.contains("\n  times   time=1W (28)\n"), "{}", array.stdout);
    let group = plan("a.zarr", "time=10D").ok();
    assert!(group.stdout.contains("\n  times   time=10D (40)\n"), "{}", group.stdout);
    let here = ["plan", ".", "--chunks", "time=1W,x=2"];
    let here = Run::rechunk(&here).in_directory(&place("v")).go().ok();
    assert!(here.stdout.contains("chunks 28 × 2"), "{}", here.stdout);
    plan("a.zarr/v", "time=5h").ends_with(2).says(&[
        "--chunks: time=5h: the values of `time` are 6 hours apart",
        "give a number of elements, e.g. time=1",
    ]);
}
