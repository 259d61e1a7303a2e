//! What others wrote, copied by us, read by others again: the same elements, attributes and names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Folder, fixture, rechunk, root};
use crate::oracle::{World, available, job, make, read};

/// Ways to cut a target, tried in turn.
const CUTS: [&str; 3] = ["keep", "whole", "odd"];
/// Shards of v3 targets, in turn: the source's, none, everything in one, whatever is a good size.
const SHARDS: [Option<&str>; 4] = [None, Some("none"), Some("-1"), Some("auto")];
const CODECS: [&str; 21] = [
    "bytes",
    "blosc",
    "zstd",
    "gzip",
    "zlib",
    "crc32c",
    "transpose",
    "sharding_indexed",
    "",
    "vlen-utf8",
    "json2",
    "lz4",
    "bz2",
    "lzma",
    "pcodec",
    "delta",
    "shuffle",
    "fixedscaleoffset",
    "bitround",
    "quantize",
    "astype",
];

/// An array to be copied.
#[derive(Debug, Clone)]
struct Source {
    path: String,
    version: u8,
    /// Digest by whoever published it; `None` where an oracle has to say it.
    sha256: Option<String>,
    /// Words of which a refusal has to name one; empty where it has to be copied.
    refused_for: Vec<String>,
}

/// A copy that was made, and what its readers have to find.
#[derive(Debug)]
struct Made {
    source: usize,
    path: String,
    version: u8,
}

#[test]
fn arrays_of_zarr_python_3_survive_a_copy() {
    written_by(World::Z3, 1);
}

#[test]
fn arrays_of_zarr_python_2_survive_a_copy() {
    written_by(World::Z2, 1);
}

fn written_by(world: World, cuts: usize) {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let made = make(world, &folder.at("made"));
    let source = |(path, version)| Source { path, version, sha256: None, refused_for: Vec::new() };
    let sources: Vec<Source> = made.into_iter().map(source).collect();
    survive(&format!("written by {world:?}"), &sources, cuts);
}

#[test]
fn fixtures_of_other_implementations_survive_a_copy() {
    if !available() {
        return;
    }
    let digests = std::fs::read_to_string(fixture("SHA256.json")).unwrap();
    let digests: BTreeMap<String, String> = serde_json::from_str(&digests).unwrap();
    let source = |(name, sha256): (String, String)| {
        let path = root().join("fixtures").join(&name);
        let refused_for = Vec::new();
        Source {
            version: version_of(&path),
            path: path.display().to_string(),
            sha256: Some(sha256),
            refused_for,
        }
    };
    let sources: Vec<Source> = digests.into_iter().map(source).collect();
    survive("fixtures", &sources, CUTS.len());
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
    let sources: Vec<Source> = arrays.iter().filter_map(|array| public(&data, array)).collect();
    survive("public arrays", &sources, CUTS.len());
}

/// An array of INDEX.json, if it is Zarr and its metadata is what we read in its directory.
fn public(data: &Path, array: &Value) -> Option<Source> {
    let version = match array["kind"].as_str()? {
        "zarr v2" => 2,
        "zarr v3" => 3,
        _ => return None,
    };
    let path = data.join(array["path"].as_str()?);
    (version_of(&path) == version).then(|| Source {
        path: path.display().to_string(),
        version,
        sha256: array["sha256"].as_str().map(str::to_owned),
        refused_for: unsupported(array),
    })
}

/// Version of the metadata that is read: v3 where there are both.
fn version_of(path: &Path) -> u8 {
    if path.join("zarr.json").exists() { 3 } else { 2 }
}

/// What of an array this version does not do: codecs, filters, data type.
fn unsupported(array: &Value) -> Vec<String> {
    let name = |codec: &Value| {
        let name = codec["id"].as_str().or(codec.as_str()).unwrap_or_default();
        name.trim_start_matches("numcodecs.").to_owned()
    };
    let mut codecs: Vec<String> = match &array["codec"] {
        Value::Array(codecs) => codecs.iter().map(name).collect(),
        codec => vec![name(codec)],
    };
    codecs.extend(array["filters"].as_array().into_iter().flatten().map(name));
    let mut words: Vec<String> =
        codecs.into_iter().filter(|codec| !CODECS.contains(&codec.as_str())).collect();
    let stored = array["stored_dtype"].as_str().unwrap_or_default();
    let bare = stored.trim_start_matches(['<', '>', '|']);
    // A fill value that its type cannot hold.
    if array["fill"] == "NaN" && bare.starts_with(['i', 'u']) {
        words.push("fill_value".to_owned());
    }
    words
}

