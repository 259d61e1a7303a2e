//! Kills runs at any file-changing call, with torn writes and lost unsynced bytes. The same command
//! with `--resume` ends with the same target, and does not do again what its journal says is done.
//!
//! `tests/tools/killpoint.c` does the killing. That these tests can fail is checked by hand: leave
//! out the sync before a journal mark (`rechunk-exec`, the journal's writer), write chunks in place
//! instead of by rename (`rechunk-store`), or write the metadata before the chunks: each of them
//! has to break a test here.

mod job;
mod pyramid;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::Value;

use job::{Job, Kill};

use crate::arrays::RawArray;
use crate::harness::{BINARY, Folder, Run, looks_finished, rechunk, tool, tree};
use crate::report::{number, text};

/// Kill points of one job in the normal run.
const POINTS: u64 = 60;

/// State after a kill.
#[derive(Debug)]
struct Wreck {
    /// Target chunk files of tasks that the journal says are done: inode and time of change.
    durable: BTreeMap<String, (u64, i64)>,
    /// Whole tasks that are marked.
    tasks: usize,
    /// Those of them of stages before the last.
    first_tasks: usize,
    /// Marks of steps within a task.
    steps: u64,
    /// A job is there to be resumed.
    is_job: bool,
    /// It says that its target is complete: only leftovers are to be removed.
    is_done: bool,
}

fn look(job: &Job, target: &Path) -> Wreck {
    let is_array = looks_finished(&target.join("t.zarr").display().to_string());
    let stages = job.report["plan"]["stages"].as_array().unwrap();
    let journal = std::fs::read(target.join("t.zarr.rechunk/journal")).unwrap_or_default();
    // A line that was torn, and what follows it, counts for nothing.
    let text = String::from_utf8_lossy(&journal);
    let whole = text
        .split_inclusive('\n')
        .skip(1)
        .map_while(|line| line.strip_suffix('\n')?.rsplit_once(" #"));
    let marks: Vec<Value> = whole.map_while(|(mark, _)| serde_json::from_str(mark).ok()).collect();
    let mut wreck = Wreck {
        durable: BTreeMap::new(),
        tasks: 0,
        first_tasks: 0,
        steps: 0,
        is_job: target.join("t.zarr.rechunk/job.json").exists(),
        // It may be empty because nothing has been written yet, or because all has been removed.
        is_done: target.join("t.zarr.rechunk/done.json").exists()
            || is_array
                && std::fs::read_dir(target.join("t.zarr.rechunk"))
                    .is_ok_and(|mut entries| entries.next().is_none()),
    };
    for mark in &marks {
        let first = number(mark, "task");
        let stage = &stages[usize::try_from(number(mark, "stage")).unwrap()];
        let steps = mark["steps"].as_u64();
        wreck.steps = wreck.steps.max(steps.unwrap_or(0));
        for task in first..first + mark["tasks"].as_u64().unwrap_or(1) {
            wreck.tasks += usize::from(steps.is_none());
            if stage != stages.last().unwrap() {
                wreck.first_tasks += usize::from(steps.is_none());
                continue;
            }
            if job.verb == "apply" {
                continue; // its boxes are no regular grid
            }
            for key in chunks_of(job, stage, task, steps) {
                let path = target.join("t.zarr").join(&key);
                let data =
                    path.metadata().unwrap_or_else(|e| panic!("{key} is marked as done: {e}"));
                wreck.durable.insert(key, (data.ino(), data.mtime_nsec()));
            }
        }
    }
    wreck
}

/// Keys of the chunks that a task of the last stage writes, all or by its first steps. Tiles stand
/// in C order, steps along the first axis.
fn chunks_of(job: &Job, stage: &Value, task: u64, steps: Option<u64>) -> Vec<String> {
    let list = |value: &Value| -> Vec<u64> { serde_json::from_value(value.clone()).unwrap() };
    let objects = if job.shard_chunks > 0 { "target_shards" } else { "target_chunks" };
    let (shape, chunk) = (list(&job.report["plan"]["shape"]), list(&job.report["plan"][objects]));
    let (tile, step) = (list(&stage["write_box"]), list(&stage["read_box"]));
    let mut rest = task;
    let mut ranges = Vec::new();
    for axis in (0..shape.len()).rev() {
        let count = shape[axis].div_ceil(tile[axis]);
        let start = rest % count * tile[axis];
        let end = (start + tile[axis]).min(shape[axis]);
        rest /= count;
        let mut end_chunk = end.div_ceil(chunk[axis]);
        if let Some(steps) = steps.filter(|steps| axis == 0 && steps * step[0] < end) {
            assert!(start == 0 && step[1..] == shape[1..], "steps along the first axis only");
            end_chunk = steps * step[0] / chunk[0];
        }
        ranges.push(start / chunk[axis]..end_chunk);
    }
    let mut keys = vec!["c".to_owned()];
    for range in ranges.into_iter().rev() {
        keys = keys
            .iter()
            .flat_map(|key| range.clone().map(move |index| format!("{key}/{index}")))
            .collect();
    }
    keys
}

