//! A server that is killed at any of its calls which change a file of the data sets. All that it
//! has said to be done is done, and nothing is there by halves.
//!
//! `tests/tools/killpoint.c` does the killing. SQLite lies among the data sets, so that its calls
//! are counted too; with PostgreSQL the points are those between the folders and the database.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rechunk_testkit::Postgres;
use serde_json::{Value, json};

use super::serving::Serving;
use crate::harness::{BINARY, Folder, Run, rechunk, tool};

/// One of so many points is tried, unless `RECHUNK_KILL_STEP` says how many.
const STEP: u64 = 7;

fn step() -> u64 {
    let step = std::env::var("RECHUNK_KILL_STEP").ok().and_then(|step| step.parse().ok());
    step.unwrap_or(STEP)
}

/// Changes that a client was told are done.
#[derive(Debug, Default)]
struct Told {
    /// The data set that stays: a version more or less, channels, a text.
    kept: Option<String>,
    versions: BTreeSet<u64>,
    channels: u64,
    text: &'static str,
    /// Data sets that were deleted.
    gone: Vec<String>,
}

fn text(serving: &Serving, method: &str, path: &str, media: &str, body: &str) -> Option<String> {
    let (status, said) = serving.ask(method, path, media, body.as_bytes())?;
    let said = String::from_utf8(said).unwrap();
    assert!(status < 400, "{method} {path}: {status} {said}");
    Some(said)
}

fn create(serving: &Serving) -> Option<String> {
    let description = json!({
        "voxelType": "uint8", "dimensions": [4, 4, 4], "compression": "raw", "channels": 1,
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]}],
    });
    text(serving, "POST", "/datasets", "application/json", &description.to_string())
}

/// Changes of every kind. `None` when the server has died of one.
fn script(serving: &Serving, told: &mut Told) -> Option<()> {
    let plain = "text/plain";
    let kept = create(serving)?;
    (told.kept, told.channels) = (Some(kept.clone()), 1);
    told.versions.insert(0);
    for number in 1..3 {
        text(serving, "GET", &format!("/datasets/{kept}/1/1/1/new/write"), plain, "")?;
        told.versions.insert(number);
    }
    text(serving, "POST", &format!("/datasets/{kept}/channels"), plain, "2")?;
    told.channels = 3;
    text(serving, "POST", &format!("/datasets/{kept}/common-metadata"), plain, "kept")?;
    told.text = "kept";
    let path = format!("/datasets/{kept}/1");
    let removed = text(serving, "DELETE", &path, plain, "");
    // It is gone or not, as long as nobody was told.
    told.versions.remove(&1);
    removed?;
    let gone = create(serving)?;
    let removed = text(serving, "DELETE", &format!("/datasets/{gone}"), plain, "");
    removed?;
    told.gone.push(gone);
    Some(())
}