/// Copies every source into v2 and v3, `cuts` ways each, and has every reader read every copy.
fn survive(what: &str, sources: &[Source], cuts: usize) {
    let folder = Folder::new();
    let (made, refused, mut problems) = copy_all(sources, folder.path(), cuts);
    let mut truth = read(
        World::Z3,
        &sources.iter().map(|s| job(&s.path, s.version, "any")).collect::<Vec<_>>(),
    );
    // Objects that zarr-python 3 does not read any more.
    let lost = |number: &usize| sources[*number].version == 2 && !truth[*number]["error"].is_null();
    let lost: Vec<usize> = (0..sources.len()).filter(lost).collect();
    let jobs: Vec<Value> =
        lost.iter().map(|&number| job(&sources[number].path, 2, "zarr")).collect();
    for (number, answer) in lost.into_iter().zip(read(World::Z2, &jobs)) {
        truth[number] = answer;
        truth[number]["reader"] = json!("zarr 2");
    }
    let zarr3 = read_all(World::Z3, "zarr", &made, |_| true);
    let tensorstore = read_all(World::Z3, "tensorstore", &made, |_| true);
    let zarr2 = read_all(World::Z2, "zarr", &made, |copy| copy.version == 2);
    for (copy, answer) in zarr3.iter().chain(&tensorstore).chain(&zarr2) {
        problems.extend(difference(&sources[copy.source], &truth[copy.source], copy, answer));
    }
    println!(
        "{what}: {} arrays, {refused} refused by name; {} copies; read by zarr-python 3: {}, tensorstore: {}, zarr-python 2: {}",
        sources.len(),
        made.len(),
        zarr3.len(),
        tensorstore.len(),
        zarr2.len()
    );
    assert!(!made.is_empty());
    let few = &problems[..problems.len().min(10)];
    assert!(problems.is_empty(), "{} problems, first:\n{}", problems.len(), few.join("\n\n"));
}

fn read_all<'a>(
    world: World,
    reader: &str,
    made: &'a [Made],
    readable: impl Fn(&Made) -> bool,
) -> Vec<(&'a Made, Value)> {
    let copies: Vec<&Made> = made.iter().filter(|copy| readable(copy)).collect();
    let jobs: Vec<Value> =
        copies.iter().map(|copy| job(&copy.path, copy.version, reader)).collect();
    copies.into_iter().zip(read(world, &jobs)).collect()
}

/// What a reader found in a copy that is not what the source holds.
fn difference(source: &Source, truth: &Value, copy: &Made, answer: &Value) -> Option<String> {
    if is_known_refusal(copy, answer) || knows_no_type(truth, answer) {
        return None;
    }
    let problem = |what: &str| {
        Some(format!(
            "{what}: {} copied to v{}\ntruth: {truth}\ncopy:  {answer}",
            source.path, copy.version
        ))
    };
    if answer["sha256"].as_str() != source.sha256.as_deref().or(truth["sha256"].as_str()) {
        return problem("elements");
    }
    // tensorstore tells no attributes and no names.
    let told: &[&str] = if answer["attributes"].is_null() {
        &["shape", "dtype"]
    } else {
        &["shape", "dtype", "attributes"]
    };
    if let Some(name) = told.iter().find(|&&name| answer[name] != truth[name]) {
        return problem(name);
    }
    // v2 has no place for names of only some dimensions.
    let names = truth["dimension_names"].as_array();
    let nameable = copy.version == 3 || names.is_none_or(|names| !names.contains(&Value::Null));
    if !answer["attributes"].is_null()
        && nameable
        && answer["dimension_names"] != truth["dimension_names"]
    {
        return problem("dimension names");
    }
    let (fill, expected) = (&answer["fill_hex"], &truth["fill_hex"]);
    if !fill.is_null() && !expected.is_null() && fill != expected {
        problem("fill value")
    } else {
        None
    }
}

/// tensorstore does not take the checksum of Zstandard in v2, which numcodecs has and we keep, nor
/// v2 filters, nor codecs that the v3 specification does not have.
fn is_known_refusal(copy: &Made, answer: &Value) -> bool {
    let key = if copy.version == 2 { ".zarray" } else { "zarr.json" };
    let Ok(text) = std::fs::read_to_string(Path::new(&copy.path).join(key)) else { return false };
    let Some(error) = answer["error"].as_str() else { return false };
    // Only tensorstore tells no attributes, but an error tells nothing: its words have to do.
    if !error.contains("FAILED_PRECONDITION") && !error.contains("INVALID_ARGUMENT") {
        return false;
    }
    let document: Value = serde_json::from_str(&text.replace("NaN", "null")).unwrap();
    let is_unknown =
        |codec: &Value| ["lz4", "lzma", "pcodec"].iter().any(|name| codec["id"] == *name);
    document["compressor"]["checksum"] == true
        || document["filters"].is_array()
        || is_unknown(&document["compressor"])
        || text.contains("\"numcodecs.")
}

