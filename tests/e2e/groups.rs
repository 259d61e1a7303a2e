//! Groups and their consolidated metadata, and ZIP files: what others have written is read, and
//! what is written others read.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Done, Folder, Run, ostia, rechunk, tool, tree};
use crate::oracle::{World, available, groups, job, read};

const BY_PIXEL: &str = "time=-1,latitude=6,longitude=36";

/// A group of one array, consolidated by zarr-python.
fn consolidated(folder: &Folder, version: u8) -> (String, World) {
    let (group, world) = (folder.at("group"), if version == 2 { World::Z2 } else { World::Z3 });
    let sst = format!("{group}.zarr/sst");
    rechunk(&["copy", &ostia(), &sst, "--format", &format!("zarr{version}")]).ok();
    let group = format!("{group}.zarr");
    groups(world, &[json!({"do": "consolidate", "path": group, "format": version})]);
    (group, world)
}

fn seen(world: World, group: &str, array: &str, version: u8) -> Value {
    groups(world, &[json!({"do": "read", "path": group, "array": array, "format": version})])
        .remove(0)
}

/// zarr-python sees a new array, and one that took the place of another, by consolidated metadata.
#[test]
fn consolidated_metadata_follows_what_is_written() {
    if !available() {
        return;
    }
    let truth = read(World::Z2, &[job(&ostia(), 2, "zarr")]).remove(0);
    for version in [2, 3] {
        let folder = Folder::new();
        let (group, world) = consolidated(&folder, version);
        let format = format!("zarr{version}");
        let copy = |path: &str, more: &[&str]| {
            let target = format!("{group}/{path}");
            let copy = ["copy", &ostia(), &target, "--format", &format, "--chunks", BY_PIXEL];
            let done = rechunk(&[&copy[..], more].concat()).ok();
            assert!(!done.stderr.contains("warning"), "{}", done.stderr);
        };
        copy("deep/er/sst", &[]);
        copy("sst", &["--overwrite"]);
        for path in ["sst", "deep/er/sst"] {
            let found = seen(world, &group, path, version);
            assert_eq!(found["chunks"], json!([54, 6, 36]), "{path} in v{version}");
            assert_eq!(found["sha256"], truth["sha256"], "{path} in v{version}");
            assert_eq!(found["units"], "K");
            assert_eq!(found["members"], json!(["deep", "deep/er", "deep/er/sst", "sst"]));
        }
        // zarr-python 3 reads v2 too.
        assert_eq!(seen(World::Z3, &group, "deep/er/sst", version)["sha256"], truth["sha256"]);
    }
}

/// Groups may be consolidated at several levels: each is kept true.
#[test]
fn every_group_above_is_told() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let root = folder.at("r.zarr");
    rechunk(&["copy", &ostia(), &format!("{root}/g/a")]).ok();
    let consolidate = |path: &str| json!({"do": "consolidate", "path": path, "format": 3});
    groups(World::Z3, &[consolidate(&format!("{root}/g")), consolidate(&root)]);
    rechunk(&["copy", &ostia(), &format!("{root}/g/b"), "--chunks", BY_PIXEL]).ok();
    for (group, path) in [(root.clone(), "g/b"), (format!("{root}/g"), "b")] {
        assert_eq!(seen(World::Z3, &group, path, 3)["chunks"], json!([54, 6, 36]));
    }
}

/// Copies that end at the same moment do not lose each other's entries.
#[test]
fn copies_into_one_group_are_all_told() {
    let folder = Folder::new();
    let (source, group) = (folder.at("source.zarr"), folder.at("g.zarr"));
    RawArray::v3(&[4, 4], &[2, 4]).write(&source);
    std::fs::create_dir(&group).unwrap();
    let path = Path::new(&group).join("zarr.json");
    let document = json!({"zarr_format": 3, "node_type": "group", "consolidated_metadata":
        {"kind": "inline", "must_understand": false, "metadata": {}}});
    std::fs::write(&path, document.to_string()).unwrap();
    let start = |number: usize| {
        let target = format!("{group}/a{number}");
        Run::rechunk(&["copy", &source, &target, "-q"]).start()
    };
    for mut child in (0..16).map(start).collect::<Vec<_>>() {
        assert!(child.wait().unwrap().success());
    }
    let after: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let members = after["consolidated_metadata"]["metadata"].as_object().unwrap();
    assert_eq!(members.len(), 16, "{:?}", members.keys().collect::<Vec<_>>());
}

