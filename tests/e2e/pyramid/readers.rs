//! ome-zarr-py and ngff-zarr: pyramids of their images, read by both.

use serde_json::{Value, json};

use crate::harness::{Folder, copy_directory, rechunk};
use crate::oracle::{World, answer, ask};

const SCRIPT: &str = "tests/oracle/crossings/pyramids.py";
const DIALECTS: [&str; 3] = ["ome-zarr-0.4", "ome-zarr-0.5", "ome-zarr-0.6"];

/// Factors as the command line has them.
fn text(factors: &Value) -> String {
    let numbers = |list: &Value| {
        list.as_array().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    };
    factors.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>().join(";")
}

/// Factors of level 0, and these.
fn with_level_0(factors: &Value, between: &[Value]) -> Vec<Value> {
    let list = factors.as_array().unwrap();
    let ones = json!(vec![1; list[0].as_array().unwrap().len()]);
    [ones].into_iter().chain(between.iter().cloned()).chain(list.iter().cloned()).collect()
}

#[test]
#[ignore = "its packages take minutes to install: just test-pyramids"]
fn ome_zarr_and_ngff_zarr_read_pyramids_of_their_images() {
    if !World::Crossings.is_installed() {
        println!(
            "SKIPPED: ome-zarr and ngff-zarr are not installed (tests/oracle/setup.sh crossings)"
        );
        return;
    }
    let folder = Folder::new();
    let written = ask(World::Crossings, SCRIPT, &["write", &folder.path().display().to_string()]);
    println!("{}", written["versions"]);
    let mut jobs = Vec::new();
    for case in written["cases"].as_array().unwrap() {
        let (name, source) = (case["name"].as_str().unwrap(), case["source"].as_str().unwrap());
        let mut made = |path: &str, factors: Vec<Value>, untouched: &[u64]| {
            jobs.push(
                json!({"name": name, "path": path, "factors": factors, "untouched": untouched}),
            );
        };
        for dialect in DIALECTS {
            let target = folder.at(&format!("{name}-{dialect}.zarr"));
            let factors = text(&case["factors"]);
            let asked = ["pyramid", source, &target, "--factors", &factors, "--as", dialect, "-q"];
            rechunk(&asked).ok();
            made(&target, with_level_0(&case["factors"], &[]), &[]);
        }
        // Level 1 was made by whoever wrote the image, by a method of its own.
        let image = folder.at(&format!("{name}-grown.zarr"));
        copy_directory(source.as_ref(), image.as_ref());
        let added = text(&case["added"]);
        rechunk(&["pyramid", &image, &image, "--factors", &added, "-q"]).ok();
        made(&image, with_level_0(&case["added"], &[json!(null)]), &[1]);
    }
    assert_eq!(jobs.len(), 28);
    let answers = answer(World::Crossings, SCRIPT, &jobs);
    let wrong: Vec<_> =
        jobs.iter().zip(&answers).filter(|(_, found)| **found != json!([])).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), jobs.len());
}
