//! Names of dimensions are taken from where they are, and an option that goes by a name is for
//! every axis of that name.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk};
use crate::oracle::{World, answer, available};

const GROUP_V2: &str = r#"{"zarr_format": 2}"#;
const GROUP_V3: &str = r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;

fn document(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Writes a group's documents.
fn group(place: &str, version: u8, attributes: &Value) {
    std::fs::create_dir_all(place).unwrap();
    if version == 2 {
        std::fs::write(Path::new(place).join(".zgroup"), GROUP_V2).unwrap();
        write_json(&Path::new(place).join(".zattrs"), attributes);
    } else {
        let mut document: Value = serde_json::from_str(GROUP_V3).unwrap();
        document["attributes"] = attributes.clone();
        write_json(&Path::new(place).join("zarr.json"), &document);
    }
}

/// Writes an array whose document has other members, and in v2 attributes beside it.
fn array(place: &str, array: &RawArray, members: &Value, zattrs: &Value) {
    array.write(place);
    let (name, mut document) = array.metadata();
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    write_json(&Path::new(place).join(name), &document);
    if array.version == 2 && zattrs.as_object().is_some_and(|map| !map.is_empty()) {
        write_json(&Path::new(place).join(".zattrs"), zattrs);
    }
}

fn info(place: &str) -> Value {
    rechunk(&["info", place, "--json"]).ok().json()
}

/// Fails unless xarray opens each group.
fn assert_opens(groups: &[String]) {
    let jobs: Vec<Value> =
        groups.iter().map(|group| json!({"a": group, "b": group, "tree": false})).collect();
    for (job, difference) in
        jobs.iter().zip(answer(World::Z3, "tests/oracle/same_dataset.py", &jobs))
    {
        assert!(difference.is_null(), "{job}: {difference}");
    }
}

#[test]
fn names_in_every_place_serve_options_and_become_those_of_the_target() {
    let folder = Folder::new();
    let (v2, v3) = (RawArray::v2(&[8, 6], &[4, 6]), RawArray::v3(&[8, 6], &[4, 6]));
    let refs = |list: &str| json!({list: ["/g/time", "/x"], "storage": "chunked"});
    let names = json!({"_ARRAY_DIMENSIONS": ["time", "x"]});
    let none = json!({});
    let mut made = Vec::new();
    for (number, (raw, members, zattrs)) in [
        (&v2, json!({"_NCZARR_ARRAY": refs("dimrefs")}), none.clone()),
        (&v2, json!({"_nczarr_array": refs("dimrefs")}), none.clone()),
        (
            &v2,
            none.clone(),
            json!({"_nczarr_array": refs("dimension_references"), "_nczarr_attr": {}}),
        ),
        (&v2, none.clone(), names.clone()),
        (&v3, json!({"attributes": names}), none.clone()),
        (&v3, json!({"attributes": names, "dimension_names": [null, null]}), none.clone()),
        (&v3, json!({"dimension_names": ["time", "x"]}), none.clone()),
    ]
    .into_iter()
    .enumerate()
    {
        let source = folder.at(&format!("{number}.zarr"));
        group(&source, raw.version, &json!({}));
        array(&format!("{source}/v"), raw, &members, &zattrs);
        assert_eq!(
            info(&format!("{source}/v"))["dimension_names"],
            json!(["time", "x"]),
            "{number}"
        );
        for format in ["zarr2", "zarr3"] {
            let target = folder.at(&format!("{number}-{format}.zarr"));
            let cut = ["--chunks", "time=2", "--select", "x=1:4", "--format", format];
            rechunk(&[&["copy", &source, &target][..], &cut].concat()).ok();
            let copy = info(&format!("{target}/v"));
            assert_eq!(copy["chunk_shape"], json!([2, 6]), "{number} {format}");
            if format == "zarr2" {
                let zattrs = document(&format!("{target}/v/.zattrs"));
                assert_eq!(zattrs["_ARRAY_DIMENSIONS"], json!(["time", "x"]), "{number}");
            } else {
                let array = document(&format!("{target}/v/zarr.json"));
                assert_eq!(array["dimension_names"], json!(["time", "x"]), "{number}");
                // What xarray hides in v2 alone it would show.
                let attributes = array["attributes"].as_object().unwrap();
                assert!(
                    !attributes.keys().any(|name| name.starts_with("_A") || name.starts_with("_n")),
                    "{attributes:?}"
                );
            }
            made.push(target);
        }
    }
    if available() {
        assert_opens(&made);
    }
}

/// Writes an image of two levels, with axes t, c, z, y, x, and its labels z, y, x. It is in
/// OME-Zarr 0.4 or as `axes` of another version says.
fn image(place: &str, axes: impl Fn(&str) -> Value) {
    let described = |names: &str, levels: &[&str]| {
        let levels: Value = levels.iter().map(|path| json!({"path": path})).collect();
        json!({"multiscales": [{"version": "0.4", "axes": axes(names), "datasets": levels}]})
    };
    group(place, 2, &described("tczyx", &["0", "s/1"]));
    let none = json!({});
    array(&format!("{place}/0"), &RawArray::v2(&[2, 2, 6, 8, 8], &[1, 1, 1, 8, 8]), &none, &none);
    array(&format!("{place}/s/1"), &RawArray::v2(&[2, 2, 6, 4, 4], &[1, 1, 1, 4, 4]), &none, &none);
    group(&format!("{place}/labels"), 2, &json!({"labels": ["cells"]}));
    group(&format!("{place}/labels/cells"), 2, &described("zyx", &["0"]));
    let labels = RawArray::v2(&[6, 8, 8], &[1, 8, 8]).of_uint16();
    array(&format!("{place}/labels/cells/0"), &labels, &none, &none);
}

/// Axes as objects, as OME-Zarr 0.4 has them.
fn objects(names: &str) -> Value {
    names.chars().map(|name| json!({"name": name.to_string(), "type": "space"})).collect()
}

#[test]
fn axes_of_an_image_are_named_by_its_group() {
    let folder = Folder::new();
    let bare = |names: &str| names.chars().map(|name| name.to_string()).collect::<Value>();
    let (source, older) = (folder.at("i.zarr"), folder.at("older.zarr"));
    image(&source, objects);
    image(&older, bare);
    for (number, (source, options, expected)) in [
        (&source, &["--chunks", "z=6,y=4,x=4"][..], [json!([1, 1, 6, 4, 4]), json!([6, 4, 4])]),
        (&older, &["--chunks", "z=6,y=4,x=4"], [json!([1, 1, 6, 4, 4]), json!([6, 4, 4])]),
        (
            &source,
            &["--chunks", "z=2", "--select", "z=2:4"],
            [json!([1, 1, 2, 8, 8]), json!([2, 8, 8])],
        ),
        (&source, &["--var", "labels/**: chunks y=2"], [json!([1, 1, 1, 8, 8]), json!([1, 2, 8])]),
        (&source, &["--chunks", "t=-1,z=auto"], [json!([2, 1, 6, 8, 8]), json!([6, 8, 8])]),
    ]
    .into_iter()
    .enumerate()
    {
        for format in ["zarr2", "zarr3"] {
            let target = folder.at(&format!("{number}-{format}.zarr"));
            let copy = ["copy", source, &target, "--format", format];
            rechunk(&[&copy[..], options].concat()).ok();
            let chunks = |path: &str| info(&format!("{target}/{path}"))["chunk_shape"].clone();
            assert_eq!([chunks("0"), chunks("labels/cells/0")], expected, "{options:?}");
            if format == "zarr2" {
                // The group goes on saying it, and xarray's attribute is none of an image's.
                assert!(!Path::new(&target).join("0/.zattrs").exists(), "{options:?}");
                assert_eq!(document(&format!("{target}/0/.zarray"))["fill_value"], json!(0.0));
            } else {
                let level = document(&format!("{target}/s/1/zarr.json"));
                assert_eq!(level["dimension_names"], json!(["t", "c", "z", "y", "x"]));
                assert_eq!(level["attributes"], json!({}), "nothing is missing in an image");
                let labels = document(&format!("{target}/labels/cells/0/zarr.json"));
                assert_eq!(labels["dimension_names"], json!(["z", "y", "x"]));
            }
        }
    }
    let members = info(&source)["members"].clone();
    let labels =
        members.as_array().unwrap().iter().find(|m| m["path"] == "labels/cells/0").unwrap();
    assert_eq!(labels["dimension_names"], json!(["z", "y", "x"]), "`info` shows what options take");
    let shards = folder.at("shards.zarr");
    let cut = ["--format", "zarr3", "--chunks", "z=1,y=4,x=4", "--shards", "z=6,y=8,x=8"];
    rechunk(&[&["copy", &source, &shards][..], &cut].concat()).ok();
    assert_eq!(info(&format!("{shards}/0"))["shard_shape"], json!([1, 1, 6, 8, 8]));
    let unknown =
        rechunk(&["copy", &source, &folder.at("no.zarr"), "--chunks", "q=1"]).ends_with(2);
    unknown.says(&["no array has a dimension `q`"]);
}

#[test]
fn one_level_of_an_image_and_growth_go_by_its_axes_too() {
    let folder = Folder::new();
    let source = folder.at("i.zarr");
    image(&source, objects);
    for (number, (level, options, shape, chunks)) in [
        ("0", ["--chunks", "z=3,x=4"], json!([2, 2, 6, 8, 8]), json!([1, 1, 3, 8, 4])),
        ("s/1", ["--chunks", "c=2"], json!([2, 2, 6, 4, 4]), json!([1, 2, 1, 4, 4])),
        ("0", ["--select", "t=1,y=2:6"], json!([1, 2, 6, 4, 8]), json!([1, 1, 1, 8, 8])),
        ("labels/cells/0", ["--chunks", "z=-1"], json!([6, 8, 8]), json!([6, 8, 8])),
    ]
    .into_iter()
    .enumerate()
    {
        let target = folder.at(&format!("{number}.zarr"));
        let copy = ["copy", &format!("{source}/{level}"), &target, "--format", "zarr3"];
        rechunk(&[&copy[..], &options].concat()).ok();
        let found = info(&target);
        assert_eq!((&found["shape"], &found["chunk_shape"]), (&shape, &chunks), "{level}");
        assert_eq!(
            found["dimension_names"].as_array().unwrap().len(),
            shape.as_array().unwrap().len()
        );
    }
    // An array alone, and the group whose arrays have the axis.
    let target = folder.at("grown.zarr");
    rechunk(&["copy", &source, &target, "--format", "zarr2"]).ok();
    rechunk(&["copy", &format!("{source}/0"), &format!("{target}/0"), "--append", "t"]).ok();
    assert_eq!(info(&format!("{target}/0"))["shape"], json!([4, 2, 6, 8, 8]));
    let target = folder.at("grown-group.zarr");
    rechunk(&["copy", &source, &target, "--format", "zarr2"]).ok();
    rechunk(&["copy", &source, &target, "--append", "t"]).ok();
    assert_eq!(info(&format!("{target}/s/1"))["shape"], json!([4, 2, 6, 4, 4]));
    assert_eq!(info(&format!("{target}/labels/cells/0"))["shape"], json!([6, 8, 8]));
    rechunk(&["copy", &source, &target, "--region", "t=2:4"]).ok();
    assert!(!Path::new(&target).join("0/.zattrs").exists());
}

#[test]
fn n5_of_other_writers_has_names() {
    let folder = Folder::new();
    for (number, (attributes, names)) in [
        (json!({"axes": ["x", "y", "z"]}), json!(["z", "y", "x"])),
        (json!({"axes": [{"label": "x"}, {"label": "y"}, {"name": "z"}]}), json!(["z", "y", "x"])),
        (json!({"_ARRAY_DIMENSIONS": ["t", "y", "x"]}), json!(["t", "y", "x"])),
        (
            json!({"transform": {"axes": ["z", "y", "x"], "scale": [1, 1, 1]}}),
            json!(["z", "y", "x"]),
        ),
        (json!({"transform": {"axes": ["x", "y", "z"], "order": "F"}}), json!(["z", "y", "x"])),
    ]
    .into_iter()
    .enumerate()
    {
        let source = folder.at(&format!("{number}.n5/a"));
        let mut array = json!({"dimensions": [4, 6, 8], "blockSize": [4, 6, 2], "dataType": "uint8",
                               "compression": {"type": "raw"}});
        array.as_object_mut().unwrap().extend(attributes.as_object().unwrap().clone());
        write_json(&Path::new(&source).join("attributes.json"), &array);
        let first = names[0].as_str().unwrap();
        let target = folder.at(&format!("{number}.zarr"));
        rechunk(&[
            "copy",
            &source,
            &target,
            "--format",
            "zarr3",
            "--chunks",
            &format!("{first}=4"),
        ])
        .ok();
        let found = info(&target);
        assert_eq!(found["dimension_names"], names, "{attributes}");
        assert_eq!(found["chunk_shape"], json!([4, 6, 4]), "{attributes}");
        let transform = &document(&format!("{target}/zarr.json"))["attributes"]["transform"];
        assert_eq!(transform, attributes.get("transform").unwrap_or(&Value::Null), "it is kept");
    }
}

/// A covariance, bands by bands, what else has bands, and their coordinate.
fn covariance(place: &str, version: u8) {
    group(place, version, &json!({}));
    for (name, shape, names) in [
        ("cov", &[12, 12][..], json!(["bands", "bands"])),
        ("between", &[12, 4, 12], json!(["bands", "y", "bands"])),
        ("width", &[12, 6], json!(["bands", "detector"])),
        ("bands", &[12], json!(["bands"])),
    ] {
        let raw =
            if version == 2 { RawArray::v2(shape, shape) } else { RawArray::v3(shape, shape) };
        let members = if version == 2 { json!({}) } else { json!({"dimension_names": names}) };
        array(&format!("{place}/{name}"), &raw, &members, &json!({"_ARRAY_DIMENSIONS": names}));
    }
}

#[test]
fn an_option_by_name_is_for_every_axis_of_that_name() {
    let folder = Folder::new();
    let mut made = Vec::new();
    for version in [2, 3] {
        let source = folder.at(&format!("source-{version}.zarr"));
        covariance(&source, version);
        for (number, (options, shape, chunks, shards)) in [
            (&["--chunks", "bands=4"][..], json!([12, 12]), json!([4, 4]), Value::Null),
            (&["--select", "bands=2:10"], json!([8, 8]), json!([12, 12]), Value::Null),
            (&["--select", "bands=-1"], json!([1, 1]), json!([12, 12]), Value::Null),
            (
                &["--chunks", "bands=3", "--shards", "bands=6"],
                json!([12, 12]),
                json!([3, 3]),
                json!([6, 6]),
            ),
            (
                &["--var", "cov: chunks bands=auto", "--chunks", "bands=6"],
                json!([12, 12]),
                json!([12, 12]),
                Value::Null,
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let target = folder.at(&format!("{version}-{number}.zarr"));
            let copy = ["copy", &source, &target, "--format", "zarr3"];
            rechunk(&[&copy[..], options].concat()).ok();
            let found = info(&format!("{target}/cov"));
            assert_eq!(
                [&found["shape"], &found["chunk_shape"], &found["shard_shape"]],
                [&shape, &chunks, &shards],
                "{options:?}"
            );
            made.push(target);
        }
        // A region of each axis; and what one of them alone would be.
        let part = folder.at(&format!("{version}-part.zarr"));
        rechunk(&["copy", &source, &part, "--select", "bands=0:4"]).ok();
        let target = folder.at(&format!("{version}-whole.zarr"));
        rechunk(&["copy", &source, &target]).ok();
        rechunk(&["copy", &part, &target, "--region", "bands=0:4"]).ok();
        rechunk(&["verify", &format!("{source}/cov"), &format!("{target}/cov")]).ok();
        made.push(target.clone());
        for (from, to, along) in [
            (source.clone(), target.clone(), "bands"),
            (format!("{source}/cov"), format!("{target}/cov"), "bands"),
            (format!("{source}/cov"), format!("{target}/cov"), "1"),
            (format!("{source}/between"), format!("{target}/between"), "2"),
            (format!("{source}/between"), format!("{target}/between"), "0"),
        ] {
            let append = ["copy", from.as_str(), &to, "--append", along];
            let trust: &[&str] = if from == source { &["--trust", "bands"] } else { &[] };
            let refused = rechunk(&[&append[..], trust].concat()).ends_with(2);
            refused.says(&["2 axes of the target are named `bands`"]);
        }
        let one = ["copy", &format!("{source}/cov"), &folder.at("no.zarr"), "--select", "0:4,:"];
        rechunk(&one).ends_with(2).says(&["both named `bands`"]);
        let grown = folder.at(&format!("{version}-y.zarr"));
        rechunk(&["copy", &format!("{source}/between"), &grown]).ok();
        rechunk(&["copy", &format!("{source}/between"), &grown, "--append", "y"]).ok();
    }
    if available() {
        assert_opens(&made);
    }
}
