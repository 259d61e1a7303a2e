//! The promises of `rechunk` at object stores that are not ours: what our servers in
//! `rechunk-testkit` may have understood wrongly shows here.

use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::emulator::{Emulator, Kind};
use super::two::refused_of;
use super::{is_temporary, run, small};
use crate::arrays::RawArray;
use crate::harness::{Done, Folder, Run, root};
use crate::report::{assert_done, number, text};

const PUSH_PULL: [&str; 6] =
    ["--chunks", "24,8,16", "--strategy", "push-pull", "--codec", "zstd:1"];
/// Longer than any run here needs to come to a certain point.
const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn azure_as_azurite_has_it() {
    conforms(Kind::Azurite);
}

#[test]
fn s3_as_moto_has_it() {
    conforms(Kind::Moto);
}

/// A part of the conformance.
type Step = fn(&Place);

/// One emulator for all of it: they take seconds to start.
fn conforms(kind: Kind) {
    if !kind.is_available() {
        return;
    }
    let place = Place::new(kind);
    let steps: [(&str, Step); 9] = [
        ("copies", copies),
        ("formats", formats),
        ("a group", a_group),
        ("overwriting", overwriting),
        ("killed and resumed", killed_and_resumed),
        ("killed and cleaned", killed_and_cleaned),
        ("two at once", two_at_once),
        ("in parts", in_parts),
        ("refusals", refusals),
    ];
    for (name, step) in steps {
        let started = Instant::now();
        println!("{kind:?}: {name}");
        step(&place);
        place.assert_clean();
        println!("{kind:?}: {name}: {:.1} s", started.elapsed().as_secs_f64());
    }
}

/// An emulator, and a folder with the source.
struct Place {
    kind: Kind,
    emulator: Emulator,
    folder: Folder,
}

impl Place {
    fn new(kind: Kind) -> Self {
        let place = Self { kind, emulator: Emulator::start(kind), folder: Folder::new() };
        small().write(&place.local());
        place
    }

    /// The array of most tests, on the disk.
    fn local(&self) -> String {
        self.folder.at("local.zarr")
    }

    fn url(&self, key: &str) -> String {
        self.emulator.url(key)
    }

