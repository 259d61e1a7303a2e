//! The table of what is read and written, `docs/support.md`: every codec of every version with every
//! group of data types, written by us, decoded again by us, and read and written by others.
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
mod table;
mod types;

use codecs::{Codec, Kind, codecs};
use table::{Cells, Found};
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
    /// Where ours is.
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
    in_parallel(&mut trials, |trial| trial.found = written_by_us(trial));
    for (name, world, library, versions) in OTHERS {
        echoed(&mut trials, name, (world, library, versions));
    }
    let text = table::render(&cells(&trials));
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

/// What was found, by version, codec and group.
fn cells(trials: &[Trial]) -> Cells {
    let mut cells = BTreeMap::<_, Vec<_>>::new();
    for trial in trials {
        let key = (trial.version, trial.codec.name, trial.sample.group);
        cells.entry(key).or_default().push((trial.sample.name, trial.found.clone()));
    }
    cells
}

fn in_parallel(trials: &mut [Trial], work: impl Fn(&mut Trial) + Sync) {
    let next = AtomicUsize::new(0);
    let trials: Vec<Mutex<&mut Trial>> = trials.iter_mut().map(Mutex::new).collect();
    let worker = || {
        while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(&mut trial.lock().unwrap());
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(worker);
        scope.spawn(worker);
    });
}

/// Writes the array and reads it back.
fn written_by_us(trial: &Trial) -> Found {
    let Trial { version, codec, sample, path, .. } = trial;
    if sample.is_variable() {
        return if codec.kind == Kind::Bytes { passed_through(trial) } else { Found::Absent };
    }
    let base = format!("{path}-base");
    sample.write(&base, *version, codec.kind == Kind::Reversed);
    let format = format!("zarr{version}");
    let mut arguments: Vec<String> = ["copy", &base, path, "--verify", "--no-fsync", "-q"]
        .into_iter()
        .chain(["--format", &format])
        .map(str::to_owned)
        .collect();
    arguments.extend(codec.options(*version, sample));
    let done = rechunk(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let what = || format!("v{version} {} {}: {}", codec.name, sample.name, done.stderr);
    match (done.code, codec.takes(sample)) {
        (2 | 3, true) => return Found::Refused(reason(&done.stderr)),
        (2 | 3, false) => return Found::Absent,
        (0, takes) => assert!(takes, "written, though the format has no such thing: {}", what()),
        _ => panic!("{}", what()),
    }
    let document: Value = serde_json::from_str(&document(path, *version)).unwrap();
    assert!(document.to_string().contains(&codec.mark(*version)), "{document} {}", what());
    Found::Works(BTreeSet::new())
}

/// Strings in one chunk, copied as they are. What their bytes go through is made by our encoder.
fn passed_through(trial: &Trial) -> Found {
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
        return Found::Refused(reason(&done.stderr));
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
    rechunk(&[&["copy", &base, path], &common[..]].concat()).ok();
    let chunk = |path: &str| std::fs::read(Path::new(path).join(key)).unwrap();
    assert!(chunk(&base) == chunk(path), "{}: other bytes", codec.name);
    Found::Works(BTreeSet::new())
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

/// What is not supported, without the place that says so.
fn reason(stderr: &str) -> String {
    let line = stderr.lines().rfind(|line| line.contains("is not supported"));
    let line = line.unwrap_or_else(|| panic!("refused, but not by name: {stderr}"));
    line.rsplit("\": ").next().unwrap().trim().to_owned()
}

/// Has another library read what we wrote, and write it again for us to read.
fn echoed(
    trials: &mut [Trial],
    name: &'static str,
    (world, library, versions): (World, &str, [u8; 2]),
) {
    let copy = |trial: &Trial| format!("{}-{name}", trial.path);
    let is_job = |trial: &Trial| {
        matches!(trial.found, Found::Works(_))
            && (versions[0]..=versions[1]).contains(&trial.version)
    };
    let jobs: Vec<Value> = trials
        .iter()
        .filter(|trial| is_job(trial))
        .map(|trial| json!({"path": trial.path, "format": trial.version, "copy": copy(trial)}))
        .collect();
    let answers = Mutex::new(BTreeMap::new());
    let paths = jobs.iter().map(|job| job["path"].as_str().unwrap().to_owned());
    answers.lock().unwrap().extend(paths.zip(echo(world, library, &jobs)));
    in_parallel(trials, |trial| {
        let answer = answers.lock().unwrap().remove(&trial.path);
        let (Some(answer), Found::Works(others)) = (answer, &mut trial.found) else { return };
        let Some(sha256) = answer["sha256"].as_str() else { return };
        let what = format!("v{} {} {}", trial.version, trial.codec.name, trial.sample.name);
        assert_eq!(sha256, digest(&trial.sample), "{name} reads other elements: {what}");
        let theirs = format!("{}-{name}", trial.path);
        let base = format!("{}-base", trial.path);
        if answer["wrote"] == true && !trial.sample.is_variable() {
            let done = rechunk(&["verify", &base, &theirs]);
            assert_eq!(done.code, 0, "written by {name}: {what}\n{}", done.stderr);
            others.insert(name.to_owned());
        } else {
            others.insert(format!("{name}ʳ"));
        }
    });
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
