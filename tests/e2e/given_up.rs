//! Files are given up, taken away or changed between two runs, or while one runs. No target that
//! looks finished may have holes, or be of two states.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::arrays::RawArray;
use crate::harness::{BINARY, Done, Folder, Run, rechunk, tool, tree};

/// A copy of a directory, with the times of what is in it.
fn duplicate(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

/// The words of a command, which outlive what they were made of.
fn words(parts: &[&[&str]]) -> Vec<String> {
    parts.concat().into_iter().map(str::to_owned).collect()
}

/// When a command is killed.
#[derive(Clone, Copy)]
enum Kill<'a> {
    /// Before this one of the calls that change something.
    At(usize),
    /// Before the first of them that names this.
    When(&'a str),
}

/// Runs a command on `ROOT/t.zarr` under the tool that kills it.
fn run_killed(root: &Path, kill: Kill<'_>, command: &[impl AsRef<str>]) -> Done {
    let (prefix, log) = (root.join("t.zarr").display().to_string(), root.with_extension("log"));
    let mut arguments = words(&[&["--prefix", &prefix, "--log", &log.display().to_string()]]);
    match kill {
        Kill::At(number) => arguments.extend(words(&[&["--at", &number.to_string()]])),
        Kill::When(text) => arguments.extend(words(&[&["--when", text]])),
    }
    arguments.extend(words(&[&["--", BINARY]]));
    arguments.extend(command.iter().map(|word| word.as_ref().to_owned()));
    Run::program(&tool("killpoint"), &arguments).go()
}

/// Waits for something that happens while a run goes on.
fn wait_until(has_happened: impl Fn() -> bool, mut has_ended: impl FnMut() -> bool) {
    while !has_happened() {
        assert!(!has_ended(), "it has ended");
        sleep(Duration::from_millis(5));
    }
}

/// Whether the journal of the run that writes `target` has two lines.
fn is_begun(target: &str) -> bool {
    let journal = fs::read_to_string(format!("{target}.rechunk/journal"));
    journal.is_ok_and(|text| text.lines().count() >= 2)
}

/// A state on disk that is looked at again and again from the same beginning.
struct Scene {
    folder: Folder,
    rounds: usize,
}

impl Scene {
    fn new(folder: Folder) -> Self {
        fs::create_dir(folder.path().join("left")).unwrap();
        Self { folder, rounds: 0 }
    }

    /// Directory that every round begins with.
    fn left(&self) -> PathBuf {
        self.folder.path().join("left")
    }

    fn round(&mut self) -> (PathBuf, String) {
        self.rounds += 1;
        let root = self.folder.path().join(format!("round-{}", self.rounds));
        duplicate(&self.left(), &root);
        let target = root.join("t.zarr").display().to_string();
        (root, target)
    }
}

/// An array that is copied by 24 tasks, one after the other.
fn source(folder: &Folder) -> String {
    let source = folder.at("source.zarr");
    RawArray::v3(&[24, 16, 16], &[1, 16, 16]).of_uint16().write(&source);
    source
}

const CHUNKS: [&str; 6] = ["--chunks", "1,8,8", "--threads", "1", "--concurrency", "1"];

/// Starts a copy and kills it when it has said that some of it is done.
fn interrupt(source: &str, target: &str, more: &[&str]) {
    let slow = ["--bwlimit", "4kB", "--max-mem", "4MiB", "-q"];
    let mut copy =
        Run::rechunk(&[&["copy", source, target], &CHUNKS[..], &slow, more].concat()).start();
    wait_until(|| is_begun(target), || copy.try_wait().unwrap().is_some());
    copy.kill().unwrap();
    copy.wait().unwrap();
}

/// While the arrays of a group are removed that is begun again, those that are left look complete.
#[test]
fn a_tree_that_was_being_removed_is_not_resumed_as_it_is() {
    let folder = Folder::new();
    let (source, whole) = (folder.at("source.zarr"), folder.at("whole.zarr"));
    let group = serde_json::json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    for name in ["a", "b", "c"] {
        RawArray::v3(&[6, 6], &[2, 3]).write(&format!("{source}/{name}"));
    }
    fs::write(format!("{source}/zarr.json"), group.to_string()).unwrap();
    let copy =
        |target: &str, more: &[&str]| words(&[&["copy", &source, target, "--chunks", "3,2"], more]);
    rechunk(&["copy", &source, &whole, "--chunks", "3,2"]).ok();
    let mut scene = Scene::new(folder);
    let left = scene.left();
    let target = left.join("t.zarr").display().to_string();
    // Complete but for its own document.
    let last = Kill::When("t.zarr/zarr.json");
    assert_eq!(run_killed(&left, last, &copy(&target, &[])).code, 137);
    assert!(left.join("t.zarr/c/zarr.json").exists() && !left.join("t.zarr/zarr.json").exists());
    let (mut overwritten, mut cleaned) = (0, 0);
    for at in (1..80).step_by(3) {
        let (root, target) = scene.round();
        if run_killed(&root, Kill::At(at), &copy(&target, &["--overwrite"])).code != 137 {
            break;
        }
        overwritten += 1;
        let second = root.with_extension("second");
        duplicate(&root, &second);
        rechunk(&copy(&target, &["--resume"])).ok();
        assert_eq!(tree(Path::new(&target)), tree(Path::new(&whole)), "killed at {at}");
        // Or it is given up: what is left is whole, or nothing.
        let target = second.join("t.zarr").display().to_string();
        rechunk(&["clean", &target]).ok();
        for name in ["a", "b", "c"] {
            let array = format!("{target}/{name}");
            if Path::new(&array).join("zarr.json").exists() {
                rechunk(&["verify", &format!("{source}/{name}"), &array]).ok();
                cleaned += 1;
            }
        }
    }
    assert!(overwritten > 10 && cleaned > 0, "{overwritten} killed, {cleaned} left whole");
}

/// `clean` takes the chunks; the journal must not say any longer that they are there.
#[test]
fn a_clean_that_is_killed_leaves_no_job_that_believes_in_its_chunks() {
    let folder = Folder::new();
    let source = source(&folder);
    let whole = folder.at("whole.zarr");
    rechunk(&[&["copy", &source, &whole][..], &CHUNKS].concat()).ok();
    let mut scene = Scene::new(folder);
    interrupt(&source, &scene.left().join("t.zarr").display().to_string(), &[]);
    let (mut killed, mut begun_anew) = (0, 0);
    for at in (1..60).step_by(2) {
        let (root, target) = scene.round();
        if run_killed(&root, Kill::At(at), &["clean", &target]).code != 137 {
            break;
        }
        killed += 1;
        // Chunks that are left out now, as their elements are missing, do not stay.
        let (_, other) = scene.round();
        fs::remove_dir_all(Path::new(&other).parent().unwrap()).unwrap();
        duplicate(&root, Path::new(&other).parent().unwrap());
        fs::rename(format!("{source}/c/0"), format!("{source}/kept")).unwrap();
        if !Path::new(&format!("{other}.rechunk/journal")).exists() {
            rechunk(&[&["copy", &source, &other, "--resume"][..], &CHUNKS].concat()).ok();
            rechunk(&["verify", &source, &other]).ok();
            begun_anew += 1;
        }
        fs::rename(format!("{source}/kept"), format!("{source}/c/0")).unwrap();
        rechunk(&[&["copy", &source, &target, "--resume"][..], &CHUNKS].concat()).ok();
        assert_eq!(tree(Path::new(&target)), tree(Path::new(&whole)), "killed at {at}");
    }
    assert!(killed > 3 && begun_anew > 1, "{killed} killed, {begun_anew} begun anew");
}

/// Kills a clean where chunks were written behind the end of an array, all of them.
#[test]
fn a_clean_of_an_append_that_is_killed_does_not_make_it_grow_over_nothing() {
    let folder = Folder::new();
    let source = source(&folder);
    let mut scene = Scene::new(folder);
    let left = scene.left();
    let target = left.join("t.zarr").display().to_string();
    rechunk(&["copy", &source, &target, "--chunks", "4,8,8"]).ok();
    let append =
        |target: &str, more: &[&str]| words(&[&["copy", &source, target, "--append", "0"], more]);
    // Killed when all is written, and before the array has its new shape.
    let grows = Kill::When("t.zarr/zarr.json");
    assert_eq!(run_killed(&left, grows, &append(&target, &[])).code, 137);
    assert!(left.join("t.zarr.rechunk/done.json").exists());
    let mut killed = 0;
    for at in 1..60 {
        let (root, target) = scene.round();
        if run_killed(&root, Kill::At(at), &["clean", &target]).code != 137 {
            break;
        }
        killed += 1;
        let again = rechunk(&append(&target, &["--resume"]));
        if again.code == 4 {
            continue; // it was given up to the end
        }
        again.ok();
        for part in ["0:24,:,:", "24:48,:,:"] {
            let one = scene.folder.at(&format!("part-{at}-{}.zarr", &part[..2]));
            rechunk(&["copy", &target, &one, "--select", part]).ok();
            rechunk(&["verify", &source, &one]).ok();
        }
    }
    assert!(killed > 5, "{killed}");
}

/// Removing the files and the state of a run does not lead to a claim that all is there.
#[test]
fn a_run_of_which_the_state_was_removed_does_not_finish() {
    let folder = Folder::new();
    let (source, target) = (source(&folder), folder.at("t.zarr"));
    let work = format!("{target}.rechunk");
    let copy = ["copy", &source, &target, "--bwlimit", "4kB", "--max-mem", "4MiB", "-q"];
    let mut copy = Run::rechunk(&[&copy[..], &CHUNKS].concat()).start();
    wait_until(|| is_begun(&target), || copy.try_wait().unwrap().is_some());
    // Chunks may come while they are removed.
    while Path::new(&work).exists() || Path::new(&target).exists() {
        let _ = fs::remove_dir_all(&target);
        let _ = fs::remove_dir_all(&work);
        if Path::new(&target).exists() && !Path::new(&work).exists() {
            break;
        }
    }
    // A chunk that was under way may not have found its file again.
    assert!([Some(4), Some(1)].contains(&copy.wait().unwrap().code()));
    assert!(!Path::new(&target).join("zarr.json").exists());
    assert!(!Path::new(&work).exists(), "nothing is left that the next run would take for its own");
}

/// Copied parts of a chunk that was written since are of another state; a chunk that was not read
/// yet may have been repaired.
#[test]
fn a_resume_refuses_what_it_has_read_before_it_was_written() {
    let folder = Folder::new();
    let source = source(&folder);
    let mut scene = Scene::new(folder);
    interrupt(&source, &scene.left().join("t.zarr").display().to_string(), &[]);
    let rewrite = |chunk: &str| {
        let path = format!("{source}/c/{chunk}/0/0");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, bytes).unwrap();
    };
    let resume = |target: &str, more: &[&str]| {
        rechunk(&[&["copy", &source, target][..], &CHUNKS, more].concat())
    };
    rewrite("23");
    let (_, target) = scene.round();
    resume(&target, &["--resume"]).ok();
    rechunk(&["verify", &source, &target]).ok();
    rewrite("0");
    let (root, target) = scene.round();
    let before = tree(&root);
    let said = ["c/0/0/0", "was written at", "--overwrite", "clean"];
    resume(&target, &["--resume"]).ends_with(4).says(&said);
    let kept = |key: &String| !key.ends_with("/lock");
    let names = |tree: std::collections::BTreeMap<String, String>| {
        tree.into_iter().filter(|(key, _)| kept(key)).collect::<Vec<_>>()
    };
    assert_eq!(names(tree(&root)), names(before));
    resume(&target, &["--overwrite"]).ok();
    rechunk(&["verify", &source, &target]).ok();
}

