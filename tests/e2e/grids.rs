//! Settings of the newest writers, and how they are taken: those that nobody knows, and an OME-Zarr
//! in one ZIP file (`.ozx`).

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, rechunk, tree};

const SHAPE: [u64; 2] = [20, 12];

/// An array whose document is changed.
fn changed(folder: &Folder, name: &str, change: impl Fn(&mut Value)) -> String {
    let array = RawArray::v3(&SHAPE, &[8, 5]);
    let place = folder.at(name);
    array.write(&place);
    let (_, mut document) = array.metadata();
    change(&mut document);
    write_json(&Path::new(&place).join("zarr.json"), &document);
    place
}

type Change = fn(&mut Value);

#[test]
fn settings_nobody_knows_are_refused_by_every_command() {
    let folder = Folder::new();
    let table: [(&str, Change); 9] = [
        ("chunk_grid.configuration.offset", |d| {
            d["chunk_grid"]["configuration"]["offset"] = json!([1, 0]);
        }),
        ("chunk_grid.configuration.encoded_chunk_shapes", |d| {
            d["chunk_grid"]["configuration"]["encoded_chunk_shapes"] = json!([[8, 8, 8], [5]]);
        }),
        ("chunk_grid.configuration.encoded_chunk_shapes", |d| {
            d["chunk_grid"] = json!({"name": "rectilinear", "configuration": {"kind": "inline",
                "chunk_shapes": [[8, 8, 4], 5], "encoded_chunk_shapes": [[8, 8, 8], 5]}});
        }),
        ("chunk_grid.configuration.order", |d| {
            d["chunk_grid"] = json!({"name": "rectilinear", "configuration": {"kind": "inline",
                "chunk_shapes": [[8, 8, 4], 5], "order": "F"}});
        }),
        ("chunk_grid.wraps", |d| d["chunk_grid"]["wraps"] = json!(true)),
        ("chunk_key_encoding.configuration.hash", |d| {
            d["chunk_key_encoding"]["configuration"]["hash"] = json!("sha1");
        }),
        ("data_type.configuration.bits", |d| {
            d["data_type"] = json!({"name": "float32", "configuration": {"bits": 24}});
        }),
        ("codecs[0].configuration.padding", |d| {
            d["codecs"][0]["configuration"]["padding"] = json!(4);
        }),
        ("storage_transformers", |d| d["storage_transformers"] = json!([{"name": "encrypt"}])),
    ];
    for (number, (named, change)) in table.into_iter().enumerate() {
        let source = changed(&folder, &format!("{number}.zarr"), change);
        let (target, before) = (folder.at(&format!("{number}-copy")), tree(source.as_ref()));
        for command in [
            &["copy", &source, &target, "--chunks", "5,12"][..],
            &["plan", &source, &target, "--chunks", "5,12"],
            &["info", &source],
            &["verify", &source, &source],
        ] {
            rechunk(command).ends_with(3).says(&[named, "not supported"]);
        }
        assert!(!Path::new(&target).exists() && tree(source.as_ref()) == before, "{named}");
    }
}

#[test]
fn settings_that_may_be_ignored_are() {
    let folder = Folder::new();
    let table: [(&str, Change); 5] = [
        ("grid", |d| {
            d["chunk_grid"]["configuration"]["note"] = json!({"must_understand": false, "a": 1});
        }),
        ("whole-grid", |d| {
            d["chunk_grid"]["configuration"]["note"] = json!(1);
            d["chunk_grid"]["must_understand"] = json!(false);
        }),
        ("keys", |d| {
            d["chunk_key_encoding"]["configuration"]["note"] = json!({"must_understand": false});
        }),
        ("transformer", |d| {
            d["storage_transformers"] =
                json!([{"name": "org.example.cache", "must_understand": false}]);
        }),
        ("field", |d| d["org.example.note"] = json!({"must_understand": false})),
    ];
    let expected = folder.at("expected");
    RawArray::v3(&SHAPE, &[5, 12]).write(&expected);
    for (name, change) in table {
        let source = changed(&folder, name, change);
        let target = folder.at(&format!("{name}-copy"));
        rechunk(&["copy", &source, &target, "--chunks", "5,12", "--no-fsync", "-q"]).ok();
        rechunk(&["verify", &expected, &target]).ok();
    }
    // A chunk is none without the codec that it went through, whatever that says of itself.
    let source = changed(&folder, "codec", |d| {
        let codecs = d["codecs"].as_array_mut().unwrap();
        codecs.push(json!({"name": "org.example.audit", "must_understand": false}));
    });
    let refused = rechunk(&["copy", &source, &folder.at("codec-copy")]).ends_with(3);
    refused.says(&["codecs[1]", "org.example.audit"]);
}

