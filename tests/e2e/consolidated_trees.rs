//! Consolidated metadata of groups in groups, of every shape, however it came to be. By it
//! zarr-python sees the whole tree without looking at anything else.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk};
use crate::oracle::{World, available, groups};

/// Shapes of trees: groups with nothing in them end with a slash.
const SHAPES: [&[&str]; 9] = [
    &["x", "y"],
    &["a/x", "a/b c/x", "a/y", "d.e/f/x", "d.e/f/0", "z"],
    &["a/b/c/d/x", "a/b/e/x", "a/x", "b/c/x", "a/b/x"],
    &["a/x", "a-b/x", "a b/y/z", "a/y/z", "a.b/x", "a0/x", "a/z"],
    &["A/x", "a/y", "A/z", "A/g/x", "a/g/x", "A/y"],
    &["e/", "h/i/", "h/x", "e/f/g/", "h/y/x"],
    &["größe/日本/x", "größe/ß", "ß/größe/x", "größe/é/x"],
    &["a/a/a/x", "a/a/x", "a/x", "x/a/a", "x/a/x"],
    &["c/c/x", "zarr.json.d/zarr/x", "c/0/x", "c/x", "0/0", "0/c/x"],
];

/// Writes an array with names of its axes.
fn write_array(place: &str, version: u8) {
    let names = json!(["row", "column"]);
    let place_of = |name: &str| Path::new(place).join(name);
    if version == 2 {
        RawArray::v2(&[6, 4], &[2, 4]).write(place);
        write_json(&place_of(".zattrs"), &json!({"_ARRAY_DIMENSIONS": names}));
    } else {
        let array = RawArray::v3(&[6, 4], &[2, 4]);
        array.write(place);
        let (name, mut document) = array.metadata();
        document["dimension_names"] = names;
        write_json(&place_of(name), &document);
    }
}

fn name_of(version: u8) -> &'static str {
    if version == 2 { "zarr2" } else { "zarr3" }
}

