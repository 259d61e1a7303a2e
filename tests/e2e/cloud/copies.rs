//! Copies between kinds of stores, formats and plans: the target is right, counted as planned, and
//! all that is left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rechunk_testkit::{GcsServer, HttpServer, S3Server, ServerOptions};
use serde_json::Value;

use super::{Environment, S3, assert_same, is_temporary, run, small};
use crate::arrays::RawArray;
use crate::harness::{Folder, copy_directory, rechunk, root, tree};
use crate::report::{assert_done, text};

/// A server of each kind, and a folder on the disk.
struct World {
    s3: S3,
    gcs: GcsServer,
    http: HttpServer,
    folder: Folder,
}

impl World {
    fn new() -> Self {
        let options = ServerOptions::default();
        Self {
            s3: S3::new(),
            gcs: GcsServer::start(&options).unwrap(),
            http: HttpServer::start(&options).unwrap(),
            folder: Folder::new(),
        }
    }

    fn environments(&self) -> [Environment; 2] {
        [self.s3.server.environment(), self.gcs.environment()]
    }

    /// The location of a key in a kind of store, and where it is on the disk.
    fn place(&self, kind: &str, key: &str) -> (String, PathBuf) {
        match kind {
            "s3" => (self.s3.server.url(key), self.s3.disk(key)),
            "gs" => (self.gcs.url(key), self.gcs.root().join(GcsServer::BUCKET).join(key)),
            "http" => (self.http.url(key), self.http.root().join(key)),
            _ => (self.folder.at(key), self.folder.path().join(key)),
        }
    }

    /// Copies `source`, which is on the disk of its store, as a cell says.
    fn copy(&self, cell: Cell, source: &str) -> Value {
        let ((from, from_disk), (to, to_disk)) =
            (self.place(cell.from, source), self.place(cell.to, cell.target));
        let temp = cell.temp.map(|kind| match kind {
            "memory:" => kind.to_owned(),
            kind => self.place(kind, "temp").0,
        });
        let copy = ["copy", &from, &to, "--verify", "--json", "--threads", "2"];
        let options: Vec<&str> = cell.options.split_whitespace().collect();
        let temp: Vec<&str> = temp.iter().flat_map(|temp| ["--temp", temp.as_str()]).collect();
        let arguments = [&copy[..], &options, &temp].concat();
        let report = run(&arguments, &self.environments()).go().ok().json();
        assert_eq!(text(&report, "plan.kind"), cell.kind, "{cell:?}");
        assert_done(&report);
        assert_eq!(report["verified"], true, "{cell:?}");
        assert_same(&from_disk, &to_disk);
        // It is there, and nothing else.
        remove(&to_disk);
        self.assert_nothing_but(source, cell);
        report
    }

    fn assert_nothing_but(&self, source: &str, cell: Cell) {
        for kind in ["s3", "gs", "local"] {
            let files = tree(&self.place(kind, "").1);
            let left: Vec<String> = files
                .into_iter()
                .filter(|(key, digest)| !digest.is_empty() && !key.starts_with(source))
                .map(|(key, _)| key)
                .collect();
            assert!(left.is_empty(), "{kind} after {cell:?}: {left:?}");
        }
        assert_eq!(self.s3.server.unfinished_uploads().unwrap(), 0);
        assert_eq!(self.gcs.unfinished_uploads(), 0);
    }
}

fn remove(path: &Path) {
    if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
}

/// A copy.
#[derive(Debug, Clone, Copy)]
struct Cell {
    from: &'static str,
    to: &'static str,
    target: &'static str,
    options: &'static str,
    kind: &'static str,
    temp: Option<&'static str>,
}

const fn cell(
    from: &'static str,
    to: &'static str,
    options: &'static str,
    kind: &'static str,
) -> Cell {
    Cell { from, to, target: "t.zarr", options, kind, temp: None }
}

const fn with_temp(temp: &'static str, cell: Cell) -> Cell {
    Cell { temp: Some(temp), ..cell }
}

const fn into(target: &'static str, cell: Cell) -> Cell {
    Cell { target, ..cell }
}

const PUSH_PULL: &str = "--chunks 24,8,16 --strategy push-pull --codec zstd:1";

