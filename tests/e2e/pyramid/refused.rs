//! Pyramids that are not made, and those that are stopped.

use std::path::Path;

use serde_json::json;

use super::{write_group, write_image};
use crate::arrays::RawArray;
use crate::harness::{BINARY, Folder, Run, copy_directory, rechunk, tool, tree};

/// Options, the exit code, and words that are said.
type Refused = (&'static [&'static str], i32, &'static [&'static str]);

#[test]
fn levels_that_cannot_be_are_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[9, 10, 11], &[4, 4, 4]).of_uint16().write(&source);
    let before = tree(folder.path());
    let refused: [Refused; 17] = [
        (&["--factors", "1,1,12"], 2, &["factor 12 along `x`", "11 elements"]),
        (&["--factors", "1,1,12", "--size", "ceil"], 2, &["factor 12 along `x`"]),
        (&["--factors", "1,1,1"], 2, &["level 1", "no coarser"]),
        (&["--factors", "2,2,2;2,2,2"], 2, &["level 2", "no coarser"]),
        (&["--factors", "2,2,2;4,1,4"], 2, &["level 2", "no coarser"]),
        (&["--factors", "2,2"], 2, &["2 factors", "3 axes"]),
        (&["--factors", "0,2,2"], 2, &["`0` is no factor"]),
        (&["--factors", "1.5,2,2"], 2, &["`1.5` is no factor"]),
        (&["--factors", "q=2"], 2, &["no axis is named `q`"]),
        (&["--factors", "1,2,2;1,3,3", "--from", "previous"], 2, &["the level before"]),
        (&["--levels", "4"], 2, &["3 levels"]),
        (&["--levels", "0"], 2, &["no level"]),
        (&["--until", "11"], 2, &["no level"]),
        (&[], 2, &["--factors <LIST>|--levels <N>|--until <N>"]),
        (&["--levels", "1", "--as", "bdv-n5", "--format", "zarr3"], 2, &["bdv-n5"]),
        (&["--levels", "1", "--as", "ome-zarr-0.4", "--shards", "8,8,8"], 2, &["--shards"]),
        (&["--levels", "1", "--max-mem", "1KiB"], 5, &["--max-mem"]),
    ];
    for (options, code, says) in refused {
        rechunk(&[&["pyramid", &source, &target][..], options].concat()).ends_with(code).says(says);
        assert_eq!(tree(folder.path()), before, "{options:?}");
    }
}

#[test]
fn sources_and_targets_that_are_none_are_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    RawArray::v3(&[9, 10, 11], &[4, 4, 4]).of_uint16().write(&at("s.zarr"));
    RawArray::v3(&[4], &[4]).write(&at("line.zarr"));
    RawArray::v3(&[2, 2, 2, 2, 4, 4], &[2, 2, 2, 2, 4, 4]).write(&at("six.zarr"));
    write_group(&at("group.zarr"), &json!({"title": "no image"}));
    write_image(&at("image.zarr"));
    std::fs::create_dir(at("full")).unwrap();
    std::fs::write(at("full/notes"), "mine").unwrap();
    std::fs::write(at("scan.xml"), "mine").unwrap();
    let text = json!({"zarr_format": 2, "shape": [4, 4], "chunks": [2, 2], "dtype": "<U5",
        "compressor": null, "fill_value": "", "order": "C", "filters": null});
    crate::arrays::write_json(&Path::new(&at("text.zarr")).join(".zarray"), &text);
    let before = tree(folder.path());
    let refused: [(&str, &str, &[&str], i32, &str); 11] = [
        ("nothing.zarr", "t.zarr", &[], 3, "there is nothing"),
        ("group.zarr", "t.zarr", &[], 3, "describes no image"),
        ("text.zarr", "t.zarr", &[], 2, "method `mean` does not take"),
        ("s.zarr", "full", &[], 4, "not empty"),
        ("s.zarr", "full/notes", &[], 4, "is a file"),
        ("s.zarr", "group.zarr", &[], 4, "not empty"),
        ("s.zarr", "s.zarr", &[], 4, "is the source"),
        ("s.zarr", "s.zarr/c/t.zarr", &[], 4, "inside the source"),
        ("s.zarr", "scan.n5", &[], 4, "scan.xml is there already"),
        ("line.zarr", "t.zarr", &["--as", "ome-zarr-0.5"], 2, "ome-zarr-0.5 cannot say the axes"),
        ("six.zarr", "t.n5", &["--as", "bdv-n5"], 2, "bdv-n5"),
    ];
    for (source, target, options, code, says) in refused {
        let run = ["pyramid", &at(source), &at(target), "--levels", "1"];
        rechunk(&[&run[..], options].concat()).ends_with(code).says(&[says]);
        assert_eq!(tree(folder.path()), before, "{source} to {target} {options:?}");
    }
}