/// Other members of the consolidated document stay as they are, NaN too.
#[test]
fn the_rest_of_a_consolidated_document_stays() {
    let folder = Folder::new();
    let group = folder.at("g.zarr");
    rechunk(&["copy", &ostia(), &format!("{group}/a"), "--format", "zarr2"]).ok();
    let document = r#"{"zarr_consolidated_format": 1, "metadata": {".zattrs": {"n": NaN, "z": 1.0},
        "other/.zarray": {"x": [1e300, -0.0]}, ".zgroup": {"zarr_format": 2}}, "more": Infinity}"#;
    std::fs::write(format!("{group}/.zmetadata"), document).unwrap();
    rechunk(&["copy", &ostia(), &format!("{group}/b"), "--format", "zarr2"]).ok();
    let after = std::fs::read_to_string(format!("{group}/.zmetadata")).unwrap();
    let words: Vec<&str> = after.split_whitespace().collect();
    let text = words.join(" ");
    let start = r#"{ "zarr_consolidated_format": 1, "metadata": { ".zattrs": { "n": NaN, "z": 1.0 }, "other/.zarray": { "x": [1e+300, -0.0] }, ".zgroup": { "zarr_format": 2 }, "b/.zattrs""#;
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with(r#"}, "more": Infinity }"#) && text.contains("\"b/.zarray\""), "{text}");
}

/// A damaged document is not destroyed, and nothing is written beside it.
#[test]
fn damaged_consolidated_metadata_is_refused_first() {
    let folder = Folder::new();
    let group = folder.at("g.zarr");
    rechunk(&["copy", &ostia(), &format!("{group}/a"), "--format", "zarr2"]).ok();
    for damaged in ["", "{", "[]", r#"{"metadata": []}"#, r#"{"metadata": {"a/.zarray": 1}}"#] {
        std::fs::write(format!("{group}/.zmetadata"), damaged).unwrap();
        let before = tree(folder.path());
        for (target, more) in [("a", "--overwrite"), ("b", "-q"), ("c/d", "--resume")] {
            let target = format!("{group}/{target}");
            let copy = ["copy", &ostia(), &target, "--format", "zarr2", more];
            rechunk(&copy).ends_with(4).says(&[".zmetadata", "repair", &group]);
        }
        assert_eq!(tree(folder.path()), before, "{damaged}");
    }
}

/// An array without a document of its own is read by that of a group above; its own one wins.
#[test]
fn an_array_may_be_described_by_its_group_alone() {
    if !available() {
        return;
    }
    for (version, own) in [(2, ".zarray"), (3, "zarr.json")] {
        let folder = Folder::new();
        let (group, _) = consolidated(&folder, version);
        let array = format!("{group}/sst");
        let own = Path::new(&array).join(own);
        let kept = std::fs::read(&own).unwrap();
        let with_own = info(&array);
        std::fs::remove_file(&own).unwrap();
        rechunk(&["verify", &ostia(), &array]).ok();
        let without = info(&array);
        assert_eq!(without, with_own);
        assert_eq!(without["consolidated_in"], json!(group));
        rechunk(&["copy", &array, &folder.at("t.zarr"), "--chunks", BY_PIXEL]).ok();
        rechunk(&["verify", &ostia(), &folder.at("t.zarr")]).ok();

        let other = String::from_utf8(kept).unwrap().replace("K\"", "C\"").replace("7,", "8,");
        std::fs::write(&own, other).unwrap();
        let changed = info(&array);
        assert_eq!(changed["chunk_shape"][0], 8, "its own document wins");
        let hints = changed["hints"].to_string();
        assert!(hints.contains("consolidate again"), "{changed}");
    }
}

/// Readers of consolidated metadata do not see an array that came later.
#[test]
fn arrays_that_consolidated_metadata_does_not_name_are_said() {
    let folder = Folder::new();
    let group = folder.at("g.zarr");
    std::fs::create_dir(&group).unwrap();
    write_json(&Path::new(&group).join(".zgroup"), &json!({"zarr_format": 2}));
    let entries = json!({".zgroup": {"zarr_format": 2}});
    let consolidated = json!({"zarr_consolidated_format": 1, "metadata": entries});
    write_json(&Path::new(&group).join(".zmetadata"), &consolidated);
    rechunk(&["copy", &ostia(), &format!("{group}/b"), "--format", "zarr2", "-q"]).ok();
    assert_eq!(info(&group)["hints"], json!([]));
    rechunk(&["copy", &ostia(), &folder.at("late"), "--format", "zarr2", "-q"]).ok();
    std::fs::rename(folder.at("late"), format!("{group}/late")).unwrap();
    let hints = info(&group)["hints"].to_string();
    assert!(hints.contains("does not name late: consolidate again"), "{hints}");
    // A copy has it all the same.
    rechunk(&["copy", &group, &folder.at("t.zarr"), "-q"]).ok();
    rechunk(&["verify", &ostia(), &format!("{}/late", folder.at("t.zarr"))]).ok();
}

