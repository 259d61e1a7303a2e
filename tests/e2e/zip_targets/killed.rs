//! Runs that end in a ZIP file, killed at any file-changing call. The old file is there or the new
//! one, and the same command with `--resume` ends with the file of an undisturbed run.
//!
//! As in `kill`, `tests/tools/killpoint.c` does the killing.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{group, source};
use crate::arrays::RawArray;
use crate::harness::{BINARY, Done, Folder, Run, rechunk, tool, tree};

/// A job that is killed, with a directory for each round.
struct Job {
    folder: Folder,
    words: Vec<String>,
    target: &'static str,
    /// The file of an undisturbed run.
    whole: Vec<u8>,
    /// File-changing calls of that.
    calls: u64,
}

impl Job {
    fn new(folder: Folder, words: &[&str], target: &'static str) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let mut job = Self { folder, words, target, whole: Vec::new(), calls: 0 };
        let round = job.round(0);
        job.under_killpoint(&round, &[], &[]).ok();
        let log = std::fs::read_to_string(round.with_extension("log")).unwrap();
        assert!(log.contains("sync") && log.contains(".part"), "{log}");
        job.calls = log.lines().count().try_into().unwrap();
        job.whole = std::fs::read(round.join(target)).unwrap();
        job
    }

    fn round(&self, number: u64) -> PathBuf {
        let round = self.folder.path().join(format!("round-{number}"));
        std::fs::create_dir(&round).unwrap();
        round
    }

    fn command(&self, round: &Path, more: &[&str]) -> Vec<String> {
        let target = round.join(self.target).display().to_string();
        let mut command = self.words.clone();
        command.insert(2, target);
        command.extend(more.iter().map(|word| (*word).to_owned()));
        command
    }

    fn under_killpoint(&self, round: &Path, tool_options: &[&str], more: &[&str]) -> Done {
        let prefix = round.display().to_string();
        let log = round.with_extension("log").display().to_string();
        let command = self.command(round, more);
        let mut arguments = vec!["--prefix", prefix.as_str(), "--log", log.as_str()];
        arguments.extend(tool_options);
        arguments.extend(["--", BINARY]);
        arguments.extend(command.iter().map(String::as_str));
        Run::program(&tool("killpoint"), &arguments).go()
    }

    /// Kills it at points of its run, denser at its end, where it is packed, and resumes it; `old`
    /// is there before, and replaced.
    fn survives(&self, old: Option<&[u8]>) {
        let (last, more) =
            (20.min(self.calls), if old.is_some() { &["--overwrite"][..] } else { &[] });
        let points = (1..self.calls - last).step_by(5).chain(self.calls - last..=self.calls + 1);
        let (mut kept, mut packing, mut ended) = (0, 0, 0);
        for (number, at) in (1..).zip(points) {
            let round = self.round(number);
            let file = round.join(self.target);
            if let Some(old) = old {
                std::fs::write(&file, old).unwrap();
            }
            let (at, seed) = (at.to_string(), (number * 31).to_string());
            let mut options = vec!["--at", at.as_str()];
            if number % 4 >= 2 {
                options.push("--torn");
            }
            if number % 2 == 1 {
                options.extend(["--lose", seed.as_str()]);
            }
            let done = self.under_killpoint(&round, &options, more);
            assert!([137, 0].contains(&done.code), "{options:?}: {done:?}");
            let there = std::fs::read(&file).ok();
            let is_whole = there.as_ref() == Some(&self.whole);
            assert!(
                is_whole || there.as_deref() == old,
                "{options:?}: neither the old nor the new"
            );
            let state = round.join(format!("{}.rechunk", self.target));
            if state.join("packed").exists() {
                packing += 1;
            }
            ended += usize::from(is_whole && state.exists());
            let mut again = rechunk(&self.command(&round, &["--resume"]));
            if again.code == 4 {
                // Nothing was begun.
                kept += 1;
                assert!(old.is_some() && there.as_deref() == old, "{options:?}: {again:?}");
                again = rechunk(&self.command(&round, more));
            }
            assert_eq!(again.code, 0, "{options:?}: {again:?}");
            assert!(std::fs::read(&file).unwrap() == self.whole, "{options:?}: another file");
            let left: Vec<String> = tree(&round).into_keys().collect();
            assert_eq!(left, [self.target], "{options:?}");
            std::fs::remove_dir_all(round).unwrap();
        }
        println!("{}: {} calls, {kept} {packing} {ended}", self.target, self.calls);
        assert!(packing > 2 && ended > 2, "{packing}, {ended}: too few kills in the end");
    }
}

