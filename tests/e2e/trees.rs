//! Whole groups: copied with everything in them, or refused before anything is written; killed
//! anywhere, and resumed.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{BINARY, Done, Folder, Run, fixture, rechunk, tool, tree};
use crate::oracle::{World, available, groups};
use crate::report::{assert_done, number};

/// A group of zarr-python's making: air/t, air/u, air/deep/er/mask, lat, crs, empty.
fn made(world: World, folder: &Folder, version: u8) -> String {
    let path = folder.at(&format!("source-{version}.zarr"));
    groups(world, &[json!({"do": "tree", "path": path, "format": version})]);
    path
}

fn members(world: World, path: &str, version: u8) -> Value {
    groups(world, &[json!({"do": "members", "path": path, "format": version})]).remove(0)
}

/// Copies look to zarr-python like the source, but for the chunks that were asked for.
#[test]
fn others_read_the_whole_tree() {
    if !available() {
        return;
    }
    for (world, from) in [(World::Z2, 2), (World::Z3, 2), (World::Z3, 3)] {
        let folder = Folder::new();
        let source = made(world, &folder, from);
        let truth = members(world, &source, from);
        for to in [2, 3] {
            let target = folder.at(&format!("target-{to}.zarr"));
            let format = format!("zarr{to}");
            let copy = ["copy", &source, &target, "--format", &format, "--chunks", "time=-1,lat=5"];
            let done = rechunk(&[&copy[..], &["--verify", "--json"]].concat()).ok();
            assert_report(&done.json());
            let found = members(if to == 2 { World::Z2 } else { World::Z3 }, &target, to);
            assert_eq!(found["air/t"]["chunks"], json!([12, 5, 8]));
            assert_eq!(found["air/u"]["chunks"], json!([12, 5, 8]));
            assert_eq!(found["air/deep/er/mask"]["chunks"], json!([5, 8]));
            // A coordinate is not cut with the rest.
            assert_eq!(found["lat"]["chunks"], found["lat"]["shape"]);
            assert_eq!(names(&found), names(&truth), "{world:?} {from} to {to}");
            for (path, node) in truth.as_object().unwrap() {
                for field in ["shape", "sha256"] {
                    assert_eq!(found[path][field], node[field], "{field} of {path}");
                }
                let of = |node: &Value| without_dimensions(&node["attributes"]);
                let found = of(&found[path]);
                // From v2 to v3, an attribute says which elements are missing.
                let found = if (from, to) == (2, 3) { without_missing(&found) } else { found };
                let truth = if (from, to) == (2, 3) { in_strict_json(&of(node)) } else { of(node) };
                assert_eq!(found, truth, "{path}: {world:?} {from} to {to}");
            }
            let root = found[""]["attributes"].as_str().unwrap();
            assert!(root.contains("NaN") && root.contains("-Infinity"), "{root}");
            assert!(!Path::new(&format!("{target}.rechunk")).exists());
        }
    }
}

fn names(members: &Value) -> Vec<&String> {
    let mut names: Vec<&String> = members.as_object().unwrap().keys().collect();
    names.sort();
    names
}

/// The names of dimensions are attributes in v2 only.
fn without_dimensions(attributes: &Value) -> String {
    let text = attributes.as_str().unwrap();
    match text.strip_prefix(r#"{"_ARRAY_DIMENSIONS": "#).and_then(|rest| rest.split_once("], ")) {
        Some((_, rest)) => format!("{{{rest}"),
        None => text.to_owned(),
    }
}

/// Without `_FillValue`, which comes first.
fn without_missing(attributes: &str) -> String {
    match attributes.strip_prefix(r#"{"_FillValue": "#) {
        Some(rest) => format!("{{{}", rest.split_once(", ").map_or("}", |(_, rest)| rest)),
        None => attributes.to_owned(),
    }
}