/// A chunk that was repaired, and read then, is of the state that is copied.
#[test]
fn a_source_may_be_repaired_and_the_run_be_killed_again() {
    let folder = Folder::new();
    let source = source(&folder);
    let mut scene = Scene::new(folder);
    interrupt(&source, &scene.left().join("t.zarr").display().to_string(), &[]);
    let path = format!("{source}/c/23/0/0");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, bytes).unwrap();
    let (root, target) = scene.round();
    let copy = ["copy", &source, &target, "--resume", "--max-mem", "4MiB"];
    let resume = [&copy[..], &CHUNKS].concat();
    assert_eq!(run_killed(&root, Kill::When("t.zarr/zarr.json"), &resume).code, 137);
    assert!(!Path::new(&target).join("zarr.json").exists());
    rechunk(&resume).ok();
    rechunk(&["verify", &source, &target]).ok();
}

/// Of a shard some chunks were read, and others not yet.
#[test]
fn a_shard_of_which_some_was_read_is_of_one_state() {
    let folder = Folder::new();
    let (plain, source, target) = (source(&folder), folder.at("shards.zarr"), folder.at("t.zarr"));
    let shards = ["--chunks", "1,16,16", "--shards", "24,16,16"];
    rechunk(&[&["copy", &plain, &source][..], &shards].concat()).ok();
    interrupt(&source, &target, &[]);
    let shard = format!("{source}/c/0/0/0");
    let bytes = fs::read(&shard).unwrap();
    fs::write(&shard, bytes).unwrap();
    let resume = ["copy", &source, &target, "--resume"];
    rechunk(&[&resume[..], &CHUNKS].concat()).ends_with(4).says(&["c/0/0/0", "was written at"]);
}

