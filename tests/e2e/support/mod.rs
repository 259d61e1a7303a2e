//! Makes the tables of what is read and written, `docs/support.md`. They have every codec of every
//! version with every group of data types, written by us, decoded again by us, and read and written
//! by others; then N5 and raw files.
//!
//! `RECHUNK_BLESS=1` writes the table anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arrays::write_json;
use crate::harness::{Folder, rechunk, root};
use crate::oracle::{World, available, echo};

mod codecs;
mod n5;
mod raw;
mod table;
mod types;

use codecs::{Codec, Kind, codecs};
use table::{Cells, Found, READS};
use types::{Sample, samples};

/// The others: name in the table, environment, library, oldest version of Zarr, newest.
const OTHERS: [(&str, World, &str, [u8; 2]); 3] = [
    ("z3", World::Z3, "zarr", [2, 3]),
    ("z2", World::Z2, "zarr", [2, 2]),
    ("ts", World::Z3, "tensorstore", [2, 3]),
];
/// Strings of the sample whose elements differ in length.
const WORDS: [&str; 5] = ["", "a", "chunk", "of", "strings"];

/// A codec with a sample in a version, and what became of it.
#[derive(Debug)]
struct Trial {
    version: u8,
    codec: Codec,
    sample: Sample,
    /// Path of our array.
    path: String,
    found: Found,
}

#[test]
fn the_table_of_support_is_true() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let mut trials: Vec<Trial> = Vec::new();
    for version in [2, 3] {
        for (codec, sample) in
            codecs(version).iter().flat_map(|codec| samples().into_iter().map(move |s| (codec, s)))
        {
            let path = folder.at(&trials.len().to_string());
            trials.push(Trial {
                version,
                codec: codec.clone(),
                sample,
                path,
                found: Found::Absent,
            });
        }
    }
    let mut problems = in_parallel(&mut trials, |trial| {
        trial.found = written_by_us(trial)?;
        Ok(())
    });
    for (name, answers) in echoes(&trials) {
        problems.extend(echoed(&mut trials, name, &answers));
    }
    let mut text = table::render(&cells(&trials));
    for section in [n5::section(folder.path()), raw::section(folder.path())] {
        match section {
            Ok(section) => text.extend(["\n", &section]),
            Err(found) => problems.extend(found),
        }
    }
    text.extend(["\n", &crate::crossings::section()]);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let path = root().join("docs/support.md");
    if std::env::var("RECHUNK_BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let (old, new): (Vec<_>, Vec<_>) = (stored.lines().collect(), text.lines().collect());
    let other: Vec<_> = new.iter().filter(|line| !old.contains(line)).collect();
    assert!(stored == text, "`just support-table` writes docs/support.md anew; found: {other:#?}");
}

/// Findings, by version, codec and group.
fn cells(trials: &[Trial]) -> Cells {
    let mut cells = BTreeMap::<_, Vec<_>>::new();
    for trial in trials {
        let key = (trial.version, trial.codec.name, trial.sample.group);
        cells.entry(key).or_default().push((trial.sample.name, trial.found.clone()));
    }
    cells
}

/// Does `work` for every trial, on two threads; what went wrong.
fn in_parallel(
    trials: &mut [Trial],
    work: impl Fn(&mut Trial) -> Result<(), String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    let trials: Vec<Mutex<&mut Trial>> = trials.iter_mut().map(Mutex::new).collect();
    let worker = || {
        while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut trial = trial.lock().unwrap();
            if let Err(problem) = work(&mut trial) {
                let (codec, sample) = (trial.codec.name, trial.sample.name);
                let what = format!("v{} {codec} of {sample}", trial.version);
                problems.lock().unwrap().push(format!("{what}: {problem}"));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(worker);
        scope.spawn(worker);
    });
    problems.into_inner().unwrap()
}

