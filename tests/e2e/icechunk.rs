//! Icechunk repositories as a source, against the package icechunk: what it writes here and now is
//! read as it and zarr-python read it. (Those of the past are in `fixtures/icechunk`.)

use std::fs;

use serde_json::Value;

use crate::harness::{Folder, copy_directory, fixture, rechunk};
use crate::oracle::{World, ask, available, python};

const SCRIPT: &str = "tests/oracle/icechunk_repo.py";

/// Writes a repository; returns digests of the arrays of each version.
fn written(place: &str, outside: &str) -> Value {
    let said = python(World::Icechunk, SCRIPT, &[place, outside], b"");
    serde_json::from_slice(&said).unwrap()
}

#[test]
fn what_the_package_writes_is_read_as_it_reads_it() {
    if !available() || !World::Icechunk.is_installed() {
        eprintln!("SKIPPED: there is no environment of icechunk (tests/oracle/setup.sh icechunk)");
        return;
    }
    let folder = Folder::new();
    let outside = folder.at("outside");
    fs::create_dir(&outside).unwrap();
    python(World::Icechunk, SCRIPT, &["--virtual", &format!("{outside}/virtual.bin")], b"");
    let place = folder.at("weather.icechunk");
    let expected = written(&place, &format!("file://{outside}/"));
    let versions = expected.as_object().unwrap();
    assert_eq!(versions.len(), 7);
    let mut targets = Vec::new();
    for (number, version) in versions.keys().enumerate() {
        let (source, target) = (format!("{place}{version}"), folder.at(&number.to_string()));
        rechunk(&["copy", &source, &target, "--chunks", "20", "--max-mem", "32MiB", "--quiet"])
            .ok();
        rechunk(&["verify", &source, &target, "--quiet"]).ok();
        targets.push(target);
    }
    let mut arguments = vec!["--digests"];
    arguments.extend(targets.iter().map(String::as_str));
    let found = ask(World::Icechunk, SCRIPT, &arguments);
    for ((version, expected), found) in versions.iter().zip(found.as_array().unwrap()) {
        assert_eq!(found, expected, "{version}");
    }
    // Chunks as they are, wherever they were; of an array alone, and with an operation.
    let array = format!("{place}#tag=v1/weather/daily/native");
    let [same, smooth, pyramid] = ["same", "smooth", "pyramid.zarr"].map(|name| folder.at(name));
    rechunk(&["copy", &array, &same, "--chunks", "keep", "--quiet"]).ok();
    let apply = ["apply", &array, &smooth, "--op", "median:size=3", "--work", "16,16", "--quiet"];
    rechunk(&apply).ok();
    rechunk(&["pyramid", &array, &pyramid, "--factors", "2,2", "--quiet"]).ok();
    let info = rechunk(&["info", &format!("{place}#tag=v1"), "--json"]).ok().json();
    assert_eq!(info["members"].as_array().unwrap().len(), 10, "{info}"); // 7 arrays
}

#[test]
fn what_cannot_be_read_ends_with_what_there_is() {
    let folder = Folder::new();
    let place = folder.at("weather");
    copy_directory(fixture("icechunk/v2").as_ref(), place.as_ref());
    let target = folder.at("out.zarr");
    rechunk(&["copy", &format!("{place}#branch=dev"), &target])
        .ends_with(3)
        .says(&["no branch \"dev\"", "the branches main, old, other"]);
    rechunk(&["info", &format!("{place}/inline#tag=v1")])
        .fails()
        .says(&["behind the repository itself", "#branch=NAME/PATH"]);
    rechunk(&["copy", &fixture("ostia_monthly.zarr"), &format!("{place}/new")])
        .ends_with(2)
        .says(&["an Icechunk repository is only read", "Zarr store"]);
    // In a bucket its name would say it; without that one is told how to.
    fs::remove_file(folder.path().join("weather/repo")).unwrap();
    rechunk(&["info", &place]).ends_with(3).says(&["Icechunk repository", "#branch=main"]);
}