fn info(path: &str) -> Value {
    rechunk(&["info", path, "--json"]).ok().json()
}

/// zarr-python's ZIP stores, of both versions and both compressions.
#[test]
fn zip_stores_are_read() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    for (world, deflate) in
        [(World::Z2, false), (World::Z2, true), (World::Z3, false), (World::Z3, true)]
    {
        let zip = folder.at(&format!("{world:?}-{deflate}.zarr.zip"));
        let job = json!({"do": "zip", "path": ostia(), "target": zip, "name": "in/sst",
            "deflate": deflate});
        groups(world, &[job]);
        let (inner, target) = (format!("{zip}/in/sst"), format!("{zip}-copy"));
        rechunk(&["verify", &ostia(), &inner]).ok();
        let report = rechunk(&["copy", &inner, &target, "--chunks", "54,6,36", "--json"]).ok();
        crate::report::assert_done(&report.json());
        rechunk(&["verify", &ostia(), &target]).ok();
        let found = info(&inner);
        assert_eq!(
            (&found["stored_chunks"], &found["attributes"]["units"]),
            (&json!(40), &json!("K"))
        );
        let about = rechunk(&["info", &zip]);
        assert!(format!("{}{}", about.stdout, about.stderr).contains("in/sst"), "{about:?}");
        rechunk(&["copy", &format!("{zip}/nothing"), &folder.at("x")]).ends_with(3);
        let group = folder.at(&format!("{world:?}-{deflate}-group.zarr"));
        rechunk(&["copy", &zip, &group]).ok();
        rechunk(&["verify", &ostia(), &format!("{group}/in/sst")]).ok();
    }
}

/// A ZIP file is written as a whole, and holds no intermediate.
#[test]
fn a_zip_file_is_no_place_for_an_intermediate() {
    let folder = Folder::new();
    let zip = folder.at("there.zip");
    std::fs::write(&zip, "PK").unwrap();
    let before = tree(folder.path());
    for temp in [&zip, &folder.at("new.zip")] {
        let temp = ["copy", &ostia(), &folder.at("t"), "--temp", temp, "--strategy", "push-pull"];
        rechunk(&[&temp[..], &["--chunks", BY_PIXEL]].concat()).ends_with(2).says(&["ZIP"]);
    }
    assert_eq!(tree(folder.path()), before);
    rechunk(&["info", &zip]).ends_with(3).says(&["there.zip", "damaged"]);
}

fn group_of_three(folder: &Folder) -> String {
    let group = folder.at("g.zarr");
    RawArray::v3(&[4, 6], &[2, 6]).write(&format!("{group}/a"));
    RawArray::v3(&[4], &[2]).of_uint16().write(&format!("{group}/sub/b"));
    for path in ["", "sub"] {
        let document = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"title": "t"}}"#;
        std::fs::write(Path::new(&group).join(path).join("zarr.json"), document).unwrap();
    }
    std::fs::create_dir(format!("{group}/broken")).unwrap();
    let strange = r#"{"zarr_format": 3, "node_type": "array"}"#;
    std::fs::write(format!("{group}/broken/zarr.json"), strange).unwrap();
    group
}

#[test]
fn info_lists_a_group() {
    let folder = Folder::new();
    let group = group_of_three(&folder);
    let expected = [
        "  format      zarr3, a group",
        "  members     3 arrays, 1 group",
        "  attributes",
        "    title = \"t\"",
        "  name    shape  type     chunks  codecs  size",
        "  a       4 × 6  float32  2 × 6   none    96 B",
        "  broken  ?",
        "  sub/",
        "  sub/b   4      uint16   2       none     8 B",
        "  broken cannot be read: zarr.json: \"shape\": is missing",
    ];
    let text = rechunk(&["info", &group]).ok().stdout;
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected, "{text}");
    assert_eq!(text.lines().next(), Some(group.as_str()));
    let found = info(&group);
    assert_eq!((&found["node"], &found["consolidated"]), (&json!("group"), &json!(false)));
    let b = &found["members"][3];
    assert_eq!(
        (&b["path"], &b["node"], &b["shape"]),
        (&json!("sub/b"), &json!("array"), &json!([4]))
    );
}

