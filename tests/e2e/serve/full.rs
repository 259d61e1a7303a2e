//! A datastore whose disk is full: requests say so, nothing is there by halves, and with room all
//! goes on.

use std::fs;

use super::killed::{PATH, create, levels, number_in, wire};
use super::serving::{BYTES, Serving};
use crate::harness::{BINARY, Folder, Run, tool};

/// Points at which the disk becomes full.
const POINTS: u64 = 10;
/// Requests of a round.
const REQUESTS: u16 = 6;

/// A server whose disk is full from its call `at` on.
fn without_room(folder: &Folder, at: Option<u64>) -> Serving {
    let (root, log) = (folder.at("root"), folder.at("log"));
    let at = at.map(|at| at.to_string());
    let mut arguments = vec!["--prefix", &root, "--log", &log];
    if let Some(at) = &at {
        arguments.extend(["--full", "--at", at]);
    }
    arguments.extend(["--", BINARY, "serve", "datastore", &root, "--write"]);
    arguments.extend(["--listen", "127.0.0.1:0"]);
    let run = Run::program(&tool("killpoint"), &arguments).without("RUST_LOG");
    Serving::of(run.start()).unwrap_or_else(|said| panic!("{said}"))
}

/// Writes blocks, and returns the status of each request.
fn write(serving: &Serving, id: &str) -> Vec<u16> {
    let one = |number: u16| {
        let place = format!("{}/{}/0/0/0/0", number % 4, number / 4);
        let path = format!("/datasets/{id}/{PATH}/build/0/{place}");
        serving.ask("POST", &path, BYTES, &wire(number + 1)).unwrap().0
    };
    (0..REQUESTS).map(one).collect()
}

#[test]
fn a_disk_that_is_full_is_said_and_nothing_is_there_by_halves() {
    for storage in ["n5", "zarr3"] {
        let folder = Folder::new();
        let root = folder.at("root");
        let words = ["datastore", &root, "--write"];
        let new = || {
            let serving = Serving::start(&words);
            create(&serving, storage, storage == "zarr3")
        };
        let id = new();
        let serving = without_room(&folder, None);
        assert_eq!(write(&serving, &id), [200; REQUESTS as usize]);
        drop(serving);
        let calls = fs::read_to_string(folder.at("log")).unwrap().lines().count() as u64;
        let mut refused = 0;
        for point in 0..POINTS {
            let id = new();
            // The first calls are those of its beginning.
            let at = calls / 4 + point * (calls * 3 / 4 - 1) / (POINTS - 1);
            let serving = without_room(&folder, Some(at));
            let statuses = write(&serving, &id);
            let is_either = statuses.iter().all(|status| [200, 507].contains(status));
            assert!(is_either, "call {at} of {calls}: {statuses:?}");
            refused += statuses.iter().filter(|status| **status == 507).count();
            drop(serving);
            let serving = Serving::start(&words);
            for (number, status) in (0..REQUESTS).zip(&statuses) {
                let place = format!("{}/{}/0/0/0/0", number % 4, number / 4);
                let path = format!("/datasets/{id}/1/1/1/0/{place}");
                let (_, found) = serving.ask("GET", &path, BYTES, b"").unwrap();
                let found = number_in(&found);
                assert!(*status != 200 || found == Some(number + 1), "call {at}: {found:?}");
            }
            let followed = levels(&serving, &id);
            let path = format!("/datasets/{id}/0/0/0/0/rebuild");
            assert_eq!(serving.ask("PATCH", &path, BYTES, b"").unwrap().0, 200);
            assert!(followed == levels(&serving, &id), "call {at}: levels");
            assert_eq!(write(&serving, &id), [200; REQUESTS as usize]);
        }
        assert!(refused > 0, "{storage}: no request met a full disk");
    }
}
