//! Objects larger than memory on an object store. They are sent in parts as the plan says, within
//! the budget, and nothing is left of uploads that did not come to their end.

use std::time::Duration;

use rechunk_testkit::{Fault, Filter, Moment, Operation, S3Server, ServerOptions};

use crate::arrays::RawArray;
use crate::harness::{Done, Folder, Run};
use crate::memory::BEYOND_BYTES;
use crate::report::{assert_done, number};

const MIB: u64 = 1 << 20;
/// 96 MiB of float32.
const SHAPE: [u64; 3] = [96, 512, 512];
/// One shard of all of it; little memory.
const OPTIONS: [&str; 10] = [
    "--chunks",
    "4,64,64",
    "--shards",
    "-1",
    "--codec",
    "none",
    "--max-mem",
    "64MiB",
    "--threads",
    "4",
];

struct Place {
    server: S3Server,
    folder: Folder,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            server: S3Server::start(&ServerOptions::default()).unwrap(),
            folder: Folder::new(),
        };
        RawArray::v3(&SHAPE, &[4, 512, 512]).write(&place.source());
        place
    }

    fn source(&self) -> String {
        self.folder.at("source")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = Run::rechunk(arguments);
        self.server.environment().iter().fold(run, |run, (name, value)| run.env(name, value))
    }

    fn copy(&self, options: &[&str]) -> Run {
        let (source, target) = (self.source(), self.server.url("target"));
        self.run(&[&["copy", &source, &target, "--json"], &OPTIONS[..], options].concat())
    }

    fn verify(&self) -> (Done, u64) {
        let (source, target) = (self.source(), self.server.url("target"));
        self.run(&["verify", &source, &target, "--max-mem", "64MiB", "--threads", "4"])
            .go_measured()
    }

    fn unfinished(&self) -> usize {
        self.server.unfinished_uploads().unwrap()
    }

    /// A run that is killed in the middle of an upload, which is then under way for ever.
    fn copy_killed_at_a_part(&self) {
        let part = Filter::any().operation(Operation::UploadPart);
        let hold = self.server.hold_nth(part, 7, Moment::Before);
        let mut child = self.copy(&[]).start();
        hold.wait(Duration::from_mins(2)).expect("a seventh part is sent");
        child.kill().unwrap();
        child.wait().unwrap();
        hold.abandon();
        assert_eq!(self.unfinished(), 1);
        assert!(self.has_notes(), "the upload was not noted down");
    }

    /// Some note of an upload is left.
    fn has_notes(&self) -> bool {
        let notes = self.server.root().join(S3Server::BUCKET).join("target.rechunk/uploads");
        notes.read_dir().is_ok_and(|mut notes| notes.next().is_some())
    }
}

#[test]
fn a_shard_larger_than_memory_goes_to_s3_within_the_budget() {
    let place = Place::new();
    let (done, peak_bytes) = place.copy(&[]).go_measured();
    let report = done.ok().json();
    assert_done(&report);
    println!(
        "peak {} MiB, {} MiB planned",
        peak_bytes / MIB,
        number(&report, "memory.planned_peak_bytes") / MIB
    );
    assert!(peak_bytes <= 64 * MIB + BEYOND_BYTES, "{} MiB at its peak", peak_bytes / MIB);

    // Parts of 5 MiB, the beginning, and the PUT that ends it: counted as predicted.
    let bytes = 96 * MIB + 24 * 64 * 16 + 4;
    let requests = 1 + bytes.div_ceil(5 * MIB);
    for counted in ["estimate", "traffic"] {
        assert_eq!(number(&report, &format!("{counted}.target.part_requests")), requests);
        assert_eq!(number(&report, &format!("{counted}.target.put_requests")), 1);
        assert_eq!(number(&report, &format!("{counted}.target.written_bytes")), bytes);
    }
    let parts = place.server.requests();
    let parts = parts.iter().filter(|request| request.operation == Operation::UploadPart);
    assert_eq!(parts.count() as u64, requests - 1);
    assert_eq!(place.unfinished(), 0);
    let (done, peak_bytes) = place.verify();
    done.ok();
    assert!(peak_bytes <= 64 * MIB + BEYOND_BYTES, "{} MiB to verify", peak_bytes / MIB);
}

#[test]
fn uploads_of_a_run_that_was_killed_are_given_up_when_it_is_resumed() {
    let place = Place::new();
    place.copy_killed_at_a_part();
    let report = place.copy(&["--resume"]).go().ok().json();
    assert_eq!(number(&report, "tasks.done"), number(&report, "tasks.total"));
    assert_eq!(place.unfinished(), 0);
    assert!(!place.has_notes());
    place.verify().0.ok();
}

#[test]
fn uploads_of_a_run_that_was_killed_are_given_up_when_it_is_cleaned_up() {
    let place = Place::new();
    place.copy_killed_at_a_part();
    place.run(&["clean", &place.server.url("target")]).go().ok();
    assert_eq!(place.unfinished(), 0);
    assert!(!place.has_notes());
}

#[test]
fn a_run_that_fails_leaves_no_upload() {
    let place = Place::new();
    let part = Filter::any().operation(Operation::UploadPart);
    place.server.fail_nth(part, 7, Fault::InternalError);
    place.copy(&["--max-retries", "0"]).go().fails().says(&["c/0/0/0"]);
    assert_eq!(place.unfinished(), 0);
    assert!(!place.has_notes());
    place.copy(&["--resume"]).go().ok();
    place.verify().0.ok();
}

#[test]
fn a_run_that_is_interrupted_leaves_no_upload() {
    let place = Place::new();
    let part = Filter::any().operation(Operation::UploadPart);
    let hold = place.server.hold_nth(part, 7, Moment::Before);
    let mut child = place.copy(&[]).start();
    hold.wait(Duration::from_mins(2)).expect("a seventh part is sent");
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    hold.abandon();
    assert_eq!(place.unfinished(), 0);
    assert!(!place.has_notes());
    place.copy(&["--resume"]).go().ok();
    place.verify().0.ok();
}
