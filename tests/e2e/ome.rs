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
    says(&["--format", "zarr3"], "OME image of version 0.4, which readers look for in zarr2");
}
