//! Arrays that others wrote, as N5 or as Zarr, are copied by us and read by others again. They have
//! the same elements, shape and attributes.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{Folder, on_two_threads, rechunk};
use crate::oracle::{World, available, job, make_n5, read, read_n5};

/// Ways to cut a target, in turn.
const CUTS: [&str; 3] = ["odd", "keep", "whole"];
/// Codecs of targets, in turn; `None` keeps the source's.
const ZARR_CODECS: [Option<&str>; 5] =
    [Some("zstd:3"), None, Some("blosc:lz4:5:shuffle"), Some("none"), Some("gzip:1")];
const N5_CODECS: [Option<&str>; 9] = [
    Some("gzip:5"),
    Some("zlib:1"),
    Some("zstd:3"),
    None,
    Some("bz2:9"),
    Some("xz:1"),
    Some("lz4"),
    Some("blosc:zstd:3:bitshuffle"),
    Some("none"),
];
/// A copy to make.
#[derive(Debug, Clone, Copy)]
struct Way<'a> {
    /// Description of the source by its writer: path, digest, shape, type, attributes.
    source: &'a Value,
    format: &'static str,
    number: usize,
}

/// Copy that was made.
#[derive(Debug)]
struct Copy<'a> {
    source: &'a Value,
    format: &'static str,
    path: String,
}

#[test]
fn n5_of_tensorstore_survives_a_copy() {
    survives(World::Z3, "make", &["zarr3", "zarr2", "n5"]);
}

#[test]
fn n5_of_zarr_python_2_and_z5py_survives_a_copy() {
    survives(World::Z2, "make", &["zarr3", "zarr2", "n5"]);
}

#[test]
fn zarr_of_zarr_python_3_survives_a_copy_to_n5() {
    survives(World::Z3, "sources", &["n5"]);
}

/// Copies every array to every format and has everybody read the copies.
fn survives(writers: World, what: &str, formats: &[&'static str]) {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let sources = make_n5(writers, what, &folder.at("made"));
    assert!(sources.len() >= 80, "{} arrays", sources.len());
    new_container(&folder.path().join("ours.n5"));
    let ways: Vec<Way> = sources
        .iter()
        .enumerate()
        .flat_map(|(number, source)| {
            formats.iter().map(move |format| Way { source, format, number })
        })
        .collect();
    let made = on_two_threads(&ways, |way| copy(*way, folder.path()));
    let (copies, failed): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
    let copies: Vec<Copy> = copies.into_iter().map(Result::unwrap).collect();
    let mut problems: Vec<String> = failed.into_iter().map(Result::unwrap_err).collect();
    problems.extend(read_as_zarr(&copies));
    problems.extend(read_as_n5(&copies));
    println!("{what} by {writers:?}: {} arrays, {} copies", sources.len(), copies.len());
    let few = &problems[..problems.len().min(10)];
    assert!(problems.is_empty(), "{} problems, first:\n{}", problems.len(), few.join("\n\n"));
}

/// A container that is there before two processes at once write into it.
pub(crate) fn new_container(path: &Path) {
    write_json(&path.join("attributes.json"), &json!({"n5": "2.5.1"}));
}

/// Makes one copy, whose path tells what was asked for.
fn copy<'a>(way: Way<'a>, folder: &Path) -> Result<Copy<'a>, String> {
    let Way { source, format, number } = way;
    let from = source["path"].as_str().unwrap();
    let codecs: &[Option<&str>] = if format == "n5" { &N5_CODECS } else { &ZARR_CODECS };
    let codec = codecs[number % codecs.len()];
    let cut = CUTS[number % CUTS.len()];
    let name = format!("{number}-{cut}");
    let path = if format == "n5" {
        folder.join("ours.n5").join(name)
    } else {
        folder.join(format!("ours.{format}")).join(name)
    };
    let path = path.display().to_string();
    let chunks = chunks(source, cut);
    let mut options = vec!["--format", format, "--chunks", &chunks, "--no-fsync", "-q"];
    options.extend(codec.iter().flat_map(|codec| ["--codec", codec]));
    if format == "zarr3" && number % 2 == 0 {
        options.extend(["--shards", "-1"]);
    }
    let done = rechunk(&[&["copy", from, path.as_str()], &options[..]].concat());
    if done.code == 0 {
        return Ok(Copy { source, format, path });
    }
    Err(format!("{from} to {format}, {cut}, {codec:?}: exit {}\n{}", done.code, done.stderr))
}

