//! Readers and writers that are not ours: zarr-python 2 and 3, tensorstore, z5py, and the peers of
//! `crossings.rs`.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::root;
use crate::workers;

/// An environment of `tests/oracle/setup.sh`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum World {
    /// zarr-python 2 and z5py.
    Z2,
    /// zarr-python 3 and tensorstore.
    Z3,
    /// The newest zarr-python, GDAL, netCDF-C and more; where there is a Python for them.
    New,
    /// Zarr in JavaScript; where there is npm.
    Zarrita,
    /// Libraries that take minutes to install; where somebody has done so.
    Crossings,
    /// webknossos, which does not go with those.
    Webknossos,
    /// Icechunk; where there is a Python for it.
    Icechunk,
    /// cloud-volume, where somebody has installed it.
    CloudVolume,
}

impl World {
    pub(crate) fn python(self) -> PathBuf {
        let name = match self {
            Self::Z2 => ".venv-oracle-z2",
            Self::Z3 => ".venv-oracle-z3",
            Self::New => ".venv-oracle-new",
            Self::Crossings => ".venv-oracle-crossings",
            Self::Webknossos => ".venv-oracle-webknossos",
            Self::Icechunk => ".venv-oracle-icechunk",
            Self::CloudVolume => ".venv-oracle-cloudvolume",
            Self::Zarrita => return PathBuf::from("node"),
        };
        root().join(name).join("bin/python")
    }

    /// Whether `tests/oracle/setup.sh` has made it.
    pub(crate) fn is_installed(self) -> bool {
        let stamp = match self {
            Self::Zarrita => root().join("tests/oracle/zarrita/node_modules/stamp"),
            _ => self.python().with_file_name("../stamp"),
        };
        stamp.exists()
    }

    /// Arguments of its program before the script.
    fn options(self) -> &'static [&'static str] {
        if matches!(self, Self::Zarrita) { &[] } else { &["-W", "ignore"] }
    }
}

/// Whether there are oracles; false only where it was asked for to go without.
pub(crate) fn available() -> bool {
    if std::env::var("RECHUNK_SKIP_ORACLES").is_ok_and(|value| value == "1") {
        println!("SKIPPED: RECHUNK_SKIP_ORACLES=1, no other implementation reads what we write");
        return false;
    }
    for world in [World::Z2, World::Z3] {
        let python = world.python();
        assert!(
            python.exists(),
            "{} is missing: run tests/oracle/setup.sh, or set RECHUNK_SKIP_ORACLES=1 to go without",
            python.display()
        );
    }
    true
}

/// Job for a reader.
pub(crate) fn job(path: &str, version: u8, reader: &str) -> Value {
    json!({"path": path, "format": version, "reader": reader})
}

/// Reads arrays; answers in the order of the jobs.
pub(crate) fn read(world: World, jobs: &[Value]) -> Vec<Value> {
    let answer = python(world, "tests/oracle/read.py", &[], &serde_json::to_vec(jobs).unwrap());
    let answers: Vec<Value> = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answers.len(), jobs.len());
    answers
}

/// Has a library do jobs of `tests/oracle/echo.py`; answers in their order.
pub(crate) fn echo(world: World, library: &str, jobs: &[Value]) -> Vec<Value> {
    let input = serde_json::to_vec(jobs).unwrap();
    let answer = python(world, "tests/oracle/echo.py", &[library], &input);
    let answers: Vec<Value> = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answers.len(), jobs.len());
    answers
}

/// Has all libraries of a world do jobs of `n5.py echo`; answers in their order, by reader.
pub(crate) fn echo_n5(world: World, jobs: &[Value]) -> Vec<Value> {
    answers(
        &python(world, "tests/oracle/n5.py", &["echo"], &serde_json::to_vec(jobs).unwrap()),
        jobs,
    )
}

/// Has NumPy do jobs of `tests/oracle/npy.py`; answers in their order.
pub(crate) fn echo_npy(jobs: &[Value]) -> Vec<Value> {
    answers(
        &python(World::Z3, "tests/oracle/npy.py", &[], &serde_json::to_vec(jobs).unwrap()),
        jobs,
    )
}

/// The answers, one to each job.
fn answers(output: &[u8], jobs: &[Value]) -> Vec<Value> {
    let answers: Vec<Value> = serde_json::from_slice(output).unwrap();
    assert_eq!(answers.len(), jobs.len());
    answers
}

/// Has zarr-python do jobs of `tests/oracle/groups.py`; answers in their order.
pub(crate) fn groups(world: World, jobs: &[Value]) -> Vec<Value> {
    let answer = python(world, "tests/oracle/groups.py", &[], &serde_json::to_vec(jobs).unwrap());
    serde_json::from_slice(&answer).unwrap()
}

/// Has the libraries of a world write N5 datasets (`make`) into `directory`. Or, with `sources`,
/// zarr-python 3 arrays that N5 can hold. Returns the words of `tests/oracle/n5.py` on each.
pub(crate) fn make_n5(world: World, what: &str, directory: &str) -> Vec<Value> {
    std::fs::create_dir_all(directory).unwrap();
    let answer = python(world, "tests/oracle/n5.py", &[what, directory], b"");
    serde_json::from_slice(&answer).unwrap()
}

/// Has every library of a world read N5 datasets; answers in the order of `paths`, by reader.
pub(crate) fn read_n5(world: World, paths: &[&str]) -> Vec<Value> {
    let input = serde_json::to_vec(paths).unwrap();
    let answer = python(world, "tests/oracle/n5.py", &["read"], &input);
    let answers: Vec<Value> = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answers.len(), paths.len());
    answers
}

/// Has zarr-python write its collection of arrays into `directory`; their paths and versions.
pub(crate) fn make(world: World, directory: &str) -> Vec<(String, u8)> {
    std::fs::create_dir_all(directory).unwrap();
    let answer = python(world, "tests/oracle/make.py", &[directory], b"");
    let made: Vec<Value> = serde_json::from_slice(&answer).unwrap();
    made.iter()
        .map(|array| {
            let version = array["format"].as_u64().unwrap();
            (array["path"].as_str().unwrap().to_owned(), u8::try_from(version).unwrap())
        })
        .collect()
}

/// Has NumPy do what `tests/oracle/raw.py` is told.
pub(crate) fn numpy(arguments: &[&str], input: &[u8]) -> Value {
    serde_json::from_slice(&python(World::Z3, "tests/oracle/raw.py", arguments, input)).unwrap()
}

/// The JSON that a script answers with.
pub(crate) fn ask(world: World, script: &str, arguments: &[&str]) -> Value {
    serde_json::from_slice(&python(world, script, arguments, &[])).unwrap()
}

/// Answers of a script to jobs, in their order.
pub(crate) fn answer(world: World, script: &str, jobs: &[Value]) -> Vec<Value> {
    serde_json::from_slice(&python(world, script, &[], &serde_json::to_vec(jobs).unwrap())).unwrap()
}

/// Output of a script of a world for `input`.
pub(crate) fn python(world: World, script: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let script = root().join(script);
    if matches!(world, World::Z2 | World::Z3 | World::New) {
        return workers::run(&world.python(), &script, arguments, input);
    }
    let mut child = Command::new(world.python())
        .args(world.options())
        .arg(&script)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{} {arguments:?}: {}", script.display(), output.status);
    output.stdout
}
