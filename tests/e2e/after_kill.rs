//! Leftovers of a run that was killed go with the next one, wherever they were put. Complete parts
//! are said to be complete, and damaged ones cost their contents, not the job.
//!
//! As in `kill`, `tests/tools/killpoint.c` does the killing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::arrays::RawArray;
use crate::harness::{BINARY, Done, Folder, Run, rechunk, tool, tree};
use crate::report::number;

/// A copy that is killed, and a directory for each round of it.
struct Job {
    folder: Folder,
    source: String,
    options: Vec<&'static str>,
    /// File-changing calls of an undisturbed run. Another run may have a tenth fewer or more.
    calls: u64,
    /// Those of them before it says that it is done.
    calls_of_work: u64,
    /// Microseconds that each of these calls takes longer: marks are made now and then.
    slow: &'static str,
    whole: std::collections::BTreeMap<String, String>,
}

impl Job {
    fn new(options: &[&'static str]) -> Self {
        Self::slow(options, "0")
    }

    fn slow(options: &[&'static str], slow: &'static str) -> Self {
        let folder = Folder::new();
        let source = folder.at("source.zarr");
        RawArray::v3(&[24, 32, 48], &[5, 32, 48]).write(&source);
        let options = [options, &["--threads", "2"]].concat();
        let whole = std::collections::BTreeMap::new();
        let mut job = Self { folder, source, options, calls: 0, calls_of_work: 0, slow, whole };
        let round = job.round(0);
        job.killed(&round, 0, &["--json"]).ok();
        let log = fs::read_to_string(round.with_extension("log")).unwrap();
        job.calls = log.lines().count().try_into().unwrap();
        let work = log.lines().take_while(|call| !call.contains("/done.json"));
        job.calls_of_work = work.count().try_into().unwrap();
        assert!(job.calls_of_work < job.calls, "it never says that it is done:\n{log}");
        job.whole = tree(&round.join("t.zarr"));
        assert!(!round.join("temp").exists(), "an undisturbed run leaves its --temp");
        job
    }

    fn round(&self, number: u64) -> PathBuf {
        let round = self.folder.path().join(format!("round-{number}"));
        fs::create_dir(&round).unwrap();
        round
    }

    fn command(&self, round: &Path, more: &[&str]) -> Vec<String> {
        let at = |name: &str| round.join(name).display().to_string();
        let copy = ["copy", &self.source, &at("t.zarr"), "--temp", &at("temp")];
        let all = copy.iter().chain(&self.options).chain(more);
        all.map(|word| (*word).to_owned()).collect()
    }

    /// Runs it, killed at call `at`; 0 is never.
    fn killed(&self, round: &Path, at: u64, more: &[&str]) -> Done {
        let (prefix, log) =
            (round.display().to_string(), round.with_extension("log").display().to_string());
        let at = at.to_string();
        let mut arguments =
            vec!["--prefix", prefix.as_str(), "--log", log.as_str(), "--slow", self.slow];
        if at != "0" {
            arguments.extend(["--at", at.as_str()]);
        }
        arguments.extend(["--", BINARY]);
        let command = self.command(round, more);
        arguments.extend(command.iter().map(String::as_str));
        Run::program(&tool("killpoint"), &arguments).go()
    }

    fn resume(&self, round: &Path, more: &[&str]) -> Done {
        rechunk(&self.command(round, &[&["--resume"], more].concat()))
    }

    /// A round that was killed when about `part` of its work was done, of 100.
    fn stopped(&self, number: u64, part: u64) -> PathBuf {
        let round = self.round(number);
        let done = self.killed(&round, self.calls_of_work * part / 100, &[]);
        assert_eq!(done.code, 137, "{done:?}");
        round
    }

    /// Kills it at each of `points`, and has it gone on with, or cleaned up: nothing is left of the
    /// intermediate.
    fn leaves_nothing(&self, points: impl Iterator<Item = u64>) {
        let mut had_temp = 0;
        for at in points {
            for does_clean in [false, true] {
                let round = self.round(2 * at + u64::from(does_clean));
                if self.killed(&round, at, &[]).code == 137 {
                    had_temp += u32::from(round.join("temp").exists());
                    let how = format!("{:?} at {at} of {}", self.options, self.calls);
                    if does_clean {
                        let target = round.join("t.zarr").display().to_string();
                        rechunk(&["clean", &target]).ok();
                    } else {
                        self.resume(&round, &[]).ok();
                        assert_eq!(tree(&round.join("t.zarr")), self.whole, "{how}");
                        self.resume(&round, &[]).ok().says(&["already complete"]);
                    }
                    assert!(!round.join("temp").exists(), "{how}, cleaned: {does_clean}");
                    assert!(!round.join("t.zarr.rechunk").exists(), "{how}");
                }
                fs::remove_dir_all(round).unwrap();
            }
        }
        assert!(had_temp > 0, "no kill left an intermediate: this tests nothing");
    }
}

const PUSH_PULL: [&str; 6] =
    ["--chunks", "24,8,16", "--strategy", "push-pull", "--max-mem", "8MiB"];
const SHARDED: [&str; 8] =
    ["--chunks", "12,8,16", "--shards", "24,16,16", "--strategy", "push-pull", "--max-mem", "8MiB"];
const MULTISTAGE: [&str; 6] =
    ["--chunks", "24,8,16", "--strategy", "multistage", "--max-mem", "8MiB"];

/// The last calls, which clean up, and some of those before.
#[test]
fn an_intermediate_elsewhere_goes_after_a_kill() {
    for options in [&PUSH_PULL[..], &SHARDED, &MULTISTAGE] {
        let job = Job::new(options);
        let early = (1..job.calls - 14).step_by(23);
        job.leaves_nothing(early.chain(job.calls - 14..=job.calls));
    }
}

/// `just test-kill`.
#[test]
#[ignore = "long: minutes"]
fn an_intermediate_elsewhere_goes_after_every_kill() {
    for options in [&PUSH_PULL[..], &SHARDED, &MULTISTAGE] {
        let job = Job::new(options);
        job.leaves_nothing(1..=job.calls);
    }
}

/// The directory of `--temp` is somebody's if it was there before.
#[test]
fn a_directory_that_was_there_stays() {
    let job = Job::new(&PUSH_PULL);
    for (number, part, more) in [(1, 40, "resume"), (2, 90, "clean"), (3, 60, "overwrite")] {
        let round = job.round(number);
        fs::create_dir(round.join("temp")).unwrap();
        fs::write(round.join("temp/mine"), "x").unwrap();
        job.killed(&round, job.calls * part / 100, &[]);
        let target = round.join("t.zarr").display().to_string();
        match more {
            "clean" => rechunk(&["clean", &target]).ok(),
            "overwrite" => rechunk(&job.command(&round, &["--overwrite"])).ok(),
            _ => job.resume(&round, &[]).ok(),
        };
        let left: Vec<String> = tree(&round.join("temp")).into_keys().collect();
        assert_eq!(left, ["mine"], "{more}");
    }
}

#[test]
fn what_is_complete_can_be_resumed() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    RawArray::v3(&[24, 32, 48], &[5, 32, 48]).of_uint16().write(&source);
    for (target, options) in [
        ("a.zarr", &["--chunks", "8,8,16"][..]),
        ("b.zarr", &["--chunks", "8,8,16", "--shards", "16,16,16"]),
        ("c.zarr", &["--chunks", "8,8,16", "--format", "zarr2", "--select", "3:20,:,7"]),
        ("d.zarr", &["--cast", "float32"]),
        ("e.n5/x", &["--chunks", "8,8,16"]),
        ("f.npy", &[]),
        ("g", &["--format", "raw", "--chunks", "8,8,16"]),
    ] {
        let target = folder.at(target);
        let copy = [&["copy", &source, &target], options].concat();
        rechunk(&copy).ok();
        let before = tree(folder.path());
        let again = [&copy[..], &["--resume"]].concat();
        rechunk(&again).ok().says(&["already complete"]);
        let report = rechunk(&[&again[..], &["--json"]].concat()).ok().json();
        assert_eq!(report["already_complete"], true, "{options:?}");
        assert_eq!(number(&report, "tasks.resumed"), number(&report, "tasks.total"));
        rechunk(&[&again[..], &["--verify"]].concat()).ok();
        assert_eq!(tree(folder.path()), before, "{options:?}");
        // Without --resume it is in the way, and so it is for another copy.
        rechunk(&copy).ends_with(4);
        // One file has no chunks to differ in.
        let is_file = target.ends_with("npy");
        let other: &[&str] =
            if is_file { &["--cast", "float32"] } else { &["--chunks", "24,16,8"] };
        rechunk(&[&["copy", &source, &target, "--resume"][..], other].concat()).ends_with(4);
        assert_eq!(tree(folder.path()), before, "{options:?}");
    }
}

/// A source that looks equal may be another one, or another state of it.
#[test]
fn another_source_is_not_taken_for_the_one_that_was_copied() {
    let folder = Folder::new();
    let [source, other, target] = ["a.zarr", "b.zarr", "t.zarr"].map(|name| folder.at(name));
    RawArray::v3(&[24, 32, 48], &[5, 32, 48]).of_uint16().write(&source);
    RawArray::v3(&[24, 32, 48], &[5, 32, 48]).of_uint16().write(&other);
    for entry in fs::read_dir(format!("{other}/c/2/0")).unwrap() {
        let path = entry.unwrap().path();
        let bytes: Vec<u8> = fs::read(&path).unwrap().iter().map(|byte| !byte).collect();
        fs::write(&path, bytes).unwrap();
    }
    let copy = |source: &str| ["copy", source, &target, "--chunks", "8,8,16"].map(str::to_owned);
    let resumed = |source: &str| [&copy(source)[..], &["--resume".to_owned()]].concat();
    rechunk(&copy(&source)).ok();
    rechunk(&resumed(&source)).ok();
    rechunk(&resumed(&other)).ends_with(4).says(&["--overwrite"]);
    // Written since, as somebody does who adds to it.
    let late = std::time::SystemTime::now();
    let file = fs::File::options().append(true).open(format!("{source}/c/4/0/0")).unwrap();
    let target_time = fs::metadata(format!("{target}/zarr.json")).unwrap().modified().unwrap();
    file.set_modified(late.max(target_time + std::time::Duration::from_millis(5))).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    rechunk(&resumed(&source)).ends_with(4).says(&["written since", "c/4/0/0"]);
    rechunk(&[&resumed(&source)[..], &["--verify".to_owned()]].concat()).ok();
}

#[test]
fn a_group_that_is_complete_can_be_resumed() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source.zarr"), folder.at("t.zarr"));
    for name in ["a", "b", "deep/c"] {
        RawArray::v3(&[8, 8], &[3, 8]).write(&format!("{source}/{name}"));
    }
    for group in ["", "/deep"] {
        let text = r#"{"zarr_format": 3, "node_type": "group"}"#;
        fs::write(format!("{source}{group}/zarr.json"), text).unwrap();
    }
    let copy = ["copy", &source, &target, "--chunks", "4,4"];
    rechunk(&copy).ok();
    let before = tree(folder.path());
    let again = [&copy[..], &["--resume"]].concat();
    rechunk(&again).ok().says(&["already complete"]);
    let report = rechunk(&[&again[..], &["--json"]].concat()).ok().json();
    assert_eq!(report["already_complete"], true);
    rechunk(&["copy", &source, &target, "--resume", "--chunks", "8,4"]).ends_with(4);
    assert_eq!(tree(folder.path()), before);
    // One of its arrays holds something else, or is not there.
    let chunk = format!("{target}/b/c/1/1");
    let sound = fs::read(&chunk).unwrap();
    fs::remove_file(&chunk).unwrap();
    rechunk(&again).ends_with(4).says(&["b", "other elements"]);
    fs::write(&chunk, sound).unwrap();
    fs::remove_dir_all(format!("{target}/b")).unwrap();
    rechunk(&again).ends_with(4).says(&["b"]);
    assert!(!Path::new(&format!("{target}.rechunk")).exists());
}

