//! Parts put into an archive are of the same places, times and units as those there. Others are
//! refused by name, and nothing is written.

use std::path::Path;

use serde_json::json;

use crate::harness::{Done, Folder, copy_directory, rechunk, tree};
use crate::oracle::{World, answer, ask, available};
use crate::report::assert_done;

const SCRIPT: &str = "tests/oracle/growth_meaning.py";
const APPEND: [&str; 2] = ["--append", "time"];

/// A case: its day, where that goes, which array is to blame, what is said of it.
type Case = (&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const OTHERS: [Case; 26] = [
    ("lat-flipped", &APPEND, "lat", &["holds -10.0 at [0]", "source 20.0 at [0]"]),
    ("lat-shifted", &APPEND, "lat", &["holds 20.0 at [3]", "source 20.000000000000004 at [3]"]),
    ("lat-float32", &APPEND, "lat", &["holds float64", "source float32"]),
    ("level-other-order", &APPEND, "level", &["holds 1000 at [0]", "source 500 at [0]"]),
    ("level-other-order", &["--region", "time=4:5"], "level", &["holds 1000", "source 500"]),
    ("level-pascal", &APPEND, "level", &["units \"hPa\"", "source \"Pa\""]),
    ("level-unit-alone", &APPEND, "level", &["units \"hPa\"", "source \"Pa\""]),
    ("level-up", &APPEND, "level", &["positive \"down\"", "source \"up\""]),
    ("level-int64", &APPEND, "level", &["holds int32", "source int64"]),
    ("area-shifted", &APPEND, "area", &["holds 0.0 at [0, 0]", "source 0.5 at [0, 0]"]),
    ("bounds-shifted", &APPEND, "lat_bnds", &["holds -15.0 at [0, 0]", "source -14.5"]),
    ("height", &APPEND, "height", &["holds 2.0 at []", "source 10.0"]),
    ("crs", &APPEND, "crs", &["crs_wkt \"EPSG:4326\"", "source \"EPSG:3413\""]),
    ("sphere", &APPEND, "crs", &["earth_radius 6371229.0", "source 6371000.0"]),
    ("ta-float64", &APPEND, "ta", &["holds float32", "source float64"]),
    ("ta-name", &APPEND, "ta", &["standard_name \"air_temperature\"", "\"dew_point_temperature\""]),
    ("flags", &APPEND, "mask", &["flag_meanings \"land sea\"", "source \"sea land\""]),
    ("day-there", &APPEND, "time", &["3 (2020-01-04 00:00:00) twice", "[3] of the archive"]),
    ("days-overlap", &APPEND, "time", &["[3] of the archive is 3", "[0] of the source is 2"]),
    ("day-before", &APPEND, "time", &["-1 (2019-12-31 00:00:00)"]),
    ("day-twice", &APPEND, "time", &["4 (2020-01-05 00:00:00) twice", "[1] of the source"]),
    ("days-back", &APPEND, "time", &["[0] of the source is 6", "[1] of the source is 5"]),
    (
        "second",
        &["--region", "time=2:3"],
        "time",
        &["holds 2 (2020-01-03 00:00:00) at [2]", "1 (2020-01-02"],
    ),
    ("second", &["--region", "time=2:3,lat=0:4"], "time", &["holds 2", "source 1"]),
    (
        "lat-flipped",
        &["--region", "time=4:5,lat=0:4"],
        "lat",
        &["holds -10.0 at [0]", "source 20.0"],
    ),
    ("second", &["--region", "time=2:3", "--exclude", "time"], "time", &["holds 2", "source 1"]),
];

/// An archive of its own.
fn fresh(folder: &Folder, archive: &str) -> String {
    let target = folder.at("target.zarr");
    let _ = std::fs::remove_dir_all(&target);
    copy_directory(Path::new(&folder.at(archive)), Path::new(&target));
    target
}

/// Puts a day into an archive of its own; what was said, and where that archive is.
fn put(folder: &Folder, archive: &str, day: &str, more: &[&str]) -> (Done, String) {
    let target = fresh(folder, archive);
    (rechunk(&[&["copy", &folder.at(day), &target, "--json"][..], more].concat()), target)
}

fn assert_identical(a: &str, b: &str) {
    let job = json!({"a": a, "b": b, "tree": false});
    let found = answer(World::Z3, "tests/oracle/same_dataset.py", &[job]);
    assert!(found[0].is_null(), "{a} and {b}: {}", found[0].as_str().unwrap_or_default());
}

fn grids() -> Option<Folder> {
    if !available() {
        return None;
    }
    let folder = Folder::new();
    ask(World::Z3, SCRIPT, &["grids", folder.path().to_str().unwrap()]);
    // A region of the archive that is there: its fifth day.
    rechunk(&["copy", &folder.at("same.zarr"), &folder.at("archive.zarr"), "--append", "time"])
        .ok();
    std::fs::rename(folder.at("archive.zarr"), folder.at("five.zarr")).unwrap();
    ask(World::Z3, SCRIPT, &["grids", folder.path().to_str().unwrap()]);
    Some(folder)
}

#[test]
fn what_is_of_another_grid_or_time_is_refused_by_name() {
    let Some(folder) = grids() else { return };
    for (day, options, array, says) in OTHERS {
        let archive = if options[0] == "--region" { "five.zarr" } else { "archive.zarr" };
        let before = tree(Path::new(&folder.at(archive)));
        let day = format!("{day}.zarr");
        let (done, target) = put(&folder, archive, &day, options);
        let named = format!("the array {array}");
        let hint = if day == "ta-float64.zarr" { "--cast" } else { "--trust" };
        done.ends_with(4).says(&[&[named.as_str(), hint][..], says].concat());
        assert_eq!(tree(Path::new(&target)), before, "{day} {options:?}");
        // Those who know say so; a type they cannot.
        if day == "ta-float64.zarr" {
            continue;
        }
        let pattern = format!("{array}*"); // the limits of its cells too
        let trusted = [options, &["--trust", &pattern]].concat();
        put(&folder, archive, &day, &trusted).0.ok();
    }
}

#[test]
fn what_is_of_the_same_grid_goes_in_however_it_is_stored() {
    let Some(folder) = grids() else { return };
    for day in ["same", "v2", "zero"] {
        let day = format!("{day}.zarr");
        let (done, target) = put(&folder, "archive.zarr", &day, &["--append", "time", "--verify"]);
        for array in done.ok().json()["arrays"].as_array().unwrap() {
            assert_done(array);
        }
        assert_identical(&target, &folder.at("whole.zarr"));
        let region = ["--region", "time=4:5", "--verify"];
        let (done, target) = put(&folder, "five.zarr", &day, &region);
        done.ok();
        assert_identical(&target, &folder.at("whole.zarr"));
    }
    // An archive that goes back in time goes on so.
    put(&folder, "down.zarr", "down-goes-on.zarr", &APPEND).0.ok();
    let up = put(&folder, "down.zarr", "down-goes-up.zarr", &APPEND).0;
    up.ends_with(4).says(&["would have 6", "twice"]);
    put(&folder, "down.zarr", "same.zarr", &["--append", "time", "--trust", "tim?"]).0.ok();
}

#[test]
fn one_array_does_not_grow_beyond_its_coordinate() {
    let Some(folder) = grids() else { return };
    let put_one = |archive: &str, day: &str, array: &str, more: &[&str]| {
        let target = fresh(&folder, archive);
        let before = tree(Path::new(&target));
        let (source, target) = (format!("{}/{array}", folder.at(day)), format!("{target}/{array}"));
        let done = rechunk(&[&["copy", &source, &target][..], more].concat());
        if done.code != 0 {
            assert_eq!(tree(Path::new(&folder.at("target.zarr"))), before);
        }
        done
    };
    let alone = put_one("archive.zarr", "same.zarr", "ta", &APPEND).ends_with(4);
    alone.says(&[
        "the array time",
        "4 elements along dimension `time`",
        "ta would have 5",
        "whole group",
    ]);
    put_one("archive.zarr", "same.zarr", "ta", &["--append", "0"]).ends_with(4);
    // The coordinate first, then what is of it: of the same day.
    put_one("archive.zarr", "same.zarr", "time", &APPEND).ok();
    let ta = |day: &str| {
        let (source, target) = (format!("{}/ta", folder.at(day)), folder.at("target.zarr/ta"));
        rechunk(&["copy", &source, &target, "--append", "time"])
    };
    ta("second.zarr").ends_with(4).says(&["the array time", "holds 4", "source 1 (2020-01-02"]);
    ta("same.zarr").ok();
    assert_identical(&folder.at("target.zarr"), &folder.at("whole.zarr"));
    // A region of one array.
    let region = ["--region", "4,:,:"];
    put_one("five.zarr", "same.zarr", "ta", &region).ok();
    for (day, array, says) in [
        ("second.zarr", "time", "holds 4"),
        ("lat-flipped.zarr", "lat", "holds -10.0"),
        ("bounds-shifted.zarr", "lat_bnds", "holds -15.0"),
        ("level-unit-alone.zarr", "level", "units"),
        ("crs.zarr", "crs", "crs_wkt"),
        ("height.zarr", "height", "holds 2.0"),
        ("area-shifted.zarr", "area", "holds 0.0"),
    ] {
        let named = format!("the array {array}");
        put_one("five.zarr", day, "ta", &region).ends_with(4).says(&[&named, says]);
        let trusted = [&region[..], &["--trust", array]].concat();
        put_one("five.zarr", day, "ta", &trusted).ok();
    }
    let misspelt = ["--append", "time", "--trust", "tyme"];
    put(&folder, "archive.zarr", "same.zarr", &misspelt).0.ends_with(2).says(&["--trust: `tyme`"]);
    put_one("archive.zarr", "same.zarr", "ta", &[&region[..], &["--trust", "x"]].concat())
        .ends_with(2);
    rechunk(&["copy", &folder.at("same.zarr"), &folder.at("new.zarr"), "--trust", "lat"])
        .ends_with(2)
        .says(&["--trust is about"]);
}

#[test]
fn times_are_counted_as_the_archive_counts_them_or_refused() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    ask(World::Z3, SCRIPT, &["times", folder.path().to_str().unwrap()]);
    for name in [
        "other-day",
        "other-day-v2",
        "other-unit",
        "finer",
        "to-floats",
        "from-floats",
        "floats",
        "zone",
        "noleap",
        "360-day",
        "bounds",
        "same-moment",
        "calendar-name",
    ] {
        let at = |part: &str| format!("{name}/{part}.zarr");
        let options = ["--append", "time", "--verify"];
        let (done, target) = put(&folder, &at("archive"), &at("day"), &options);
        let report = done.ok().json();
        for array in report["arrays"].as_array().unwrap() {
            assert_done(array);
            assert_eq!(array["verified"], true);
        }
        let is_counted_anew = report.to_string().contains("are counted anew");
        assert_eq!(is_counted_anew, name != "same-moment", "{name}: {report:#}");
        assert_identical(&target, &folder.at(&at("whole")));
        // The same stretch once more, as a region: its times are those that are there.
        let again = ["copy", &folder.at(&at("day")), &target, "--region", "time=4:8", "-q"];
        rechunk(&again).ok();
        assert_identical(&target, &folder.at(&at("whole")));
        rechunk(&["copy", &folder.at(&at("day")), &target, "--region", "time=3:7", "-q"])
            .ends_with(4)
            .says(&["the array time", "holds"]);
    }
    for (name, says) in [
        ("coarse", &["days since 2021-01-01", "element [1], 2021-01-05 06:00:00,", "int64"][..]),
        ("small-floats", &["seconds since 1900-01-01", "float32"]),
        ("months", &["units", "months since"]),
        ("calendars", &["calendar \"noleap\"", "source not"]),
        ("small-integers", &["int8", "element [2]"]),
    ] {
        let at = |part: &str| format!("{name}/{part}.zarr");
        let before = tree(Path::new(&folder.at(&at("archive"))));
        let (done, target) = put(&folder, &at("archive"), &at("day"), &APPEND);
        done.ends_with(4).says(&[&["the array time"][..], says].concat());
        assert_eq!(tree(Path::new(&target)), before, "{name}");
    }
}

