//! Bugs that were found once, each by what a user did.

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Done, Folder, Run, looks_finished, ostia, rechunk, tree};

/// Two jobs of the same geometry in one `--temp` wrote each other's intermediate.
#[test]
fn jobs_may_share_a_place_for_their_intermediates() {
    let folder = Folder::new();
    let (a, b) = (folder.at("a.zarr"), folder.at("b.zarr"));
    RawArray::v3(&[60, 40, 40], &[1, 40, 40]).write(&a);
    rechunk(&["copy", &a, &b, "--chunks", "1,40,40", "--codec", "none"]).ok();
    // The same geometry, other data: the first chunk of `b` is that of another time.
    std::fs::copy(Path::new(&b).join("c/7/0/0"), Path::new(&b).join("c/0/0/0")).unwrap();
    let temp = folder.at("temp");
    let options = ["--chunks", "60,5,5", "--strategy", "push-pull", "--max-mem", "4MiB"];
    let start = |source: &str, name: &str| {
        let target = folder.at(name);
        let command = [&["copy", source, &target, "--temp", &temp], &options[..]].concat();
        (Run::rechunk(&command).start(), target)
    };
    // The run that makes the directory stands still while the other one comes and goes.
    let (mut first, first_target) = start(&a, "at.zarr");
    while !Path::new(&temp).exists() && first.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let signal = |name: &str, child: &Child| {
        Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    };
    signal("-STOP", &first);
    let (mut second, second_target) = start(&b, "bt.zarr");
    assert!(second.wait().unwrap().success());
    signal("-CONT", &first);
    assert!(first.wait().unwrap().success());
    rechunk(&["verify", &a, &first_target]).ok();
    rechunk(&["verify", &b, &second_target]).ok();
    // It made the directory, so that it removes it too.
    assert!(!Path::new(&temp).exists(), "{temp} is left");
}

/// `--overwrite` replaced whatever was at the target: a directory of papers, a group.
#[test]
fn overwrite_replaces_arrays_only() {
    let folder = Folder::new();
    let papers = folder.path().join("papers/sub");
    std::fs::create_dir_all(&papers).unwrap();
    std::fs::write(papers.join("thesis.tex"), "years").unwrap();
    let group = folder.at("group.zarr");
    rechunk(&["copy", &ostia(), &format!("{group}/sst")]).ok();
    let before = tree(folder.path());
    for target in [folder.at("papers"), group.clone()] {
        let refused = rechunk(&["copy", &ostia(), &target, "--overwrite"]);
        refused.ends_with(4).fails().says(&["overwrite"]);
    }
    assert_eq!(tree(folder.path()), before);
    rechunk(&["copy", &ostia(), &format!("{group}/sst"), "--overwrite", "--chunks", "-1,6,6"]).ok();
}

/// A group's consolidated metadata went on describing the array that was replaced.
#[test]
fn consolidated_metadata_describes_the_array_that_took_the_place() {
    let folder = Folder::new();
    let group = folder.at("group.zarr");
    let array = format!("{group}/sst");
    rechunk(&["copy", &ostia(), &array]).ok();
    let document = json!({
        "zarr_format": 3, "node_type": "group",
        "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}},
    });
    let path = Path::new(&group).join("zarr.json");
    write_json(&path, &document);
    rechunk(&["copy", &ostia(), &array, "--overwrite", "--chunks", "-1,6,6"]).ok();
    let after: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let own: Value =
        serde_json::from_slice(&std::fs::read(format!("{array}/zarr.json")).unwrap()).unwrap();
    assert_eq!(after["consolidated_metadata"]["metadata"], json!({"sst": own}));
}