#[test]
fn another_place_for_the_intermediate_is_not_taken_silently() {
    let job = Job::new(&PUSH_PULL);
    let round = job.stopped(1, 50);
    let before = tree(&round);
    let [old, new, target] =
        ["temp", "new", "t.zarr"].map(|name| round.join(name).display().to_string());
    let with = |temp: &str| {
        let copy = ["copy", &job.source, &target, "--temp", temp, "--resume"];
        rechunk(&[&copy[..], &job.options].concat())
    };
    with(&new).ends_with(4).says(&["intermediate", &old, &new]);
    with("memory:").ends_with(4);
    assert_eq!(tree(&round), before);
    with(&format!("{old}/")).ok();
    assert_eq!(tree(&round.join("t.zarr")), job.whole);
    // Without a word it goes on where the intermediate is.
    let round = job.stopped(2, 50);
    let target = round.join("t.zarr").display().to_string();
    rechunk(&[&["copy", &job.source, &target, "--resume"][..], &job.options].concat()).ok();
    assert_eq!(tree(&round.join("t.zarr")), job.whole);
}

/// A copy in many tasks, so slow that some are marked long before the end on any machine: marks are
/// made by time.
fn many_tasks() -> Job {
    Job::slow(&[&PUSH_PULL[..], &["--box-bytes", "16KiB"]].concat(), "3000")
}