/// A ZIP file of all that is in a directory, stored as it is, with a comment.
fn zip(directory: &Path, comment: &str) -> Vec<u8> {
    let mut names: Vec<String> = tree(directory).into_keys().collect();
    names.retain(|name| directory.join(name).is_file());
    // As RFC-9 asks: documents first, that of the root before all.
    names.sort_by_key(|name| (!name.ends_with("zarr.json"), name.len(), name.clone()));
    let (mut file, mut records) = (Vec::new(), Vec::new());
    for name in &names {
        let content = std::fs::read(directory.join(name)).unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(&content);
        let size = u32::try_from(content.len()).unwrap().to_le_bytes();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let offset = u32::try_from(file.len()).unwrap().to_le_bytes();
        // Version, flags, method (stored), time, date; CRC; both sizes; lengths of name and extra.
        let head = [&[20, 0, 0, 0, 0, 0, 0, 0, 33, 0][..], &crc.sum().to_le_bytes(), &size, &size];
        let head = [&head.concat()[..], &length, &[0, 0]].concat();
        records.extend([b"PK\x01\x02", &[20, 0][..], &head, &[0; 10], &offset].concat());
        records.extend(name.bytes());
        file.extend([b"PK\x03\x04", &head[..], name.as_bytes(), &content].concat());
    }
    let count = u16::try_from(names.len()).unwrap().to_le_bytes();
    let sizes = [records.len(), file.len()].map(|size| u32::try_from(size).unwrap().to_le_bytes());
    let length = u16::try_from(comment.len()).unwrap().to_le_bytes();
    file.extend(records);
    file.extend([b"PK\x05\x06", &[0; 4][..], &count, &count, &sizes.concat(), &length].concat());
    file.extend(comment.bytes());
    file
}

/// An image of OME-Zarr 0.5 with two levels.
fn image(place: &Path) {
    for (name, shape) in [("0", [20, 12]), ("1", [10, 6])] {
        RawArray::v3(&shape, &[8, 5]).write(&place.join(name).display().to_string());
    }
    let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    let level = |path: &str, scale: f64| json!({"path": path, "coordinateTransformations": [{"type": "scale", "scale": [scale, scale]}]});
    let multiscales =
        json!([{"name": "image", "axes": axes, "datasets": [level("0", 1.0), level("1", 2.0)]}]);
    write_json(
        &place.join("zarr.json"),
        &json!({"zarr_format": 3, "node_type": "group",
            "attributes": {"ome": {"version": "0.5", "multiscales": multiscales}}}),
    );
}

/// Comment of a ZIP file by RFC-9.
const COMMENT: &str =
    r#"{"ome": {"version": "0.5", "zipFile": {"centralDirectory": {"jsonFirst": true}}}}"#;

#[test]
fn an_image_in_one_file_is_read() {
    let folder = Folder::new();
    let image_place = folder.path().join("image.zarr");
    image(&image_place);
    let bytes = zip(&image_place, COMMENT);
    for name in ["image.ozx", "IMAGE.OZX", "image.ome.ozx", "image.zip", "a.b.Ozx"] {
        let file = folder.at(name);
        std::fs::write(&file, &bytes).unwrap();
        let (group, level) =
            (folder.at(&format!("{name}-group")), folder.at(&format!("{name}-level")));
        let unread = std::fs::metadata(&file).unwrap().modified().unwrap();
        rechunk(&["copy", &file, &group, "--chunks", "10,6", "--no-fsync", "-q"]).ok();
        for member in ["0", "1"] {
            let [source, target] = [format!("{file}/{member}"), format!("{group}/{member}")];
            rechunk(&["verify", &source, &target]).ok();
            let plain = image_place.join(member).display().to_string();
            rechunk(&["verify", &plain, &target]).ok();
        }
        let document = std::fs::read_to_string(Path::new(&group).join("zarr.json")).unwrap();
        assert!(document.contains("multiscales"), "{document}");
        let one = format!("{file}/1");
        rechunk(&[
            "copy",
            &one,
            &level,
            "--chunks",
            "3,6",
            "--select",
            "2:8,:",
            "--no-fsync",
            "-q",
        ])
        .ok();
        rechunk(&["plan", &format!("file://{file}/0"), &folder.at("plan"), "--chunks", "3,6"]).ok();
        let info = rechunk(&["info", &file]).ok().stdout;
        assert!(info.contains("ZIP comment") && info.contains("jsonFirst"), "{info}");
        let info = rechunk(&["info", &one, "--json"]).ok().json();
        assert_eq!(
            (&info["archive_comment"], &info["missing_chunks"]),
            (&json!(COMMENT), &json!(0))
        );
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), unread);
    }
}

#[test]
fn a_comment_of_a_stranger_is_shown_harmlessly() {
    let folder = Folder::new();
    let array = folder.path().join("array.zarr");
    RawArray::v3(&SHAPE, &[8, 5]).write(&array.display().to_string());
    let long = "x".repeat(60_000);
    for (comment, shown) in [
        ("", None),
        ("plain words", Some("plain words")),
        ("\u{1b}[31mred\u{7}", Some("red")),
        ("two\nlines", Some("two")),
        (&long, Some("…")),
    ] {
        let file = folder.at("array.ozx");
        std::fs::write(&file, zip(&array, comment)).unwrap();
        let text = rechunk(&["info", &file]).ok().stdout;
        assert_eq!(text.contains("ZIP comment"), shown.is_some(), "{text}");
        assert!(shown.is_none_or(|shown| text.contains(shown)), "{text}");
        assert!(text.len() < 4000 && !text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
    }
}