/// With text for the numbers that JSON has not.
fn in_strict_json(attributes: &str) -> String {
    attributes.replace("NaN", r#""NaN""#).replace("-Infinity", r#""-Infinity""#)
}

#[track_caller]
fn assert_report(report: &Value) {
    let arrays = report["arrays"].as_array().unwrap();
    let mut sums = [0; 4];
    for array in arrays {
        assert_done(array);
        for (sum, path) in sums.iter_mut().zip([
            "estimate.source.get_requests",
            "traffic.target.put_requests",
            "traffic.source.read_bytes",
            "tasks.total",
        ]) {
            *sum += number(array, path);
        }
    }
    let whole = ["estimate.source.get_requests", "traffic.target.put_requests"]
        .into_iter()
        .chain(["traffic.source.read_bytes", "tasks.total"]);
    assert_eq!(whole.map(|path| number(report, path)).collect::<Vec<_>>(), sums);
    assert_eq!(number(report, "tasks.done"), number(report, "tasks.total"));
    let peaks = arrays.iter().map(|array| number(array, "memory.planned_peak_bytes"));
    assert_eq!(number(report, "memory.planned_peak_bytes"), peaks.max().unwrap());
    for path in ["memory.budget_bytes", "memory.peak_rss_bytes", "traffic.control.put"] {
        number(report, path);
    }
    assert!(report["elapsed_seconds"].is_number() && report["groups"].is_array());
}

/// A group that no other code has touched: a, g/b, g/h/c, and the empty group g/e.
fn raw_tree(folder: &Folder) -> String {
    let root = folder.at("source.zarr");
    RawArray::v3(&[12, 10], &[3, 10]).write(&format!("{root}/a"));
    RawArray::v3(&[10], &[4]).of_uint16().write(&format!("{root}/g/b"));
    RawArray::v3(&[8, 6, 4], &[2, 6, 4]).write(&format!("{root}/g/h/c"));
    for path in ["", "g", "g/h", "g/e"] {
        let directory = Path::new(&root).join(path);
        std::fs::create_dir_all(&directory).unwrap();
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{"at": "{path}", "n": NaN}}}}"#
        );
        std::fs::write(directory.join("zarr.json"), document).unwrap();
    }
    root
}

fn exists(root: &str, path: &str) -> bool {
    Path::new(root).join(path).join("zarr.json").is_file()
}

#[test]
fn arrays_are_included_and_excluded() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let all = ["a", "g/b", "g/h/c", "g", "g/h", "g/e"];
    for (round, (options, there)) in [
        (&["--include", "a"][..], &["a"][..]),
        (&["--include", "g"], &["g/b", "g/h/c", "g", "g/h", "g/e"]),
        (&["--include", "g/*"], &["g/b", "g", "g/e"]),
        (&["--include", "**/c"], &["g/h/c", "g", "g/h"]),
        (&["--exclude", "g/h"], &["a", "g/b", "g", "g/e"]),
        (&["--exclude", "*", "--exclude", "**/b"], &["g/h/c", "g", "g/h", "g/e"]),
        (&["--include", "g", "--exclude", "g/b", "--exclude", "g/e/**"], &[]),
    ]
    .into_iter()
    .enumerate()
    {
        let target = folder.at(&format!("t{round}.zarr"));
        let done = rechunk(&[&["copy", source.as_str(), &target], options].concat());
        if there.is_empty() {
            done.ends_with(2).says(&["matches no array"]);
            assert!(!Path::new(&target).exists());
            continue;
        }
        done.ok();
        for path in all {
            assert_eq!(exists(&target, path), there.contains(&path), "{path} of {options:?}");
        }
    }
    let target = folder.at("none.zarr");
    for (options, says) in [
        (&["--include", "A"][..], "--include: `A` matches no array"),
        (&["--exclude", "**"], "leave no array"),
        (&["--var", "x: codec none"], "--var: `x` matches no array"),
        (&["--var", "a: chunk 3"], "`chunk` is not one of"),
    ] {
        let done = rechunk(&[&["copy", source.as_str(), &target], options].concat());
        done.ends_with(2).says(&[says, "hint"]);
    }
    rechunk(&["plan", &source, "--var", "a: chunks 3", "--exclude", "a"]).ok(); // of a job file
    let one = format!("{source}/a");
    for option in ["--include", "--exclude", "--var"] {
        rechunk(&["copy", &one, &target, option, "a: chunks 1"]).ends_with(2).says(&[option]);
    }
    assert!(!Path::new(&target).exists());
}