    fn command(&self, arguments: &[&str]) -> Run {
        run(arguments, &[self.emulator.environment()])
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> Done {
        self.command(arguments).go().ok()
    }

    /// `copy FROM TO --json` with `options`.
    fn copy(&self, from: &str, to: &str, options: &[&str]) -> Run {
        self.command(&[&["copy", from, to, "--json", "--threads", "2"], options].concat())
    }

    fn verify(&self, one: &str, other: &str) {
        self.ok(&["verify", one, other]);
    }

    fn status(&self, target: &str) -> Value {
        self.ok(&["status", target, "--json"]).json()
    }

    /// The keys that begin with something.
    fn below(&self, begin: &str) -> Vec<String> {
        let mut keys = self.emulator.objects();
        keys.retain(|key| key.starts_with(begin));
        keys
    }

    /// No work directory, no upload that was begun and not ended.
    #[track_caller]
    fn assert_clean(&self) {
        // Nobody can give up an upload to Azure: it drops blocks that nobody commits after a week.
        let is_left = |key: &&String| {
            is_temporary(key) || (self.kind == Kind::Moto && key.starts_with("unfinished "))
        };
        let objects = self.emulator.objects();
        let left: Vec<_> = objects.iter().filter(is_left).collect();
        assert!(left.is_empty(), "{:?}: left behind: {left:?}", self.kind);
    }
}

/// There with shards, within it by way of an intermediate in it, and home.
fn copies(place: &Place) {
    let (local, home) = (place.local(), place.folder.at("home.zarr"));
    let (source, target) = (place.url("source.zarr"), place.url("t.zarr"));
    let shards = ["--chunks", "4,8,16", "--shards", "12,16,48", "--codec", "zstd:1", "--verify"];
    let report = place.copy(&local, &source, &shards).go().ok().json();
    assert_done(&report);
    place.verify(&local, &source);
    let options = [&PUSH_PULL[..], &["--shards", "none", "--verify"]].concat();
    let report = place.copy(&source, &target, &options).go().ok().json();
    assert_eq!(text(&report, "plan.kind"), "push-pull");
    assert_done(&report);
    assert!(number(&report, "traffic.intermediate.put_requests") > 0, "{report:#}");
    assert_eq!(report["verified"], true);
    place.verify(&target, &local);
    let info = place.ok(&["info", &target, "--json"]).json();
    assert_eq!(info["shape"], json!([24, 32, 48]));
    assert_eq!(info["stored_chunks"], 12);
    place.copy(&target, &home, &["--chunks", "5,32,48", "--strategy", "keep"]).go().ok();
    place.verify(&local, &home);
    // The same elements, for a reader that is not ours.
    let expected = elements();
    for key in ["source.zarr", "t.zarr"] {
        if let Some(found) = place.emulator.read_by_tensorstore(key) {
            assert_eq!(found, expected, "{key} as tensorstore reads it");
        }
    }
}

/// SHA-256 of the elements of the array that most tests copy.
fn elements() -> String {
    let whole = RawArray::v3(&[24, 32, 48], &[24, 32, 48]).chunk(&[0, 0, 0]);
    format!("{:x}", Sha256::digest(whole))
}

/// Other formats there and back; whole chunks and shards that pass through.
fn formats(place: &Place) {
    let source = place.url("source.zarr");
    for (name, options) in [
        ("t.n5", "--chunks 8,16,16 --codec gzip:1 --shards none"),
        ("t2.zarr", "--chunks 8,16,16 --codec zstd:1 --format zarr2 --shards none"),
        ("blocks", "--chunks 8,16,16 --codec none --format raw --shards none"),
        ("same.zarr", "--chunks keep --strategy passthrough"),
        ("shards.zarr", "--chunks keep --shards 24,32,48 --strategy passthrough"),
        ("one.npy", ""),
    ] {
        let (target, options) = (place.url(name), options.split_whitespace().collect::<Vec<_>>());
        let done = place.copy(&source, &target, &options).go();
        if name == "one.npy" {
            // A single file is written in place, which no object store does.
            done.ends_with(2).says(&["one.npy"]);
            continue;
        }
        assert_done(&done.ok().json());
        place.verify(&place.local(), &target);
    }
}

/// A group with consolidated metadata, there and within it.
fn a_group(place: &Place) {
    let fixture = root().join("fixtures/ostia_monthly.zarr").display().to_string();
    let (group, again) = (place.url("group.zarr"), place.url("again.zarr"));
    // moto takes 20 ms for a request, and there are many.
    let copies = if place.kind == Kind::Moto { 1 } else { 2 };
    for (from, to) in [(&fixture, &group), (&group, &again)].into_iter().take(copies) {
        place.copy(from, to, &["--verify"]).go().ok();
        let array = format!("{to}/surface_temperature");
        place.verify(&format!("{fixture}/surface_temperature"), &array);
        let info = place.ok(&["info", &array, "--json"]).json();
        assert_eq!(info["consolidated_in"].as_str(), Some(to.as_str()));
    }
}

/// Existing targets are left alone, or replaced as a whole.
fn overwriting(place: &Place) {
    let (local, target) = (place.local(), place.url("over.zarr"));
    place.copy(&local, &target, &["--chunks", "3,32,48", "--format", "zarr2"]).go().ok();
    place.copy(&local, &target, &PUSH_PULL).go().ends_with(4).says(&["over.zarr", "--overwrite"]);
    place.copy(&local, &target, &[&PUSH_PULL[..], &["--overwrite"]].concat()).go().ok();
    place.verify(&local, &target);
    let old = place.below("over.zarr/.zarray");
    assert!(old.is_empty(), "a part of the old array is left: {old:?}");
}

/// Many tasks, and seconds, so that a run can be caught in the middle: 96 chunks each way.
const LONG: [&str; 10] = [
    "--chunks",
    "96,8,8",
    "--strategy",
    "push-pull",
    "--codec",
    "none",
    "--max-mem",
    "2MiB",
    "--bwlimit",
    "2MiB",
];

/// The source of a long copy, in the store.
fn long_source(place: &Place) -> String {
    let (local, source) = (place.folder.at("long.zarr"), place.url("long.zarr"));
    if place.below("long.zarr/zarr.json").is_empty() {
        RawArray::v3(&[96, 64, 96], &[1, 64, 96]).write(&local);
        place.copy(&local, &source, &["--chunks", "keep"]).go().ok();
    }
    source
}

/// Starts a long copy, and kills it when some of its tasks are done.
fn kill_in_the_middle(place: &Place, source: &str, target: &str) {
    let running = Running(place.copy(source, target, &LONG).start());
    let started = Instant::now();
    loop {
        let status = place.status(target);
        let (state, done) = (&status["state"], status["array"]["tasks_done"].as_u64());
        if state == "running" && done.is_some_and(|done| done > 0) {
            assert_eq!(status["writer"]["pid"], running.0.id(), "{status:#}");
            break;
        }
        assert!(started.elapsed() < PATIENCE, "it did not come so far: {status:#}");
        thread::sleep(Duration::from_millis(20));
    }
    drop(running);
    let status = place.status(target);
    let number = |path: &str| status.pointer(path).and_then(Value::as_u64).unwrap();
    let (done, all) = (number("/array/tasks_done"), number("/array/tasks_total"));
    assert_eq!(status["state"], "interrupted", "{status:#}");
    assert!(0 < done && done < all, "{done} of {all} tasks: nothing is left to resume");
    println!("killed after {done} of {all} tasks");
}

/// A process that is killed when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Killed, and resumed by the same command.
fn killed_and_resumed(place: &Place) {
    let (source, target) = (long_source(place), place.url("resumed.zarr"));
    kill_in_the_middle(place, &source, &target);
    assert!(place.below("resumed.zarr/zarr.json").is_empty(), "it looks finished");
    place.copy(&source, &target, &LONG).go().ends_with(4).says(&["--resume"]);
    let report =
        place.copy(&source, &target, &[&LONG[..], &["--resume"]].concat()).go().ok().json();
    assert!(number(&report, "tasks.resumed") > 0, "{report:#}");
    assert_eq!(number(&report, "tasks.done"), number(&report, "tasks.total"));
    place.verify(&place.folder.at("long.zarr"), &target);
    assert_eq!(place.status(&target)["state"], "none");
}

/// Killed, and thrown away.
fn killed_and_cleaned(place: &Place) {
    let (source, target) = (long_source(place), place.url("cleaned.zarr"));
    kill_in_the_middle(place, &source, &target);
    assert!(!place.below("cleaned.zarr").is_empty());
    place.ok(&["clean", &target]);
    let left = place.below("cleaned.zarr");
    assert!(left.is_empty(), "clean leaves {left:?}");
}

/// Two runs of one target: one writes, the other ends at once with exit code 4.
fn two_at_once(place: &Place) {
    let (source, mut refused) = (place.url("source.zarr"), 0);
    for round in 0..4 {
        let target = place.url(&format!("two{round}.zarr"));
        let options = [&PUSH_PULL[..], if round % 2 == 0 { &[] } else { &["--resume"] }].concat();
        let copy = || place.copy(&source, &target, &options);
        refused += refused_of(copy(), copy(), round);
        place.verify(&place.local(), &target);
    }
    println!("{refused} of 4 were refused");
    assert!(refused > 0, "they never met: this tests nothing");
}

/// Options for one shard that is larger than memory.
const ONE_SHARD: [&str; 8] =
    ["--chunks", "8,256,256", "--shards", "-1", "--codec", "none", "--max-mem", "40MiB"];

/// Killed in the middle of an upload and cleaned up, then whole.
fn in_parts(place: &Place) {
    let source = place.folder.at("large.zarr");
    RawArray::v3(&[48, 512, 512], &[4, 512, 512]).write(&source);
    kill_in_an_upload(place, &source, "killed.zarr");
    let target = place.url("killed.zarr");
    assert_eq!(place.status(&target)["state"], "interrupted");
    place.ok(&["clean", &target]);
    assert_eq!(place.below("killed.zarr"), Vec::<String>::new());
    if place.kind == Kind::Moto {
        let uploads = place.below("unfinished ");
        assert!(uploads.is_empty(), "an upload is not given up: {uploads:?}");
    }
    let target = place.url("large.zarr");
    let report = place.copy(&source, &target, &ONE_SHARD).go().ok().json();
    assert_done(&report);
    assert!(number(&report, "traffic.target.part_requests") > 1, "{report:#}");
    place.ok(&["verify", &source, &target, "--max-mem", "40MiB"]);
}

/// Kills a copy when it has begun an upload.
fn kill_in_an_upload(place: &Place, source: &str, name: &str) {
    // Read and written are 48 MiB: half a minute, so that whoever looks finds it in the middle.
    let options = [&ONE_SHARD[..], &["--bwlimit", "2MiB"]].concat();
    let mut running = Running(place.copy(source, &place.url(name), &options).start());
    let started = Instant::now();
    while place.below(&format!("{name}.rechunk/uploads/")).is_empty() {
        assert!(running.0.try_wait().unwrap().is_none(), "it ended before anybody looked");
        assert!(started.elapsed() < PATIENCE, "no upload was noted down");
    }
}

/// Missing objects, and users who are not let in, are named.
fn refusals(place: &Place) {
    let (source, nothing) = (place.url("source.zarr"), place.url("nothing.zarr"));
    place.command(&["info", &nothing]).go().ends_with(3).says(&[&nothing]);
    let scheme = source.split("://").next().unwrap();
    let elsewhere = format!("{scheme}://no-such-box/x.zarr");
    place.command(&["info", &elsewhere]).go().ends_with(3).says(&[&elsewhere]);
    place.copy(&place.local(), &elsewhere, &[]).go().fails().says(&["no-such-box"]);
    if place.kind == Kind::Azurite {
        // moto lets everybody in.
        let wrong = "access_key=d3Jvbmc=";
        let info = ["info", &source, "--store-option", wrong, "--max-retries", "0"];
        place.command(&info).go().ends_with(3).says(&["403", "credentials"]);
    }
}