/// Chunks that were removed have no time, but who writes an array anew writes what describes it.
#[test]
fn a_source_that_was_emptied_between_two_runs_is_refused() {
    let folder = Folder::new();
    let (source, target) = (source(&folder), folder.at("t.zarr"));
    interrupt(&source, &target, &[]);
    let document = fs::read(format!("{source}/zarr.json")).unwrap();
    fs::remove_dir_all(format!("{source}/c")).unwrap();
    fs::write(format!("{source}/zarr.json"), document).unwrap();
    let resume = ["copy", &source, &target, "--resume"];
    rechunk(&[&resume[..], &CHUNKS].concat()).ends_with(4).says(&["zarr.json", "was written at"]);
}

/// Chunks that are left out, and chunks that are not, do not go together.
#[test]
fn a_resume_leaves_out_what_the_run_has_left_out() {
    let folder = Folder::new();
    let (source, target) = (source(&folder), folder.at("t.zarr"));
    interrupt(&source, &target, &[]);
    let resume = ["copy", &source, &target, "--resume", "--write-empty", "always"];
    rechunk(&[&resume[..], &CHUNKS].concat()).ends_with(4).says(&["--write-empty"]);
}

/// Writers that write an array anew remove it first. Chunks that are missing meanwhile are not
/// those that they leave out.
#[test]
fn a_source_that_is_written_anew_is_found_out() {
    for how in ["document", "directory"] {
        let folder = Folder::new();
        let (source, target) = (source(&folder), folder.at("t.zarr"));
        let other = folder.at("other.zarr");
        duplicate(Path::new(&source), Path::new(&other));
        fs::remove_dir_all(format!("{other}/c/20")).unwrap();
        let copy = ["copy", &source, &target, "--bwlimit", "4kB", "--max-mem", "4MiB", "-q"];
        let copy = Run::rechunk(&[&copy[..], &CHUNKS].concat());
        let done = std::thread::scope(|scope| {
            let copying = scope.spawn(|| copy.go());
            wait_until(|| is_begun(&target), || copying.is_finished());
            if how == "document" {
                let document = fs::read(format!("{source}/zarr.json")).unwrap();
                fs::write(format!("{source}/zarr.json"), document).unwrap();
                fs::remove_dir_all(format!("{source}/c")).unwrap();
            } else {
                fs::rename(&source, folder.at("old.zarr")).unwrap();
                fs::rename(&other, &source).unwrap();
            }
            copying.join().unwrap()
        });
        done.ends_with(3).says(&["while it was"]);
        assert!(!Path::new(&target).join("zarr.json").exists(), "{how}");
    }
}

