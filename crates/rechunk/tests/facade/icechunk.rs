//! Icechunk repositories as a source: what is copied of each version is what zarr-python reads in
//! it through the package icechunk (`fixtures/icechunk`).
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use rechunk::{
    CancellationToken, Class, CopyRequest, Error, Existing, Format, NullObserver, Prepared,
    Running, Selection, StoreOptions, Stores, TreeReport, prepare,
};
use rechunk_testkit::{Faults, HttpServer, Operation, S3Server, ServerOptions};
use sha2::{Digest, Sha256};

/// A repository that icechunk 1.0 wrote, and one of icechunk 2.
const VERSIONS: [&str; 2] = ["v1", "v2"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/icechunk")
}

/// The digests of the arrays of each version, as locations name them.
fn expected(version: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let text = fs::read_to_string(fixtures().join(format!("{version}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A server that has both repositories, and the file that some of their chunks are in, as it was
/// before they were written.
fn server() -> S3Server {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let bucket = server.root().join(S3Server::BUCKET);
    for version in VERSIONS {
        copy_directory(&fixtures().join(version), &bucket.join(format!("{version}.icechunk")));
    }
    fs::copy(fixtures().join("virtual.bin"), bucket.join("virtual.bin")).unwrap();
    let file = fs::File::options().write(true).open(bucket.join("virtual.bin")).unwrap();
    file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    server
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn stores(server: &S3Server) -> Stores {
    let mut options = StoreOptions::default();
    for option in server.store_options() {
        options.add(&option).unwrap();
    }
    Stores::new(options)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    { runtime }.worker_threads(2).enable_all().build().unwrap().block_on(future)
}

/// Copies a group, every array into one chunk without codecs.
fn copy(source: &str, target: &Path, stores: &Stores) -> Result<TreeReport, Error> {
    let mut request = CopyRequest::new(source, target.to_str().unwrap());
    request.chunks = "-1".parse().unwrap();
    request.codec = Some("none".parse().unwrap());
    request.format = Some(Format::Zarr2);
    request.write_empty = rechunk::WriteEmpty::Always;
    request.planning.memory_bytes = Some(32 << 20);
    request.planning.threads = Some(2);
    let mut running = Running::new(Existing::Refuse);
    running.verify = true;
    running.durable = false;
    run(async {
        match prepare(request, Selection::default(), stores).await? {
            Prepared::Array(_) => panic!("{source} is a group"),
            Prepared::Tree(job) => {
                job.run(running, Arc::new(NullObserver), CancellationToken::new()).await
            }
        }
    })
}

/// SHA-256 of the elements of each array below `group`, little-endian, hex, by its path.
fn digests(group: &Path, path: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(group).unwrap().map(Result::unwrap) {
        let (place, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let path = if path.is_empty() { name } else { format!("{path}/{name}") };
        let Ok(document) = fs::read_to_string(place.join(".zarray")) else {
            if place.is_dir() {
                digests(&place, &path, found);
            }
            continue;
        };
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let axes = document["shape"].as_array().unwrap().len();
        let chunk = if axes == 0 { "0".to_owned() } else { vec!["0"; axes].join(".") };
        let digest = Sha256::digest(fs::read(place.join(chunk)).unwrap());
        found.insert(path, digest.iter().fold(String::new(), |hex, b| format!("{hex}{b:02x}")));
    }
}

#[test]
fn every_version_is_what_the_package_reads_in_it() {
    let (server, folder) = (server(), tempfile::tempdir().unwrap());
    for version in VERSIONS {
        let expected = expected(version);
        assert_eq!(expected.len(), 7);
        let places = [
            fixtures().join(version).display().to_string(),
            server.url(&format!("{version}.icechunk")),
        ];
        for (number, (named, arrays)) in expected.iter().enumerate() {
            let source = format!("{}{named}", places[number % 2]);
            let target = folder.path().join(format!("{version}-{number}"));
            let report = copy(&source, &target, &stores(&server)).unwrap();
            let mut found = BTreeMap::new();
            digests(&target, "", &mut found);
            assert_eq!(&found, arrays, "{source}");
            for array in &report.arrays {
                let (planned, counted) =
                    (&array.report.estimate.source, array.report.traffic.unwrap().source);
                let asked = counted.get_requests + counted.get_missing;
                assert_eq!(asked, planned.get_requests, "{source} {}", array.path);
            }
        }
    }
}

#[test]
fn chunks_are_read_by_ranges_through_a_server_that_fails() {
    let (server, folder) = (server(), tempfile::tempdir().unwrap());
    server.set_faults(Faults::rate(0.1).seed(7));
    let url = server.url("v2.icechunk");
    let target = folder.path().join("out");
    let report = copy(&url, &target, &stores(&server)).unwrap();
    let mut found = BTreeMap::new();
    digests(&target, "", &mut found);
    assert_eq!(found, expected("v2")["#branch=main"]);
    let sum = |of: fn(&rechunk::RoleTraffic) -> u64| -> u64 {
        report.arrays.iter().map(|array| of(&array.report.traffic.unwrap().source)).sum()
    };
    let requests = server.requests();
    let is_chunk = |key: &str| key.contains("/chunks/") || key.ends_with("virtual.bin");
    let chunks: Vec<_> = requests
        .iter()
        .filter(|request| request.operation == Operation::Get && is_chunk(&request.key))
        .collect();
    assert!(chunks.iter().all(|request| request.range.is_some()), "only ranges are asked for");
    assert_eq!(sum(|source| source.http_attempts), chunks.len() as u64, "each try is counted");
    assert!(chunks.iter().any(|request| request.fault.is_some()));
    // What the repository says of itself is read once, and none of its history.
    for (part, most) in [("/repo", 1), ("/snapshots/", 1), ("/transactions/", 0)] {
        let read = requests.iter().filter(|r| r.key.contains(part) && r.fault.is_none());
        assert!(read.count() <= most, "{part}");
    }
}

#[test]
fn a_repository_at_a_url_is_read_without_being_listed() {
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    for version in VERSIONS {
        copy_directory(&fixtures().join(version), &server.root().join(version));
    }
    let folder = tempfile::tempdir().unwrap();
    for (number, version) in VERSIONS.into_iter().enumerate() {
        let source = server.url(&format!("{version}#tag=v1/weather/daily"));
        let target = folder.path().join(number.to_string());
        copy(&source, &target, &Stores::default()).unwrap();
        let mut found = BTreeMap::new();
        digests(&target, "weather/daily", &mut found);
        let mut arrays = expected(version)["#tag=v1"].clone();
        arrays.retain(|path, _| path.starts_with("weather/daily"));
        assert_eq!(found, arrays);
    }
}

#[test]
fn a_file_that_was_written_again_is_refused() {
    let (server, folder) = (server(), tempfile::tempdir().unwrap());
    let path = server.root().join(S3Server::BUCKET).join("virtual.bin");
    // Later than the references that say when it was written.
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(std::time::SystemTime::now())
        .unwrap();
    let error = copy(&server.url("v2.icechunk"), &folder.path().join("out"), &stores(&server));
    let error = error.unwrap_err();
    let text = error.chain().join("; ");
    assert_eq!(error.class(), Class::Source, "{text}");
    assert!(text.contains("virtual.bin") && text.contains("was changed after"), "{text}");
}

#[test]
fn what_is_planned_stays_at_its_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("weather");
    copy_directory(&fixtures().join("v1"), &repository);
    let array = "weather/daily/native";
    let source = format!("{}/{array}", repository.display());
    let target = folder.path().join("out.zarr");
    let mut request = CopyRequest::new(&source, target.to_str().unwrap());
    request.chunks = "-1".parse().unwrap();
    request.codec = Some("none".parse().unwrap());
    request.format = Some(Format::Zarr2);
    let stores = Stores::default();
    let prepared = run(prepare(request.clone(), Selection::default(), &stores)).unwrap();
    let saved = prepared.saved().unwrap().to_json().unwrap();
    drop(prepared);
    assert!(String::from_utf8_lossy(&saved).contains("#snapshot="));
    // The branch goes on, to what another one has.
    let branch = |name: &str| repository.join(format!("refs/branch.{name}/ref.json"));
    fs::copy(branch("other"), branch("main")).unwrap();
    let saved = rechunk::SavedPlan::from_json("plan.json", &saved).unwrap();
    let prepared = run(Prepared::from_saved(saved, None, &stores)).unwrap();
    let Prepared::Array(job) = prepared else { panic!("it is an array") };
    let mut running = Running::new(Existing::Refuse);
    running.durable = false;
    run(job.run(running, Arc::new(NullObserver), CancellationToken::new())).unwrap();
    let digest = Sha256::digest(fs::read(target.join("0.0")).unwrap());
    let digest = digest.iter().fold(String::new(), |hex, b| format!("{hex}{b:02x}"));
    assert_eq!(digest, expected("v1")["#branch=main"][array]);
    assert_ne!(digest, expected("v1")["#branch=other"][array]);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for version in VERSIONS {
        copy_directory(&fixtures().join(version), &folder.path().join(version));
    }
    let damage = |name: &str, by: fn(&mut Vec<u8>)| {
        for entry in fs::read_dir(folder.path().join("v2").join(name)).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = fs::read(&path).unwrap();
            by(&mut bytes);
            fs::write(path, bytes).unwrap();
        }
    };
    let fails = |location: &str, words: &[&str]| {
        let error = copy(location, &folder.path().join("out"), &Stores::default()).unwrap_err();
        let text = error.chain().join("; ");
        assert_eq!(error.class(), Class::Source, "{text}");
        for word in words {
            assert!(text.contains(word), "{location}: no {word:?} in {text}");
        }
        assert!(!folder.path().join("out/.zgroup").exists(), "nothing may look finished");
    };
    let known = "the branches main, old, other and the tag v1";
    fails(&at("v2#branch=dev"), &["no branch \"dev\"", known]);
    fails(&at("v1#tag=v2"), &["no tag \"v2\"", known]);
    fails(&at("v2#tag=gone"), &["was deleted"]);
    fails(&at("v1#snapshot=VY76P925PRY57WFEK410"), &["VY76P925PRY57WFEK410", "expired"]);
    damage("manifests", |bytes| bytes.truncate(60));
    fails(&at("v2"), &["manifests/", "damaged"]);
    damage("snapshots", |bytes| bytes[36] = 3);
    fails(&at("v2"), &["snapshots/", "version 3 of the format", "versions 1 and 2 are read"]);
    fs::write(folder.path().join("v2/repo"), "ICE🧊CHUNK").unwrap();
    fails(&at("v2"), &["repo is no file of Icechunk"]);
    // Nothing is written into one.
    let place = folder.path().join("v2/new");
    let error = copy(&at("v1/weather/daily"), &place, &Stores::default()).unwrap_err();
    assert!(error.chain().join("; ").contains("an Icechunk repository is only read"));
}