/// Writes the array and reads it back.
fn written_by_us(trial: &Trial) -> Result<Found, String> {
    let Trial { version, codec, sample, path, .. } = trial;
    if sample.is_variable() {
        return if codec.kind == Kind::Bytes { passed_through(trial) } else { Ok(Found::Absent) };
    }
    let base = format!("{path}-base");
    sample.write(&base, *version, codec.kind == Kind::Reversed);
    let format = format!("zarr{version}");
    let mut arguments: Vec<String> =
        ["copy", &base, path, "--verify", "--no-fsync", "-q", "--threads", "1"]
            .into_iter()
            .chain(["--format", &format])
            .map(str::to_owned)
            .collect();
    arguments.extend(codec.options(*version, sample));
    let done = rechunk(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    match (done.code, codec.takes(sample)) {
        (2 | 3, true) => return reason(&done.stderr, sample).map(Found::Refused),
        (2 | 3, false) => return Ok(Found::Absent),
        (0, true) => {}
        (0, false) => return Err("written, though the format has no such thing".to_owned()),
        _ => return Err(done.stderr),
    }
    let document: Value = serde_json::from_str(&document(path, *version)).unwrap();
    if !document.to_string().contains(&codec.mark(*version)) {
        return Err(format!("written without it: {document}"));
    }
    renamed(trial, &base, &document)?;
    Ok(Found::Works(BTreeSet::new()))
}

/// Gives a codec that is written by another name its own, by which it has to be read as well.
fn renamed(trial: &Trial, base: &str, document: &Value) -> Result<(), String> {
    let Trial { version, codec, path, .. } = trial;
    let written_as = codec.written_as(*version);
    if written_as == codec.name {
        return Ok(());
    }
    let text = document.to_string().replace(written_as, codec.name);
    let name = if *version == 2 { ".zarray" } else { "zarr.json" };
    std::fs::write(Path::new(path).join(name), text).unwrap();
    let done = rechunk(&["verify", base, path]);
    if done.code == 0 { Ok(()) } else { Err(done.stderr) }
}

/// Strings in one chunk, copied as they are. What their bytes go through is made by our encoder.
fn passed_through(trial: &Trial) -> Result<Found, String> {
    let Trial { version, codec, path, sample, .. } = trial;
    let (bytes, base) = (format!("{path}-bytes"), format!("{path}-base"));
    let chunk = words_as_chunk();
    let (name, key) = if *version == 2 { (".zarray", "0") } else { ("zarr.json", "c/0") };
    let plain = |length: usize| match version {
        2 => json!({
            "zarr_format": 2, "shape": [length], "chunks": [length], "dtype": "|u1", "order": "C",
            "compressor": null, "filters": null, "fill_value": 255,
        }),
        _ => json!({
            "zarr_format": 3, "node_type": "array", "shape": [length], "data_type": "uint8",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [length]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 255, "attributes": {},
            "codecs": [{"name": "bytes"}],
        }),
    };
    write_json(&Path::new(&bytes).join(name), &plain(chunk.len()));
    let file = Path::new(&bytes).join(key);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, &chunk).unwrap();
    let mut options = codec.options(*version, sample);
    options[1] = "keep".to_owned();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let format = format!("zarr{version}");
    let common = ["--format", &format, "--no-fsync", "-q"];
    let done = rechunk(&[&["copy", &bytes, &base], &common[..], &options].concat());
    if done.code != 0 {
        return reason(&done.stderr, sample).map(Found::Refused);
    }
    let encoded: Value = serde_json::from_str(&document(&base, *version)).unwrap();
    let mut strings = plain(WORDS.len());
    strings["fill_value"] = json!("");
    if *version == 2 {
        let filters = encoded["filters"].as_array().cloned().unwrap_or_default();
        strings["dtype"] = json!("|O");
        strings["compressor"] = encoded["compressor"].clone();
        strings["filters"] = [json!({"id": "vlen-utf8"})].into_iter().chain(filters).collect();
    } else {
        let codecs = encoded["codecs"].as_array().unwrap()[1..].iter().cloned();
        strings["data_type"] = json!("string");
        strings["codecs"] = [json!({"name": "vlen-utf8"})].into_iter().chain(codecs).collect();
    }
    write_json(&Path::new(&base).join(name), &strings);
    let done = rechunk(&[&["copy", &base, path], &common[..]].concat());
    let chunk = |path: &str| std::fs::read(Path::new(path).join(key)).unwrap_or_default();
    if done.code != 0 || chunk(&base) != chunk(path) {
        return Err(format!("not passed through: {}", done.stderr));
    }
    Ok(Found::Works(BTreeSet::new()))
}

