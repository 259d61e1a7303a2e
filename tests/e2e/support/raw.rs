//! The table of raw files: every type in every kind of file, written by us, read again, and read
//! and written by NumPy.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::digest;
use super::types::{SHAPE, Sample, every_type};
use crate::harness::{on_two_threads, rechunk};
use crate::oracle::echo_npy;

/// The kinds: as the table shows them, the ending, and options to write one.
const KINDS: [(&str, &str, &[&str]); 5] = [
    ("`.npy`", "npy", &[]),
    ("`.nii`", "nii", &[]),
    ("`.nii.gz`", "nii.gz", &[]),
    ("elements alone", "bin", &["--format", "raw"]),
    ("block files", "blocks", &["--format", "raw", "--chunks", "4,3"]),
];
const HEAD: &str = "\
## Raw files

`yes`: rechunk writes the type and reads it again; `np`: NumPy reads that too, and rechunk reads what
NumPy writes, in C and in Fortran order. Block files are a directory with `array.json`; a file of
elements alone is read with `--raw-shape` and `--raw-dtype`, which has no word for a type that is only
`written`. Files that nibabel wrote are among the fixtures.

";

/// A type in a kind of file.
#[derive(Debug)]
struct Trial {
    sample: Sample,
    kind: (&'static str, &'static str, &'static [&'static str]),
    base: String,
    path: String,
}

/// The section of the document, or what went wrong.
pub(super) fn section(folder: &Path) -> Result<String, Vec<String>> {
    let trials = trials(folder);
    let mut problems = Vec::new();
    let mut cells: Vec<&'static str> = Vec::new();
    for (trial, cell) in trials.iter().zip(on_two_threads(&trials, written_by_us)) {
        let cell = cell.map_err(|problem| problems.push(trial.said(&problem)));
        cells.push(cell.unwrap_or("—"));
    }
    problems.extend(by_numpy(&trials, &mut cells));
    if problems.is_empty() { Ok(render(&trials, &cells)) } else { Err(problems) }
}

fn trials(folder: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for sample in every_type() {
        let at = |ending: &str| folder.join(format!("raw-{}.{ending}", sample.name));
        let base = at("zarr").display().to_string();
        // Records of Zarr v3 are refused.
        sample.write(&base, if sample.group == "record" { 2 } else { 3 }, false);
        for kind in KINDS {
            let path = at(kind.1).display().to_string();
            trials.push(Trial { sample: sample.clone(), kind, base: base.clone(), path });
        }
    }
    trials
}

impl Trial {
    fn said(&self, problem: &str) -> String {
        format!("{} of {}: {problem}", self.kind.0, self.sample.name)
    }
}

/// Writes the file, and reads it back into Zarr.
fn written_by_us(trial: &Trial) -> Result<&'static str, String> {
    let Trial { sample, kind: (_, ending, options), base, path } = trial;
    let common = ["--no-fsync", "-q", "--threads", "1"];
    let done = rechunk(&[&["copy", base.as_str(), path.as_str()], *options, &common].concat());
    if matches!(done.code, 2 | 3) && done.stderr.contains("is not supported") {
        return Ok("—");
    }
    if done.code != 0 {
        return Err(done.stderr);
    }
    let back = format!("{path}-back.zarr");
    let shape = SHAPE.map(|extent| extent.to_string()).join(",");
    // Types with a parameter by NumPy's names, without the byte order.
    let is_plain = !matches!(sample.group, "date" | "bytes" | "text" | "raw");
    let data_type = if is_plain { sample.name } else { &sample.numpy[1..] };
    let described = ["--raw-shape", &shape, "--raw-dtype", data_type];
    let described: &[&str] = if *ending == "bin" { &described } else { &[] };
    let done = rechunk(&[&["copy", path.as_str(), &back], described, &common].concat());
    let is_nameless = matches!(done.code, 2 | 3) && *ending == "bin";
    if done.code != 0 && !is_nameless {
        return Err(done.stderr);
    }
    if *ending == "bin" && std::fs::read(path).unwrap() != sample.little_endian() {
        return Err("other bytes".to_owned());
    }
    if is_nameless {
        return Ok("written");
    }
    same(base, &back).map(|()| "yes")
}

fn same(base: &str, other: &str) -> Result<(), String> {
    let done = rechunk(&["verify", base, other, "--threads", "1"]);
    if done.code == 0 { Ok(()) } else { Err(done.stderr) }
}

/// Has NumPy read the `.npy` files, and write them again for us to read; what went wrong.
fn by_numpy(trials: &[Trial], cells: &mut [&'static str]) -> Vec<String> {
    let is_job = |at: &usize| trials[*at].kind.1 == "npy" && cells[*at] == "yes";
    let jobs: Vec<usize> = (0..trials.len()).filter(is_job).collect();
    let copy = |at: usize| format!("{}-numpy", trials[at].path);
    let asked = |&at: &usize| json!({"path": trials[at].path, "copy": copy(at)});
    let answers = echo_npy(&jobs.iter().map(asked).collect::<Vec<Value>>());
    let mut problems = Vec::new();
    for (at, answer) in jobs.into_iter().zip(answers) {
        let trial = &trials[at];
        let Some(sha256) = answer["sha256"].as_str() else { continue };
        if sha256 != digest(&trial.sample) {
            problems.push(trial.said("NumPy reads other elements"));
        }
        for theirs in [format!("{}.npy", copy(at)), format!("{}-f.npy", copy(at))] {
            let back = format!("{theirs}-back.zarr");
            let done = rechunk(&["copy", &theirs, &back, "--no-fsync", "-q", "--threads", "1"]);
            if let Err(problem) = same(&trial.base, &back) {
                problems.push(trial.said(&format!("of NumPy: {}{problem}", done.stderr)));
            }
        }
        cells[at] = "np";
    }
    problems
}

fn render(trials: &[Trial], cells: &[&str]) -> String {
    let mut text = HEAD.to_owned();
    let names = KINDS.map(|(name, _, _)| name);
    writeln!(text, "| type | {} |", names.join(" | ")).unwrap();
    writeln!(text, "|---|{}", "---|".repeat(names.len())).unwrap();
    for (trials, cells) in trials.chunks(names.len()).zip(cells.chunks(names.len())) {
        writeln!(text, "| `{}` | {} |", trials[0].sample.name, cells.join(" | ")).unwrap();
    }
    text
}