/// The chunk shape of a cut, as `--chunks`; the odd one divides next to nothing.
fn chunks(source: &Value, cut: &str) -> String {
    let shape = source["shape"].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap());
    let sizes: Vec<String> = match cut {
        "keep" => return cut.to_owned(),
        "whole" => shape.map(|_| "-1".to_owned()).collect(),
        _ => shape.map(|extent| (extent / 3 + 1).to_string()).collect(),
    };
    sizes.join(",")
}

/// Has all readers of Zarr read the copies that are Zarr.
fn read_as_zarr(copies: &[Copy]) -> Vec<String> {
    let mut problems = Vec::new();
    for (world, reader, formats) in [
        (World::Z3, "zarr", &["zarr2", "zarr3"][..]),
        (World::Z3, "tensorstore", &["zarr2", "zarr3"]),
        (World::Z2, "zarr", &["zarr2"]),
    ] {
        let copies: Vec<&Copy> =
            copies.iter().filter(|copy| formats.contains(&copy.format)).collect();
        let version = |copy: &Copy| if copy.format == "zarr2" { 2 } else { 3 };
        let jobs: Vec<Value> =
            copies.iter().map(|copy| job(&copy.path, version(copy), reader)).collect();
        // Who keeps the codecs of N5 has some that tensorstore does not have in Zarr v2.
        let lacks = |answer: &Value| {
            let words = ["\"lzma\"", "\"lz4\""];
            let error = answer["error"].as_str().unwrap_or_default();
            reader == "tensorstore" && words.iter().any(|word| error.contains(word))
        };
        let answers = read(world, &jobs);
        let told = copies.into_iter().zip(&answers).filter(|(_, answer)| !lacks(answer));
        problems.extend(told.filter_map(|(copy, answer)| difference(copy, reader, answer)));
    }
    problems
}

/// Has all readers of N5 read the copies that are N5.
fn read_as_n5(copies: &[Copy]) -> Vec<String> {
    let copies: Vec<&Copy> = copies.iter().filter(|copy| copy.format == "n5").collect();
    let paths: Vec<&str> = copies.iter().map(|copy| copy.path.as_str()).collect();
    let mut problems = Vec::new();
    for world in [World::Z3, World::Z2] {
        for (copy, answers) in copies.iter().zip(read_n5(world, &paths)) {
            let codec = compression(copy);
            for (reader, answer) in answers.as_object().unwrap() {
                // By lz4 none of them means what Java does.
                if answer["error"].is_null() || codec != "lz4" {
                    problems.extend(difference(copy, reader, answer));
                }
            }
        }
    }
    // Nobody here reads Java's lz4.
    let lz4: Vec<&&Copy> = copies.iter().filter(|copy| compression(copy) == "lz4").collect();
    let verified = on_two_threads(&lz4, |copy| {
        let source = copy.source["path"].as_str().unwrap();
        let done = rechunk(&["verify", source, &copy.path]);
        (done.code != 0).then(|| format!("{source}: {}", done.stderr))
    });
    problems.extend(verified.into_iter().flatten());
    problems
}

/// The compression of an N5 dataset.
fn compression(copy: &Copy) -> String {
    let document = std::fs::read(Path::new(&copy.path).join("attributes.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    document["compression"]["type"].as_str().unwrap().to_owned()
}

/// Difference between a reader's view and the description by the source's writer.
fn difference(copy: &Copy, reader: &str, answer: &Value) -> Option<String> {
    let source = copy.source;
    let mut attributes = source["attributes"].clone();
    let was_n5 = source["format"].is_null();
    if was_n5 != (copy.format == "n5") {
        attributes["rechunk_axes"] = json!("reverse");
        between_formats(&mut attributes, source["shape"].as_array().unwrap().len(), was_n5);
    }
    let is_same = ["sha256", "shape", "dtype"].iter().all(|&name| answer[name] == source[name])
        && (answer["attributes"].is_null() || answer["attributes"] == attributes);
    (!is_same).then(|| format!("{reader} reads {}\nmade: {source}\nread: {answer}", copy.path))
}

/// Carries the attribute `offset` between formats; N5 has in it a number for each axis. Of two axes
/// it follows them, of others it is none, and N5 keeps it elsewhere.
fn between_formats(attributes: &mut Value, rank: usize, was_n5: bool) {
    let attributes = attributes.as_object_mut().unwrap();
    let Some(offset) = attributes.get_mut("offset") else { return };
    if rank == 2 {
        offset.as_array_mut().unwrap().reverse();
    } else if !was_n5 {
        let offset = attributes.remove("offset");
        attributes.insert("rechunk_attributes".to_owned(), json!({"offset": offset}));
    }
}