/// A saved plan that was edited ran, with wrong data or a panic.
#[test]
fn an_edited_plan_is_refused() {
    let folder = Folder::new();
    let (plan, target) = (folder.at("plan.json"), folder.at("t.zarr"));
    let options = ["--chunks", "-1,6,36", "--strategy", "push-pull", "--out", &plan];
    rechunk(&[&["plan", &ostia(), &target], &options[..]].concat()).ok();
    let saved: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    let edits: [(&str, Value); 10] = [
        ("/plan/stages/1/tile/0", json!(1)),
        ("/plan/stages/1/tasks", json!(0)),
        ("/plan/stages/0/tasks", json!(1_u64 << 63)),
        ("/plan/stages/0/lanes", json!(0)),
        ("/plan/fingerprint", json!("zz")),
        ("/plan/arrays/0/shape", json!([54])),
        ("/plan/arrays/1/chunk", json!([0, 0, 0])),
        ("/plan/stages/0/shape", json!([54])),
        ("/plan/stages/0/inputs/0/array", json!(9)),
        ("/plan/stages/1/outputs", json!([])),
    ];
    for (pointer, value) in edits {
        let mut edited = saved.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        write_json(Path::new(&plan), &edited);
        rechunk(&["run", &plan]).ends_with(2).fails().says(&["plan.json"]);
        assert!(!looks_finished(&target), "{pointer}");
    }
}

/// Output that could not be written to stdout was lost in silence.
#[test]
fn lost_output_is_a_failure() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rechunk"));
    let output = command.args(["info", &ostia()]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

/// Arrays of different shapes or types are different, which is not a usage error.
#[test]
fn unlike_arrays_differ() {
    let folder = Folder::new();
    let (a, b) = (folder.at("a.zarr"), folder.at("b.zarr"));
    RawArray::v3(&[4, 4], &[2, 2]).write(&a);
    RawArray::v3(&[4, 5], &[2, 2]).write(&b);
    rechunk(&["verify", &a, &b]).ends_with(6).says(&["[4, 4]", "[4, 5]"]);
}

/// A saved plan of elements with more than 64 bytes could not be run, nor such a job resumed.
#[test]
fn a_saved_plan_of_large_elements_runs() {
    let folder = Folder::new();
    let (source, target) = (folder.path().join("s.zarr"), folder.at("t.zarr"));
    let document = json!({
        "zarr_format": 2, "shape": [9], "chunks": [4], "dtype": "|S100", "compressor": null,
        "fill_value": null, "order": "C", "filters": null,
    });
    std::fs::create_dir(&source).unwrap();
    write_json(&source.join(".zarray"), &document);
    std::fs::write(source.join("1"), [b'x'; 400]).unwrap();
    let (source, plan) = (folder.at("s.zarr"), folder.at("plan.json"));
    rechunk(&["plan", &source, &target, "--chunks", "5", "--out", &plan]).ok();
    rechunk(&["run", &plan]).ok();
    rechunk(&["verify", &source, &target]).ok();
}

/// That a verification does not fit the memory was found out when all had been copied.
#[test]
fn a_verification_that_does_not_fit_is_refused_before_the_copy() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[512, 512], &[512, 512]).write(&source);
    let copy = |options: &[&str]| rechunk(&[&["copy", &source, &target], options].concat());
    let minimum = |refused: &Done| -> String {
        let (_, named) = refused.stderr.split_once("`--max-mem ").unwrap();
        named.split_once('`').unwrap().0.to_owned()
    };
    let of_copy = minimum(&copy(&["--max-mem", "1MiB"]).ends_with(5));
    let before = tree(folder.path());
    let refused = copy(&["--max-mem", &of_copy, "--verify"]).ends_with(5);
    assert_eq!(tree(folder.path()), before);
    copy(&["--max-mem", &minimum(&refused), "--verify"]).ok();
}

/// A plan made for an intermediate on a disk counts no memory for one.
#[test]
fn a_saved_plan_keeps_its_kind_of_intermediate() {
    let folder = Folder::new();
    let (source, target, plan) = (folder.at("a.zarr"), folder.at("b.zarr"), folder.at("plan.json"));
    RawArray::v2(&[40, 30, 20], &[1, 30, 20]).of_uint16().write(&source);
    let wanted = ["--chunks", "40,5,5", "--strategy", "push-pull", "--out", &plan];
    rechunk(&[&["plan", &source, &target][..], &wanted].concat()).ok();
    rechunk(&["run", &plan, "--temp", "memory:"]).ends_with(4).says(&["memory:", "plan again"]);
    assert!(!Path::new(&target).exists());
    rechunk(&["run", &plan, "--temp", &folder.at("elsewhere")]).ok();
    assert!(Path::new(&target).join("zarr.json").exists());
}