/// Resumes and holds the outcome to the promises.
fn check(job: &Job, target: &Path, how: &str) {
    let wreck = look(job, target);
    let array = target.join("t.zarr");
    if looks_finished(&array.display().to_string()) {
        let left = job.contents(&array);
        let damaged = job.whole.iter().find(|(key, digest)| left.get(*key) != Some(digest));
        assert!(damaged.is_none(), "{how}: it looks finished, but {damaged:?} is not there");
    }
    let done = job.resume(target);
    if !wreck.is_job && looks_finished(&array.display().to_string()) && done.code == 4 {
        // Killed after its very last act: an array that is finished and nobody's job.
        assert_eq!(job.contents(&array), job.whole, "{how}");
        return;
    }
    let done = done.ok();
    let report = done.json();
    assert_eq!(
        job.contents(&array),
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
    let expected = if wreck.is_done { number(&report, "tasks.total") } else { wreck.tasks as u64 };
    assert_eq!(number(&report, "tasks.resumed"), expected, "{how}: tasks that were marked");
    if job.verb == "apply" {
        let stages = job.report["plan"]["stages"].as_array().unwrap();
        let (calls, tasks) = (number(&job.report, "apply.op_calls"), number(&stages[0], "tasks"));
        let left = if wreck.is_done { 0 } else { tasks - wreck.first_tasks as u64 };
        assert_eq!(number(&report, "apply.op_calls"), left * (calls / tasks), "{how}: calls");
    }
    if wreck.steps > 0 && wreck.tasks == 0 && !wreck.durable.is_empty() {
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
    let source = RawArray::v3(&[160, 48, 64], &[5, 48, 64]).of_uint16();
    let options = ["--chunks", "16,24,32", "--strategy", "keep", "--max-mem", "2MiB"];
    let job = Job::slow(&source, &options, "3000");
    assert_eq!(number(&job.report, "tasks.total"), 1, "one stream, resumed by its steps");
    job
}

/// Shards are filled over several steps and by several lanes at once.
fn sharded() -> Job {
    let source = RawArray::v3(&[160, 48, 64], &[5, 48, 64]).of_uint16();
    let options =
        ["--chunks", "8,24,32", "--shards", "32,24,64", "--strategy", "keep", "--max-mem", "2MiB"];
    let job = Job::slow(&source, &options, "3000");
    assert_eq!((number(&job.report, "tasks.total"), job.shard_chunks), (1, 8));
    job
}

/// Two levels with overlaps, by blocks: eight tasks of 64 calls.
fn apply() -> Job {
    let source = RawArray::v3(&[64, 96, 128], &[5, 96, 128]);
    let operation = ["--op", "gaussian:sigma=0.5", "--crop", "auto", "--work", "9,13,17"];
    let boxes = ["--blend", "1", "--level", "32,48,64;blend=2", "--chunks", "16,40,32"];
    let options = [&operation[..], &boxes, &["--max-mem", "64MiB"]].concat();
    let job = Job::of("apply", &source, &options, "1000");
    assert_eq!(number(&job.report, "apply.op_calls"), 512);
    assert_eq!(job.report["plan"]["stages"].as_array().unwrap().len(), 2);
    job
}

#[test]
fn an_apply_survives_every_kill() {
    survives(&apply(), POINTS / 2);
}

#[test]
fn a_shard_survives_every_kill() {
    survives(&sharded(), POINTS * 2 / 3);
}

#[test]
fn a_push_pull_survives_every_kill() {
    survives(&push_pull(), POINTS);
}

#[test]
fn a_keep_survives_every_kill() {
    survives(&keep(), POINTS * 2 / 3);
}

/// The old array stays until the new one is complete, and one of them is there when all is over.
#[test]
fn a_replacement_survives_every_kill() {
    let source = RawArray::v3(&[32, 32, 64], &[5, 32, 64]);
    let job = Job::new(&source, &["--chunks", "32,8,16", "--max-mem", "4MiB"]);
    let old = RawArray::v2(&[6, 6], &[3, 3]);
    let prepare = |round| {
        let target = job.target(round);
        old.write(&target.join("t.zarr").display().to_string());
        target
    };
    let target = prepare(1);
    job.under_killpoint(&target, &[], &["--overwrite"]).ok();
    assert_eq!(tree(&target.join("t.zarr")), job.whole);
    let log = std::fs::read_to_string(target.join("log")).unwrap();
    let calls = u64::try_from(log.lines().count()).unwrap();
    // Most can go wrong at the end, where the arrays change places.
    let points = (1..calls - 20).step_by(5).chain(calls - 20..=calls);
    for (round, at) in (2..).zip(points) {
        let target = prepare(round);
        let kill = Kill { at, is_torn: false, loses: round % 2 == 1 };
        if job.kill(&target, kill, &["--overwrite"]).code == 137 {
            check_replacement(&job, &target, &old, kill);
        }
    }
}

fn check_replacement(job: &Job, target: &Path, old: &RawArray, kill: Kill) {
    let array = target.join("t.zarr");
    let reference = Folder::new();
    old.write(&reference.at("old"));
    let old = tree(&reference.path().join("old"));
    // Between the two renames there is neither, for a moment.
    let there = if array.exists() { tree(&array) } else { BTreeMap::new() };
    assert!(there == old || there == job.whole || there.is_empty(), "{kill:?}: {there:?}");
    let mut again = job.resume(target);
    if again.code == 4 {
        // Nothing to resume: killed before it began, or after its last act.
        assert!(there == old || there == job.whole, "{kill:?}: {again:?}");
        let command = job.command(target, &["--overwrite"]);
        again = rechunk(&command.iter().map(String::as_str).collect::<Vec<_>>());
    }
    assert_eq!(again.code, 0, "{kill:?}: {again:?}");
    assert_eq!(tree(&array), job.whole, "{kill:?}");
    assert!(!target.join("t.zarr.rechunk").exists(), "{kill:?}");
}

/// With `--no-fsync` all syncs are left to the system.
#[test]
fn nothing_waits_for_the_disk_where_that_is_not_wanted() {
    let source = RawArray::v3(&[32, 32, 64], &[5, 32, 64]);
    let to = ["--chunks", "16,8,16", "--shards", "32,16,32", "--max-mem", "4MiB"];
    let job = Job::new(&source, &to);
    let two_stages = ["--strategy", "push-pull"];
    for (round, more) in [(1, &[][..]), (2, &two_stages), (3, &["--overwrite"])] {
        let target = job.target(round);
        if more.contains(&"--overwrite") {
            RawArray::v2(&[6, 6], &[3, 3]).write(&target.join("t.zarr").display().to_string());
        }
        let all = target.display().to_string();
        job.under_killpoint(&target, &["--prefix", &all], &[&["--no-fsync"], more].concat()).ok();
        assert_eq!(job.contents(&target.join("t.zarr")), job.whole, "{more:?}");
        let log = std::fs::read_to_string(target.join("log")).unwrap();
        assert!(log.contains("done.json") && !log.contains("sync"), "{more:?}: {log}");
    }
}

/// But what is there already is not put at risk for that.
#[test]
fn what_is_replaced_is_durable_where_nothing_else_has_to_be() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source.zarr"), folder.at("t.zarr"));
    let (prefix, log) = (folder.path().display().to_string(), folder.at("log"));
    let array = RawArray::v3(&[8, 8], &[4, 4]);
    array.write(&source);
    array.write(&target);
    let append = ["copy", &source, &target, "--append", "0", "--no-fsync"];
    let killpoint = ["--prefix", &prefix, "--log", &log, "--", BINARY];
    Run::program(&tool("killpoint"), &[&killpoint[..], &append].concat()).go().ok();
    let log = std::fs::read_to_string(log).unwrap();
    let synced: Vec<&str> = log.lines().filter(|line| line.contains("sync")).collect();
    assert!(matches!(synced[..], [file, _] if file.contains("t.zarr/zarr.json#")), "{log}");
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
#[ignore = "long: 20 minutes"]
fn every_kill_point_of_every_plan_kind() {
    let source = RawArray::v3(&[64, 96, 128], &[5, 96, 128]);
    for kind in ["push-pull", "multistage", "pull", "keep"] {
        let options = ["--chunks", "64,16,32", "--strategy", kind, "--max-mem", "8MiB"];
        let job = Job::new(&source, &options);
        survives(&job, job.calls * 4);
    }
    let job = apply();
    survives(&job, job.calls * 4);
}
