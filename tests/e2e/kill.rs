//! Killed at any file-changing call, with torn writes and lost unsynced bytes, the same command with
//! `--resume` ends with the same target, and does not do again what its journal says is done.
//!
//! `tests/tools/killpoint.c` does the killing. That these tests can fail is checked by hand: leave
//! out the sync before a journal mark (`rechunk-exec`, the journal's writer), write chunks in place
//! instead of by rename (`rechunk-store`), or write the metadata before the chunks: each of them has
//! to break a test here.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::arrays::RawArray;
use crate::harness::{BINARY, Done, Folder, Run, looks_finished, rechunk, tool, tree};
use crate::report::{number, text};

/// Kill points of one job in the normal run.
const POINTS: u64 = 60;

/// A copy to be killed.
struct Job {
    folder: Folder,
    source: String,
    options: Vec<&'static str>,
    /// Files of the target of an undisturbed run.
    whole: BTreeMap<String, String>,
    /// File-changing calls of an undisturbed run.
    calls: u64,
    /// Report of an undisturbed run.
    report: Value,
}

/// How a run is killed.
#[derive(Debug, Clone, Copy)]
struct Kill {
    at: u64,
    is_torn: bool,
    loses: bool,
}

impl Job {
    fn new(source: &RawArray, options: &[&'static str]) -> Self {
        let folder = Folder::new();
        let path = folder.at("source.zarr");
        source.write(&path);
        let options = [options, &["--threads", "4", "--json"]].concat();
        let mut job = Self {
            folder,
            source: path,
            options,
            whole: BTreeMap::new(),
            calls: 0,
            report: Value::Null,
        };
        let target = job.target(0);
        let done = job.under_killpoint(&target, &[], &[]).ok();
        job.report = done.json();
        job.whole = tree(target.join("t.zarr").as_ref());
        let log = std::fs::read_to_string(target.join("log")).unwrap();
        assert!(
            log.contains("fdatasync") && (log.contains("syncfs") || log.contains("fsync")),
            "nothing is synced"
        );
        job.calls = log.lines().count().try_into().unwrap();
        rechunk(&["verify", &job.source, &target.join("t.zarr").display().to_string()]).ok();
        job
    }

    /// A new directory for one round.
    fn target(&self, round: u64) -> PathBuf {
        let target = self.folder.path().join(format!("round-{round}"));
        std::fs::create_dir(&target).unwrap();
        target
    }

    fn command(&self, target: &Path, more: &[&str]) -> Vec<String> {
        let target = target.join("t.zarr").display().to_string();
        let copy = ["copy", self.source.as_str(), target.as_str()];
        [&copy[..], &self.options, more].concat().into_iter().map(str::to_owned).collect()
    }

    /// Runs it under the tool, which logs beside the target.
    fn under_killpoint(&self, target: &Path, tool_options: &[&str], more: &[&str]) -> Done {
        let (prefix, log) =
            (target.join("t.zarr").display().to_string(), target.join("log").display().to_string());
        let command = self.command(target, more);
        let mut arguments = vec!["--prefix", prefix.as_str(), "--log", log.as_str()];
        arguments.extend(tool_options);
        arguments.extend(["--", BINARY]);
        arguments.extend(command.iter().map(String::as_str));
        Run::program(&tool("killpoint"), &arguments).go()
    }

    fn kill(&self, target: &Path, kill: Kill, more: &[&str]) -> Done {
        let (at, seed) = (kill.at.to_string(), (kill.at * 31).to_string());
        let mut options = vec!["--at", at.as_str()];
        if kill.is_torn {
            options.push("--torn");
        }
        if kill.loses {
            options.extend(["--lose", seed.as_str()]);
        }
        self.under_killpoint(target, &options, more)
    }

    fn resume(&self, target: &Path) -> Done {
        let command = self.command(target, &["--resume"]);
        rechunk(&command.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// What is there after a kill.
#[derive(Debug)]
struct Wreck {
    /// Target chunk files of tasks that the journal says are done: inode and time of change.
    durable: BTreeMap<String, (u64, i64)>,
    /// Whole tasks that are marked.
    tasks: usize,
    /// Marks of steps within a task.
    steps: u64,
    /// A job is there to be resumed.
    is_job: bool,
}

fn look(job: &Job, target: &Path) -> Wreck {
    let stages = job.report["plan"]["stages"].as_array().unwrap();
    let journal = std::fs::read(target.join("t.zarr.rechunk/journal")).unwrap_or_default();
    let marks: Vec<Value> = String::from_utf8_lossy(&journal)
        .lines()
        .skip(1)
        .filter_map(|line| serde_json::from_str(line.rsplit_once(" #")?.0).ok())
        .collect();
    let mut wreck = Wreck {
        durable: BTreeMap::new(),
        tasks: 0,
        steps: 0,
        is_job: target.join("t.zarr.rechunk/job.json").exists(),
    };
    for mark in &marks {
        if let Some(steps) = mark["steps"].as_u64() {
            wreck.steps = wreck.steps.max(steps);
            continue;
        }
        let first = number(mark, "task");
        let last_stage = number(mark, "stage") == stages.len() as u64 - 1;
        for task in first..first + mark["tasks"].as_u64().unwrap_or(1) {
            wreck.tasks += 1;
            if last_stage {
                let chunks = chunks_of(job, &stages[stages.len() - 1], task);
                wreck.durable.extend(chunks.into_iter().map(|key| {
                    let path = target.join("t.zarr").join(&key);
                    let data =
                        path.metadata().unwrap_or_else(|e| panic!("{key} is marked as done: {e}"));
                    (key, (data.ino(), data.mtime_nsec()))
                }));
            }
        }
    }
    wreck
}

/// Keys of the chunks that a task of the last stage writes: tiles stand in C order.
fn chunks_of(job: &Job, stage: &Value, task: u64) -> Vec<String> {
    let list = |value: &Value| -> Vec<u64> { serde_json::from_value(value.clone()).unwrap() };
    let (shape, chunk) =
        (list(&job.report["plan"]["shape"]), list(&job.report["plan"]["target_chunks"]));
    let tile = list(&stage["write_box"]);
    let mut rest = task;
    let mut keys = vec![String::new()];
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for axis in (0..shape.len()).rev() {
        let count = shape[axis].div_ceil(tile[axis]);
        let start = rest % count * tile[axis];
        rest /= count;
        ranges.push((
            start / chunk[axis],
            (start + tile[axis]).min(shape[axis]).div_ceil(chunk[axis]),
        ));
    }
    for (first, end) in ranges.into_iter().rev() {
        keys = keys
            .iter()
            .flat_map(|key| (first..end).map(move |index| format!("{key}/{index}")))
            .collect();
    }
    keys.into_iter().map(|key| format!("c{key}")).collect()
}

/// Resumes and holds the outcome to the promises.
fn check(job: &Job, target: &Path, how: &str) {
    let wreck = look(job, target);
    let array = target.join("t.zarr");
    if looks_finished(&array.display().to_string()) {
        let left = tree(&array);
        let damaged = job.whole.iter().find(|(key, digest)| left.get(*key) != Some(digest));
        assert!(damaged.is_none(), "{how}: it looks finished, but {damaged:?} is not there");
    }
    let done = job.resume(target);
    if !wreck.is_job && looks_finished(&array.display().to_string()) && done.code == 4 {
        // Killed after its very last act: an array that is finished and nobody's job.
        assert_eq!(tree(&array), job.whole, "{how}");
        return;
    }
    let done = done.ok();
    let report = done.json();
    assert_eq!(
        tree(&array),
        job.whole,
        "{how}: the target differs from that of an undisturbed run"
    );
    let left: Vec<_> = tree(target)
        .into_keys()
        .filter(|key| key.contains(".rechunk") || key.contains('#'))
        .collect();
    assert!(left.is_empty(), "{how}: left behind: {left:?}");
    for (key, was) in &wreck.durable {
        let data = array.join(key).metadata().unwrap();
        assert_eq!(
            (data.ino(), data.mtime_nsec()),
            *was,
            "{how}: {key} was durable and is written again"
        );
    }
    assert_eq!(
        number(&report, "tasks.resumed"),
        wreck.tasks as u64,
        "{how}: tasks that were marked"
    );
    if wreck.steps > 0 && wreck.tasks == 0 {
        let (all, again) = (
            number(&job.report, "traffic.source.get_requests"),
            number(&report, "traffic.source.get_requests"),
        );
        assert!(
            again < all,
            "{how}: {} steps were marked, yet {again} of {all} chunks are read again",
            wreck.steps
        );
    }
}

/// Kills the job at points spread over its run, in every manner, and resumes it.
fn survives(job: &Job, points: u64) {
    let mut marked = 0;
    for round in 1..=points {
        let at = 1 + (round - 1) * (job.calls - 1) / points.max(2).saturating_sub(1);
        let kill = Kill { at, is_torn: round % 4 >= 2, loses: round % 2 == 1 };
        let target = job.target(round);
        let done = job.kill(&target, kill, &[]);
        // Threads may take another order, with a call more or less.
        assert!([137, 0].contains(&done.code), "{kill:?}: {done:?}");
        let wreck = look(job, &target);
        marked += usize::from(wreck.tasks > 0 || wreck.steps > 0);
        if done.code == 137 {
            check(job, &target, &format!("{} {kill:?}", text(&job.report, "plan.kind")));
        }
        std::fs::remove_dir_all(target).unwrap();
    }
    assert!(marked > 0, "no kill came after a mark: the test does not test resuming");
    println!(
        "{}: killed at {points} of {} calls, {marked} times after a mark",
        text(&job.report, "plan.kind"),
        job.calls
    );
}

fn push_pull() -> Job {
    let source = RawArray::v3(&[64, 96, 128], &[5, 96, 128]);
    Job::new(&source, &["--chunks", "64,16,32", "--strategy", "push-pull", "--max-mem", "4MiB"])
}

fn keep() -> Job {
    let source = RawArray::v3(&[96, 96, 128], &[5, 96, 128]).of_uint16();
    Job::new(&source, &["--chunks", "16,48,32", "--strategy", "keep", "--max-mem", "4MiB"])
}

#[test]
fn a_push_pull_survives_every_kill() {
    survives(&push_pull(), POINTS);
}

#[test]
fn a_keep_survives_every_kill() {
    survives(&keep(), POINTS);
}

#[test]
fn a_replacement_survives_every_kill() {
    let source = RawArray::v3(&[32, 32, 64], &[5, 32, 64]);
    let job = Job::new(&source, &["--chunks", "32,8,16", "--max-mem", "4MiB"]);
    for round in 1..=POINTS / 2 {
        let target = job.target(round);
        let path = target.join("t.zarr").display().to_string();
        RawArray::v2(&[6, 6], &[3, 3]).write(&path);
        let before = tree(path.as_ref());
        let at = 1 + (round - 1) * (job.calls + 4) / (POINTS / 2);
        let kill = Kill { at, is_torn: false, loses: round % 2 == 1 };
        let done = job.kill(&target, kill, &["--overwrite"]);
        if done.code == 137 {
            let there =
                if Path::new(&path).exists() { tree(path.as_ref()) } else { BTreeMap::new() };
            // Between the two renames there is neither, for a moment.
            assert!(
                there == before || there == job.whole || there.is_empty(),
                "{kill:?}: {there:?}"
            );
            let again = job.resume(&target);
            let over = again.code == 4 && !target.join("t.zarr.rechunk/job.json").exists();
            assert!(over || again.code == 0, "{kill:?}: {again:?}");
            if over {
                // Killed before it began, or after its last act.
                assert!(there == before || there == job.whole, "{kill:?}");
                continue;
            }
        }
        assert_eq!(tree(path.as_ref()), job.whole, "{kill:?}");
        assert!(!target.join("t.zarr.rechunk").exists(), "{kill:?}");
    }
}

#[test]
fn killed_twice_it_still_ends_well() {
    let job = push_pull();
    for round in 1..=12 {
        let target = job.target(round);
        let at = job.calls * round / 14;
        let first = Kill { at, is_torn: round % 2 == 0, loses: true };
        assert_eq!(job.kill(&target, first, &[]).code, 137);
        let second =
            Kill { at: 3 + (job.calls - at) * round / 20, is_torn: round % 3 == 0, loses: true };
        let done = job.kill(&target, second, &["--resume"]);
        if done.code == 137 {
            check(&job, &target, &format!("{first:?}, {second:?}"));
        }
    }
}

#[test]
fn an_interrupt_ends_at_130_and_can_be_resumed() {
    let job = push_pull();
    for (round, signal) in [(1, "2"), (2, "15")] {
        let target = job.target(round);
        let at = (job.calls / 3).to_string();
        let done = job.under_killpoint(&target, &["--at", &at, "--signal", signal], &[]);
        let done = done.ends_with(130).says(&["--resume"]);
        assert!(!looks_finished(&target.join("t.zarr").display().to_string()), "{done:?}");
        check(&job, &target, &format!("signal {signal}"));
    }
}

#[test]
fn another_job_does_not_resume_this_one() {
    let job = push_pull();
    let target = job.target(1);
    job.kill(&target, Kill { at: job.calls / 2, is_torn: false, loses: false }, &[]);
    let path = target.join("t.zarr").display().to_string();
    let before = tree(&target);
    for options in [
        &["--chunks", "8,96,128"][..],
        &["--chunks", "64,16,32"],
        &["--chunks", "64,16,32", "--format", "zarr2", "--resume"],
        &["--chunks", "8,96,128", "--resume"],
    ] {
        let copy = [&["copy", &job.source, &path], options].concat();
        rechunk(&copy).ends_with(4);
        assert_eq!(tree(&target), before, "{options:?}");
    }
}

/// Every call of each job, in every manner: `just test-kill`.
#[test]
#[ignore = "long: an hour and more"]
fn every_kill_point_of_every_plan_kind() {
    let source = RawArray::v3(&[64, 96, 128], &[5, 96, 128]);
    for kind in ["push-pull", "multistage", "pull", "keep"] {
        let options = ["--chunks", "64,16,32", "--strategy", kind, "--max-mem", "8MiB"];
        let job = Job::new(&source, &options);
        survives(&job, job.calls * 4);
    }
}