#[test]
fn info_lists_a_consolidated_group_by_its_document() {
    if !available() {
        return;
    }
    for version in [2, 3] {
        let folder = Folder::new();
        let (group, _) = consolidated(&folder, version);
        std::fs::remove_dir_all(format!("{group}/sst")).unwrap();
        let found = info(&group);
        assert_eq!(found["consolidated"], true);
        assert_eq!(found["members"][0]["path"], "sst");
        assert_eq!(found["members"][0]["chunk_shape"], json!([7, 18, 100]));
    }
}

#[test]
fn info_of_an_array_as_it_is_printed() {
    let folder = Folder::new();
    let array = folder.at("a.zarr");
    RawArray::v3(&[8, 8], &[4, 4]).write(&array);
    for extra in ["c/0/9", "c/1/1#1", "notes.txt", "x.part"] {
        std::fs::write(Path::new(&array).join(extra), "x").unwrap();
    }
    std::fs::remove_file(format!("{array}/c/0/1")).unwrap();
    let expected = [
        "  format      zarr3",
        "  shape       8 × 8",
        "  type        float32",
        "  chunks      4 × 4 (64 B)",
        "  codecs      none",
        "  checksums   none: a bit that flips in what is stored may go unnoticed",
        "  readable by zarr-python 3, tensorstore",
        "  fill value  0.0",
        "  stored      3 of 4 chunks, 1 missing: they hold the fill value",
        "  size        256 B of elements, 192 B stored, 1.00 : 1",
        "  per chunk   64 B to 64 B stored, median 64 B",
        "  leftovers   2 unfinished, e.g. c/1/1#1",
        "  other files 2 neither chunks nor metadata, e.g. c/0/9",
        "  hint: 4 chunks of less than 1 MiB: requests, not bytes, will take the time",
        "  hint: a run that did not end has left files: copy with --resume removes them, or remove \
         them yourself when nothing writes here",
    ];
    let text = rechunk(&["info", &array]).ok().stdout;
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected, "{text}");
    let one = folder.at("one.zarr");
    RawArray::v3(&[8, 8], &[8, 8]).write(&one);
    assert_eq!(info(&one)["hints"], json!([]), "one small chunk is no fault");
}

/// Killed between the array and the last consolidated document, a resume tells every group.
#[test]
fn consolidated_metadata_survives_every_kill() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    RawArray::v3(&[8, 8], &[4, 8]).write(&source);
    let prepare = |name: &str| {
        let root = folder.at(name);
        rechunk(&["copy", &source, &format!("{root}/g/old")]).ok();
        for group in [root.clone(), format!("{root}/g")] {
            let path = Path::new(&group).join("zarr.json");
            let document = json!({"zarr_format": 3, "node_type": "group", "consolidated_metadata":
                {"kind": "inline", "must_understand": false, "metadata": {}}});
            std::fs::write(path, document.to_string()).unwrap();
        }
        root
    };
    let copy = |root: &str, more: &[&str], tool_options: &[&str]| -> Done {
        let (log, target) = (format!("{root}.log"), format!("{root}/g/new"));
        let command = [
            &["--prefix", root, "--log", &log][..],
            tool_options,
            &["--", crate::harness::BINARY, "copy", &source, &target, "--chunks", "8,4"],
            more,
        ];
        Run::program(&tool("killpoint"), &command.concat()).go()
    };
    let whole = prepare("whole");
    copy(&whole, &[], &[]).ok();
    let log = std::fs::read_to_string(format!("{whole}.log")).unwrap();
    let calls = log.lines().count();
    assert!(log.matches("zarr.json").count() >= 6, "{log}");
    let whole_tree = tree(whole.as_ref());
    for at in 1..=calls {
        let root = prepare(&format!("kill-{at}"));
        let at = at.to_string();
        let options = ["--at", at.as_str(), "--lose", at.as_str()];
        if copy(&root, &[], &options).code != 137 {
            continue;
        }
        let again = copy(&root, &["--resume"], &[]);
        // Nothing to resume: killed after its very last act.
        assert!(
            again.code == 0 || (again.code == 4 && tree(root.as_ref()) == whole_tree),
            "{again:?}"
        );
        assert_eq!(tree(root.as_ref()), whole_tree, "killed at {at} of {calls}");
    }
}