/// One `--chunks` for arrays of several ranks, and rules for some.
#[test]
fn chunks_fit_where_they_can() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let plan =
        |options: &[&str]| rechunk(&[&["plan", source.as_str(), "--json"], options].concat());
    let chunks = |options: &[&str]| -> Vec<Value> {
        let report = plan(options).ok().json();
        let arrays = report["arrays"].as_array().unwrap();
        arrays.iter().map(|array| array["plan"]["target_chunks"].clone()).collect()
    };
    assert_eq!(chunks(&[]), [json!([3, 10]), json!([4]), json!([2, 6, 4])]);
    assert_eq!(chunks(&["--chunks", "6,5"]), [json!([6, 5]), json!([4]), json!([2, 6, 4])]);
    assert_eq!(chunks(&["--chunks", "-1"]), [json!([12, 10]), json!([10]), json!([8, 6, 4])]);
    let rules = ["--var", "g/**: chunks 5", "--var", "**/c: chunks 8,3,2", "--chunks", "-1"];
    assert_eq!(chunks(&rules), [json!([12, 10]), json!([5]), json!([8, 3, 2])]);
    let warned = plan(&["--chunks", "6,5"]).json()["warnings"].to_string();
    assert!(
        warned.contains("g/b: it has 1 axis") && warned.contains("g/h/c: it has 3"),
        "{warned}"
    );
    plan(&["--chunks", "1,1,1,1"]).ends_with(2).says(&["as many axes as `1,1,1,1`"]);
    plan(&["--chunks", "time=1"]).ends_with(2).says(&["no array has a dimension `time`"]);
    plan(&["--chunks", "x"]).ends_with(2).says(&["`x` is not a chunk extent"]);
    let small = plan(&["--max-mem", "200"]).ends_with(5).says(&["the array g/h/c", "--max-mem"]);
    assert_eq!(small.json()["error"]["exit_code"], 5);
    for (option, says) in [("--out", "needs a TARGET"), ("--svg", "name one of its arrays")] {
        let file = folder.at("file");
        plan(&[option, &file]).ends_with(2).says(&[option, says]);
        assert!(!Path::new(&file).exists());
    }
}

#[test]
fn coordinates_are_cut_only_if_that_is_asked_for() {
    let source = fixture("ostia_monthly.zarr");
    let plan = |options: &[&str]| {
        let chunks = ["plan", source.as_str(), "--json", "--chunks"];
        rechunk(&[&chunks[..], options].concat())
    };
    let longitude = |options: &[&str]| {
        let report = plan(options).ok().json();
        let arrays = report["arrays"].as_array().unwrap();
        let found = arrays.iter().find(|array| array["path"] == "longitude").unwrap();
        found["plan"]["target_chunks"].clone()
    };
    let cut = "time=-1,latitude=6,longitude=36";
    assert_eq!(longitude(&[cut]), json!([432]));
    assert_eq!(longitude(&[cut, "--coords", "single"]), json!([432]));
    assert_eq!(longitude(&[cut, "--coords", "follow"]), json!([36]));
    assert_eq!(longitude(&[cut, "--var", "longitude: chunks 100"]), json!([100]));
    assert_eq!(longitude(&["keep", "--coords", "keep"]), json!([432]));
    // Positions that fit the data are no matter of coordinates.
    let warnings = plan(&["-1,6,36"]).ok().json()["warnings"].to_string();
    assert!(!warnings.contains("\"longitude: "), "{warnings}");
    assert!(!warnings.contains("0 axes"), "{warnings}");
    let array = format!("{source}/longitude");
    rechunk(&["plan", &array, "--coords", "keep"]).ends_with(2).says(&["--coords is for"]);
}

#[test]
fn a_plan_as_it_is_printed() {
    let folder = Folder::new();
    raw_tree(&folder);
    let before = tree(folder.path());
    let copy = ["copy", "source.zarr", "t.zarr", "--chunks", "12,5", "--max-mem", "4MiB"];
    let copy = [&copy[..], &["--threads", "2", "--dry-run"]].concat();
    let done = Run::rechunk(&copy).in_directory(folder.path()).go().ok();
    let expected = [
        "source.zarr → t.zarr    3 arrays, 3 groups, zarr3",
        "  array  shape      chunks           plan",
        "  a      12 × 10    3 × 10 → 12 × 5",
        "  g/b    10         4                passthrough",
        "  g/h/c  8 × 6 × 4  2 × 6 × 4        passthrough",
        "  total",
        "",
        "  memory  ",
        "  cost    about 1.24 KiB read, 1.24 KiB written, ",
        "  profile local",
    ];
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{}", done.stdout);
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}\nshould start with\n{expected}");
    }
    assert!(lines[5].contains("  11    9  "), "requests in {}", lines[5]);
    assert_eq!(tree(folder.path()), before, "a dry run writes nothing");
    let json = Run::rechunk(&[&copy[..], &["--json"]].concat()).in_directory(folder.path()).go();
    let report = json.ok().json();
    assert_eq!(report["groups"], json!(["g", "g/e", "g/h"]));
    assert_eq!(report["arrays"][1]["path"], "g/b");
    assert_eq!(number(&report, "estimate.target.put_requests"), 9);
    assert!(report.get("traffic").is_none() && report.get("tasks").is_none());
}