#[test]
fn dry_runs_write_nothing() {
    let folder = Folder::new();
    write_image(&folder.at("image.zarr"));
    let before = tree(folder.path());
    for target in ["t.zarr", "image.zarr", "t.n5"] {
        let run = ["pyramid", &folder.at("image.zarr"), &folder.at(target), "--levels", "2"];
        rechunk(&[&run[..], &["--dry-run"]].concat()).ok();
        assert_eq!(tree(folder.path()), before, "{target}");
    }
}

/// Kills a run at calls that change files; the same with `--resume` ends in the same files. Until
/// the run is complete, an image that gets levels is as it was, but for what is made anew: the
/// level `s1`, with an option for the first run only.
pub(super) fn killed(
    source: &str,
    is_added: bool,
    options: &[&str],
    anew: Option<&str>,
    points: u64,
) {
    let folder = Folder::new();
    let round = |number: u64| {
        let round = folder.path().join(format!("round-{number}"));
        copy_directory(source.as_ref(), &round.join("image.zarr"));
        round
    };
    let arguments = |round: &Path, more: &[&str]| -> Vec<String> {
        let place = |name: &str| round.join(name).display().to_string();
        let target = place(if is_added { "image.zarr" } else { "t.n5" });
        let image = place("image.zarr");
        let fixed = ["pyramid", &image, &target, "--threads", "2"];
        [&fixed[..], options, more].concat().into_iter().map(str::to_owned).collect()
    };
    let run = |round: &Path, at: u64| {
        let (prefix, log) = (round.display().to_string(), round.with_extension("log"));
        let (log, at) = (log.display().to_string(), at.to_string());
        let mut all = vec!["--prefix", prefix.as_str(), "--log", log.as_str()];
        if at != "0" {
            all.extend(["--at", at.as_str()]);
        }
        all.extend(["--", BINARY]);
        let own = arguments(round, anew.as_slice());
        all.extend(own.iter().map(String::as_str));
        Run::program(&tool("killpoint"), &all).go()
    };
    let first = round(0);
    let before = tree(&first.join("image.zarr"));
    run(&first, 0).ok();
    let whole = tree(&first);
    let calls =
        std::fs::read_to_string(first.with_extension("log")).unwrap().lines().count() as u64;
    assert!(calls > points * 2, "{calls} calls are too few for {points} points");
    for point in 1..=points {
        let at = calls * point / (points + 1);
        let stopped = round(at);
        let done = run(&stopped, at);
        if done.code == 0 {
            assert!(at * 10 > calls * 8, "it ended before {at} of {calls}");
            assert_eq!(tree(&stopped), whole, "it had fewer calls than {at}");
            continue;
        }
        assert_eq!(done.code, 137, "at {at} of {calls}: {}", done.stderr);
        let left = tree(&stopped.join("image.zarr"));
        let changed: Vec<_> =
            before.iter().filter(|(key, digest)| left.get(*key) != Some(digest)).collect();
        let is_level = |key: &str| anew.is_some() && (key == "s1" || key.starts_with("s1/"));
        let is_documents = changed.iter().all(|(key, _)| *key == "zarr.json" || is_level(key));
        let keys: Vec<_> = changed.iter().map(|(key, _)| key).collect();
        assert!(is_documents, "at {at} of {calls}: {keys:?}");
        if changed.iter().any(|(key, _)| is_level(key)) && left.contains_key("s1/zarr.json") {
            let now = whole.get("image.zarr/s1/zarr.json");
            assert_eq!(left.get("s1/zarr.json"), now, "half of a level looks finished");
        }
        let state = if is_added { "image.zarr.rechunk" } else { "t.n5.rechunk" };
        // Without it all is there, but for what is removed in the end.
        let is_under_way = stopped.join(state).join("tree.json").exists();
        if is_under_way {
            rechunk(&arguments(&stopped, &["-q"])).ends_with(4).says(&["--resume"]);
        } else {
            assert!(at * 10 > calls * 8, "it ended before {at} of {calls}");
        }
        if is_added && is_under_way {
            let over = arguments(&stopped, &["-q", "--overwrite"]);
            rechunk(&over).ends_with(4).says(&["`rechunk clean TARGET` gives it up"]);
        }
        if anew.is_some() && is_under_way && point % 2 == 0 {
            gives_up(&stopped.join("image.zarr"), &before);
            std::fs::remove_dir_all(stopped).unwrap();
            continue;
        }
        rechunk(&arguments(&stopped, &["--resume", "-q"])).ok();
        assert_eq!(tree(&stopped), whole, "at {at} of {calls}");
        std::fs::remove_dir_all(stopped).unwrap();
    }
}

