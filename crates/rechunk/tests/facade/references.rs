//! NetCDF files as a source, through the references that kerchunk and VirtualiZarr have made of
//! them: what comes out is what netCDF4 reads in the files themselves (`fixtures/references`).
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rechunk::{
    CancellationToken, Class, CopyRequest, Error, Existing, Format, NullObserver, Prepared,
    Running, Selection, StoreOptions, Stores, Strategy, TreeReport, prepare,
};
use rechunk_testkit::{Faults, HttpServer, Operation, S3Server, ServerOptions};
use sha2::{Digest, Sha256};

/// Those of kerchunk, which leaves out what has a checksum, and those of VirtualiZarr.
const KERCHUNK: [&str; 5] = [
    "kerchunk.json",
    "version0.json",
    "templates.json",
    "kerchunk_fastparquet.parq",
    "kerchunk_pyarrow.parq",
];
const VIRTUALIZARR: [&str; 2] = ["virtualizarr.json", "virtualizarr.parq"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/references")
}

/// Copies the group at `source`, every array into one chunk without codecs.
fn copy(source: &str, target: &Path, stores: &Stores) -> Result<TreeReport, Error> {
    copy_as(source, target, stores, Some("none"), "-1")
}

fn copy_as(
    source: &str,
    target: &Path,
    stores: &Stores,
    codec: Option<&str>,
    chunks: &str,
) -> Result<TreeReport, Error> {
    let mut request = CopyRequest::new(source, target.to_str().unwrap());
    request.chunks = chunks.parse().unwrap();
    request.codec = codec.map(|text| text.parse().unwrap());
    request.format = Some(Format::Zarr2);
    request.planning.memory_bytes = Some(32 << 20);
    request.planning.threads = Some(2);
    // What small chunks cost is no matter here.
    request.planning.strategy =
        if chunks == "keep" { Strategy::Passthrough } else { Strategy::Auto };
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    let existing = Existing::Refuse;
    let mut running = Running::new(existing);
    running.verify = true;
    running.durable = false;
    runtime.block_on(async {
        match prepare(request, Selection::default(), stores).await? {
            Prepared::Array(_) => panic!("{source} is a group"),
            Prepared::Tree(job) => {
                job.run(running, Arc::new(NullObserver), CancellationToken::new()).await
            }
        }
    })
}

/// SHA-256 of the elements of each array below `group`, little-endian, hex.
fn digests(group: &Path) -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for entry in fs::read_dir(group).unwrap() {
        let path = entry.unwrap().path();
        let Ok(document) = fs::read_to_string(path.join(".zarray")) else { continue };
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let axes = document["shape"].as_array().unwrap().len();
        let mut bytes = fs::read(path.join(vec!["0"; axes].join("."))).unwrap();
        let data_type = document["dtype"].as_str().unwrap();
        if data_type.starts_with('>') {
            let size = data_type[2..].parse().unwrap();
            bytes.chunks_mut(size).for_each(<[u8]>::reverse);
        }
        let digest =
            Sha256::digest(&bytes).iter().fold(String::new(), |hex, b| format!("{hex}{b:02x}"));
        digests.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), digest);
    }
    digests
}

fn expected(source: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(fixtures().join("SHA256.json")).unwrap();
    let mut all: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
    if !source.contains("virtualizarr") {
        all.retain(|name, _| name != "checked" && name != "summed");
    }
    all
}

#[test]
fn groups_of_both_writers_are_what_is_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    for source in KERCHUNK.into_iter().chain(VIRTUALIZARR) {
        let target = folder.path().join(source.replace('.', "_"));
        let location = fixtures().join(source).display().to_string();
        let report = copy(&location, &target, &Stores::default()).unwrap();
        assert_eq!(digests(&target), expected(source), "{source}");
        let chunks =
            report.arrays.iter().map(|array| array.report.traffic.unwrap().source.get_requests);
        assert_eq!(chunks.sum::<u64>(), if source.contains("virtualizarr") { 81 } else { 63 });
    }
}

fn server_stores(server: &S3Server) -> Stores {
    let mut options = StoreOptions::default();
    for option in server.store_options() {
        options.add(&option).unwrap();
    }
    Stores::new(options)
}