/// As `vlen-utf8` stores them: their number, then each behind its length.
fn words_as_chunk() -> Vec<u8> {
    let number = |length: usize| u32::try_from(length).unwrap().to_le_bytes();
    let word = |word: &&str| [&number(word.len())[..], word.as_bytes()].concat();
    [number(WORDS.len()).to_vec()].into_iter().chain(WORDS.iter().map(word)).flatten().collect()
}

fn document(path: &str, version: u8) -> String {
    let name = if version == 2 { ".zarray" } else { "zarr.json" };
    std::fs::read_to_string(Path::new(path).join(name)).unwrap()
}

/// Reason why it is not supported, without the place that says so and without the type of the
/// sample.
fn reason(stderr: &str, sample: &Sample) -> Result<String, String> {
    let line = stderr.lines().rfind(|line| line.contains("is not supported"));
    let line = line.ok_or_else(|| format!("refused, but not by name: {stderr}"))?;
    let mut reason = line.rsplit("\": ").next().unwrap_or(line).trim().to_owned();
    for name in [sample.name, sample.numpy] {
        reason = reason.replace(&format!(" on {name} "), " on such elements ");
        reason = reason.replace(&format!("data type \"{name}\""), "a codec of this data type");
    }
    Ok(reason)
}

/// Path at which another library writes what it has read.
fn copy_by(name: &str, trial: &Trial) -> String {
    format!("{}-{name}", trial.path)
}

/// Has the other libraries read what we wrote, and write it again; what they say, by path.
fn echoes(trials: &[Trial]) -> Vec<(&'static str, BTreeMap<String, Value>)> {
    let ask = |(name, world, library, versions): (&'static str, World, &str, [u8; 2])| {
        let is_job = |trial: &&Trial| {
            matches!(trial.found, Found::Works(_))
                && (versions[0]..=versions[1]).contains(&trial.version)
        };
        let job = |trial: &Trial| {
            let copy = copy_by(name, trial);
            json!({"path": trial.path, "format": trial.version, "copy": copy})
        };
        let jobs: Vec<Value> = trials.iter().filter(is_job).map(job).collect();
        let paths = trials.iter().filter(is_job).map(|trial| trial.path.clone());
        (name, paths.zip(echo(world, library, &jobs)).collect())
    };
    std::thread::scope(|scope| {
        let asked = OTHERS.map(|other| scope.spawn(move || ask(other)));
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Looks at what another library has read and written.
fn echoed(
    trials: &mut [Trial],
    name: &'static str,
    answers: &BTreeMap<String, Value>,
) -> Vec<String> {
    in_parallel(trials, |trial| {
        let theirs = copy_by(name, trial);
        let Some(answer) = answers.get(&trial.path) else { return Ok(()) };
        let Found::Works(others) = &mut trial.found else { return Ok(()) };
        let Some(sha256) = answer["sha256"].as_str() else { return Ok(()) };
        if sha256 != digest(&trial.sample) {
            return Err(format!("{name} reads other elements"));
        }
        let base = format!("{}-base", trial.path);
        if answer["wrote"] == true && !trial.sample.is_variable() {
            let done = rechunk(&["verify", &base, &theirs, "--threads", "1"]);
            if done.code != 0 {
                return Err(format!("written by {name}, not read by us: {}", done.stderr));
            }
            others.insert(name.to_owned());
        } else {
            others.insert(format!("{name}{READS}"));
        }
        Ok(())
    })
}

/// As tests/oracle/read.py has it.
fn digest(sample: &Sample) -> String {
    let bytes = if sample.is_variable() {
        serde_json::to_string(&WORDS).unwrap().replace("\",", "\", ").into_bytes()
    } else {
        sample.little_endian().to_vec()
    };
    format!("{:x}", Sha256::digest(bytes))
}