/// Flips a bit in a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 2;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_line_of_the_journal_costs_what_it_marks() {
    let job = many_tasks();
    let lines = |round: &Path| {
        let text = fs::read(round.join("t.zarr.rechunk/journal")).unwrap();
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
        assert!(ends.len() > 2, "too few marks: {}", ends.len());
        ends
    };
    // In the first line, in a mark, in a checksum, and the end of a line.
    let places: [fn(&[usize]) -> usize; 4] =
        [|_| 5, |ends| ends[0] + 3, |ends| ends[1] - 2, |ends| ends[1]];
    for (number, at) in (1..).zip(places) {
        let round = job.stopped(number, 60);
        let journal = round.join("t.zarr.rechunk/journal");
        let ends = lines(&round);
        flip(&journal, at(&ends));
        let report = job.resume(&round, &["--json"]).ok().json();
        assert_eq!(tree(&round.join("t.zarr")), job.whole);
        let resumed = number_of(&report, "resumed");
        if number == 1 {
            assert!(resumed > 0, "its first line says nothing that is not known: {report}");
        } else {
            assert!(resumed < number_of(&report, "total"), "{report}");
        }
        assert!(report["warnings"].to_string().contains("journal"), "{report}");
    }
}

fn number_of(report: &serde_json::Value, name: &str) -> u64 {
    number(report, &format!("tasks.{name}"))
}