/// Between the two renames of `--overwrite` the old array is in the work directory, and went with
/// it.
#[test]
fn an_array_that_was_put_aside_comes_back() {
    let folder = Folder::new();
    let (old, new, target) = (folder.at("old.zarr"), folder.at("new.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[40, 30], &[10, 30]).write(&old);
    RawArray::v3(&[40, 30], &[4, 30]).write(&new);
    std::fs::write(Path::new(&new).join("c/9/0"), "damaged").unwrap();
    let work = folder.path().join("t.zarr.rechunk");
    let overwrite = ["copy", &new, &target, "--overwrite", "--chunks", "40,3"];
    let put_aside = || {
        rechunk(&["copy", &old, &target]).ok();
        rechunk(&overwrite).fails();
        std::fs::rename(&target, work.join("replaced")).unwrap();
    };
    put_aside();
    std::fs::create_dir(&target).unwrap(); // a place that is there again, empty
    let cleaned = rechunk(&["clean", &target]).ok().stdout;
    assert!(cleaned.contains("at its place again"), "{cleaned}");
    rechunk(&["verify", &old, &target]).ok();
    assert!(!work.exists());
    std::fs::remove_dir_all(&target).unwrap();
    // What begins anew fails too: the old one has to be there as if nothing had been begun.
    put_aside();
    rechunk(&overwrite).fails();
    rechunk(&["verify", &old, &target]).ok();
    rechunk(&["clean", &target]).ok();
    std::fs::remove_dir_all(&target).unwrap();
    // Somebody has put something there: which of the three is wanted, nobody knows.
    put_aside();
    std::fs::create_dir_all(work.join("target")).unwrap();
    std::fs::create_dir(&target).unwrap();
    std::fs::write(Path::new(&target).join("notes.txt"), "mine").unwrap();
    rechunk(&["clean", &target]).ends_with(4).fails().says(&["neither the array", "away"]);
    std::fs::remove_dir_all(&target).unwrap();
    rechunk(&["clean", &target]).ok();
    rechunk(&["verify", &old, &target]).ok();
    std::fs::remove_dir_all(&target).unwrap();
    // What is in a work directory is removed with it.
    put_aside();
    let aside = work.join("replaced").to_string_lossy().into_owned();
    rechunk(&["copy", &aside, &target, "--overwrite"]).ends_with(4).fails().says(&["contains"]);
    assert!(work.join("replaced/zarr.json").exists());
}

/// The journal went on counting what somebody had removed: holes, and exit 0.
#[test]
fn a_target_that_was_removed_is_written_anew_by_a_resume() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[400, 300], &[10, 300]).write(&source);
    let damaged = Path::new(&source).join("c/39/0");
    let sound = std::fs::read(&damaged).unwrap();
    for (strategy, keeps_folder) in [("direct", false), ("push-pull", false), ("direct", true)] {
        std::fs::write(&damaged, "damaged").unwrap();
        let copy = ["copy", &source, &target, "--chunks", "10,30", "--strategy", strategy];
        let copy =
            [&copy[..], &["--threads", "1", "--max-mem", "2MiB", "--concurrency", "1"]].concat();
        rechunk(&copy).fails();
        std::fs::write(&damaged, &sound).unwrap();
        let _ = std::fs::remove_dir_all(&target);
        if keeps_folder {
            std::fs::create_dir(&target).unwrap();
        }
        rechunk(&[&copy[..], &["--resume"]].concat());
        rechunk(&["verify", &source, &target]).ok();
        std::fs::remove_dir_all(&target).unwrap();
    }
}

