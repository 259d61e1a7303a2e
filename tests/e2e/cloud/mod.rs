//! The real binary against object stores on loopback that count, fail, hang and lie.
//!
//! The objects of a server are files (`root/BUCKET/KEY`), so a test writes a source and compares a
//! target without any client: what a store got is held against what is on the disk.

mod applies;
mod busy;
mod copies;
mod counts;
mod emulator;
mod emulators;
mod errors;
mod faults;
mod folder_markers;
mod groups;
mod http;
mod https;
mod kills;
mod many;
mod member_names;
mod missing;
mod other_files;
mod outage;
mod parts;
mod precomputed;
mod pyramids;
mod secrets;
mod server_copy;
mod slow;
mod sparse;
mod two;

use std::path::{Path, PathBuf};

use rechunk_testkit::{RequestRecord, S3Server, ServerOptions};

use crate::arrays::RawArray;
use crate::harness::{Done, Folder, Run, rechunk, tree};

/// Variables by which clients of stores are told where to go, and those of proxies.
const FOREIGN: [&str; 5] = ["AWS_", "GOOGLE_", "AZURE_", "RUST_LOG", "GCS_"];
const PROXIES: [&str; 6] =
    ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// An environment of a server.
type Environment = Vec<(&'static str, String)>;

/// `rechunk` with arguments, in these environments and no other: no credentials but theirs.
fn run(arguments: &[&str], environments: &[Environment]) -> Run {
    let mut run = Run::rechunk(arguments);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if FOREIGN.iter().any(|begin| name.starts_with(begin)) || PROXIES.contains(&&*name) {
            run = run.without(&name);
        }
    }
    // No files with credentials, and no metadata service: nobody listens there.
    run = run.env("HOME", env!("CARGO_TARGET_TMPDIR"));
    run = run.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9");
    run = run.env("GCE_METADATA_ROOT", "127.0.0.1:9").env("GCE_METADATA_HOST", "127.0.0.1:9");
    environments.iter().flatten().fold(run, |run, (name, value)| run.env(name, value))
}

/// An S3 server with one bucket, and a folder on the disk with a source.
pub(crate) struct S3 {
    pub(crate) server: S3Server,
    pub(crate) folder: Folder,
}

/// The array that most tests copy: 6 chunks of 24 KiB.
fn small() -> RawArray {
    RawArray::v3(&[24, 32, 48], &[4, 32, 48])
}

impl S3 {
    fn new() -> Self {
        let server = S3Server::start(&ServerOptions::default()).unwrap();
        Self { server, folder: Folder::new() }
    }

    /// One with a source in the bucket, `source.zarr`.
    pub(crate) fn with(source: &RawArray) -> Self {
        let s3 = Self::new();
        source.write(&s3.disk("source.zarr").display().to_string());
        s3
    }

    /// Path of a key on the disk.
    fn disk(&self, key: &str) -> PathBuf {
        self.server.root().join(S3Server::BUCKET).join(key)
    }

    /// The files of all objects.
    fn objects(&self) -> Vec<String> {
        let files = tree(&self.disk(""));
        files.into_iter().filter(|(_, digest)| !digest.is_empty()).map(|(key, _)| key).collect()
    }

    fn run(&self, arguments: &[&str]) -> Run {
        run(arguments, &[self.server.environment()])
    }

    /// `copy s3://…/source.zarr s3://…/TARGET` with `options`.
    pub(crate) fn copy(&self, target: &str, options: &[&str]) -> Run {
        let (source, target) = (self.server.url("source.zarr"), self.server.url(target));
        let copy = ["copy", &source, &target, "--threads", "2", "--json"];
        self.run(&[&copy[..], options].concat())
    }

    /// Removes a target and what an interrupted run has left beside it.
    fn forget(&self, target: &str) {
        for key in [target.to_owned(), format!("{target}.rechunk")] {
            if self.disk(&key).exists() {
                std::fs::remove_dir_all(self.disk(&key)).unwrap();
            }
        }
    }

    /// The target has the elements of the source, both read from the disk; nothing else is left.
    #[track_caller]
    fn assert_copied(&self, target: &str) {
        assert_same(&self.disk("source.zarr"), &self.disk(target));
        self.assert_clean();
    }

    /// No work directory, no temporary object, no upload that was not completed.
    #[track_caller]
    fn assert_clean(&self) {
        let left: Vec<_> = self.objects().into_iter().filter(|key| is_temporary(key)).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        assert_eq!(self.server.unfinished_uploads().unwrap(), 0, "unfinished uploads");
    }
}

/// Whether it is something that a finished run does not leave.
fn is_temporary(key: &str) -> bool {
    key.contains(".rechunk/") || key.contains("rechunk-") || key.contains('#')
}

/// Two arrays on the disk have equal elements.
#[track_caller]
fn assert_same(source: &Path, target: &Path) -> Done {
    rechunk(&["verify", &source.display().to_string(), &target.display().to_string()]).ok()
}

/// Number of requests of a kind.
fn count(requests: &[RequestRecord], of: impl Fn(&RequestRecord) -> bool) -> u64 {
    u64::try_from(requests.iter().filter(|request| of(request)).count()).unwrap()
}