/// All that cannot be read is named, before anything is written.
#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let strange = json!({"zarr_format": 3, "node_type": "array"});
    write_json(&Path::new(&source).join("g/broken/zarr.json"), &strange);
    let (_, mut unknown) = RawArray::v3(&[4], &[2]).metadata();
    unknown["codecs"] =
        json!([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "secret"}]);
    write_json(&Path::new(&source).join("odd/zarr.json"), &unknown);
    let target = folder.at("t.zarr");
    let done = rechunk(&["copy", &source, &target]).ends_with(3);
    done.says(&["g/broken (zarr.json", "odd (zarr.json", "secret", "--exclude 'g/broken'"]);
    assert!(!Path::new(&target).exists() && !Path::new(&format!("{target}.rechunk")).exists());
    rechunk(&["copy", &source, &target, "--exclude", "g/broken", "--exclude", "odd"]).ok();
    assert!(exists(&target, "g/h/c") && !exists(&target, "odd"));
}

/// Fields that a copy need not understand stay with the group, where its format has a place for
/// them.
#[test]
fn extensions_of_groups_are_carried() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let extension = json!({"must_understand": false, "level": 7});
    let write = |path: &str, extension: &Value| {
        let text = format!(
            r#"{{"zarr_format": 3, "node_type": "group", "hints": {extension}, "attributes": {{}}}}"#
        );
        std::fs::write(Path::new(&source).join(path), text).unwrap();
    };
    write("zarr.json", &extension);
    write("g/e/zarr.json", &extension);
    let read = |root: &str, path: &str| -> Value {
        serde_json::from_slice(&std::fs::read(Path::new(root).join(path)).unwrap()).unwrap()
    };
    let target = folder.at("t.zarr");
    let done = rechunk(&["copy", &source, &target]).ok();
    done.says(&["the group g/e has fields beyond the specification, which are carried: \"hints\""]);
    // Attributes that are no JSON of others are carried between arrays of one version: those of g
    // say NaN.
    let text = std::fs::read_to_string(Path::new(&target).join("zarr.json")).unwrap();
    let root: Value = serde_json::from_str(&text.replace("NaN", "null")).unwrap();
    let members = &root["consolidated_metadata"]["metadata"];
    for group in [&root, &members["g/e"], &read(&target, "g/e/zarr.json")] {
        assert_eq!(group["hints"], extension);
    }
    let done = rechunk(&["copy", &source, &folder.at("v2.zarr"), "--format", "zarr2"]).ok();
    done.says(&["the group g/e has fields that are dropped: \"hints\""]);
    write("g/e/zarr.json", &json!({"must_understand": true}));
    let done = rechunk(&["copy", &source, &folder.at("u.zarr")]).ends_with(3);
    done.says(&["g/e (zarr.json", "hints", "--exclude"]);
}

