//! The table of N5: every type in every compression, written by us, and read and written by others.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::digest;
use super::types::{SHAPE, Sample, every_type};
use crate::harness::{on_two_threads, rechunk};
use crate::n5_interop::new_container;
use crate::oracle::{World, echo_n5};

/// The compressions: as the table shows them, `--codec`, and what the metadata has to say.
const COMPRESSIONS: [(&str, &str, &str); 8] = [
    ("raw", "none", r#""type": "raw""#),
    ("gzip", "gzip:5", r#""useZlib": false"#),
    ("zlib", "zlib:5", r#""useZlib": true"#),
    ("bzip2", "bz2:9", r#""type": "bzip2""#),
    ("xz", "xz:1", r#""type": "xz""#),
    ("lz4", "lz4", r#""type": "lz4""#),
    ("blosc", "blosc:lz4:5:shuffle", r#""type": "blosc""#),
    ("zstd", "zstd:3", r#""type": "zstd""#),
];
/// The others: what n5.py calls them, and the table.
const OTHERS: [(World, &str, &str); 3] =
    [(World::Z3, "tensorstore", "ts"), (World::Z2, "zarr", "z2"), (World::Z2, "z5py", "z5")];
const HEAD: &str = "\
## N5

Names as above; `z5` is z5py, and `z2` the N5Store of zarr-python 2. `ʷ`: rechunk reads what it writes,
but it does not read what rechunk writes. lz4 is written as Java does. zlib is gzip with `useZlib`.

";

/// A type in a compression.
#[derive(Debug)]
struct Trial {
    sample: Sample,
    /// As in [`COMPRESSIONS`].
    codec: (&'static str, &'static str, &'static str),
    base: String,
    path: String,
    /// Path at which others write: this and `-reader`.
    copy: String,
}

/// Other libraries that read or write it: `None` if N5 does not have the type.
type Cell = Option<BTreeSet<String>>;

/// The section of the document, or what went wrong.
pub(super) fn section(folder: &Path) -> Result<String, Vec<String>> {
    let trials = trials(folder);
    let mut problems = Vec::new();
    let mut cells: Vec<Cell> = Vec::new();
    for (trial, cell) in trials.iter().zip(on_two_threads(&trials, written_by_us)) {
        let cell = cell.map_err(|problem| problems.push(trial.said(&problem)));
        cells.push(cell.unwrap_or_default());
    }
    problems.extend(by_others(&trials, &mut cells));
    if problems.is_empty() { Ok(render(&trials, &cells)) } else { Err(problems) }
}

fn trials(folder: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    new_container(&folder.join("ours.n5"));
    for sample in every_type() {
        let base = folder.join(format!("n5-base-{}", sample.name)).display().to_string();
        sample.write(&base, 3, false);
        for codec in COMPRESSIONS {
            let name = format!("{}-{}", sample.name, codec.0);
            let at = |container: &str| folder.join(container).join(&name).display().to_string();
            let (path, copy) = (at("ours.n5"), at("theirs.n5"));
            trials.push(Trial { sample: sample.clone(), codec, base: base.clone(), path, copy });
        }
    }
    trials
}

impl Trial {
    fn said(&self, problem: &str) -> String {
        format!("N5 {} of {}: {problem}", self.codec.0, self.sample.name)
    }
}

/// Writes the dataset and reads it back.
fn written_by_us(trial: &Trial) -> Result<Cell, String> {
    let Trial { codec: (_, option, mark), base, path, .. } = trial;
    let options = ["--format", "n5", "--chunks", "4,3", "--codec", option, "--verify"];
    let common = ["--no-fsync", "-q", "--threads", "1"];
    let done = rechunk(&[&["copy", base.as_str(), path.as_str()], &options[..], &common].concat());
    if matches!(done.code, 2 | 3) && done.stderr.contains("is not supported; N5 has integers") {
        return Ok(None);
    }
    if done.code != 0 {
        return Err(done.stderr);
    }
    let document = std::fs::read_to_string(Path::new(path).join("attributes.json")).unwrap();
    if !document.contains(mark) {
        return Err(format!("written without {mark}: {document}"));
    }
    Ok(Some(BTreeSet::new()))
}

/// Has the other libraries read what we wrote and write the same; what went wrong.
fn by_others(trials: &[Trial], cells: &mut [Cell]) -> Vec<String> {
    let there: Vec<usize> = (0..trials.len()).filter(|&at| cells[at].is_some()).collect();
    let job = |&at: &usize| {
        let Trial { sample, path, copy, .. } = &trials[at];
        let elements = sample.little_endian();
        json!({
            "path": path, "copy": copy, "shape": SHAPE, "dtype": sample.name, "elements": elements,
        })
    };
    let jobs: Vec<Value> = there.iter().map(job).collect();
    let [of_z2, of_z3] = [World::Z2, World::Z3].map(|world| echo_n5(world, &jobs));
    let mut problems = Vec::new();
    for (world, reader, name) in OTHERS {
        let answers = if matches!(world, World::Z2) { &of_z2 } else { &of_z3 };
        let told: Vec<(usize, &Value)> =
            there.iter().copied().zip(answers.iter().map(|answer| &answer[reader])).collect();
        let marks = on_two_threads(&told, |(at, answer)| judged(&trials[*at], reader, answer));
        for ((at, _), mark) in told.iter().zip(marks) {
            match (mark, &mut cells[*at]) {
                (Ok(Some(mark)), Some(cell)) => _ = cell.insert(format!("{name}{mark}")),
                (Err(problem), _) => problems.push(trials[*at].said(&format!("{name} {problem}"))),
                _ => {}
            }
        }
    }
    problems
}

/// The mark behind a library's name; `None` if it neither reads nor writes.
fn judged(trial: &Trial, reader: &str, answer: &Value) -> Result<Option<&'static str>, String> {
    let reads = match answer["sha256"].as_str() {
        Some(sha256) if sha256 != digest(&trial.sample) => {
            return Err("reads other elements".to_owned());
        }
        other => other.is_some(),
    };
    let writes = answer["wrote"] == true;
    if writes {
        let theirs = format!("{}-{reader}", trial.copy);
        let done = rechunk(&["verify", &trial.base, &theirs, "--threads", "1"]);
        if done.code != 0 {
            return Err(format!("writes what we do not read: {}", done.stderr));
        }
    }
    Ok(match (reads, writes) {
        (true, true) => Some(""),
        (true, false) => Some("ʳ"),
        (false, true) => Some("ʷ"),
        (false, false) => None,
    })
}

fn render(trials: &[Trial], cells: &[Cell]) -> String {
    let mut text = HEAD.to_owned();
    let names: Vec<&str> = COMPRESSIONS.iter().map(|(name, _, _)| *name).collect();
    writeln!(text, "| type | {} |", names.join(" | ")).unwrap();
    writeln!(text, "|---|{}", "---|".repeat(names.len())).unwrap();
    let mut lacking: Vec<String> = Vec::new();
    let rows = trials.chunks(names.len()).zip(cells.chunks(names.len()));
    for (trials, cells) in rows {
        let name = trials[0].sample.name;
        if cells.iter().all(Option::is_none) {
            lacking.push(format!("`{name}`"));
            continue;
        }
        let cells: Vec<String> = cells.iter().map(cell).collect();
        writeln!(text, "| `{name}` | {} |", cells.join(" | ")).unwrap();
    }
    writeln!(text, "\nRefused, because N5 has no such types: {}.", lacking.join(", ")).unwrap();
    text
}

fn cell(cell: &Cell) -> String {
    let order = |name: &&String| OTHERS.iter().position(|(_, _, other)| name.starts_with(other));
    let Some(cell) = cell else { return "—".to_owned() };
    let mut names: Vec<&String> = cell.iter().collect();
    names.sort_by_key(order);
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    if names.is_empty() { "own".to_owned() } else { names.join(" ") }
}
