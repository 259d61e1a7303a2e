//! A disk that is full: where the intermediate goes, where the target goes, and where the journal
//! goes, from any write on. The run ends with exit code 1 and says what is full; with room, the
//! same command with `--resume` ends as if nothing had been.
//!
//! `tests/tools/killpoint.c` refuses the writes, which needs no right; where mounting is allowed,
//! small file systems do so as well.

use std::process::Command;

use crate::arrays::RawArray;
use crate::harness::{BINARY, Done, Folder, Run, looks_finished, rechunk, tool, tree};
use crate::report::number;

/// Points at which a disk becomes full, of one job and place.
const POINTS: u64 = 12;

/// A copy with an intermediate that is not beside its target.
const PUSH_PULL: [&str; 10] = [
    "--chunks",
    "48,8,8",
    "--strategy",
    "push-pull",
    "--codec",
    "none",
    "--max-mem",
    "2MiB",
    "--threads",
    "2",
];
/// One whose target is in shards, which are filled one chunk after the other.
const SHARDED: [&str; 10] = [
    "--chunks",
    "12,8,8",
    "--shards",
    "24,16,48",
    "--strategy",
    "pull",
    "--max-mem",
    "2MiB",
    "--threads",
    "2",
];

struct Job {
    folder: Folder,
    options: &'static [&'static str],
    has_temp: bool,
}

impl Job {
    fn new(options: &'static [&'static str], has_temp: bool) -> Self {
        let job = Self { folder: Folder::new(), options, has_temp };
        RawArray::v3(&[96, 32, 48], &[2, 32, 48]).write(&job.folder.at("source.zarr"));
        job
    }

    fn command(&self, more: &[&str]) -> Vec<String> {
        let at = |name: &str| self.folder.at(name);
        let mut command = vec!["copy".to_owned(), at("source.zarr"), at("t.zarr")];
        command.extend(self.options.iter().chain(more).map(|&word| word.to_owned()));
        command.push("--json".to_owned());
        if self.has_temp {
            command.extend(["--temp".to_owned(), at("temp")]);
        }
        command
    }

    /// The copy, where what is written below `place` has no room from call `at` on.
    fn without_room(&self, place: &str, at: Option<u64>) -> Done {
        let (prefix, log) = (self.folder.at(place), self.folder.at("log"));
        let at = at.map(|at| at.to_string());
        let mut arguments = vec!["--prefix", &prefix, "--log", &log];
        if let Some(at) = &at {
            arguments.extend(["--full", "--at", at]);
        }
        let command = self.command(&[]);
        arguments.extend(["--", BINARY]);
        arguments.extend(command.iter().map(String::as_str));
        Run::program(&tool("killpoint"), &arguments).go()
    }

    /// Files that are there now, without the source.
    fn left(&self) -> Vec<String> {
        let outside = |key: &String| !key.starts_with("source.zarr") && key != "log";
        tree(self.folder.path()).into_keys().filter(outside).collect()
    }

    /// Nothing but the target is left, and it is right.
    fn assert_whole(&self, how: &str) {
        let mut left = self.left();
        left.retain(|key| key != "t.zarr" && !key.starts_with("t.zarr/") && key != "temp");
        assert!(left.is_empty(), "{how}: left behind: {left:?}");
        rechunk(&["verify", &self.folder.at("source.zarr"), &self.folder.at("t.zarr")]).ok();
    }

    fn forget(&self) {
        for name in ["t.zarr", "t.zarr.rechunk", "temp"] {
            let _ = std::fs::remove_dir_all(self.folder.at(name));
        }
    }

    /// `place` has no room from points on that are spread over the run; how many times tasks were
    /// done by then.
    fn survives(&self, place: &str) -> u64 {
        self.without_room(place, None).ok();
        self.assert_whole("undisturbed");
        let log = std::fs::read_to_string(self.folder.at("log")).unwrap();
        let calls = log.lines().count() as u64;
        let (mut stopped, mut resumed) = (0, 0);
        for point in 0..POINTS {
            self.forget();
            let at = 1 + point * (calls - 1) / (POINTS - 1);
            let how = format!("no room below {place} from call {at} of {calls} on");
            let done = self.without_room(place, Some(at));
            if done.code == 0 {
                // What was left to do was to remove things.
                self.assert_whole(&how);
                continue;
            }
            stopped += 1;
            let (source, target) = (self.folder.at("source.zarr"), self.folder.at("t.zarr"));
            if looks_finished(&target) {
                // All that had no room is the note that it is.
                assert!(place.starts_with("t.zarr.rechunk"), "{how}: it looks finished");
                rechunk(&["verify", &source, &target]).ok();
            }
            let done = done.ends_with(1).says(&["space", "make room"]);
            // A file of the work directory is named after it.
            let name = place.split('/').next().unwrap();
            let names = done.stderr.contains(&self.folder.at(name));
            assert!(names, "{how}: what is full is not named: {}", done.stderr);
            let again = self.command(&["--resume"]);
            let report = rechunk(&again.iter().map(String::as_str).collect::<Vec<_>>());
            resumed += u64::from(number(&report.ok().json(), "tasks.resumed") > 0);
            self.assert_whole(&how);
        }
        println!(
            "{place}: {stopped} of {POINTS} stopped, {resumed} with tasks done; {calls} calls"
        );
        // How often the journal is written differs from run to run.
        assert!(stopped >= POINTS / 3, "{stopped} stopped: this tests little");
        resumed
    }
}