#[test]
fn references_and_files_in_a_bucket_that_fails_are_read_by_ranges() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let url = server.url("nc/virtualizarr.json");
    let below = server.root().join(S3Server::BUCKET).join("nc");
    fs::create_dir_all(&below).unwrap();
    for name in ["day1.nc", "day2.nc", "day3.nc", "virtualizarr.json"] {
        fs::copy(fixtures().join(name), below.join(name)).unwrap();
    }
    let hostile = r#"{"version": 1, "refs": {".zgroup": {"zarr_format": 2}, "a/0": ["/etc/hostname", 0, 4],
        "a/.zarray": {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1", "compressor": null,
        "fill_value": 0, "filters": null, "order": "C"}}}"#;
    fs::write(below.join("hostile.json"), hostile).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let error = copy(
        &server.url("nc/hostile.json"),
        &folder.path().join("h.zarr"),
        &server_stores(&server),
    );
    let error = error.unwrap_err();
    let text = error.chain().join("; ");
    assert_eq!(error.class(), Class::Source, "{text}");
    assert!(text.contains("may not name its files") && text.contains("/etc/hostname"), "{text}");

    server.clear_requests();
    server.set_faults(Faults::rate(0.1).seed(7));
    let target = folder.path().join("out.zarr");
    let report = copy(&url, &target, &server_stores(&server)).unwrap();
    assert_eq!(digests(&target), expected("virtualizarr.json"));
    let sum = |of: fn(&rechunk::RoleTraffic) -> u64| -> u64 {
        report.arrays.iter().map(|array| of(&array.report.traffic.unwrap().source)).sum()
    };
    let requests = server.requests();
    let of_files = requests.iter().filter(|request| request.key.contains("/day"));
    let reads: Vec<_> = of_files.filter(|request| request.operation == Operation::Get).collect();
    assert!(reads.iter().all(|request| request.range.is_some()), "only ranges are asked for");
    assert_eq!(sum(|source| source.http_attempts), reads.len() as u64, "every attempt is counted");
    assert!(reads.len() > 78 && reads.iter().any(|request| request.fault.is_some()));
    assert_eq!(sum(|source| source.get_requests), 81);
    // The document itself is read once, whatever the number of arrays.
    let bodies =
        requests.iter().filter(|r| r.key.contains("virtualizarr") && r.operation == Operation::Get);
    assert!(bodies.filter(|request| request.fault.is_none()).count() <= 2);
}

#[test]
fn a_file_that_is_gone_or_cut_off_stops_the_copy_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["day1.nc", "day2.nc", "day3.nc", "kerchunk.json"] {
        fs::copy(fixtures().join(name), folder.path().join(name)).unwrap();
    }
    let source = folder.path().join("kerchunk.json").display().to_string();
    let day = folder.path().join("day2.nc");
    let whole = fs::read(&day).unwrap();
    for (number, length) in [None, Some(3000)].into_iter().enumerate() {
        match length {
            None => fs::remove_file(&day).unwrap(),
            Some(length) => fs::write(&day, &whole[..length]).unwrap(),
        }
        let target = folder.path().join(format!("{number}.zarr"));
        let error = copy(&source, &target, &Stores::default()).unwrap_err();
        let text = error.chain().join("; ");
        assert_eq!(error.class(), Class::Source, "{text}");
        assert!(text.contains("of day2.nc") && text.contains("bytes "), "{text}");
        assert!(!target.join(".zgroup").exists(), "nothing may look finished");
    }
}

#[test]
fn a_group_at_a_url_is_copied_as_it_is_stored() {
    let server = HttpServer::start(&ServerOptions::default()).unwrap();
    for name in ["day1.nc", "day2.nc", "day3.nc", "virtualizarr.json"] {
        fs::copy(fixtures().join(name), server.root().join(name)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("same.zarr");
    // What is below a URL cannot be listed, but references say what there is.
    let source = server.url("virtualizarr.json");
    let report = copy_as(&source, &target, &Stores::default(), None, "keep").unwrap();
    assert_eq!(report.arrays.len(), 11);
    let text = fs::read_to_string(fixtures().join("virtualizarr.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for (key, reference) in document["refs"].as_object().unwrap() {
        let Some(reference) = reference.as_array() else { continue };
        let number = |at: usize| usize::try_from(reference[at].as_u64().unwrap()).unwrap();
        let file = fs::read(fixtures().join(reference[0].as_str().unwrap())).unwrap();
        let stored = &file[number(1)..number(1) + number(2)];
        assert_eq!(fs::read(target.join(key)).unwrap(), stored, "{key}");
        compared += 1;
    }
    assert_eq!(compared, 80);
}

#[test]
fn what_only_a_program_can_expand_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("gen.json");
    fs::write(&source, r#"{"version": 1, "gen": [{"key": "a/{{i}}"}], "refs": {}}"#).unwrap();
    let target = folder.path().join("out.zarr");
    let error = copy(source.to_str().unwrap(), &target, &Stores::default()).unwrap_err();
    assert_eq!(error.class(), Class::Source);
    let text = error.chain().join("; ");
    assert!(text.contains("\"gen\"") && text.contains("write the references out"), "{text}");
    let written = copy(source.to_str().unwrap(), &source.join("out"), &Stores::default());
    assert!(written.is_err());
}