/// A directory with the name of a work directory was taken for one by the name of one file in it.
#[test]
fn a_directory_of_somebody_is_no_work_directory() {
    let folder = Folder::new();
    let target = folder.at("t.zarr");
    let work = folder.path().join("t.zarr.rechunk");
    for name in ["report.json", "lock", "written"] {
        std::fs::create_dir_all(work.join("source")).unwrap();
        std::fs::write(work.join("source/precious"), "years").unwrap();
        for text in ["", "mine"] {
            std::fs::write(work.join(name), text).unwrap();
            for command in [vec!["copy", &ostia(), &target], vec!["clean", &target]] {
                rechunk(&command).ends_with(4).fails().says(&["no run has written"]);
                assert!(work.join("source/precious").exists(), "{name} {command:?}");
            }
        }
        std::fs::remove_dir_all(&work).unwrap();
    }
    // What is written there would go where a link leads.
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::create_dir_all(&work).unwrap();
    std::os::unix::fs::symlink(&elsewhere, work.join("intermediate")).unwrap();
    std::fs::write(work.join("job.json"), "{}").unwrap();
    rechunk(&["copy", &ostia(), &target]).ends_with(4).fails().says(&["symbolic link"]);
    assert!(tree(&elsewhere).is_empty());
}

/// An array whose name ends as that of a work directory was left out, and nothing said so.
#[test]
fn an_array_may_be_called_like_a_work_directory() {
    let folder = Folder::new();
    let (group, target) = (folder.at("g.zarr"), folder.at("h.zarr"));
    for name in ["a", "a.rechunk"] {
        RawArray::v3(&[4, 3], &[2, 3]).write(&format!("{group}/{name}"));
    }
    write_json(
        &Path::new(&group).join("zarr.json"),
        &json!({"zarr_format": 3, "node_type": "group"}),
    );
    std::fs::create_dir_all(Path::new(&group).join("b.rechunk")).unwrap();
    // There the copy of `a` would keep its state.
    let both = rechunk(&["copy", &group, &target]);
    both.ends_with(3).fails().says(&["a.rechunk", "--exclude 'a'"]);
    assert!(!Path::new(&target).exists());
    rechunk(&["copy", &group, &target, "--exclude", "a"]).ok();
    rechunk(&["verify", &format!("{group}/a.rechunk"), &format!("{target}/a.rechunk")]).ok();
    assert!(!Path::new(&target).join("b.rechunk").exists());
}

/// A drawing was written over a chunk of the source.
#[test]
fn drawings_and_plans_are_not_written_into_arrays() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[4, 3], &[2, 3]).write(&source);
    let before = tree(folder.path());
    let chunk = format!("{source}/c/0/0");
    for command in [
        vec!["copy", &source, &target, "--svg", &chunk],
        vec!["copy", &source, &target, "--html", &chunk],
        vec!["plan", &source, &target, "--out", &chunk],
    ] {
        rechunk(&command).ends_with(2).fails().says(&["would be written into"]);
    }
    rechunk(&["run", "/dev/zero"]).ends_with(2).fails().says(&["more than 64.0 MiB"]);
    assert_eq!(tree(folder.path()), before);
}

/// Leftovers of a run were damaged: neither place nor way out were named.
#[test]
fn a_saved_job_that_is_damaged_is_named_with_its_place() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[4, 3], &[2, 3]).write(&source);
    std::fs::write(Path::new(&source).join("c/1/0"), "damaged").unwrap();
    rechunk(&["copy", &source, &target, "--chunks", "4,1"]).fails();
    let job = folder.path().join("t.zarr.rechunk/job.json");
    std::fs::write(&job, "{").unwrap();
    let other = ["copy", &source, &target, "--chunks", "1,3", "--resume"];
    let place = job.to_string_lossy();
    rechunk(&other).ends_with(4).fails().says(&[&place, "--overwrite", "rechunk clean"]);
    rechunk(&["clean", &target]).ok();
    assert!(!job.exists());
}

/// `--shards none` was ignored where the chunks of strings are shards that cannot be taken apart.
#[test]
fn shards_of_strings_are_not_taken_apart() {
    let folder = Folder::new();
    let (source, target) = (folder.at("strings.zarr"), folder.at("target.zarr"));
    let inner = json!({
        "chunk_shape": [2], "codecs": [{"name": "vlen-utf8"}, {"name": "unheard.of"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "string",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": "", "attributes": {},
        "codecs": [{"name": "sharding_indexed", "configuration": inner}],
    });
    write_json(&Path::new(&source).join("zarr.json"), &document);
    let refused = rechunk(&["copy", &source, &target, "--shards", "none"]);
    refused.ends_with(3).fails().says(&["taking shards", "told apart", "--shards"]);
    rechunk(&["copy", &source, &target]).ok();
}