fn described(serving: &Serving, id: &str) -> Option<Value> {
    let (status, said) = serving.ask("GET", &format!("/datasets/{id}"), "", b"").unwrap();
    assert!(status == 200 || status == 404, "{status}");
    (status == 200).then(|| serde_json::from_slice(&said).unwrap())
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Holds a root after a kill to what was told, once a server has begun there again.
fn check(root: &Path, words: &[&str], told: &Told, how: &str) {
    let serving = Serving::start(words);
    for left in ["under-way", "changes"] {
        assert_eq!(names(&root.join(".datastore").join(left)), BTreeSet::new(), "{how}: {left}");
    }
    if let Some(kept) = &told.kept {
        let said = described(&serving, kept).unwrap_or_else(|| panic!("{how}: {kept} is lost"));
        let versions: BTreeSet<u64> = serde_json::from_value(said["versions"].clone()).unwrap();
        // One more, of which nobody was told.
        let more: Vec<_> = versions.difference(&told.versions).collect();
        assert!(versions.is_superset(&told.versions) && more.len() < 2, "{how}: {versions:?}");
        let channels = said["channels"].as_u64().unwrap();
        assert!([told.channels, told.channels + 2].contains(&channels), "{how}: {channels}");
        let (_, metadata) =
            serving.ask("GET", &format!("/datasets/{kept}/common-metadata"), "", b"").unwrap();
        let metadata = String::from_utf8(metadata).unwrap();
        assert!([told.text, "kept"].contains(&&*metadata), "{how}: {metadata}");
    }
    for gone in &told.gone {
        assert_eq!(described(&serving, gone), None, "{how}");
    }
    // The folders are what the database says, and their copies too.
    for id in names(root).into_iter().filter(|name| !name.starts_with('.')) {
        let said = described(&serving, &id).unwrap_or_else(|| panic!("{how}: {id} is left over"));
        let numbers: BTreeSet<String> =
            said["versions"].as_array().unwrap().iter().map(Value::to_string).collect();
        let mut folder = names(&root.join(&id));
        // A copy that was being written; no program looks at it.
        folder.retain(|name| !name.contains('#'));
        let has_text = folder.remove("common-metadata.txt");
        assert!(folder.remove("dataset.json"), "{how}");
        assert_eq!(folder, numbers, "{how}");
        let copy = fs::read(root.join(&id).join("dataset.json")).unwrap();
        let copy: Value = serde_json::from_slice(&copy).unwrap();
        assert_eq!(copy["channels"], said["channels"], "{how}");
        let setups = format!("<id>{}</id>", said["channels"].as_u64().unwrap() - 1);
        for number in numbers {
            let xml = root.join(&id).join(number).join("export.xml");
            assert!(fs::read_to_string(xml).unwrap().contains(&setups), "{how}");
        }
        let (_, metadata) =
            serving.ask("GET", &format!("/datasets/{id}/common-metadata"), "", b"").unwrap();
        let copy = fs::read(root.join(&id).join("common-metadata.txt")).unwrap_or_default();
        assert!(copy == metadata && (has_text || metadata.is_empty()), "{how}");
    }
}

/// Kills a server at its call `at`; true if it lived through the script.
fn round(folder: &Folder, at: u64, database: Option<&str>) -> bool {
    let place = folder.at(&format!("root-{at}"));
    let root = Path::new(&place);
    let words = ["datastore", &place, "--write"];
    let words = [&words[..], &database.map_or(vec![], |url| vec!["--database", url])].concat();
    // The point is one of a server that has begun before.
    drop(Serving::start(&words));
    let (log, at) = (folder.at("log"), at.to_string());
    let tracer = ["--prefix", &place, "--log", &log, "--at", &at, "--", BINARY, "serve"];
    let all = [&tracer[..], &words, &["--listen", "127.0.0.1:0"]].concat();
    let child = Run::program(&tool("killpoint"), &all).without("RUST_LOG").start();
    let mut told = Told::default();
    let lived = match Serving::of(child) {
        Ok(serving) => script(&serving, &mut told).is_some(),
        // It was killed before it answered.
        Err(_) => false,
    };
    check(root, &words, &told, &format!("at call {at}"));
    let import = ["serve", "import", &place, "--json"];
    let import = [&import[..], &database.map_or(vec![], |url| vec!["--database", url])].concat();
    let said = rechunk(&import).ok().json();
    assert_eq!((&said["left"], &said["removed"]), (&json!([]), &json!([])), "at call {at}");
    fs::remove_dir_all(root).unwrap();
    lived
}

#[test]
fn a_server_that_is_killed_at_any_call_has_lost_nothing_and_leaves_nothing() {
    let folder = Folder::new();
    let mut at = 1;
    while !round(&folder, at, None) {
        at += step();
    }
    assert!(at > 100, "only {at} calls are made");
}

#[test]
fn nor_has_one_that_is_killed_between_folders_and_postgresql() {
    let Some(postgres) = Postgres::start("kill points").unwrap() else { return };
    let folder = Folder::new();
    let mut at = 2;
    loop {
        let url = postgres.database(&format!("at_{at}")).unwrap();
        if round(&folder, at, Some(&url)) {
            break;
        }
        at += 2 * step();
    }
    assert!(at > 60, "only {at} calls are made");
}