/// To N5 and back: the same arrays, groups and attributes.
#[test]
fn a_tree_goes_to_n5_and_back() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let (n5, back) = (folder.at("t.n5"), folder.at("back.zarr"));
    rechunk(&["copy", &source, &n5, "--chunks", "4,5", "--verify"]).ok();
    let document = |path: &str| {
        std::fs::read_to_string(Path::new(&n5).join(path).join("attributes.json")).unwrap()
    };
    assert!(document("").contains(r#""n5": ""#));
    // NaN is no JSON to most readers of N5: it is kept as text, and comes back.
    let root: Value = serde_json::from_str(&document("")).unwrap();
    assert_eq!(root["rechunk_attributes"]["n"], json!({"json": "NaN"}));
    assert!(document("g/e").contains(r#""at": "g/e""#) && !document("g/e").contains("n5"));
    // A directory is all that a group of N5 needs.
    std::fs::create_dir(Path::new(&n5).join("bare")).unwrap();
    rechunk(&["copy", &n5, &back]).ok();
    for array in ["a", "g/b", "g/h/c"] {
        let of = |root: &str| format!("{root}/{array}");
        rechunk(&["verify", &of(&source), &of(&n5)]).ok();
        rechunk(&["verify", &of(&source), &of(&back)]).ok();
    }
    let group = std::fs::read_to_string(Path::new(&back).join("g/h/zarr.json")).unwrap();
    assert!(group.contains(r#""at": "g/h""#) && group.contains(r#""n": "NaN""#), "{group}");
    assert!(exists(&back, "bare"));
    let again = folder.at("again.n5");
    rechunk(&["copy", &n5, &again]).ok();
    assert!(Path::new(&again).join("bare/attributes.json").is_file());
    for name in ["x.npy", "x.nii"] {
        let target = folder.at(name);
        rechunk(&["copy", &source, &target]).ends_with(2).says(&["a group cannot be written as"]);
    }
}

/// Leftovers of a kill in a source are no part of it.
#[test]
fn the_state_of_runs_is_not_copied() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    RawArray::v3(&[4], &[2]).write(&format!("{source}/g/x.rechunk/target"));
    let target = folder.at("t.zarr");
    rechunk(&["copy", &source, &target]).ok();
    assert!(!Path::new(&target).join("g/x.rechunk").exists());
}

#[test]
fn what_is_in_the_way_stays() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let (array, group) = (folder.at("array.zarr"), folder.at("group.zarr"));
    RawArray::v2(&[4], &[2]).write(&array);
    rechunk(&["copy", &source, &group, "--include", "a"]).ok();
    std::fs::create_dir(folder.at("dir")).unwrap();
    std::fs::write(folder.at("dir/file"), "x").unwrap();
    std::fs::create_dir(folder.at("used.zarr.rechunk")).unwrap();
    std::fs::write(folder.at("used.zarr.rechunk/notes"), "x").unwrap();
    std::os::unix::fs::symlink(&source, folder.at("link.zarr.rechunk")).unwrap();
    let before = tree(folder.path());
    let linked = rechunk(&["copy", &source, &folder.at("link.zarr"), "--overwrite"]).ends_with(4);
    linked.says(&["link.zarr.rechunk is the source"]);
    let inside = format!("{source}/new");
    let in_array = format!("{array}/new");
    let in_group = format!("{group}/new");
    for target in [&array, &group, &folder.at("dir"), &folder.at("used.zarr"), &source, &inside] {
        for more in [&[][..], &["--overwrite"], &["--resume"]] {
            let done = rechunk(&[&["copy", source.as_str(), target], more].concat()).ends_with(4);
            done.says(&["hint"]);
        }
    }
    rechunk(&["copy", &source, &in_array]).ends_with(4).says(&["inside the array"]);
    rechunk(&["copy", &source, &in_group, "--format", "zarr2"]).ends_with(4).says(&["zarr3 group"]);
    rechunk(&["copy", &source, &folder.path().display().to_string()]).ends_with(4);
    assert_eq!(tree(folder.path()), before);
}

/// Into a group that has consolidated metadata: what is above is told of all of it.
#[test]
fn a_tree_inside_a_consolidated_group_is_told() {
    if !available() {
        return;
    }
    for version in [2, 3] {
        let folder = Folder::new();
        let source = raw_tree(&folder);
        let format = format!("zarr{version}");
        let outer = folder.at("outer.zarr");
        rechunk(&["copy", &source, &outer, "--include", "a", "--format", &format]).ok();
        let inner = format!("{outer}/in/side");
        rechunk(&["copy", &source, &inner, "--format", &format]).ok();
        let world = if version == 2 { World::Z2 } else { World::Z3 };
        let found = members(world, &outer, version);
        let expected = ["", "a", "in", "in/side", "in/side/a", "in/side/g", "in/side/g/b"];
        let expected = [&expected[..], &["in/side/g/e", "in/side/g/h", "in/side/g/h/c"]].concat();
        assert_eq!(names(&found), expected);
        assert_eq!(found["in/side/a"]["sha256"], found["a"]["sha256"]);
        assert_eq!(found["in/side/g"]["attributes"], r#"{"at": "g", "n": NaN}"#);
        let alone = members(world, &inner, version);
        assert_eq!(alone["g/h/c"]["sha256"], found["in/side/g/h/c"]["sha256"]);
    }
}

/// Elements that cannot be told apart are passed on, whatever is asked for the others.
#[test]
fn strings_are_copied_as_they_are() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let (_, mut strings) = RawArray::v3(&[2, 2], &[2, 2]).metadata();
    strings["data_type"] = json!("string");
    strings["fill_value"] = json!("");
    strings["codecs"] = json!([{"name": "vlen-utf8"}, {"name": "unheard.of"}]);
    write_json(&Path::new(&source).join("words/zarr.json"), &strings);
    let chunk = Path::new(&source).join("words/c/0/0");
    std::fs::create_dir_all(chunk.parent().unwrap()).unwrap();
    std::fs::write(&chunk, b"\x04\0\0\0\x01\0\0\0a\0\0\0\0\x01\0\0\0b\x01\0\0\0c").unwrap();
    let target = folder.at("t.zarr");
    let options = ["--chunks", "1,1", "--codec", "zstd", "--write-empty", "always"];
    let copy = [&["copy", source.as_str(), &target], &options[..]].concat();
    rechunk(&copy).ok().says(&["words: its elements cannot be told apart"]);
    assert_eq!(
        std::fs::read(Path::new(&target).join("words/c/0/0")).unwrap(),
        std::fs::read(chunk).unwrap()
    );
}

/// A copy under the tool that kills.
fn copy(source: &str, root: &str, more: &[&str], tool_options: &[&str]) -> Done {
    let (log, target) = (format!("{root}.log"), format!("{root}/t.zarr"));
    let command = [
        &["--prefix", &target, "--log", &log][..],
        tool_options,
        &["--", BINARY, "copy", source, &target, "--chunks", "4,5", "--max-mem", "4MiB", "--json"],
        more,
    ];
    std::fs::create_dir_all(root).unwrap();
    Run::program(&tool("killpoint"), &command.concat()).go()
}

/// After every kill the root is there only if all is, and a resume ends with the same files.
#[test]
fn a_tree_survives_every_kill() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    for format in ["zarr3", "zarr2"] {
        let options = ["--format", format];
        let whole = folder.at(&format!("whole-{format}"));
        copy(&source, &whole, &options, &[]).ok();
        let calls = std::fs::read_to_string(format!("{whole}.log")).unwrap().lines().count();
        let whole = tree(whole.as_ref());
        assert!(calls > 100, "{calls}");
        let (mut killed, mut skipped) = (0, 0);
        // Most can go wrong at the end, where the groups are written.
        for at in (1..calls - 14).step_by(17).chain(calls - 14..=calls) {
            let root = folder.at(&format!("{format}-{at}"));
            let number = at.to_string();
            let tool_options = ["--at", number.as_str(), "--lose", number.as_str(), "--torn"];
            let tool_options = &tool_options[..if at % 2 == 0 { 5 } else { 4 }];
            if copy(&source, &root, &options, tool_options).code != 137 {
                continue;
            }
            killed += 1;
            let document = if format == "zarr3" { "t.zarr/zarr.json" } else { "t.zarr/.zmetadata" };
            if Path::new(&root).join(document).exists() {
                let left = tree(root.as_ref());
                let missing = whole.iter().find(|(key, digest)| {
                    !key.ends_with(".zgroup") && left.get(*key) != Some(digest)
                });
                assert_eq!(missing, None, "killed at {at} of {calls}: it looks finished");
            }
            let again = copy(&source, &root, &[&options[..], &["--resume"]].concat(), &[]);
            if again.code == 0 {
                skipped += usize::from(number_of(&again, "tasks.resumed") > 0);
            }
            // Nothing to resume: killed after its very last act.
            assert!(
                again.code == 0 || (again.code == 4 && tree(root.as_ref()) == whole),
                "killed at {at} of {calls}: {again:?}"
            );
            assert_eq!(tree(root.as_ref()), whole, "killed at {at} of {calls}");
        }
        assert!(killed >= 20 && skipped >= 10, "{killed} killed, {skipped} went on");
    }
}

fn number_of(done: &Done, path: &str) -> u64 {
    number(&done.json(), path)
}

/// An interrupted copy: another job does not go on with it; the same one, or `--overwrite`, does.
#[test]
fn an_interrupted_tree_is_refused_resumed_or_begun_again() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let whole = folder.at("whole");
    copy(&source, &whole, &[], &[]).ok();
    for (round, ending) in ["--resume", "--overwrite"].into_iter().enumerate() {
        let root = folder.at(&format!("round-{round}"));
        // In the middle of the second array.
        copy(&source, &root, &[], &["--when", "g/b/c/1", "--signal", "2"])
            .ends_with(130)
            .says(&["the array g/b", "--resume"]);
        let before = tree(root.as_ref());
        assert!(
            before.contains_key("t.zarr/a/zarr.json") && !before.contains_key("t.zarr/zarr.json")
        );
        let target = format!("{root}/t.zarr");
        for (options, says) in [
            (&["--chunks", "4,5"][..], "--resume goes on"),
            (&["--chunks", "6,5", "--resume"], "its array a has other chunks"),
            (&["--chunks", "4,5", "--resume", "--exclude", "g/h"], "the array g/h/c is one of its"),
            (&["--chunks", "4,5", "--resume", "--format", "zarr2"], "other chunks, codecs or"),
        ] {
            let done = rechunk(&[&["copy", source.as_str(), &target], options].concat());
            done.ends_with(4).says(&[says]);
        }
        let one = format!("{source}/a");
        rechunk(&["copy", &one, &target, "--overwrite"]).ends_with(4).says(&["whole group"]);
        assert_eq!(tree(root.as_ref()), before);
        let report = copy(&source, &root, &[ending], &[]).ok().json();
        let resumed = report["arrays"].as_array().unwrap().iter();
        let resumed: Vec<u64> = resumed.map(|array| number(array, "tasks.resumed")).collect();
        assert_eq!(resumed[0] > 0, ending == "--resume", "{resumed:?}");
        assert_eq!(tree(root.as_ref()), tree(whole.as_ref()));
        let done = rechunk(&["copy", &source, &target, "--chunks", "4,5", "--overwrite"]);
        done.ends_with(4).says(&["a group is not put in the place"]);
    }
}

/// A source that has changed since is not mixed into what was copied.
#[test]
fn a_changed_source_is_not_resumed() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let root = folder.at("root");
    let whole = folder.at("whole");
    copy(&source, &whole, &[], &[]).ok();
    let calls = std::fs::read_to_string(format!("{whole}.log")).unwrap().lines().count();
    copy(&source, &root, &[], &["--at", &(calls / 2).to_string()]);
    let resume = || copy(&source, &root, &["--resume"], &[]);
    let document = Path::new(&source).join("g/zarr.json");
    let kept = std::fs::read_to_string(&document).unwrap();
    std::fs::write(&document, kept.replace("NaN", "0")).unwrap();
    resume().ends_with(4).says(&["groups of the source, their attributes"]);
    std::fs::write(&document, kept).unwrap();
    let document = Path::new(&source).join("a/zarr.json");
    let text = std::fs::read_to_string(&document).unwrap();
    std::fs::write(&document, text.replace("\"attributes\": {}", "\"attributes\": {\"new\": 1}"))
        .unwrap();
    resume().ends_with(4).says(&["the metadata of the array a in the source has changed"]);
}

#[test]
fn progress_names_the_array() {
    let folder = Folder::new();
    let source = raw_tree(&folder);
    let plain = rechunk(&["copy", &source, &folder.at("p"), "--progress", "plain"]).ok();
    plain.says(&["a: copy: 480 B of 480 B", "; array 1 of 3", "g/h/c: copy", "of 1.24 KiB in all"]);
    let json = rechunk(&["copy", &source, &folder.at("j"), "-q", "--progress", "json"]).ok();
    assert!(json.stderr.is_empty(), "quiet is quiet: {}", json.stderr);
    let json = rechunk(&["copy", &source, &folder.at("k"), "--json", "--progress", "json"]).ok();
    let lines: Vec<Value> =
        json.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["array"], &last["array_number"], &last["arrays"]),
        (&json!("g/h/c"), &json!(3), &json!(3))
    );
    assert_eq!(last["all_bytes"], last["all_bytes_total"]);
    assert_eq!(last["event"], "progress");
}
