//! Applies, pyramids and copies into one file of sources whose chunks differ in length.

use crate::arrays::RawArray;
use crate::harness::{Folder, assert_read_as_planned, rechunk};
use crate::rectilinear::{SHAPE, write};

/// The array with chunks of different lengths, and with chunks of one.
fn both(folder: &Folder) -> (String, String) {
    let (source, regular) = (folder.at("source.zarr"), folder.at("regular.zarr"));
    write(&source, |_| false);
    RawArray::v3(&SHAPE, &[40, 30, 30]).write(&regular);
    (source, regular)
}

#[test]
fn applies_read_what_their_plans_say() {
    let folder = Folder::new();
    let (source, regular) = both(&folder);
    for (number, how) in [
        &["--op", "identity", "--work", "31,17,20"][..],
        &["--op", "mean:size=3", "--work", "20,60,50", "--crop", "auto"],
        &["--op", "max:size=5", "--work", "16,16,16", "--crop", "auto", "--boundary", "wrap"],
        &["--op", "mean:size=3", "--work", "151,30,25", "--crop", "auto", "--level", "151,60,50"],
    ]
    .iter()
    .enumerate()
    {
        let run = |source: &str, target: &str| {
            let (target, more) =
                (folder.at(&format!("{target}-{number}")), ["--no-fsync", "--json"]);
            let command = ["apply", source, &target, "--chunks", "25,20,20"];
            (rechunk(&[&command[..], how, &more].concat()).ok().json(), target)
        };
        let (report, found) = run(&source, "found");
        assert_read_as_planned(&report, &how.join(" "));
        let chunks = 5.0 * 4.0 * 3.0;
        let reads = report["estimate"]["source"]["get_requests"].as_f64().unwrap();
        assert_eq!(report["apply"]["read_amplification"], reads / chunks, "{report:#}");
        let (_, expected) = run(&regular, "expected");
        rechunk(&["verify", &expected, &found, "-q"]).ok();
    }
    let sums = ["--op", "checksum", "--work", "16,16,16", "--json"];
    let [one, other] = [&source, &regular]
        .map(|source| rechunk(&[&["apply", source][..], &sums].concat()).ok().json());
    assert_read_as_planned(&one, "checksum");
    assert_eq!(one["statistic"], other["statistic"], "{one:#}");
}

#[test]
fn levels_have_chunks_of_one_length() {
    let folder = Folder::new();
    let (source, regular) = both(&folder);
    for (number, how) in [
        &["--factors", "1,2,2;2,4,4", "--chunks", "32,16,16"][..],
        // Axes that end before the last chunk of the source begins.
        &["--factors", "8,8,8", "--chunks", "151,60,50", "--as", "plain", "--format", "n5"],
        &["--factors", "8,4,1", "--chunks", "auto", "--method", "gaussian"],
    ]
    .iter()
    .enumerate()
    {
        let run = |source: &str, target: &str| {
            let (target, more) =
                (folder.at(&format!("{target}-{number}")), ["--no-fsync", "--json"]);
            let report = rechunk(&[&["pyramid", source, &target][..], how, &more].concat());
            (report.ok().json(), target)
        };
        let (report, found) = run(&source, "found");
        assert_read_as_planned(&report, &how.join(" "));
        let (_, expected) = run(&regular, "expected");
        for level in ["s0", "s1"] {
            let [found, expected] = [&found, &expected].map(|image| format!("{image}/{level}"));
            rechunk(&["verify", &expected, &found, "-q"]).ok();
        }
    }
    let target = folder.at("kept");
    let kept = ["pyramid", &source, &target, "--factors", "2,2,2", "--chunks", "keep"];
    rechunk(&kept).ends_with(2).says(&["dimension `time`", "give --chunks a number"]);
}

/// A file has no chunks, so that it does not matter how long those of the source are.
#[test]
fn one_file_takes_chunks_of_any_lengths() {
    let folder = Folder::new();
    let (source, regular) = both(&folder);
    for (name, options) in [
        ("all.npy", &[][..]),
        ("all.nii", &[]),
        ("all.raw", &["--format", "raw"]),
        ("part.npy", &["--select", "40:120,10:30,5:25"]),
        ("one.npy", &["--select", "0:31,0:17,0:20"]),
        ("whole.npy", &["--chunks=-1"]),
        ("longest.npy", &["--chunks", "151,60,50"]),
    ] {
        let (target, plain) = (folder.at(name), folder.at(&format!("plain-{name}")));
        let copy = |source: &str, target: &str| {
            rechunk(&[&["copy", source, target, "--json"][..], options].concat())
        };
        assert_read_as_planned(&copy(&source, &target).ok().json(), name);
        copy(&regular, &plain).ok();
        assert_eq!(std::fs::read(&target).unwrap(), std::fs::read(&plain).unwrap(), "{name}");
    }
    for chunks in ["time=31", "time=31+28+31+30+31", "auto"] {
        let target = folder.at("cut.npy");
        let cut = ["copy", &source, &target, "--chunks", chunks, "--chunk-bytes", "4KiB"];
        rechunk(&cut).ends_with(2).says(&["cut.npy is one file", "leave --chunks out"]);
        assert!(!std::path::Path::new(&target).exists());
    }
}