/// A reader that does not have the data type: zarr-python those of `ml_dtypes`, tensorstore all but
/// numbers.
fn knows_no_type(truth: &Value, answer: &Value) -> bool {
    let (Some(error), Some(data_type)) = (answer["error"].as_str(), truth["dtype"].as_str()) else {
        return false;
    };
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if truth["reader"] == "tensorstore" || truth["reader"] == "zarr 2" {
        return says(&[
            "No Zarr data type found",
            "error decoding metadata",
            "Error parsing object member \"dtype\"",
        ]);
    }
    let kinds = ["datetime64", "timedelta64", "bytes", "str", "void", "string"];
    kinds.iter().any(|kind| data_type.starts_with(kind))
        && says(&[
            "Error parsing object member \"data_type\"",
            "Error parsing object member \"dtype\"",
            "Must specify a \"field\"",
            "Cannot transform constraints",
            "not compared",
        ])
}

/// Makes the copies, on two threads; how many sources were refused for a reason that is named; and
/// what went wrong.
fn copy_all(sources: &[Source], folder: &Path, cuts: usize) -> (Vec<Made>, usize, Vec<String>) {
    let (next, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let made = Mutex::new(Vec::new());
    let problems = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = sources.get(number) else { return };
            if !source.refused_for.is_empty() {
                refused.fetch_add(1, Ordering::Relaxed);
            }
            for attempt in attempts(number, source, folder, cuts) {
                match attempt {
                    Ok(copy) => made.lock().unwrap().extend(copy),
                    Err(problem) => problems.lock().unwrap().push(problem),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    (made.into_inner().unwrap(), refused.into_inner(), problems.into_inner().unwrap())
}

/// Copies one source in every way: what was made, or `None` where it was rightly refused.
fn attempts(
    number: usize,
    source: &Source,
    folder: &Path,
    cuts: usize,
) -> Vec<Result<Option<Made>, String>> {
    let ways = [2, 3].into_iter().flat_map(|version| (0..cuts).map(move |cut| (version, cut)));
    ways.map(|(version, cut)| {
        let cut = CUTS[(number + usize::from(version) + cut) % CUTS.len()];
        let format = format!("zarr{version}");
        let path = folder.join(format!("{number}-{format}-{cut}")).display().to_string();
        let chunks = chunks(source, cut);
        let mut options = vec!["--format", &format, "--chunks", &chunks, "--no-fsync", "-q"];
        if let (3, Some(shards)) = (version, SHARDS[(number + cut.len()) % SHARDS.len()]) {
            options.extend(["--shards", shards]);
        }
        let done =
            rechunk(&[&["copy", source.path.as_str(), path.as_str()], &options[..]].concat());
        let named = || source.refused_for.iter().any(|word| done.stderr.contains(word));
        if source.refused_for.is_empty() && done.code == 0 {
            return Ok(Some(Made { source: number, path, version }));
        }
        // Elements of variable length are copied, but not cut, and not always to the other version.
        let is_asked_too_much = cut != "keep" || version != source.version;
        let is_variable = done.code == 3 && done.stderr.contains("of variable length");
        if source.refused_for.is_empty() && is_variable && is_asked_too_much {
            return Ok(None);
        }
        if !source.refused_for.is_empty() && done.code == 3 && named() && !Path::new(&path).exists()
        {
            return Ok(None);
        }
        let code = done.code;
        let expected = &source.refused_for;
        Err(format!(
            "{} to {format}, {cut}: exit {code}, to be refused for {expected:?}\n{}",
            source.path, done.stderr
        ))
    })
    .collect()
}

/// The chunk shape of a cut, as `--chunks`.
fn chunks(source: &Source, cut: &str) -> String {
    let shape = shape(source);
    if cut == "keep" || shape.is_empty() || shape.contains(&0) {
        return "keep".to_owned();
    }
    let one = |(axis, &extent): (usize, &u64)| match cut {
        "whole" => "-1".to_owned(),
        // Divides nothing: 3, 5, 3, … but not so small that large arrays become many files.
        _ => (extent / 5 + 3 - u64::from(axis % 2 == 0)).to_string(),
    };
    shape.iter().enumerate().map(one).collect::<Vec<_>>().join(",")
}

fn shape(source: &Source) -> Vec<u64> {
    let key = if source.version == 2 { ".zarray" } else { "zarr.json" };
    let text = std::fs::read_to_string(Path::new(&source.path).join(key)).unwrap();
    // Python writes NaN as it stands, which is no JSON.
    let document: Value = serde_json::from_str(&text.replace("NaN", "null")).unwrap();
    document["shape"].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect()
}