#[test]
fn a_damaged_saved_job_is_put_together_again() {
    let job = many_tasks();
    let length = |round: &Path| fs::metadata(round.join("t.zarr.rechunk/job.json")).unwrap().len();
    for (number, part) in (1..).zip([0, 13, 35, 58, 77, 99]) {
        let round = job.stopped(number, 80);
        let path = round.join("t.zarr.rechunk/job.json");
        flip(&path, usize::try_from(length(&round) * part / 100).unwrap());
        let report = job.resume(&round, &["--json"]).ok().json();
        assert_eq!(tree(&round.join("t.zarr")), job.whole, "at {part} %");
        assert!(number_of(&report, "resumed") > 0, "at {part} %: {report}");
        assert!(!round.join("t.zarr.rechunk").exists());
    }
    // Another copy says so, and neither that nor what follows is for ever.
    for (number, way) in (20..).zip(["--overwrite", "clean"]) {
        let round = job.stopped(number, 80);
        fs::write(round.join("t.zarr.rechunk/job.json"), "{").unwrap();
        let target = round.join("t.zarr").display().to_string();
        let other = ["copy", &job.source, &target, "--chunks", "12,8,16", "--resume"];
        rechunk(&other).ends_with(4).says(&["job.json", "--overwrite", "clean"]);
        if way == "clean" {
            rechunk(&["clean", &target]).ok();
        } else {
            rechunk(&job.command(&round, &[way])).ok();
            assert_eq!(tree(&round.join("t.zarr")), job.whole);
        }
        assert!(!round.join("t.zarr.rechunk").exists(), "{way}");
    }
}

/// A chunk that was finished before the kill is damaged: it is written again, and not refused for
/// ever.
#[test]
fn a_damaged_finished_chunk_is_written_again() {
    for (number, is_gone) in [(1, false), (2, true)] {
        let options = ["--chunks", "24,8,16", "--codec", "none", "--max-mem", "1400KiB"];
        let job = Job::slow(&options, "10000");
        let round = job.stopped(number, 70);
        let chunk = walk(&round.join("t.zarr/c")).into_iter().next().expect("a finished chunk");
        if is_gone {
            fs::remove_file(&chunk).unwrap();
        } else {
            flip(&chunk, 100);
        }
        let done = job.resume(&round, &["--verify", "--json"]).ok();
        let report = done.json();
        assert!(report["warnings"].to_string().contains("written again"), "{report}");
        assert_eq!(report["verified"], true);
        assert_eq!(tree(&round.join("t.zarr")), job.whole);
        assert!(!round.join("t.zarr.rechunk").exists());
    }
}

/// All files below a directory.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}