#[test]
fn no_room_for_the_intermediate_is_said_and_survived() {
    let resumed = Job::new(&PUSH_PULL, true).survives("temp/");
    assert!(resumed > 0, "none came after a mark");
}

#[test]
fn no_room_for_the_target_is_said_and_survived() {
    let resumed = Job::new(&PUSH_PULL, true).survives("t.zarr/");
    assert!(resumed > 0, "none came after a mark");
    Job::new(&SHARDED, false).survives("t.zarr/");
}

#[test]
fn no_room_for_the_journal_is_said_and_survived() {
    let mut resumed = Job::new(&PUSH_PULL, true).survives("t.zarr.rechunk/");
    resumed += Job::new(&PUSH_PULL, true).survives("t.zarr.rechunk/journal");
    // The intermediate lies beside the journal.
    resumed += Job::new(&PUSH_PULL, false).survives("t.zarr.rechunk/");
    assert!(resumed > 0, "none came after a mark");
}

/// Script for a file system at `$1` that only this run sees, with `$2` bytes free. It runs the copy
/// by `$3` from `$4` to `$5` with the options behind. Then with more room, and `--resume`.
const SMALL: &str = r#"
place=$1 free=$2 binary=$3 source=$4 target=$5; shift 5
mount -t tmpfs -o size=1m none "$place" || exit 99
head -c "$((1048576 - free))" /dev/zero >"$place/ballast" || exit 98
"$binary" copy "$source" "$target" "$@"
echo "first: $?"
ls -A "$target" 2>/dev/null
rm "$place/ballast"
mount -o remount,size=64m none "$place" || exit 99
"$binary" copy "$source" "$target" "$@" --resume && "$binary" verify "$source" "$target"
echo "second: $?"
ls -A "$place"
"#;

/// Fills a real file system that is small: that of the intermediate, and that of the target with
/// the journal beside it.
#[test]
fn small_file_systems_are_said_and_survived() {
    let may_mount = Command::new("unshare").args(["-m", "true"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: no right to mount; killpoint stands for full disks");
        return;
    }
    for (place, free, in_target) in
        [("temp", 65536, false), ("target", 65536, true), ("journal", 12288, true)]
    {
        let job = Job::new(&PUSH_PULL, false);
        let (disk, temp) = (job.folder.at("disk"), job.folder.at("disk/temp"));
        std::fs::create_dir(&disk).unwrap();
        let target = if in_target { format!("{disk}/t.zarr") } else { job.folder.at("t.zarr") };
        let mut options = PUSH_PULL.to_vec();
        let far = job.folder.at("far");
        options.extend(["--temp", if in_target { &far } else { &temp }]);
        let (free, source) = (free.to_string(), job.folder.at("source.zarr"));
        let shell = ["-m", "sh", "-c", SMALL, "sh", &disk, &free, BINARY, &source, &target];
        let done = Run::program("unshare".as_ref(), &[&shell[..], &options].concat()).go().ok();
        assert!(done.stdout.contains("first: 1"), "{place}: {done:?}");
        assert!(done.stdout.contains("second: 0"), "{place}: {done:?}");
        let done = done.says(&["space", "make room", &disk]);
        assert!(!done.stdout.contains("zarr.json"), "{place} looks finished: {done:?}");
    }
}