fn document(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Writes the documents of a group; its attributes say where it is.
fn write_group(place: &Path, path: &str, version: u8) {
    let attributes = json!({"at": path});
    if version == 2 {
        write_json(&place.join(".zgroup"), &json!({"zarr_format": 2}));
        write_json(&place.join(".zattrs"), &attributes);
    } else {
        let group = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
        write_json(&place.join("zarr.json"), &group);
    }
}

/// Every group above the paths, themselves if they end with a slash, and the root.
fn groups_of(shape: &[&str]) -> BTreeSet<String> {
    let above = |path: &str| {
        path.match_indices('/').map(|(end, _)| path[..end].to_owned()).collect::<Vec<_>>()
    };
    shape.iter().flat_map(|path| above(path)).chain([String::new()]).collect()
}

/// Writes a tree that no other code has touched, without consolidated metadata.
fn write_tree(root: &str, shape: &[&str], version: u8) {
    for path in groups_of(shape) {
        write_group(&Path::new(root).join(&path), &path, version);
    }
    for path in shape.iter().filter(|path| !path.ends_with('/')) {
        write_array(&format!("{root}/{path}"), version);
    }
}

/// All nodes below `path`, as paths from there.
fn below(shape: &[&str], path: &str) -> BTreeSet<String> {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let arrays = shape.iter().filter(|path| !path.ends_with('/')).map(|path| (*path).to_owned());
    let nodes = groups_of(shape).into_iter().chain(arrays);
    nodes
        .filter_map(|node| Some(node.strip_prefix(&prefix)?.to_owned()))
        .filter(|node| !node.is_empty())
        .collect()
}

/// Trees to be looked at, by their consolidated documents alone.
struct Looks {
    folder: Folder,
    wanted: Vec<(String, u8, BTreeSet<String>)>,
}

impl Looks {
    fn new() -> Self {
        Self { folder: Folder::new(), wanted: Vec::new() }
    }

    /// Lays down the documents of the group at `group`, and nothing that is below it.
    fn add(&mut self, group: &str, version: u8, nodes: BTreeSet<String>) {
        let place = self.folder.at(&format!("{}", self.wanted.len()));
        std::fs::create_dir(&place).unwrap();
        for name in [".zgroup", ".zattrs", ".zmetadata", "zarr.json"] {
            let from = Path::new(group).join(name);
            if from.is_file() {
                std::fs::copy(from, Path::new(&place).join(name)).unwrap();
            }
        }
        self.wanted.push((format!("{place} of {group}"), version, nodes));
    }

    /// Has zarr-python walk from group to group.
    #[track_caller]
    fn see(&self) {
        let job = |(number, (_, version, _)): (usize, &(String, u8, BTreeSet<String>))| json!({"do": "walk", "path": self.folder.at(&format!("{number}")), "format": version});
        let jobs: Vec<Value> = self.wanted.iter().enumerate().map(job).collect();
        for world in [World::Z2, World::Z3, World::New] {
            if !world.is_installed() {
                println!("SKIPPED: {world:?} is not installed");
                continue;
            }
            let reads = |version: u8| !matches!(world, World::Z2) || version == 2;
            let wanted: Vec<_> =
                self.wanted.iter().filter(|(_, version, _)| reads(*version)).collect();
            let jobs: Vec<Value> = jobs
                .iter()
                .filter(|job| reads(u8::try_from(job["format"].as_u64().unwrap()).unwrap()))
                .cloned()
                .collect();
            for ((what, version, nodes), found) in wanted.into_iter().zip(groups(world, &jobs)) {
                let found: BTreeSet<String> = serde_json::from_value(found.clone())
                    .unwrap_or_else(|_| panic!("{world:?} v{version} {what}: {found}"));
                assert_eq!(&found, nodes, "{world:?} v{version} {what}");
            }
        }
    }
}

#[test]
fn trees_of_every_shape_are_seen_by_their_consolidated_metadata() {
    if !available() {
        return;
    }
    let (folder, mut looks) = (Folder::new(), Looks::new());
    for (number, shape) in SHAPES.iter().enumerate() {
        for from in [2, 3] {
            let source = folder.at(&format!("{number}-{from}.zarr"));
            write_tree(&source, shape, from);
            for to in [2, 3] {
                let target = folder.at(&format!("{number}-{from}-{to}.zarr"));
                rechunk(&["copy", &source, &target, "--format", name_of(to), "-q"]).ok();
                looks.add(&target, to, below(shape, ""));
            }
        }
    }
    looks.see();
}

/// A part of a tree brings the groups above it along.
#[test]
fn parts_of_trees_are_seen_by_their_consolidated_metadata() {
    if !available() {
        return;
    }
    let (folder, mut looks) = (Folder::new(), Looks::new());
    let shape = ["a/x", "a/b c/x", "a/b c/g/y", "a/y", "d.e/f/x", "d.e/f/0", "z"];
    for version in [2, 3] {
        let source = folder.at(&format!("{version}.zarr"));
        write_tree(&source, &shape, version);
        for (number, (options, left)) in [
            (&["--include", "**/x"][..], &["a/x", "a/b c/x", "d.e/f/x"][..]),
            (&["--include", "a/b c/g/*", "--include", "d.e/f/0"], &["a/b c/g/y", "d.e/f/0"]),
            (&["--exclude", "d.e/f"], &["a/x", "a/b c/x", "a/b c/g/y", "a/y", "z"]),
            (&["--include", "a", "--exclude", "a/x"], &["a/b c/x", "a/b c/g/y", "a/y"]),
        ]
        .into_iter()
        .enumerate()
        {
            for to in [2, 3] {
                let target = folder.at(&format!("{version}-{number}-{to}.zarr"));
                let copy = ["copy", &source, &target, "--format", name_of(to), "-q"];
                rechunk(&[&copy[..], options].concat()).ok();
                let missing: Vec<_> = groups_of(left)
                    .into_iter()
                    .filter(|path| !Path::new(&target).join(path).is_dir())
                    .collect();
                assert!(missing.is_empty(), "{missing:?} of {options:?}");
                let found = below(left, "");
                looks.add(&target, to, found);
            }
        }
    }
    looks.see();
}

/// Members may be put in later, in any order, and also into a group that has consolidated metadata
/// too.
#[test]
fn what_comes_into_a_tree_is_seen_by_its_consolidated_metadata() {
    if !available() {
        return;
    }
    let (folder, mut looks) = (Folder::new(), Looks::new());
    let whole = ["a/x", "a/b/x", "c/x", "z"];
    for version in [2, 3] {
        let format = name_of(version);
        let [one, source, target] =
            ["one", "source", "target"].map(|name| folder.at(&format!("{name}-{version}.zarr")));
        write_array(&one, version);
        write_tree(&source, &whole, version);
        let consolidate =
            |path: &str| json!({"do": "consolidate", "path": path, "format": version});
        let inner = format!("{source}/a");
        groups(World::Z3, &[consolidate(&inner), consolidate(&source)]);
        rechunk(&["copy", &source, &target, "--format", format, "-q"]).ok();
        let mut shape: Vec<&str> = whole.to_vec();
        for path in ["c/b/y", "a/y", "c/y", "a/b/y", "a/c/d/x", "new/er/x", "a/c/x", "new/x"] {
            rechunk(&["copy", &one, &format!("{target}/{path}"), "--format", format, "-q"]).ok();
            shape.push(path);
        }
        for path in ["a/tree", "tree"] {
            let place = format!("{target}/{path}");
            rechunk(&["copy", &source, &place, "--format", format, "-q"]).ok();
        }
        let trees: Vec<String> = ["a/tree", "tree"]
            .iter()
            .flat_map(|path| whole.iter().map(move |inner| format!("{path}/{inner}")))
            .collect();
        shape.extend(trees.iter().map(String::as_str));
        looks.add(&target, version, below(&shape, ""));
        looks.add(&format!("{target}/a"), version, below(&shape, "a"));
        looks.add(&format!("{target}/a/tree/a"), version, below(&shape, "a/tree/a"));
        looks.add(&format!("{target}/tree"), version, below(&shape, "tree"));
    }
    looks.see();
}

/// A document whose nodes stand apart, as copies wrote it once, is put in order when it is written
/// again.
#[test]
fn a_tree_that_grows_is_seen_by_its_consolidated_metadata() {
    if !available() {
        return;
    }
    let (folder, mut looks) = (Folder::new(), Looks::new());
    let shape = ["a/x", "a/b/x", "c/x", "c/b/x", "a/y"];
    for version in [2, 3] {
        let (source, target) =
            (folder.at(&format!("{version}.zarr")), folder.at(&format!("{version}-grown.zarr")));
        write_tree(&source, &shape, version);
        rechunk(&["copy", &source, &target, "--format", name_of(version), "-q"]).ok();
        let (name, pointer) = match version {
            2 => (".zmetadata", "/metadata"),
            _ => ("zarr.json", "/consolidated_metadata/metadata"),
        };
        let path = Path::new(&target).join(name);
        let mut apart = document(&path);
        let members = apart.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        let (groups, arrays): (Vec<_>, Vec<_>) = std::mem::take(members)
            .into_iter()
            .partition(|(key, value)| key.ends_with(".zgroup") || value["node_type"] == "group");
        members.extend(groups.into_iter().chain(arrays));
        write_json(&path, &apart);
        rechunk(&["copy", &source, &target, "--append", "row", "-q"]).ok();
        assert!(
            document(&path).pointer(pointer).unwrap().to_string().contains("[12,4]"),
            "v{version}"
        );
        looks.add(&target, version, below(&shape, ""));
    }
    looks.see();
}