/// Files that are open are not looked at each time they are read.
#[test]
fn a_raw_file_that_is_written_meanwhile_is_found_out() {
    let folder = Folder::new();
    let (zarr, source, target) = (source(&folder), folder.at("source.npy"), folder.at("blocks"));
    rechunk(&["copy", &zarr, &source]).ok();
    let blocks = ["copy", &source, &target, "--format", "raw", "--chunks", "6,16,16"];
    let slow = ["--bwlimit", "4kB", "--max-mem", "4MiB", "-q"];
    let copy = Run::rechunk(&[&blocks[..], &slow].concat());
    let done = std::thread::scope(|scope| {
        let copying = scope.spawn(|| copy.go());
        let job = PathBuf::from(format!("{target}.rechunk/job.json"));
        wait_until(|| job.exists(), || copying.is_finished());
        sleep(Duration::from_millis(100));
        let bytes = fs::read(&source).unwrap();
        fs::write(&source, bytes).unwrap();
        copying.join().unwrap()
    });
    done.ends_with(3).says(&["source.npy", "was written at"]);
    assert!(!Path::new(&target).join("array.json").exists());
}

/// Files that somebody has made at the target of an interrupted run are his.
#[test]
fn what_was_made_at_the_target_since_is_not_replaced() {
    let folder = Folder::new();
    let source = source(&folder);
    let mut scene = Scene::new(folder);
    interrupt(&source, &scene.left().join("t.zarr").display().to_string(), &[]);
    let copy =
        |target: &str, how: &str| rechunk(&[&["copy", &source, target, how][..], &CHUNKS].concat());
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    let (root, target) = scene.round();
    fs::write(format!("{target}/zarr.json"), group).unwrap();
    let before = tree(&root.join("t.zarr"));
    copy(&target, "--overwrite").ends_with(4).says(&["has become a group since"]);
    copy(&target, "--resume").ends_with(4).says(&["another array or group was written there"]);
    assert_eq!(tree(&root.join("t.zarr")), before);
    let (root, target) = scene.round();
    let other = scene.folder.at("other.zarr");
    RawArray::v3(&[5, 5], &[5, 5]).write(&other);
    fs::copy(format!("{other}/zarr.json"), format!("{target}/zarr.json")).unwrap();
    let before = tree(&root.join("t.zarr"));
    copy(&target, "--resume").ends_with(4).says(&["another array or group was written there"]);
    assert_eq!(tree(&root.join("t.zarr")), before);
}