/// Copies a data set of Zarr without its scalars, which N5 does not have, and that copy to N5.
/// Attributes that N5 takes for something else are kept aside.
fn in_n5(folder: &Folder, name: &str) {
    let [source, plain, n5] =
        [".zarr", "-plain.zarr", "-plain.n5"].map(|tail| folder.at(&format!("{name}{tail}")));
    if !Path::new(&n5).exists() {
        let mut copy = vec!["copy", &source, &plain, "-q"];
        for scalar in ["crs", "height"] {
            if Path::new(&source).join(scalar).exists() {
                copy.extend(["--exclude", scalar]);
            }
        }
        rechunk(&copy).ok();
        rechunk(&["copy", &plain, &n5, "-q"]).ok();
    }
}

/// The archive and the day in two formats that are not both Zarr.
fn with_n5(folder: &Folder, archive: &str, day: &str) -> [(String, String); 3] {
    in_n5(folder, archive);
    in_n5(folder, day);
    [("n5", "zarr"), ("n5", "n5"), ("zarr", "n5")].map(|(format, day_format)| {
        (format!("{archive}-plain.{format}"), format!("{day}-plain.{day_format}"))
    })
}

/// Checks that xarray reads an archive of N5, or of Zarr, as it is wanted.
fn assert_grown(folder: &Folder, target: &str, whole: &str) {
    in_n5(folder, whole);
    let back = folder.at("back.zarr");
    let _ = std::fs::remove_dir_all(&back);
    rechunk(&["copy", target, &back, "-q"]).ok();
    assert_identical(&back, &folder.at(&format!("{whole}-plain.zarr")));
}