#[rustfmt::skip]
const CELLS: [Cell; 22] = [
    cell("s3",    "s3",    "--chunks 8,32,48 --strategy direct",                    "direct"),
    cell("s3",    "s3",    "--chunks keep --strategy passthrough",                  "passthrough"),
    cell("s3",    "s3",    "--chunks 24,8,16 --strategy pull",                      "pull"),
    cell("s3",    "s3",    "--chunks 24,8,16 --strategy memory",                    "memory"),
    cell("s3",    "s3",    "--chunks 5,8,16 --strategy keep",                       "keep"),
    cell("s3",    "s3",    PUSH_PULL,                                               "push-pull"),
    with_temp("memory:", cell("s3", "s3", PUSH_PULL,                                "push-pull")),
    with_temp("local",   cell("s3", "s3", PUSH_PULL,                                "push-pull")),
    with_temp("gs",      cell("s3", "s3", PUSH_PULL,                                "push-pull")),
    cell("local", "s3",    PUSH_PULL,                                               "push-pull"),
    with_temp("s3",      cell("local", "local", PUSH_PULL,                          "push-pull")),
    cell("s3",    "local", "--chunks 24,8,16 --strategy pull --format zarr2",       "pull"),
    cell("local", "gs",    PUSH_PULL,                                               "push-pull"),
    cell("gs",    "local", "--chunks 5,8,16 --strategy keep",                       "keep"),
    cell("gs",    "gs",    "--chunks 24,8,16 --format zarr2 --strategy pull",       "pull"),
    cell("s3",    "gs",    "--chunks 4,16,24 --format zarr2 --strategy direct",     "direct"),
    cell("http",  "local", "--chunks 24,8,16 --strategy pull",                      "pull"),
    cell("http",  "s3",    PUSH_PULL,                                               "push-pull"),
    cell("s3",    "s3",    "--chunks 8,8,16 --shards 24,16,48 --codec zstd:1 --strategy pull", "pull"),
    into("t.n5",  cell("s3", "s3", "--chunks 8,16,16 --codec gzip:1 --strategy pull",  "pull")),
    into("t.n5",  cell("local", "gs", "--chunks 8,16,16 --codec gzip:1 --strategy pull", "pull")),
    into("t",     cell("s3", "s3", "--chunks 8,16,16 --codec none --format raw --strategy pull", "pull")),
];

#[test]
fn every_kind_of_plan_goes_between_all_kinds_of_stores() {
    let world = World::new();
    for kind in ["s3", "gs", "http", "local"] {
        small().write(&world.place(kind, "source.zarr").1.display().to_string());
    }
    for cell in CELLS {
        world.copy(cell, "source.zarr");
    }
}

/// Sources that are not plain Zarr v3, each from S3 and over HTTP.
#[test]
fn sources_of_every_format_are_read() {
    let world = World::new();
    let folder = Folder::new();
    let raw = folder.at("raw.zarr");
    small().write(&raw);
    for (name, options) in [
        ("source.n5", "--chunks 8,16,16 --codec gzip:1"),
        ("source.sharded", "--chunks 4,8,16 --shards 12,16,48 --codec zstd:1"),
        ("source.v2", "--chunks 8,16,16 --format zarr2 --codec zstd:1"),
    ] {
        for from in ["s3", "http"] {
            let on_disk = world.place(from, name).1.display().to_string();
            let options: Vec<&str> = options.split_whitespace().collect();
            rechunk(&[&["copy", &raw, &on_disk], &options[..]].concat()).ok();
            let cell = cell(
                from,
                "s3",
                "--chunks 24,8,48 --strategy pull --codec none --shards none",
                "pull",
            );
            world.copy(cell, name);
            let location = world.place(from, name).0;
            let info = run(&["info", &location, "--json"], &world.environments()).go().ok().json();
            assert_eq!(info["shape"], serde_json::json!([24, 32, 48]), "{location}");
            remove(on_disk.as_ref());
        }
    }
}

/// A group with consolidated metadata, from the disk to S3, to GCS, and back.
#[test]
fn a_group_goes_there_and_back_with_its_consolidated_metadata() {
    let world = World::new();
    let fixture = root().join("fixtures/ostia_monthly.zarr").display().to_string();
    let (on_s3, on_gs) = (world.place("s3", "g.zarr").0, world.place("gs", "g.zarr").0);
    let home = world.folder.at("home.zarr");
    for (from, to) in [(&fixture, &on_s3), (&on_s3, &on_gs), (&on_gs, &home)] {
        let copy = ["copy", from, to, "--verify", "--json"];
        run(&copy, &world.environments()).go().ok();
    }
    for (one, other) in [(&fixture, &on_s3), (&on_gs, &home)] {
        let [one, other] = [one, other].map(|group| format!("{group}/surface_temperature"));
        run(&["verify", &one, &other], &world.environments()).go().ok();
    }
    for kind in ["s3", "gs"] {
        let files = tree(&world.place(kind, "").1);
        let mut objects = files.iter().filter(|(_, digest)| !digest.is_empty());
        assert!(!objects.any(|(key, _)| is_temporary(key)), "{kind}: {files:?}");
        let document = std::fs::read(world.place(kind, "g.zarr/zarr.json").1).unwrap();
        let document: Value = serde_json::from_slice(&document).unwrap();
        let consolidated = &document["consolidated_metadata"]["metadata"];
        assert!(consolidated["surface_temperature"].is_object(), "{kind}: {document:#}");
    }
    // An array beside the others: the group above it is told.
    let array = format!("{on_s3}/again");
    let source = format!("{on_gs}/surface_temperature");
    run(&["copy", &source, &array, "--chunks", "-1,6,36"], &world.environments()).go().ok();
    let document = std::fs::read(world.place("s3", "g.zarr/zarr.json").1).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert!(document["consolidated_metadata"]["metadata"]["again"].is_object(), "{document:#}");
}