/// One target has one state, however it is called.
#[test]
fn a_target_of_several_names_is_written_by_one_run() {
    let folder = Folder::new();
    let source = source(&folder);
    let real = folder.at("real.zarr");
    fs::create_dir(&real).unwrap();
    let link = folder.at("link.zarr");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    for name in [link.clone(), format!("file://{link}"), format!("{real}/."), format!("{link}/./")]
    {
        interrupt(&source, &real, &[]);
        let done = rechunk(&[&["copy", &source, &name][..], &CHUNKS].concat());
        done.ends_with(4).says(&["--resume goes on"]);
        rechunk(&[&["copy", &source, &name, "--resume"][..], &CHUNKS].concat()).ok();
        rechunk(&["verify", &source, &real]).ok();
        rechunk(&[&["copy", &source, &name, "--overwrite"][..], &CHUNKS].concat()).ok();
        rechunk(&["verify", &source, &real]).ok();
        assert!(Path::new(&link).is_symlink());
        fs::remove_dir_all(&real).unwrap();
        fs::create_dir(&real).unwrap();
    }
    // In the directory itself.
    let here = |more: &[&str]| {
        let copy = [&["copy", &source, "."][..], &CHUNKS, more].concat();
        Run::rechunk(&copy).in_directory(Path::new(&real)).go()
    };
    here(&[]).ok();
    here(&[]).ends_with(4);
    rechunk(&["verify", &source, &real]).ok();
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

/// One file takes the place of another when the source is found to be what was planned with, not
/// before.
#[test]
fn an_old_file_stays_until_the_new_one_is_found_right() {
    let folder = Folder::new();
    let (source, target) = (source(&folder), folder.at("t.npy"));
    RawArray::v3(&[4, 4], &[2, 2]).write(&folder.at("old.zarr"));
    rechunk(&["copy", &folder.at("old.zarr"), &target]).ok();
    let old = fs::read(&target).unwrap();
    let copy = ["copy", &source, &target, "--overwrite", "--verify", "-q", "--max-mem", "4MiB"];
    let slow = Run::rechunk(&[&copy[..], &["--bwlimit", "4kB"]].concat());
    let document = format!("{source}/zarr.json");
    let done = std::thread::scope(|scope| {
        let copying = scope.spawn(|| slow.go());
        let part = PathBuf::from(format!("{target}.part"));
        wait_until(|| part.exists(), || copying.is_finished());
        let text = fs::read_to_string(&document).unwrap();
        fs::write(&document, text.replace("\"attributes\": {}", "\"attributes\": {\"a\": 1}"))
            .unwrap();
        copying.join().unwrap()
    });
    done.ends_with(3).says(&["while it was"]);
    assert_eq!(fs::read(&target).unwrap(), old);
    rechunk(&copy).ok();
    rechunk(&["verify", &source, &target]).ok();
    assert!(!Path::new(&format!("{target}.part")).exists());
}

/// Replacements of an old array that are begun anew keep nothing of before.
#[test]
fn a_replacement_that_is_begun_anew_keeps_no_chunks() {
    let folder = Folder::new();
    let source = source(&folder);
    let mut scene = Scene::new(folder);
    RawArray::v3(&[6, 6], &[3, 3]).write(&scene.left().join("t.zarr").display().to_string());
    let copy = |target: &str, how: &str| {
        let copy = ["copy", &source, target, how, "--chunks", "24,4,4", "--strategy", "push-pull"];
        let alone = ["--threads", "1", "--concurrency", "1"];
        words(&[&copy, &["--temp", "memory:", "--max-mem", "4MiB"], &alone])
    };
    let (root, target) = scene.round();
    let last_chunk = Kill::When("t.zarr.rechunk/target/c/0/3/3");
    assert_eq!(run_killed(&root, last_chunk, &copy(&target, "--overwrite")).code, 137);
    assert!(root.join("t.zarr.rechunk/target/c").exists());
    fs::remove_dir_all(format!("{source}/c")).unwrap();
    rechunk(&copy(&target, "--resume")).ok();
    rechunk(&["verify", &source, &target]).ok();
    let is_chunk = |(key, digest): (&String, &String)| key.starts_with("c/") && !digest.is_empty();
    assert!(!tree(Path::new(&target)).iter().any(is_chunk));
}

/// Replacements that have taken the place of an old array are complete, even if the intermediate
/// went with its run.
#[test]
fn what_has_taken_its_place_is_not_copied_again() {
    let folder = Folder::new();
    let (source, target) = (source(&folder), folder.at("t.zarr"));
    RawArray::v3(&[6, 6], &[3, 3]).write(&target);
    let copy = |how: &str| {
        let copy = ["copy", &source, &target, how, "--chunks", "24,4,4", "--strategy", "push-pull"];
        words(&[&copy, &["--temp", "memory:", "--max-mem", "4MiB", "--json"]])
    };
    let exchanged = Kill::When("t.zarr.rechunk/done.json");
    assert_eq!(run_killed(folder.path(), exchanged, &copy("--overwrite")).code, 137);
    assert!(Path::new(&format!("{target}.rechunk/journal")).exists());
    let report = rechunk(&copy("--resume")).ok().json();
    assert_eq!(report["tasks"]["resumed"], report["tasks"]["total"], "{report}");
    rechunk(&["verify", &source, &target]).ok();
    assert!(!Path::new(&format!("{target}.rechunk")).exists());
}

/// A compressed file is unpacked once, and not taken for another one.
#[test]
fn a_compressed_file_that_was_replaced_is_not_taken_for_the_old_one() {
    let folder = Folder::new();
    let (plain, packed, other) = (source(&folder), folder.at("a.nii.gz"), folder.at("b.nii.gz"));
    rechunk(&["copy", &plain, &packed]).ok();
    fs::remove_dir_all(format!("{plain}/c/3")).unwrap();
    rechunk(&["copy", &plain, &other]).ok();
    let mut scene = Scene::new(folder);
    let copy = |target: &str, more: &[&str]| {
        words(&[&["copy", &packed, target, "--chunks", "1,8,8"], more])
    };
    // Before anything is written: when the job is there, and the file is unpacked.
    let (root, target) = scene.round();
    let first_chunk = Kill::When("t.zarr/c");
    assert_eq!(run_killed(&root, first_chunk, &copy(&target, &[])).code, 137);
    assert!(root.join("t.zarr.rechunk/source/a.nii").exists());
    sleep(Duration::from_millis(2100)); // some file systems say two seconds
    let bytes = fs::read(&other).unwrap();
    fs::write(&packed, bytes).unwrap();
    let done = rechunk(&copy(&target, &["--resume"]));
    // Nothing is marked as done, or it is refused.
    if done.code == 0 {
        rechunk(&["verify", &other, &target]).ok();
    } else {
        done.ends_with(4);
    }
}