/// Gives a level up that was being made anew: the image then has it as it was, or is without it.
fn gives_up(image: &Path, before: &std::collections::BTreeMap<String, String>) {
    let path = image.display().to_string();
    let done = rechunk(&["clean", &path]);
    if done.code == 4 {
        done.says(&["--resume"]); // all is written
        return;
    }
    done.ok();
    let left = tree(image);
    assert!(!left.keys().any(|key| key.contains(".rechunk")), "{left:?}");
    let levels: Vec<String> =
        super::places(&super::image(&path)).into_iter().map(|(path, ..)| path).collect();
    let of = |tree: &std::collections::BTreeMap<String, String>, level: &str| -> Vec<_> {
        let below = format!("{level}/");
        let all = tree.iter().filter(|(key, _)| key.starts_with(&below));
        all.map(|(key, digest)| (key.clone(), digest.clone())).collect()
    };
    for level in ["s0", "s1", "s2"] {
        let named = levels.iter().any(|path| path == level);
        assert!(named || level == "s1", "{levels:?}");
        let files = if named { of(before, level) } else { Vec::new() };
        assert_eq!(of(&left, level), files, "{level}: {levels:?}");
    }
}

#[test]
fn a_level_that_was_being_made_anew_ends_in_the_same_files() {
    let folder = Folder::new();
    let image = folder.at("image.zarr");
    write_image(&image);
    let levels = ["--factors", "1,1,1,2,2;1,1,2,4,4", "--method", "max", "-q"];
    rechunk(&[&["pyramid", &image, &image][..], &levels].concat()).ok();
    killed(&image, true, &["--factors", "1,1,1,2,2"], Some("--overwrite"), 12);
}

#[test]
fn a_pyramid_that_was_killed_ends_in_the_same_files() {
    let folder = Folder::new();
    write_image(&folder.at("image.zarr"));
    let levels = ["--factors", "1,1,1,2,2;1,1,2,4,4"];
    killed(&folder.at("image.zarr"), true, &levels, None, 7);
    killed(&folder.at("image.zarr"), false, &levels, None, 4);
}

#[test]
fn another_pyramid_does_not_go_on_with_one_that_was_killed() {
    let folder = Folder::new();
    let (image, target) = (folder.at("image.zarr"), folder.at("t.zarr"));
    write_image(&image);
    let levels = ["--factors", "1,1,1,2,2;1,1,2,4,4"];
    let (prefix, log) = (folder.path().display().to_string(), folder.at("log"));
    let killed = ["--prefix", &prefix, "--log", &log, "--at", "60", "--", BINARY];
    let run = [&["pyramid", &image, &target][..], &levels].concat();
    let done = Run::program(&tool("killpoint"), &[&killed[..], &run].concat()).go();
    assert_eq!(done.code, 137, "{done:?}");
    for other in [
        &["--factors", "1,1,1,2,2"][..],
        &["--factors", "1,1,1,2,2;1,1,2,4,4", "--method", "max"],
        &["--factors", "1,1,1,2,2;1,1,2,4,4", "--round", "down"],
        &["--factors", "1,1,1,2,2;1,1,2,4,4", "--size", "ceil", "--missing", "skip"],
        &["--factors", "1,1,1,2,2;1,1,2,4,4", "--chunks", "1,1,4,20,20"],
    ] {
        let resume = [&["pyramid", &image, &target, "--resume"][..], other].concat();
        rechunk(&resume).ends_with(4).says(&["another job"]);
    }
    rechunk(&[&run[..], &["--resume", "-q"]].concat()).ok();
}

/// A selection that begins inside a shard is read by the shard: which of its chunks are stored is
/// not seen.
#[test]
fn missing_chunks_that_are_not_seen_are_not_skipped() {
    let folder = Folder::new();
    let (plain, source) = (folder.at("plain.zarr"), folder.at("sharded.zarr"));
    RawArray::v3(&[16, 12], &[4, 4]).write(&plain);
    let shards = ["--chunks", "4,4", "--shards", "8,12", "-q"];
    rechunk(&[&["copy", &plain, &source][..], &shards].concat()).ok();
    let run = |name: &str, region: &str, missing: &str| {
        let target = folder.at(name);
        let levels = ["--as", "plain", "--factors", "2,2", "-q"];
        let how = ["--missing", missing, "--select", region];
        rechunk(&[&["pyramid", &source, &target][..], &levels, &how].concat())
    };
    run("inside", "4:16,0:12", "skip").ends_with(2).says(&["sharded.zarr", "inside a shard"]);
    assert!(!Path::new(&folder.at("inside")).exists());
    run("where-one-begins", "8:16,0:12", "skip").ok();
    run("filled", "4:16,0:12", "fill").ok();
}