#[test]
fn a_pyramid_in_one_file_survives_every_kill() {
    let folder = Folder::new();
    let source = source(&folder);
    let words =
        ["pyramid", &source, "--levels", "1", "--chunks", "8,16,16", "--threads", "2", "--verify"];
    let job = Job::new(folder, &words, "t.ozx");
    job.survives(None);
    let other = Folder::new();
    let old = other.at("old.ozx");
    let source = job.folder.at("source.zarr");
    rechunk(&["pyramid", &source, &old, "--levels", "2", "-q"]).ok();
    job.survives(Some(&std::fs::read(old).unwrap()));
}

#[test]
fn an_array_in_a_zip_file_survives_every_kill() {
    let folder = Folder::new();
    let source = source(&folder);
    let words =
        ["copy", &source, "--chunks", "20,8,8", "--threads", "2", "--strategy", "push-pull"];
    let job = Job::new(folder, &words, "t.zip");
    job.survives(None);
    let other = Folder::new();
    let old = other.at("old.zip");
    RawArray::v2(&[6, 6], &[3, 3]).write(&other.at("old.zarr"));
    rechunk(&["copy", &other.at("old.zarr"), &old, "--format", "zarr2", "-q"]).ok();
    job.survives(Some(&std::fs::read(old).unwrap()));
}

/// Stopped in the middle: `status` and `clean` of the file find the job, and somebody's file is not
/// replaced.
#[test]
fn an_interrupted_run_is_found() {
    let folder = Folder::new();
    let (array, group) = (source(&folder), group(&folder));
    for (from, words) in [(&array, &["copy"][..]), (&group, &["copy"]), (&array, &["pyramid"])] {
        let target = if words[0] == "pyramid" { "t.ozx" } else { "t.zip" };
        let more: &[&str] = if words[0] == "pyramid" { &["--levels", "1"] } else { &[] };
        let words = [&[words[0], from.as_str()][..], more, &["--threads", "2"]].concat();
        let job = Job::new(Folder::new(), &words, target);
        for at in [job.calls / 2, job.calls - 8] {
            let round = job.round(at);
            let file = round.join(target).display().to_string();
            let stop = at.to_string();
            job.under_killpoint(&round, &["--at", &stop], &[]).ends_with(137);
            let is_there = Path::new(&file).exists();
            if is_there {
                continue;
            }
            let status = rechunk(&["status", &file, "--json"]).ok().json();
            assert_eq!(status["state"], json!("interrupted"), "{words:?}: {status}");
            rechunk(&job.command(&round, &[])).ends_with(4).says(&["--resume"]);
            std::fs::write(&file, "somebody's").unwrap();
            rechunk(&job.command(&round, &["--resume"])).ends_with(4).says(&["somebody else"]);
            assert_eq!(std::fs::read(&file).unwrap(), b"somebody's");
            rechunk(&["clean", &file]).ok();
            assert_eq!(tree(&round).into_keys().collect::<Vec<_>>(), [target], "{words:?}");
            std::fs::remove_file(&file).unwrap();
            rechunk(&job.command(&round, &[])).ok();
            assert!(std::fs::read(&file).unwrap() == job.whole, "{words:?}");
        }
    }
}
