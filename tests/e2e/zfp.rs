//! zfp against numcodecs' zfpy under zarr-python, where there is one: `tests/oracle/setup.sh zfp`
//! makes `.venv-oracle-zfp`, or `RECHUNK_ZFPY_PYTHON` names the Python.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Folder, rechunk, root};
use crate::n5::decoded_sha256_with;

/// As numcodecs spells the modes of `tests/oracle/zfp.py`.
const MODES: [(&str, &str); 4] = [
    ("accuracy", r#"{"id": "zfpy", "mode": 4, "tolerance": 0.01}"#),
    ("rate", r#"{"id": "zfpy", "mode": 2, "rate": 9.5}"#),
    ("precision", r#"{"id": "zfpy", "mode": 3, "precision": 14}"#),
    ("reversible", r#"{"id": "zfpy"}"#),
];

/// A Python whose numcodecs has zfpy; says so where there is none.
fn python() -> Option<PathBuf> {
    let python = std::env::var_os("RECHUNK_ZFPY_PYTHON")
        .map_or_else(|| root().join(".venv-oracle-zfp/bin/python"), PathBuf::from);
    let has_zfpy = |python: &Path| {
        let mut command = Command::new(python);
        command.arg("-W").arg("ignore").arg(root().join("tests/oracle/zfp.py")).arg("available");
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if has_zfpy(&python) {
        return Some(python);
    }
    println!(
        "SKIPPED: {} has no zfpy, nobody else reads zfp; run tests/oracle/setup.sh zfp",
        python.display()
    );
    None
}

/// Answers of `tests/oracle/zfp.py`.
fn ask(python: &Path, arguments: &[&str], jobs: &Value) -> Vec<Value> {
    let mut child = Command::new(python)
        .arg("-W")
        .arg("ignore")
        .arg(root().join("tests/oracle/zfp.py"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(jobs.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "zfp.py {arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The chunks of an array, by their names.
fn chunks(array: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut chunks: Vec<_> = crate::harness::tree(Path::new(array)).into_keys().collect();
    chunks.retain(|key| !key.contains("zarr.json") && !key.contains(".z"));
    let read = |key: String| {
        let path = Path::new(array).join(&key);
        path.is_file().then(|| (PathBuf::from(key), std::fs::read(&path).unwrap()))
    };
    chunks.into_iter().filter_map(read).collect()
}

/// Chunks that are not those of an array of `tests/oracle/zfp.py`, by the rank in its name.
fn other_chunks(path: &str) -> &'static str {
    let chunks = [("-1-v", "17"), ("-2-v", "3,7"), ("-3-v", "2,4,5"), ("-4-v", "3,1,5,4")];
    chunks.into_iter().find(|(rank, _)| path.contains(rank)).unwrap().1
}

#[test]
fn arrays_of_zfpy_are_read_and_written() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let made = ask(&python, &["make", &folder.at("made")], &Value::Null);
    assert_eq!(made.len(), 128);
    let (mut copies, mut same) = (Vec::new(), 0);
    for (number, array) in made.iter().enumerate() {
        let (path, digest) = (array["path"].as_str().unwrap(), array["sha256"].as_str().unwrap());
        assert_eq!(decoded_sha256_with(path, &[]), digest, "{path}: theirs, read by us");
        // In other chunks and the other version: as it is, though the codec was not exact.
        let format = 5 - array["format"].as_u64().unwrap();
        let copy = folder.at(&format!("copy{number}"));
        let cut = ["--chunks", other_chunks(path), "--format", &format!("zarr{format}")];
        rechunk(&[&["copy", path, &copy, "-q", "--verify"], &cut[..]].concat()).ok();
        copies.push((json!({"path": copy, "format": format}), digest));
        // The same elements in the same chunks are the same bytes.
        let (mode, codec) =
            *MODES.iter().find(|(mode, _)| path.contains(&format!("{mode}-"))).unwrap();
        let original = path.replace(&format!("{mode}-"), "reversible-");
        let again = folder.at(&format!("again{number}"));
        let version = format!("zarr{}", 5 - format);
        let options = ["--chunks", "keep", "--format", &version, "--codec", codec];
        rechunk(&[&["copy", &original, &again, "-q"], &options[..]].concat()).ok();
        let (theirs, ours) = (chunks(path), chunks(&again));
        assert!(!theirs.is_empty());
        assert!(theirs == ours, "{path}: not the bytes of numcodecs");
        same += theirs.len();
        copies.push((json!({"path": again, "format": 5 - format}), digest));
    }
    let jobs: Vec<&Value> = copies.iter().map(|(job, _)| job).collect();
    let answers = ask(&python, &["read"], &json!(jobs));
    for ((job, digest), answer) in copies.iter().zip(&answers) {
        assert_eq!(answer["sha256"], *digest, "{job}: ours, read by numcodecs: {answer}");
    }
    println!("{} arrays of zfpy, {same} chunks byte for byte", made.len());
}

#[test]
fn a_damaged_chunk_is_an_error_that_names_it() {
    let folder = Folder::new();
    let (array, target) = (folder.at("a.zarr"), folder.at("b.zarr"));
    let codec = r#"{"name": "zfp", "configuration": {"mode": "fixed_accuracy", "tolerance": 0.5}}"#;
    rechunk(&[
        "copy",
        &crate::harness::ostia(),
        &array,
        "-q",
        "--format",
        "zarr3",
        "--codec",
        codec,
    ])
    .says(&[]);
    let Some((key, bytes)) = chunks(&array).into_iter().next() else {
        panic!("{array} has no chunks");
    };
    std::fs::write(Path::new(&array).join(&key), &bytes[..bytes.len() / 2]).unwrap();
    let key = key.display().to_string();
    rechunk(&["copy", &array, &target, "-q", "--codec", "none"]).ends_with(3).says(&[
        "zfp",
        "the stream ends after",
        &key,
    ]);
}
