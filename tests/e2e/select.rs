//! Regions of arrays (`--select`): of every format, cut anywhere, by every kind of plan.

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, Run, elements, fixture, rechunk};
use crate::report::{assert_done, text};

const SHAPE: [u64; 3] = [23, 17, 13];

fn whole() -> RawArray {
    RawArray::v3(&SHAPE, &SHAPE).of_uint16()
}

/// The elements of a region, C order, cut out of the whole by nothing but arithmetic.
fn expected(region: &[(usize, usize); 3]) -> Vec<u8> {
    let all = whole().chunk(&[0; 3]);
    let [_, rows, columns] = SHAPE.map(|extent| usize::try_from(extent).unwrap());
    let mut elements = Vec::new();
    for time in region[0].0..region[0].1 {
        for row in region[1].0..region[1].1 {
            let at = |column: usize| 2 * ((time * rows + row) * columns + column);
            elements.extend_from_slice(&all[at(region[2].0)..at(region[2].1)]);
        }
    }
    elements
}

/// The array in chunks of 5 × 4 × 6, in several formats; `(location, more options to read it)`.
fn sources(folder: &Folder) -> Vec<(String, Vec<&'static str>)> {
    let plain = folder.at("plain.zarr");
    RawArray::v2(&SHAPE, &[5, 4, 6]).of_uint16().write(&plain);
    let made = |name: &str, options: &[&str]| {
        let location = folder.at(name);
        rechunk(&[&["copy", &plain, &location][..], options].concat()).ok();
        location
    };
    let v3 = ["--format", "zarr3", "--codec", "zstd:1"];
    let headerless = vec!["--raw-shape", "23,17,13", "--raw-dtype", "uint16"];
    vec![
        (made("zstd.zarr", &v3), vec![]),
        (made("sharded.zarr", &[&v3[..], &["--shards", "10,8,12"]].concat()), vec![]),
        (made("gzip.n5", &["--codec", "gzip:1"]), vec![]),
        (made("blocks", &["--format", "raw"]), vec![]),
        (made("file.npy", &[]), vec![]),
        (made("file.bin", &["--format", "raw"]), headerless),
        (column_first(folder), vec![]),
        (plain, vec![]),
    ]
}

/// Writes the source in Zarr v2 with the first axis the fastest and the high byte first.
fn column_first(folder: &Folder) -> String {
    let (chunk, counts) = ([5_usize, 4, 6], [5, 5, 3]);
    let (directory, array) =
        (folder.at("column-first.zarr"), RawArray::v2(&SHAPE, &[5, 4, 6]).of_uint16());
    std::fs::create_dir_all(&directory).unwrap();
    let (name, mut document) = array.metadata();
    (document["order"], document["dtype"]) = (json!("F"), json!(">u2"));
    write_json(&Path::new(&directory).join(name), &document);
    for ordinal in 0..counts.iter().product::<u64>() {
        let index = [ordinal / 15, ordinal / 3 % 5, ordinal % 3];
        let elements = array.chunk(&index);
        let mut turned = Vec::with_capacity(elements.len());
        for z in 0..chunk[2] {
            for y in 0..chunk[1] {
                for x in 0..chunk[0] {
                    let at = 2 * ((x * chunk[1] + y) * chunk[2] + z);
                    turned.extend([elements[at + 1], elements[at]]);
                }
            }
        }
        std::fs::write(Path::new(&directory).join(array.key(&index)), turned).unwrap();
    }
    directory
}

#[test]
fn a_region_of_any_array_is_what_it_is_in_the_array() {
    let folder = Folder::new();
    let regions: [(&str, [(usize, usize); 3]); 6] = [
        ("3:21,:,-4:", [(3, 21), (0, 17), (9, 13)]),
        (":10,8:16,:", [(0, 10), (8, 16), (0, 13)]),
        ("10:20,8:,0:12", [(10, 20), (8, 17), (0, 12)]),
        ("7,5:7,8:9", [(7, 8), (5, 7), (8, 9)]),
        ("1:,1:,1:", [(1, 23), (1, 17), (1, 13)]),
        ("22:23,16,12", [(22, 23), (16, 17), (12, 13)]),
    ];
    let targets = [
        ("zarr3", &["--chunks", "7,3,5"][..]),
        ("zarr3", &["--chunks", "keep"]),
        ("zarr3", &["--chunks", "2,2,3", "--shards", "8,4,6"]),
        ("n5", &["--chunks", "-1,4,4"]),
        ("raw", &["--chunks", "6,6,6"]),
    ];
    let mut number = 0;
    for (source, reading) in sources(&folder) {
        for (select, region) in &regions {
            let (format, chunks) = targets[number % targets.len()];
            number += 1;
            let target = folder.at(&format!("target-{number}"));
            let copy = ["copy", &source, &target, "--format", format, "--select", select];
            let copy = [&copy[..], chunks, &reading, &["--verify", "--json"]].concat();
            let report = rechunk(&copy).ok().json();
            assert_done(&report);
            assert_eq!(elements(&folder, &target), expected(region), "{source} {select} {format}");
        }
    }
}

