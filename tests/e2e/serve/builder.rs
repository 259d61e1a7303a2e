//! Row 50: levels that follow an upload are those of a pyramid, whenever nothing is under way.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::rebuild::{DIMENSIONS, block, compare, create};
use super::serving::{BYTES, Serving};
use crate::harness::Folder;

const FACTORS: [[u64; 3]; 2] = [[2, 2, 1], [6, 4, 4]];
const PATH: &str = "1/1/1/2/2/1/6/4/4";

/// A number that follows another, for orders that look like none.
fn next(number: &mut u64) -> u64 {
    *number =
        number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *number >> 33
}

fn place(number: u64) -> [u64; 3] {
    [number % 5, number / 5 % 4, number / 20 % 3]
}

#[test]
fn row_50_levels_follow_an_upload_in_any_order_with_gaps_and_rewrites() {
    let folder = Folder::new();
    let root = folder.at("root");
    let serving = Serving::start(&["datastore", &root, "--write"]);
    for (data_type, bytes) in [("uint16", 2), ("float32", 4)] {
        let id = create(&serving, data_type, DIMENSIONS, &FACTORS);
        let start = format!("/datasets/{id}/{PATH}/write?timeout=1000");
        assert_eq!(serving.ask("GET", &start, BYTES, b"").unwrap().0, 307);
        let base = format!("/datasets/{id}/{PATH}/build/0/");
        let (status, said) = serving.ask("GET", &base, BYTES, b"").unwrap();
        assert_eq!(status, 200);
        let said: Value = serde_json::from_slice(&said).unwrap();
        assert_eq!(said["resolutionLevels"], serde_json::json!([[1, 1, 1], [2, 2, 1], [6, 4, 4]]));
        let view = format!("{root}/{id}/0/export.n5/setup3/timepoint1");
        let mut seed = 7;
        for round in 0..3 {
            for _ in 0..12 {
                // Two blocks in a request, perhaps the same.
                let both = [place(next(&mut seed)), place(next(&mut seed))];
                let path: Vec<String> =
                    both.iter().map(|[x, y, z]| format!("{x}/{y}/{z}/1/1/1")).collect();
                let sent: Vec<u8> =
                    both.iter().flat_map(|at| block(bytes, DIMENSIONS, *at, round)).collect();
                let path = format!("{base}{}", path.join("/"));
                assert_eq!(serving.ask("POST", &path, BYTES, &sent).unwrap().0, 200);
            }
            compare(&folder, &view, &FACTORS);
        }
    }
    for (path, wanted) in [
        ("2/2/1/6/4/4/write", 400),
        ("1/1/1/2/2/1/2/2/1/write", 400),
        ("1/1/1/1/1/1/write", 400),
        ("1/1/1/3/3/3/write", 404),
        ("1/1/1/2/2/1/build/latest/", 400),
        ("1/1/1/2/2/1/build/9/", 404),
        ("1/1/1/build/0/", 404),
    ] {
        let id = create(&serving, "uint8", DIMENSIONS, &FACTORS);
        let path = format!("/datasets/{id}/{path}");
        assert_eq!(serving.ask("GET", &path, BYTES, b"").unwrap().0, wanted, "{path}");
    }
}

#[test]
fn row_50_levels_follow_after_a_kill_at_the_next_start() {
    let folder = Folder::new();
    let root = folder.at("root");
    let serving = Serving::start(&["datastore", &root, "--write"]);
    let id = create(&serving, "uint16", DIMENSIONS, &FACTORS);
    let path = format!("/datasets/{id}/{PATH}/build/0/1/1/1/1/1/1");
    let sent = block(2, DIMENSIONS, [1, 1, 1], 1);
    assert_eq!(serving.ask("POST", &path, BYTES, &sent).unwrap().0, 200);
    drop(serving);
    let view = format!("{root}/{id}/0/export.n5/setup3/timepoint1");
    let mut seed = 3;
    for round in 0..10_u64 {
        let mut serving = Serving::start(&["datastore", &root, "--write"]);
        compare(&folder, &view, &FACTORS);
        let number = i32::try_from(serving.child.id()).unwrap();
        let wait = Duration::from_millis(round * 5 % 23 + 15);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(wait);
            kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).unwrap();
        });
        loop {
            let [x, y, z] = place(next(&mut seed));
            let path = format!("/datasets/{id}/{PATH}/build/0/{x}/{y}/{z}/1/1/1");
            let sent = block(2, DIMENSIONS, [x, y, z], next(&mut seed) % 1000);
            if serving.ask("POST", &path, BYTES, &sent).is_none_or(|(status, _)| status != 200) {
                break;
            }
        }
        killer.join().unwrap();
        serving.child.wait().unwrap();
    }
    let serving = Serving::start(&["datastore", &root, "--write"]);
    compare(&folder, &view, &FACTORS);
    let notes = std::fs::read_dir(format!("{root}/.datastore/dirty")).map_or(0, Iterator::count);
    assert_eq!(notes, 0);
    drop(serving);
}
