//! Every array of a larger public collection: copied to its digest, passed through byte for byte,
//! or refused for a reason that the documentation has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Folder, rechunk, root};
use crate::interop::{Source, is_variable, survive, version_of};
use crate::n5::decoded_sha256_with;
use crate::oracle::available;

/// Ways to cut each array.
const CUTS: usize = 3;
/// Refused arrays: kind or name of a codec; words of the message; words of `docs/reference.md`.
const REFUSED: &[(&str, &str, &str)] = if cfg!(feature = "zfp") {
    &[]
} else {
    &[("zfpy", "codec \"zfpy\" is not supported; this program was built without zfp", "`zfpy`")]
};
/// Digest of the arrays of zfpy, as numcodecs' own zfpy decodes them; read in a build with zfp.
const ZFPY: (&str, &str) =
    ("zfpy", "817cddd35bc80c1cdfbb5337daef946518388485b929bbddc1784b71d41f7aa0");
/// The codec that no oracle here has. Arrays of it are beside others that hold the same elements.
const UNREAD: (&str, &str) = ("pcodec", "none");

/// Treatment of an array of INDEX.json.
enum Case {
    Copied(Source),
    /// Of another format than Zarr, or of a codec that no oracle here has. Holds the path, the
    /// options it is read with, and the digest of its elements.
    Other(String, Vec<&'static str>, Option<String>),
    /// Where, and which of [`REFUSED`].
    Refused(String, usize),
}

#[test]
fn public_arrays_survive_a_copy() {
    let Some(data) = std::env::var_os("RECHUNK_TEST_DATA").map(PathBuf::from) else {
        println!("SKIPPED: RECHUNK_TEST_DATA is not set, the larger public arrays are not copied");
        return;
    };
    if !available() {
        return;
    }
    let index = std::fs::read_to_string(data.join("INDEX.json")).unwrap();
    let index: Value = serde_json::from_str(&index).unwrap();
    let arrays = index["arrays"].as_array().unwrap();
    let views = Folder::new();
    let (mut sources, mut others, mut refused) = (Vec::new(), 0, BTreeMap::<&str, usize>::new());
    for (number, array) in arrays.iter().enumerate() {
        match case(&data, array, &views.at(&number.to_string())) {
            Case::Copied(source) => sources.push(source),
            Case::Other(path, options, digest) => {
                let decoded = decoded_sha256_with(&path, &options);
                assert!(digest.is_none_or(|digest| digest == decoded), "{path}");
                others += 1;
            }
            Case::Refused(path, reason) => {
                is_refused(&path, &views.at("target"), REFUSED[reason].1);
                *refused.entry(REFUSED[reason].0).or_default() += 1;
            }
        }
    }
    survive("public arrays", &sources, CUTS);
    let variable = sources.iter().filter(|source| is_variable(source)).count();
    println!(
        "{} arrays: decoded to their digest: {}; of variable length: {variable}; refused: {refused:?}",
        arrays.len(),
        sources.len() - variable + others,
    );
    let unused: Vec<_> = REFUSED.iter().filter(|row| !refused.contains_key(row.0)).collect();
    assert!(unused.is_empty(), "no array is refused for {unused:?}");
}

/// Chooses the treatment of an array. Directories may have documents of both versions: `view` takes
/// a copy without that of v3, where the one of v2 is meant.
fn case(data: &Path, array: &Value, view: &str) -> Case {
    let path = data.join(array["path"].as_str().unwrap());
    let (kind, codecs) = (array["kind"].as_str().unwrap(), array.to_string());
    let is_of = |name: &str| kind == name || codecs.contains(&format!("{name}\""));
    if let Some(reason) = REFUSED.iter().position(|row| is_of(row.0)) {
        let path = if kind == "zarr v2" { path_of_v2(&path, view) } else { path };
        return Case::Refused(path.display().to_string(), reason);
    }
    if is_of(ZFPY.0) {
        let path = if kind == "zarr v2" { path_of_v2(&path, view) } else { path };
        return Case::Other(path.display().to_string(), vec![], Some(ZFPY.1.to_owned()));
    }
    let digest = |array: &Value| array["sha256"].as_str().map(str::to_owned);
    let version = match kind {
        "n5" => return Case::Other(path.display().to_string(), vec![], digest(array)),
        "nifti" => {
            // The digest is that of an array whose first axis is NIfTI's.
            let digest = digest(&array["arrays"]["data"]);
            return Case::Other(path.display().to_string(), vec!["--axes", "keep"], digest);
        }
        "raw split" => {
            return Case::Other(slabs(&path, view), vec![], digest(array));
        }
        "zarr v2" => 2,
        "zarr v3" => 3,
        other => panic!("{}: what is {other}?", path.display()),
    };
    let twin = twin(data, array, version);
    let path = if version == 2 { path_of_v2(&path, view) } else { path };
    assert_eq!(version_of(&path), version, "{}", path.display());
    let source = Source::new(path.display().to_string(), version);
    let source = Source { sha256: digest(array), twin, ..source };
    assert!(
        source.sha256.is_some() || source.twin.is_some() || is_variable(&source),
        "{}: nobody says what it holds",
        source.path
    );
    Case::Copied(source)
}

/// A view of the slabs of one array, split along the last axis, as blocks with `array.json`.
fn slabs(path: &Path, view: &str) -> String {
    let view = PathBuf::from(view);
    std::fs::create_dir_all(&view).unwrap();
    let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("slab_"));
    names.sort();
    for (number, name) in names.iter().enumerate() {
        std::fs::copy(path.join(name), view.join(format!("0_0_{number}.bin"))).unwrap();
    }
    let document = serde_json::json!({
        "shape": [197, 233, 189], "data_type": "uint8", "endian": "little", "order": "C",
        "chunk_shape": [197, 233, 24], "key": "{0}_{1}_{2}.bin", "offset_bytes": 0,
    });
    std::fs::write(view.join("array.json"), document.to_string()).unwrap();
    view.display().to_string()
}

/// The directory itself, or a copy of it that has no document of v3.
fn path_of_v2(path: &Path, view: &str) -> PathBuf {
    if version_of(path) == 2 {
        return path.to_owned();
    }
    let view = PathBuf::from(view);
    std::fs::create_dir_all(&view).unwrap();
    for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
        // Chunks of v2 with dots in their keys are files; what is a directory belongs to v3.
        if entry.path().is_file() && entry.file_name() != "zarr.json" {
            std::fs::copy(entry.path(), view.join(entry.file_name())).unwrap();
        }
    }
    view
}

/// The array beside one of [`UNREAD`] that holds the same elements.
fn twin(data: &Path, array: &Value, version: u8) -> Option<(String, u8)> {
    let path = array["path"].as_str().unwrap();
    let twin = data.join(path.replace(UNREAD.0, UNREAD.1));
    let is_unread = array["sha256"].is_null() && path.contains(UNREAD.0);
    is_unread.then(|| (twin.display().to_string(), version))
}

/// It is refused in these words, and nothing is left where the target would be.
fn is_refused(path: &str, target: &str, words: &str) {
    rechunk(&["copy", path, target, "-q"]).ends_with(3).says(&[words]);
    rechunk(&["info", path]).ends_with(3).says(&[words]);
    assert!(!Path::new(target).exists(), "{target} was left behind");
}

#[test]
fn what_is_refused_stands_in_the_reference() {
    let text = std::fs::read_to_string(root().join("docs/reference.md")).unwrap();
    let (_, formats) = text.split_once("\n## Formats").unwrap();
    for (what, _, documented) in REFUSED {
        assert!(formats.contains(documented), "docs/reference.md does not say of {what}");
    }
}
