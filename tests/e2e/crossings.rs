//! Crossings: what each peer writes is copied and cut anew, and what it reads of the copy is what
//! it has written.
//!
//! The peers are programs of `tests/oracle/crossings` and `tests/oracle/zarrita`, one each; they
//! bring the cases along (`common.py` describes how). Those that are installed within a minute are
//! crossed whenever tests run, the others with `just test-crossings`, which notes in
//! `tests/oracle/crossings/results.md` what it has found. A peer that is not installed is left out,
//! and that is said.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Folder, rechunk, root};
use crate::oracle::{World, available, python};

/// A library that is not ours.
struct Peer {
    /// Its name in the table of results.
    name: &'static str,
    /// Its program.
    script: &'static str,
    world: World,
    /// Reader of the copies that are compared.
    reads: Reads,
}

enum Reads {
    /// It reads what we write.
    Itself,
    /// It only writes: this one reads.
    Other(&'static str),
}

/// Peers that are crossed with every run.
const OFTEN: [Peer; 7] = [
    peer("zarr-python", "crossings/zarr_new.py", World::New),
    peer("GDAL", "crossings/gdal.py", World::New),
    peer("netCDF-C (NCZarr)", "crossings/netcdf.py", World::New),
    peer("zarrita.js", "zarrita/crossing.mjs", World::Zarrita),
    peer("kerchunk", "crossings/kerchunk_refs.py", World::New),
    peer("VirtualiZarr", "crossings/virtual.py", World::New),
    Peer {
        reads: Reads::Other("zarr-python"),
        ..peer("tifffile", "crossings/tiff.py", World::New)
    },
];

/// Peers whose installation takes longer.
const SELDOM: [Peer; 4] = [
    peer("ome-zarr, ngff-zarr", "crossings/ome.py", World::Crossings),
    peer("anndata", "crossings/tables.py", World::Crossings),
    peer("spatialdata", "crossings/spatial.py", World::Crossings),
    peer("webknossos", "crossings/wk.py", World::Webknossos),
];

const fn peer(name: &'static str, script: &'static str, world: World) -> Peer {
    Peer { name, script, world, reads: Reads::Itself }
}

/// Cases that a peer has to bring along, so that a table cannot shrink to nothing unseen.
const CASES_MIN: usize = 5;

/// Result of a crossing.
struct Crossed {
    version: String,
    cases: usize,
    /// Problems on the way to us, and on the way back.
    problems: [Vec<String>; 2],
}

impl Peer {
    /// Has the program do `arguments`; what it answers.
    fn ask(&self, arguments: &[&str], input: &[u8]) -> Value {
        let script = format!("tests/oracle/{}", self.script);
        serde_json::from_slice(&python(self.world, &script, arguments, input)).unwrap()
    }

    /// Crosses every case; `None` if the peer is not installed.
    fn cross(&self) -> Option<Crossed> {
        if !self.world.is_installed() {
            println!("SKIPPED: {} is not installed (tests/oracle/setup.sh)", self.name);
            return None;
        }
        let folder = Folder::new();
        let written = self.ask(&["write", &folder.path().display().to_string()], b"");
        let cases = written["cases"].as_array().unwrap();
        assert!(cases.len() >= CASES_MIN, "{}: {} cases", self.name, cases.len());
        let mut problems = [Vec::new(), Vec::new()];
        let mut targets = Vec::new();
        for case in cases {
            let target = format!("ours/{}", case["name"].as_str().unwrap());
            match copy(&folder, case, &target) {
                Ok(()) => targets.push((case, target)),
                Err(problem) => problems[0].push(format!("{}: {problem}", case["name"])),
            }
        }
        let asked: Vec<Value> = targets
            .iter()
            .map(|(case, target)| json!({"name": case["name"], "path": folder.at(target)}))
            .collect();
        let answers = self.ask(&["read"], &serde_json::to_vec(&asked).unwrap());
        for ((case, _), answer) in targets.iter().zip(answers.as_array().unwrap()) {
            if answer["digest"] != case["digest"] {
                problems[1].push(format!("{}: it reads something else: {answer}", case["name"]));
            }
        }
        let version = written["version"].as_str().unwrap().to_owned();
        Some(Crossed { version, cases: cases.len(), problems })
    }
}

/// Describes the source, copies it, and compares.
fn copy(folder: &Folder, case: &Value, target: &str) -> Result<(), String> {
    let text = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
    let (source, target) = (folder.at(&text("source")), folder.at(target) + &text("below"));
    let options: Vec<String> = serde_json::from_value(case["options"].clone()).unwrap();
    let mut arguments = vec!["copy", &source, &target, "--verify", "--no-fsync", "-q"];
    arguments.extend(options.iter().map(String::as_str));
    for arguments in [&["info", &source][..], &arguments, &["verify", &source, &target]] {
        let done = rechunk(arguments);
        if done.code != 0 {
            return Err(format!("{} ends with {}: {}", arguments[0], done.code, done.stderr));
        }
    }
    Ok(())
}

/// Crosses peers; rows of the table of results, and what went wrong.
fn cross(peers: &[Peer]) -> (Vec<String>, Vec<String>) {
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for peer in peers {
        let Some(crossed) = peer.cross() else { continue };
        let cells = crossed.problems.each_ref().map(|problems| {
            let right = crossed.cases - problems.len();
            format!("{right} of {}", crossed.cases)
        });
        let [ours, theirs] = cells;
        let theirs = match peer.reads {
            Reads::Itself => theirs,
            Reads::Other(reader) => format!("{theirs} ({reader} reads)"),
        };
        rows.push(format!("| {} | {} | {ours} | {theirs} |", peer.name, crossed.version));
        let all = crossed.problems.into_iter().flatten();
        problems.extend(all.map(|problem| format!("{}: {problem}", peer.name)));
    }
    (rows, problems)
}

#[test]
fn what_peers_write_and_read_is_the_same() {
    if !available() {
        return;
    }
    let (_, problems) = cross(&OFTEN);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Path of the results of all peers.
fn results() -> PathBuf {
    root().join("tests/oracle/crossings/results.md")
}

/// The section of `docs/support.md`: what `just test-crossings` found when it was last run.
pub(crate) fn section() -> String {
    std::fs::read_to_string(results()).unwrap()
}

/// Needs 1.8 GB of packages: `just test-crossings`. With `RECHUNK_BLESS=1` it notes what it has
/// found, right or wrong.
#[test]
#[ignore = "its packages take minutes to install: just test-crossings"]
fn every_peer_is_crossed() {
    let (mut rows, mut problems) = cross(&OFTEN);
    let (seldom, others) = cross(&SELDOM);
    rows.extend(seldom);
    problems.extend(others);
    if std::env::var("RECHUNK_BLESS").is_ok_and(|value| value == "1") {
        let date = Command::new("date").arg("+%F").output().unwrap().stdout;
        let date = String::from_utf8(date).unwrap();
        let head = format!(
            "## Crossings\n\nWhat each peer writes is copied and cut anew, and the peer reads the copy: \
             how many cases came to us whole,\nand how many came back. `just test-crossings`, last run \
             on {}.\n\n| peer | versions | it writes, rechunk reads | rechunk writes, it reads |\n\
             |---|---|---|---|\n",
            date.trim()
        );
        std::fs::write(results(), head + &rows.join("\n") + "\n").unwrap();
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