#[test]
fn what_is_remote_is_looked_at_planned_and_compared() {
    let s3 = S3::with(&small());
    let source = s3.server.url("source.zarr");
    let info = s3.run(&["info", &source, "--json"]).go().ok().json();
    assert_eq!(info["shape"], serde_json::json!([24, 32, 48]));
    let before = s3.objects();
    let target = s3.server.url("t.zarr");
    let saved = s3.folder.at("plan.json");
    let plan = ["plan", &source, &target, "--chunks", "24,8,16", "--out", &saved, "--json"];
    let planned = s3.run(&plan).go().ok().json();
    assert_eq!(s3.objects(), before, "a plan writes nothing");
    let report = s3.run(&["run", &saved, "--json"]).go().ok().json();
    assert_eq!(text(&report, "plan.fingerprint"), text(&planned, "plan.fingerprint"));
    s3.assert_copied("t.zarr");
    s3.run(&["verify", &source, &target]).go().ok();
    // A wrong element is found.
    let mut other = RawArray::v3(&[24, 32, 48], &[4, 32, 48]).chunk(&[2, 0, 0]);
    other[40] ^= 1;
    std::fs::write(s3.disk("source.zarr/c/2/0/0"), other).unwrap();
    s3.run(&["verify", &source, &target]).go().ends_with(6);
}

/// Three stores, each with an endpoint of its own, in one job.
#[test]
fn three_stores_in_one_job_are_told_apart_by_their_options() {
    let [source, temp, target] = [(); 3].map(|()| S3::new());
    small().write(&source.disk("in/source.zarr").display().to_string());
    let places = [
        (S3Server::BUCKET, "in", &source),
        (S3Server::BUCKET, "between", &temp),
        (S3Server::BUCKET, "out", &target),
    ];
    let mut options = Vec::new();
    for (bucket, name, store) in places {
        for option in store.server.store_options() {
            options.push("--store-option".to_owned());
            options.push(format!("s3://{bucket}/{name},{option}"));
        }
    }
    let url = |name: &str| format!("s3://{}/{name}", S3Server::BUCKET);
    let (from, between, to) = (url("in/source.zarr"), url("between"), url("out/t.zarr"));
    let copy = ["copy", &from, &to, "--temp", &between, "--json", "--verify"];
    let push_pull: Vec<&str> = PUSH_PULL.split_whitespace().collect();
    let said: Vec<&str> = options.iter().map(String::as_str).collect();
    run(&[&copy[..], &push_pull, &said].concat(), &[]).go().ok();
    assert_same(&source.disk("in/source.zarr"), &target.disk("out/t.zarr"));
    let requests = temp.server.requests();
    assert!(requests.iter().any(|request| request.method == "PUT"), "{requests:?}");
    assert_eq!(temp.objects(), Vec::<String>::new());
    target.assert_clean();
}

/// Documents over chunks in buckets are those of a disk, and go again.
#[test]
fn a_group_in_a_bucket_is_migrated_there_and_back() {
    let world = World::new();
    let fixture = root().join("fixtures/ostia_monthly.zarr");
    let here = world.folder.at("here.zarr");
    copy_directory(&fixture, here.as_ref());
    run(&["migrate", &here, "-q"], &world.environments()).go().ok();
    let stored = |path: &Path| -> BTreeMap<String, String> {
        tree(path).into_iter().filter(|(_, digest)| !digest.is_empty()).collect()
    };
    for kind in ["s3", "gs"] {
        let (place, path) = world.place(kind, "m.zarr");
        copy_directory(&fixture, &path);
        let before = stored(&path);
        for _ in 0..2 {
            run(&["migrate", &place, "--json"], &world.environments()).go().ok();
            assert_eq!(stored(&path), stored(here.as_ref()), "{kind}");
        }
        run(&["migrate", &place, "--undo", "-q"], &world.environments()).go().ok();
        assert_eq!(stored(&path), before, "{kind}");
        let beside = stored(&world.place(kind, "").1);
        assert!(!beside.keys().any(|key| key.contains(".rechunk")), "{kind}: {beside:?}");
    }
}