/// Little memory and forced kinds: the same region by every plan.
#[test]
fn every_kind_of_plan_copies_regions() {
    let folder = Folder::new();
    let region = [(2, 23), (3, 16), (0, 11)];
    for (source, _) in sources(&folder).into_iter().take(3) {
        for strategy in ["keep", "pull", "push-pull", "memory"] {
            let target = folder.at(&format!("{strategy}.zarr"));
            let copy =
                ["copy", &source, &target, "--select", "2:,3:16,:11", "--strategy", strategy];
            let more = ["--chunks", "-1,2,2", "--overwrite", "--verify", "--json"];
            let report = rechunk(&[&copy[..], &more].concat()).ok().json();
            assert_done(&report);
            assert_eq!(text(&report, "plan.kind"), strategy);
            assert_eq!(elements(&folder, &target), expected(&region), "{source} {strategy}");
        }
    }
}

/// Chunks pass as they are where the region's border is theirs, and only there.
#[test]
fn whole_chunks_of_a_region_are_passed_through() {
    let folder = Folder::new();
    let sources = sources(&folder);
    for (source, select, passes) in [
        (&sources[0].0, "5:15,4:,6:", true),
        (&sources[0].0, "5:14,4:,6:", false),
        (&sources[0].0, "6:7,4:,6:", false),
        (&sources[1].0, "10:20,8:,:12", true),
        (&sources[1].0, "10:15,8:,:12", false),
        (&sources[2].0, ":10,:,:", true),
        (&sources[2].0, ":11,:,:", false),
    ] {
        let format = if source.ends_with("n5") { "n5" } else { "zarr3" };
        let plan = ["plan", source, "--format", format, "--select", select, "--json"];
        assert_eq!(
            rechunk(&[&plan[..], &["--strategy", "passthrough"]].concat()).code == 0,
            passes,
            "{source} {select}"
        );
    }
}

#[test]
fn what_is_not_there_cannot_be_selected() {
    let folder = Folder::new();
    let source = sources(&folder).remove(0).0;
    let target = folder.at("t.zarr");
    let copy = |select: &str, more: &[&str]| {
        rechunk(
            &[&["copy", &source, &target, "--chunks", "-1,1,1", "--select", select], more].concat(),
        )
    };
    for select in ["0:24,:,:", "5:5,:,:", "0:5", "time=0:5", "0:9:2,:,:"] {
        copy(select, &[]).ends_with(2).says(&["--select"]);
    }
    assert!(!Path::new(&target).exists());
}

#[test]
fn a_region_of_a_group_is_that_of_each_array() {
    let folder = Folder::new();
    let (source, target) = (fixture("ostia_monthly.zarr"), folder.at("t.zarr"));
    let copy = ["copy", &source, &target, "--select", "time=10:34,longitude=-100:"];
    let chunks = ["--chunks", "time=-1,longitude=50", "--verify", "--json"];
    let report = rechunk(&[&copy[..], &chunks].concat()).ok().json();
    for array in report["arrays"].as_array().unwrap() {
        assert_done(array);
    }
    let shape = |path: &str| {
        let info = rechunk(&["info", &format!("{target}/{path}"), "--json"]).ok().json();
        info["shape"].clone()
    };
    assert_eq!(shape("surface_temperature"), json!([24, 18, 100]));
    assert_eq!(shape("longitude"), json!([100]));
    assert_eq!(shape("time_bnds"), json!([24, 2]));
    assert_eq!(shape("latitude"), json!([18]));
    // The same through one array at a time.
    let one = folder.at("one.zarr");
    let array = format!("{source}/surface_temperature");
    rechunk(&["copy", &array, &one, "--select", "10:34,:,332:"]).ok();
    rechunk(&["verify", &one, &format!("{target}/surface_temperature")]).ok();
    for (select, says) in [("depth=0:3", "no array has a dimension `depth`"), ("0:3", "name them")]
    {
        let other = folder.at("other.zarr");
        rechunk(&["copy", &source, &other, "--select", select]).ends_with(2).says(&[says]);
    }
}

/// Two regions may have one shape, and so one plan.
#[test]
fn another_region_is_another_job() {
    let folder = Folder::new();
    let (source, target) = (sources(&folder).remove(0).0, folder.at("t.zarr"));
    let select = |region: &str, more: &[&str]| {
        let copy = ["copy", &source, &target, "--chunks", "-1,1,1", "--select", region];
        Run::rechunk(&[&copy[..], more].concat())
    };
    let mut slow = select("0:10,:,:", &["--bwlimit", "1kB"]).start();
    let saved = folder.at("t.zarr.rechunk/job.json");
    while !Path::new(&saved).exists() {
        assert!(slow.try_wait().unwrap().is_none(), "it has ended");
        thread::sleep(Duration::from_millis(5));
    }
    slow.kill().unwrap();
    slow.wait().unwrap();
    let other = select("10:20,:,:", &["--resume"]).go().ends_with(4);
    other.says(&["it copies the region 0:10,:,:, not 10:20,:,:"]);
    select("0:10,:,:", &["--resume", "--verify"]).go().ok();
    assert_eq!(elements(&folder, &target), expected(&[(0, 10), (0, 17), (0, 13)]));
}
