//! Images of OME-Zarr: levels of one image stay levels of one image.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk, tree};

/// An image of two levels as version 0.4 has it.
fn image(folder: &Folder) -> (String, Value) {
    let image = folder.at("image.zarr");
    for (level, shape) in [("0", [1, 2, 40, 60]), ("1", [1, 2, 20, 30])] {
        let array = format!("{image}/{level}");
        RawArray::v2(&shape, &[1, 1, 20, 30]).of_uint16().write(&array);
    }
    write_json(&Path::new(&image).join(".zgroup"), &json!({"zarr_format": 2}));
    let scale = |by: f64| json!([{"type": "scale", "scale": [1.0, 1.0, by, by]}]);
    let attributes = json!({
        "multiscales": [{
            "version": "0.4", "name": "cells",
            "axes": [{"name": "t", "type": "time"}, {"name": "c", "type": "channel"},
                     {"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
            "datasets": [{"path": "0", "coordinateTransformations": scale(0.5)},
                         {"path": "1", "coordinateTransformations": scale(1.0)}],
        }],
        "omero": {"channels": [{"label": "DAPI", "color": "0000FF"}]},
    });
    write_json(&Path::new(&image).join(".zattrs"), &attributes);
    (image, attributes)
}

#[test]
fn one_level_is_cut_and_the_image_stays_one() {
    let folder = Folder::new();
    let (source, attributes) = image(&folder);
    let target = folder.at("cut.zarr");
    let cut = ["--var", "0: chunks 1,2,10,10", "--format", "zarr2", "--verify"];
    let done = rechunk(&[&["copy", &source, &target][..], &cut].concat()).ok();
    assert!(!done.stderr.contains("warning"), "{}", done.stderr);
    let found = std::fs::read(Path::new(&target).join(".zattrs")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&found).unwrap(), attributes);
    let chunks = |level: &str| {
        rechunk(&["info", &format!("{target}/{level}"), "--json"]).ok().json()["chunk_shape"]
            .clone()
    };
    assert_eq!((chunks("0"), chunks("1")), (json!([1, 2, 10, 10]), json!([1, 1, 20, 30])));
    let level = |root: &str| tree(&Path::new(root).join("1"));
    assert_eq!(level(&source).len(), level(&target).len());
    rechunk(&["verify", &format!("{source}/0"), &format!("{target}/0")]).ok();
}

#[test]
fn what_the_image_says_and_is_no_longer_so_is_said() {
    let folder = Folder::new();
    let (source, _) = image(&folder);
    let says = |more: &[&str], text: &str| {
        let target = folder.at("target.zarr");
        let done = rechunk(&[&["copy", &source, &target, "--dry-run"][..], more].concat()).ok();
        assert!(
            done.stderr.contains(text) || done.stdout.contains(text),
            "{more:?}: {}",
            done.stderr
        );
    };
    says(&["--format", "zarr2", "--exclude", "0"], "names levels that are not copied: 0");
    let told = "ome-zarr-0.4 becomes ome-zarr-0.5, which readers look for in zarr3";
    says(&["--format", "zarr3"], told);
    says(&["--format", "n5"], "which readers do not look for in n5");
}

/// Attributes of a group of a Zarr v3 target, or of a v2 one.
fn said(group: &str) -> Value {
    let read = |name: &str| {
        let bytes = std::fs::read(Path::new(group).join(name)).ok()?;
        Some(serde_json::from_slice::<Value>(&bytes).unwrap())
    };
    read("zarr.json").map_or_else(|| read(".zattrs").unwrap(), |found| found["attributes"].clone())
}

/// A plate of one well with one image, as version 0.4 has it; the image has labels.
fn plate(folder: &Folder) -> String {
    let (source, _) = image(folder);
    let plate = folder.at("plate.zarr");
    let field = Path::new(&plate).join("A/1/0");
    std::fs::create_dir_all(field.parent().unwrap()).unwrap();
    std::fs::rename(source, &field).unwrap();
    RawArray::v2(&[1, 1, 40, 60], &[1, 1, 20, 30])
        .write(&field.join("labels/n/0").display().to_string());
    let label = json!({"multiscales": [{"version": "0.4",
        "axes": [{"name": "t"}, {"name": "c"}, {"name": "y"}, {"name": "x"}],
        "datasets": [{"path": "0", "coordinateTransformations": [
            {"type": "scale", "scale": [1.0, 1.0, 0.5, 0.5]}]}]}],
        "image-label": {"version": "0.4", "source": {"image": "../../"}}});
    for (path, attributes) in [
        (
            "",
            json!({"plate": {"version": "0.4", "rows": [{"name": "A"}], "columns": [{"name": "1"}],
            "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}]}}),
        ),
        ("A", json!({})),
        ("A/1", json!({"well": {"version": "0.4", "images": [{"path": "0"}]}})),
        ("A/1/0/labels", json!({"labels": ["n"]})),
        ("A/1/0/labels/n", label),
    ] {
        let place = Path::new(&plate).join(path);
        write_json(&place.join(".zgroup"), &json!({"zarr_format": 2}));
        write_json(&place.join(".zattrs"), &attributes);
    }
    plate
}

/// Readers of Zarr v3 look for OME-Zarr from 0.5 on, those of v2 for 0.4, in every group.
#[test]
fn a_plate_goes_into_the_other_version_of_zarr_and_back() {
    let folder = Folder::new();
    let source = plate(&folder);
    let (new, old) = (folder.at("new.zarr"), folder.at("old.zarr"));
    let done = rechunk(&["copy", &source, &new, "--format", "zarr3", "--verify"]).ok();
    done.says(&["the group (and 4 other groups): ome-zarr-0.4 becomes ome-zarr-0.5"]);
    for (path, key) in [
        ("", "plate"),
        ("A/1", "well"),
        ("A/1/0", "multiscales"),
        ("A/1/0/labels", "labels"),
        ("A/1/0/labels/n", "image-label"),
    ] {
        let attributes = said(&format!("{new}/{path}"));
        assert_eq!(attributes["ome"]["version"], "0.5", "{path}");
        assert_eq!(attributes.as_object().unwrap().len(), 1, "{path}");
        let value = &attributes["ome"][key];
        assert!(!value.is_null() && value.get("version").is_none(), "{path}: {attributes}");
    }
    let level: Value =
        serde_json::from_slice(&std::fs::read(Path::new(&new).join("A/1/0/0/zarr.json")).unwrap())
            .unwrap();
    assert_eq!(level["dimension_names"], json!(["t", "c", "y", "x"]));
    let info = rechunk(&["info", &format!("{new}/A/1/0"), "--json"]).ok().json();
    assert_eq!(info["image"]["dialect"], "ome-zarr-0.5");
    rechunk(&["copy", &source, &new, "--format", "zarr3", "--resume"]).ok().says(&["already"]);
    rechunk(&["copy", &new, &old, "--format", "zarr2", "-q"]).ok();
    for path in ["", "A/1", "A/1/0", "A/1/0/labels", "A/1/0/labels/n"] {
        let of = |root: &str| said(&format!("{root}/{path}"));
        let mut before = of(&source);
        if path == "A/1/0" {
            before["omero"]["version"] = json!("0.4"); // which 0.4 wants there
        }
        assert_eq!(of(&old), before, "{path}");
    }
    assert!(std::fs::exists(format!("{old}/A/1/0/0/0/0/0/0")).unwrap(), "nested chunks");
    rechunk(&["verify", &source, &old]).ok();
}

/// The place of a level is that of its first element, also when it is not the first of the source.
#[test]
fn a_region_of_an_image_is_where_it_was() {
    let folder = Folder::new();
    let (source, _) = image(&folder);
    let target = folder.at("cut.zarr");
    let select = ["--select", "c=1,y=10:30,x=0:60", "--include", "0", "--format", "zarr3"];
    let done = rechunk(&[&["copy", &source, &target][..], &select].concat()).ok();
    assert!(!done.stderr.contains("own indices"), "{}", done.stderr);
    let ome = &said(&target)["ome"];
    let steps = json!([{"type": "scale", "scale": [1.0, 1.0, 0.5, 0.5]},
        {"type": "translation", "translation": [0.0, 1.0, 5.0, 0.0]}]);
    let datasets = json!([{"path": "0", "coordinateTransformations": steps}]);
    assert_eq!(ome["multiscales"][0]["datasets"], datasets);
    // Of both levels, by names and by position: level 1 shows the part that level 0 does.
    for (name, select) in [("named.zarr", "y=10:20"), ("placed.zarr", ":,:,10:20,:")] {
        let both = folder.at(name);
        let select = ["--select", select, "--format", "zarr2"];
        let done = rechunk(&[&["copy", &source, &both][..], &select].concat()).ok();
        assert!(!done.stderr.contains("own indices"), "{}", done.stderr);
        let levels = said(&both)["multiscales"][0]["datasets"].clone();
        let at =
            |level: usize| levels[level]["coordinateTransformations"][1]["translation"].clone();
        assert_eq!((at(0), at(1)), (json!([0.0, 0.0, 5.0, 0.0]), json!([0.0, 0.0, 5.0, 0.0])));
        let shape = |level: &str| {
            let path = Path::new(&both).join(level).join(".zarray");
            let said: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            said["shape"][2].clone()
        };
        assert_eq!((shape("0"), shape("1")), (json!(10), json!(5)));
    }
    let uneven = folder.at("uneven.zarr");
    let select = ["--select", "y=11:20", "--format", "zarr2"];
    rechunk(&[&["copy", &source, &uneven][..], &select].concat()).ok();
    rechunk(&["copy", &source, &folder.at("n.zarr"), "--select", "1:2,3:4"]).ends_with(2);
}

#[test]
fn a_group_of_which_no_level_is_copied_is_no_image() {
    let folder = Folder::new();
    let (source, _) = image(&folder);
    RawArray::v2(&[4], &[2]).write(&format!("{source}/table/values"));
    let target = folder.at("t.zarr");
    let done = rechunk(&["copy", &source, &target, "--include", "table/values"]).ok();
    done.says(&["no level of its image is left"]);
    let attributes = said(&target);
    assert_eq!(attributes, json!({}));
}

#[test]
fn groups_say_the_version_that_is_asked_for() {
    let folder = Folder::new();
    let (source, attributes) = image(&folder);
    let at = |name: &str| folder.at(name);
    let run = |source: &str, target: &str, more: &[&str]| {
        rechunk(&[&["copy", source, target][..], more].concat())
    };
    run(&source, &at("6.zarr"), &["--as", "ome-zarr-0.6"]).ok().says(&["becomes ome-zarr-0.6"]);
    let ome = &said(&at("6.zarr"))["ome"];
    assert_eq!(ome["version"], "0.6");
    assert_eq!(ome["multiscales"][0]["coordinateSystems"][0]["axes"][1]["name"], "c");
    // A version that readers look for in the format stays.
    let done = run(&at("6.zarr"), &at("same.zarr"), &["--chunks", "1,1,10,10"]).ok();
    assert!(!done.stderr.contains("becomes"), "{}", done.stderr);
    assert_eq!(said(&at("same.zarr"))["ome"], *ome);
    run(&at("6.zarr"), &at("5.zarr"), &["--as", "ome-zarr-0.5", "-q"]).ok();
    let back = said(&at("5.zarr"))["ome"]["multiscales"][0]["datasets"].clone();
    assert_eq!(back, attributes["multiscales"][0]["datasets"]);
    run(&at("6.zarr"), &at("4.zarr"), &["--as", "ome-zarr-0.4", "-q"]).ok();
    assert_eq!(said(&at("4.zarr"))["multiscales"][0]["version"], "0.4");
    assert!(std::fs::exists(at("4.zarr/0/.zarray")).unwrap());
    let refused = ["--as", "ome-zarr-0.6", "--format", "zarr2"];
    run(&source, &at("no.zarr"), &refused).ends_with(2).says(&["it lies in zarr3"]);
    let array = format!("{source}/0");
    run(&array, &at("no.zarr"), &["--as", "ome-zarr-0.5"])
        .ends_with(2)
        .says(&["a version of OME-Zarr is for the arrays of a group"]);
    assert!(!std::fs::exists(at("no.zarr")).unwrap());
}
