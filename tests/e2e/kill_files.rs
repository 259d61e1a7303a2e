//! Killed at any file-changing call, with torn writes and lost unsynced bytes: targets in raw files
//! and in N5. The same command with `--resume` ends with the same files and nothing else.
//!
//! As in `kill`, `tests/tools/killpoint.c` does the killing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::arrays::RawArray;
use crate::harness::{BINARY, Done, Folder, Run, rechunk, tool, tree};
use crate::report::{number, text};

/// Kill points of one job.
const POINTS: u64 = 20;

/// A copy to be killed, between files in one directory for each round.
struct Job {
    folder: Folder,
    source: String,
    /// Name of the target, and what makes it an array: a document, or the file itself.
    target: &'static str,
    visible: &'static str,
    options: Vec<&'static str>,
    /// Files of an undisturbed run, with their digests.
    whole: BTreeMap<String, String>,
    /// File-changing calls of an undisturbed run.
    calls: u64,
    kind: String,
}

impl Job {
    /// The source, `rows` × 48 × 64, in raw files of `chunks`; the target by `options`.
    fn new(
        (rows, chunks): (u64, &str),
        (target, visible): (&'static str, &'static str),
        options: &[&'static str],
    ) -> Self {
        let folder = Folder::new();
        let (zarr, source) = (folder.at("source.zarr"), folder.at("source"));
        RawArray::v3(&[rows, 48, 64], &[rows, 48, 64]).of_uint16().write(&zarr);
        let to_raw = ["copy", &zarr, &source, "--format", "raw", "--codec", "none", "--no-fsync"];
        rechunk(&[&to_raw[..], &["--chunks", chunks]].concat()).ok();
        let options = [options, &["--threads", "2", "--json"]].concat();
        let (whole, kind) = (BTreeMap::new(), String::new());
        let mut job = Self { folder, source, target, visible, options, whole, calls: 0, kind };
        let round = job.round(0);
        let report = job.under_killpoint(&round, &[]).ok().json();
        job.kind = text(&report, "plan.kind").to_owned();
        let log = std::fs::read_to_string(round.with_extension("log")).unwrap();
        assert!(log.contains("sync"), "nothing is synced");
        job.calls = log.lines().count().try_into().unwrap();
        job.whole = tree(&round);
        rechunk(&["verify", &zarr, &round.join(target).display().to_string()]).ok();
        job
    }

    /// A new directory for one round.
    fn round(&self, number: u64) -> PathBuf {
        let round = self.folder.path().join(format!("round-{number}"));
        std::fs::create_dir(&round).unwrap();
        round
    }

    fn command(&self, round: &Path, more: &[&str]) -> Vec<String> {
        let target = round.join(self.target).display().to_string();
        let copy = ["copy", self.source.as_str(), target.as_str()];
        [&copy[..], &self.options, more].concat().into_iter().map(str::to_owned).collect()
    }

    fn under_killpoint(&self, round: &Path, tool_options: &[&str]) -> Done {
        // All of the directory: what is beside the target is synced with it.
        let prefix = round.display().to_string();
        let log = round.with_extension("log").display().to_string();
        let command = self.command(round, &[]);
        let mut arguments = vec!["--prefix", prefix.as_str(), "--log", log.as_str()];
        arguments.extend(tool_options);
        arguments.extend(["--", BINARY]);
        arguments.extend(command.iter().map(String::as_str));
        Run::program(&tool("killpoint"), &arguments).go()
    }

    fn resume(&self, round: &Path) -> Done {
        let command = self.command(round, &["--resume"]);
        rechunk(&command.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Whole marks in the journal of what was killed.
    fn marks(&self, round: &Path) -> usize {
        let journal = round.join(format!("{}.rechunk/journal", self.target));
        std::fs::read_to_string(journal).unwrap_or_default().lines().count().saturating_sub(1)
    }

    /// Resumes what was killed, and holds the outcome to the promises.
    fn check(&self, round: &Path, how: &str) {
        let is_visible = round.join(self.visible).exists();
        if is_visible {
            let left = tree(round);
            let damaged = self.whole.iter().find(|(key, digest)| left.get(*key) != Some(digest));
            assert!(damaged.is_none(), "{how}: it looks finished, but {damaged:?} is not there");
        }
        let is_job = round.join(format!("{}.rechunk/job.json", self.target)).exists();
        let done = self.resume(round);
        // Killed after its very last act: an array that is finished and nobody's job.
        if !(done.code == 4 && is_visible && !is_job) {
            let report = done.ok().json();
            let total = number(&report, "tasks.total");
            assert!(number(&report, "tasks.resumed") <= total, "{how}: {report}");
        }
        // No work directory, no file under way, and the same elements.
        assert_eq!(tree(round), self.whole, "{how}");
    }

    /// Kills it at points spread over its run, in every manner, and resumes it.
    fn survives(&self) {
        let mut marked = 0;
        for number in 1..=POINTS {
            let at = (1 + (number - 1) * (self.calls - 1) / (POINTS - 1)).to_string();
            let seed = (number * 31).to_string();
            let mut options = vec!["--at", at.as_str()];
            if number % 4 >= 2 {
                options.push("--torn");
            }
            if number % 2 == 1 {
                options.extend(["--lose", seed.as_str()]);
            }
            let round = self.round(number);
            let done = self.under_killpoint(&round, &options);
            // Threads may take another order, with a call more or less.
            assert!([137, 0].contains(&done.code), "{options:?}: {done:?}");
            marked += usize::from(self.marks(&round) > 0);
            if done.code == 137 {
                self.check(&round, &format!("{} {} {options:?}", self.target, self.kind));
            }
            std::fs::remove_dir_all(round).unwrap();
        }
        assert!(marked > 0, "no kill came after a mark: the test does not test resuming");
        let (kind, calls) = (&self.kind, self.calls);
        println!("{}: {kind}, {POINTS} of {calls} calls, {marked} after a mark", self.target);
    }
}

/// Files of 5 rows into files of 16: rows are carried from one buffer to the next.
#[test]
fn raw_files_cut_anew_survive_every_kill() {
    let options = ["--format", "raw", "--chunks", "16,24,32", "--max-mem", "3MiB"];
    let job = Job::new((96, "5,48,64"), ("target", "target/array.json"), &options);
    assert_eq!(job.kind, "keep");
    job.survives();
}

/// Files side by side into one: a run of bytes in it for each row of each file.
#[test]
fn a_merge_into_one_file_survives_every_kill() {
    // One buffer: of a file that is written in place while it is synced, the tool would take away
    // what was durable too, because it looks at files as a whole.
    let job = Job::new((96, "16,24,64"), ("t.npy", "t.npy"), &["--max-mem", "3MiB"]);
    job.survives();
}

/// One that is compressed when it is complete.
#[test]
fn a_merge_into_a_compressed_file_survives_every_kill() {
    let job = Job::new((96, "16,24,64"), ("t.nii.gz", "t.nii.gz"), &["--max-mem", "3MiB"]);
    job.survives();
}

#[test]
fn a_dataset_of_n5_survives_every_kill() {
    let options = ["--chunks", "16,24,32", "--codec", "gzip:1", "--max-mem", "4MiB"];
    let job = Job::new((96, "5,48,64"), ("t.n5/a", "t.n5/a/attributes.json"), &options);
    job.survives();
}
