//! Arrays of others, copied by us, read by others again: the same elements, attributes and names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Folder, fixture, rechunk, root};
use crate::oracle::{World, available, job, make, read};

/// Ways to cut a target, tried in turn.
const CUTS: [&str; 3] = ["keep", "whole", "odd"];
/// Shards of v3 targets, in turn: the source's, none, everything in one, whatever is a good size.
const SHARDS: [Option<&str>; 4] = [None, Some("none"), Some("-1"), Some("auto")];
/// An array to be copied.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub path: String,
    pub version: u8,
    /// Digest by whoever published it; `None` where an oracle has to say it.
    pub sha256: Option<String>,
    /// Where an oracle reads the same array, if it does not read this one.
    pub twin: Option<(String, u8)>,
}

impl Source {
    /// An array that has nothing but what oracles find in it.
    pub(crate) fn new(path: String, version: u8) -> Self {
        Self { path, version, sha256: None, twin: None }
    }
}

/// A copy that was made.
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
    let sources: Vec<Source> =
        made.into_iter().map(|(path, version)| Source::new(path, version)).collect();
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
        let version = version_of(&path);
        Source { sha256: Some(sha256), ..Source::new(path.display().to_string(), version) }
    };
    let sources: Vec<Source> = digests.into_iter().map(source).collect();
    survive("fixtures", &sources, CUTS.len());
}

/// Version of the metadata that is read: v3 where there are both.
pub(crate) fn version_of(path: &Path) -> u8 {
    if path.join("zarr.json").exists() { 3 } else { 2 }
}

/// Copies every source into v2 and v3, `cuts` ways each, and has every reader read every copy.
/// Every copy has to be read by somebody.
pub(crate) fn survive(what: &str, sources: &[Source], cuts: usize) {
    let folder = Folder::new();
    let (made, mut problems) = copy_all(sources, folder.path(), cuts);
    let truth = truth(sources);
    let zarr3 = read_all(World::Z3, "zarr", &made, |_| true);
    let tensorstore = read_all(World::Z3, "tensorstore", &made, |_| true);
    let zarr2 = read_all(World::Z2, "zarr", &made, |copy| copy.version == 2);
    let mut unread: BTreeSet<&str> = made.iter().map(|copy| copy.path.as_str()).collect();
    for (copy, answer) in zarr3.iter().chain(&tensorstore).chain(&zarr2) {
        if answer["error"].is_null() {
            unread.remove(copy.path.as_str());
        }
        problems.extend(difference(&sources[copy.source], &truth[copy.source], copy, answer));
    }
    let unread: Vec<&Made> =
        made.iter().filter(|copy| unread.contains(copy.path.as_str())).collect();
    problems.extend(read_by_us(sources, &truth, &unread));
    let copied: BTreeSet<usize> = made.iter().map(|copy| copy.source).collect();
    let never = (0..sources.len()).filter(|number| !copied.contains(number));
    problems.extend(never.map(|number| format!("{}: never copied", sources[number].path)));
    println!(
        "{what}: {} arrays, {} copies; read by zarr-python 3: {}, tensorstore: {}, zarr-python 2: {}, only by us: {}",
        sources.len(),
        made.len(),
        answered(&zarr3),
        answered(&tensorstore),
        answered(&zarr2),
        unread.len(),
    );
    let few = &problems[..problems.len().min(10)];
    assert!(problems.is_empty(), "{} problems, first:\n{}", problems.len(), few.join("\n\n"));
}

fn answered(answers: &[(&Made, Value)]) -> usize {
    answers.iter().filter(|(_, answer)| answer["error"].is_null()).count()
}

/// Contents of the sources, by oracles.
fn truth(sources: &[Source]) -> Vec<Value> {
    let told = |source: &Source| match &source.twin {
        Some((path, version)) => job(path, *version, "any"),
        None => job(&source.path, source.version, "any"),
    };
    let mut truth = read(World::Z3, &sources.iter().map(told).collect::<Vec<_>>());
    // Objects that zarr-python 3 does not read any more.
    let lost = |number: &usize| sources[*number].version == 2 && !truth[*number]["error"].is_null();
    let lost: Vec<usize> = (0..sources.len()).filter(lost).collect();
    let jobs: Vec<Value> =
        lost.iter().map(|&number| job(&sources[number].path, 2, "zarr")).collect();
    for (number, answer) in lost.into_iter().zip(read(World::Z2, &jobs)) {
        truth[number] = answer;
        truth[number]["reader"] = json!("zarr 2");
    }
    truth
}

/// Problems of copies that no oracle reads: what we decode of them has to be the source's elements.
fn read_by_us(sources: &[Source], truth: &[Value], copies: &[&Made]) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut decoded, mut jobs) = (Vec::new(), Vec::new());
    let is_decoded = |copy: &&&Made| !is_opaque(&sources[copy.source]);
    for copy in copies.iter().filter(is_decoded) {
        let plain = format!("{}-decoded", copy.path);
        let raw = ["--codec", "none", "--shards", "none", "--no-fsync", "-q"];
        let done = rechunk(&[&["copy", copy.path.as_str(), plain.as_str()], &raw[..]].concat());
        if done.code == 0 {
            jobs.push(job(&plain, 3, "any"));
            decoded.push(copy);
        } else {
            problems.push(format!("{} is read by nobody\n{}", copy.path, done.stderr));
        }
    }
    for (copy, answer) in decoded.into_iter().zip(read(World::Z3, &jobs)) {
        let (source, truth) = (&sources[copy.source], &truth[copy.source]);
        let expected = source.sha256.as_deref().or(truth["sha256"].as_str());
        if expected.is_none() || answer["sha256"].as_str() != expected {
            problems.push(format!("{} decoded by us\ntruth: {truth}\n{answer}", source.path));
        }
    }
    problems
}