#[test]
fn an_archive_in_n5_refuses_what_one_in_zarr_does() {
    let Some(folder) = grids() else { return };
    for (day, options, array, says) in OTHERS {
        if ["crs", "height"].contains(&array) {
            continue;
        }
        let archive = if options[0] == "--region" { "five" } else { "archive" };
        for (archive, day) in with_n5(&folder, archive, day) {
            println!("{archive} {day} {options:?}");
            let (done, target) = put(&folder, &archive, &day, options);
            let named = format!("the array {array}");
            done.ends_with(4).says(&[&[named.as_str()][..], says].concat());
            assert_eq!(tree(Path::new(&target)), tree(Path::new(&folder.at(&archive))), "{day}");
        }
    }
}

#[test]
fn an_archive_in_n5_grows_as_one_in_zarr_does() {
    let Some(folder) = grids() else { return };
    for (archive, day) in with_n5(&folder, "archive", "same") {
        let (done, target) = put(&folder, &archive, &day, &["--append", "time", "--verify"]);
        done.ok();
        assert_grown(&folder, &target, "whole");
        let region = ["copy", &folder.at(&day), &target, "--region", "time=4:5", "--verify", "-q"];
        rechunk(&region).ok();
        assert_grown(&folder, &target, "whole");
    }
}

#[test]
fn times_in_n5_are_counted_as_the_archive_counts_them() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    ask(World::Z3, SCRIPT, &["times", folder.path().to_str().unwrap()]);
    for name in ["other-day", "other-unit", "zone", "noleap", "bounds", "same-moment"] {
        let at = |part: &str| format!("{name}/{part}");
        for (archive, day) in with_n5(&folder, &at("archive"), &at("day")) {
            println!("{archive} {day}");
            let options = ["--append", "time", "--verify"];
            let (done, target) = put(&folder, &archive, &day, &options);
            let report = done.ok().json();
            let is_counted_anew = report.to_string().contains("are counted anew");
            assert_eq!(is_counted_anew, name != "same-moment", "{name}: {report:#}");
            assert_grown(&folder, &target, &at("whole"));
            let again = ["copy", &folder.at(&day), &target, "--region", "time=3:7", "-q"];
            rechunk(&again).ends_with(4).says(&["the array time", "holds"]);
        }
    }
}