/// Whether elements differ in length.
pub(crate) fn is_variable(source: &Source) -> bool {
    let document = document(&source.path, source.version);
    document["dtype"] == "|O" || document["data_type"] == "string"
}

/// Its elements are objects that only Python tells apart (`json2`, `pickle`).
fn is_opaque(source: &Source) -> bool {
    let document = document(&source.path, source.version);
    let filters = document["filters"].as_array();
    let is_known = filters.is_some_and(|filters| {
        filters.iter().any(|filter| filter["id"].as_str().is_some_and(|id| id.starts_with("vlen-")))
    });
    document["dtype"] == "|O" && !is_known
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

/// Difference between a reader's view of a copy and the source.
fn difference(source: &Source, truth: &Value, copy: &Made, answer: &Value) -> Option<String> {
    if is_known_refusal(copy, answer) || knows_no_type(truth, answer) {
        return None;
    }
    let mut answer = answer.clone();
    // Of an array whose fill value was null in v2, v3 notes that.
    if truth["fill_hex"].is_null()
        && let Some(attributes) = answer["attributes"].as_object_mut()
    {
        attributes.shift_remove("rechunk_fill_value");
    }
    // To xarray no dimensions are an empty list of names in v2, and none in v3.
    if truth["shape"] == json!([]) && answer["dimension_names"] == json!([]) {
        answer["dimension_names"] = truth["dimension_names"].clone();
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

/// True for a refusal that is known. tensorstore does not take the checksum of Zstandard in v2,
/// which numcodecs has and we keep, nor v2 filters, nor codecs that the v3 specification does not
/// have.
fn is_known_refusal(copy: &Made, answer: &Value) -> bool {
    let document = document(&copy.path, copy.version);
    let Some(error) = answer["error"].as_str() else { return false };
    // No oracle here has Pcodec, and zarr-python 3 has no shards of raw bytes and records.
    let is_void = error.contains("unhashable type: 'writeable void-scalar'");
    if error.contains("pcodec") || is_void && document.to_string().contains("sharding_indexed") {
        return true;
    }
    // Only tensorstore tells no attributes, but an error tells nothing: its words have to do.
    if !error.contains("FAILED_PRECONDITION") && !error.contains("INVALID_ARGUMENT") {
        return false;
    }
    // tensorstore's shards have no codecs around them.
    if error.contains("is not compatible with subsequent bytes -> bytes codecs") {
        return true;
    }
    let is_unknown =
        |codec: &Value| ["lz4", "lzma", "pcodec"].iter().any(|name| codec["id"] == *name);
    document["compressor"]["checksum"] == true
        || document["filters"].is_array()
        || is_unknown(&document["compressor"])
        || document.to_string().contains("\"numcodecs.")
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

/// Makes the copies, on two threads; and what went wrong.
fn copy_all(sources: &[Source], folder: &Path, cuts: usize) -> (Vec<Made>, Vec<String>) {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::new());
    let problems = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = sources.get(number) else { return };
            let ways = [2, 3].into_iter().flat_map(|version| (0..cuts).map(move |c| (version, c)));
            for (version, cut) in ways {
                let cut = CUTS[(number + usize::from(version) + cut) % CUTS.len()];
                match copy(number, source, folder, (version, cut)) {
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
    (made.into_inner().unwrap(), problems.into_inner().unwrap())
}

/// Copies one source in one way: what was made, or `None` where it was rightly refused.
fn copy(
    number: usize,
    source: &Source,
    folder: &Path,
    (version, cut): (u8, &str),
) -> Result<Option<Made>, String> {
    let format = format!("zarr{version}");
    let path = folder.join(format!("{number}-{format}-{cut}")).display().to_string();
    let chunks = chunks(source, cut);
    let mut options = vec!["--format", &format, "--chunks", &chunks, "--no-fsync", "-q"];
    let shards = SHARDS[(number + cut.len()) % SHARDS.len()];
    if let (3, false, Some(shards)) = (version, is_opaque(source), shards) {
        options.extend(["--shards", shards]);
    }
    let done = rechunk(&[&["copy", source.path.as_str(), path.as_str()], &options[..]].concat());
    if done.code == 0 {
        return Ok(Some(Made { source: number, path, version }));
    }
    // Objects are copied, but not cut, and not to the other version.
    let is_asked_too_much = cut != "keep" || version != source.version;
    let is_refused = done.code == 3 && done.stderr.contains("of variable length");
    if is_opaque(source) && is_refused && is_asked_too_much {
        return Ok(None);
    }
    Err(format!("{} to {format}, {cut}: exit {}\n{}", source.path, done.code, done.stderr))
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
    let document = document(&source.path, source.version);
    document["shape"].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect()
}

/// The metadata document of an array.
fn document(path: &str, version: u8) -> Value {
    let key = if version == 2 { ".zarray" } else { "zarr.json" };
    let text = std::fs::read_to_string(Path::new(path).join(key)).unwrap();
    // Python writes NaN as it stands, which is no JSON.
    serde_json::from_str(&text.replace("NaN", "null")).unwrap()
}
