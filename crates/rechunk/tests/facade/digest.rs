//! Digests of copies of a real array: they do not depend on how it is cut, and `--verify` needs no
//! more than them.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rechunk::{
    CancellationToken, Class, CopyRequest, Error, Event, Existing, Format, Job, NullObserver,
    Observer, Report, Running, Strategy,
};

use crate::files::chunk_files;

const ARRAY: &str = "surface_temperature";

/// A copy of the array in `folder`.
fn source(folder: &Path) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let (path, name) = entry.map(|e| (e.path(), e.file_name())).unwrap();
            if path.is_dir() {
                copy(&path, &to.join(name));
            } else {
                fs::copy(&path, to.join(name)).unwrap();
            }
        }
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/ostia_monthly.zarr");
    copy(&fixture, &folder.join("source.zarr"));
    folder.join("source.zarr").join(ARRAY)
}

fn request(source: &Path, target: &Path, chunks: &str) -> CopyRequest {
    let mut request = CopyRequest::new(source.to_str().unwrap(), target.to_str().unwrap());
    request.chunks = chunks.parse().unwrap();
    request.planning.memory_bytes = Some(8 << 20);
    request.planning.threads = Some(2);
    request
}

/// Runs a copy that is verified.
fn copy(request: CopyRequest, observer: Arc<dyn Observer>) -> Result<Report, Error> {
    copy_until(request, observer, CancellationToken::new())
}

/// Runs a copy that is verified, unless it is cancelled.
fn copy_until(
    request: CopyRequest,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
) -> Result<Report, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    let existing = Existing::Refuse;
    let mut running = Running::new(existing);
    running.verify = true;
    running.durable = false;
    runtime.block_on(async {
        let job = Job::prepare(request, &rechunk::Stores::default()).await?;
        job.run(running, observer, cancel).await
    })
}

/// Does something when the chunks are written and not yet verified.
struct WhenWritten<F>(F);

impl<F: Fn() + Send + Sync> Observer for WhenWritten<F> {
    fn event(&self, event: &Event) {
        if matches!(event, Event::StageDone { .. }) {
            (self.0)();
        }
    }
}

#[test]
fn every_way_of_copying_gives_the_same_digest() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let mut digests = Vec::new();
    let ways = [
        ("pull", Strategy::Pull, "54,6,36", None, None),
        ("keep", Strategy::Keep, "5,7,200", None, None),
        ("push", Strategy::PushPull, "54,3,3", None, None),
        ("stages", Strategy::Multistage, "54,4,5", None, None),
        ("memory", Strategy::Memory, "10,10,10", None, None),
        ("shards", Strategy::Auto, "6,6,36", Some("54,18,72"), None),
        ("n5", Strategy::Auto, "54,6,36", None, Some(Format::N5)),
        ("v2", Strategy::Auto, "54,6,36", None, Some(Format::Zarr2)),
    ];
    for (name, strategy, chunks, shards, format) in ways {
        let mut request = request(&source, &folder.path().join(name), chunks);
        (request.shards, request.format) = (shards.map(|text| text.parse().unwrap()), format);
        request.planning.strategy = strategy;
        let report = copy(request, Arc::new(NullObserver)).unwrap();
        assert_eq!(report.verified, Some(true));
        digests.push((name, report.digest.unwrap()));
    }
    // And a copy of a copy.
    let again = request(&folder.path().join("push"), &folder.path().join("again"), "11,18,90");
    digests.push(("again", copy(again, Arc::new(NullObserver)).unwrap().digest.unwrap()));
    assert_eq!(digests[0].1.method, "rechunk-multilinear-127");
    for (name, digest) in &digests {
        assert_eq!(*digest, digests[0].1, "{name}");
    }
}

#[test]
fn a_verified_copy_reads_its_source_once() {
    for (chunks, is_copied) in [("54,6,36", false), ("keep", true)] {
        let folder = tempfile::tempdir().unwrap();
        let source = source(folder.path());
        let mut request = request(&source, &folder.path().join("t.zarr"), chunks);
        if is_copied {
            request.planning.strategy = Strategy::Passthrough;
        }
        let remove = WhenWritten(move || {
            for file in chunk_files(&source) {
                fs::write(file, b"gone").unwrap();
            }
        });
        let report = copy(request, Arc::new(remove)).unwrap();
        assert_eq!(report.verified, Some(true));
        let method = report.digest.unwrap().method;
        assert_eq!(method.ends_with("-of-crc32c"), is_copied, "{method}");
    }
}

/// Damages the target of an uncompressed copy, and of chunks that are copied as they are.
#[test]
fn no_flipped_bit_of_a_target_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    for is_copied in [false, true] {
        for turn in 0..40_usize {
            let target = folder.path().join(format!("t{is_copied}{turn}.zarr"));
            let mut request = request(&source, &target, if is_copied { "keep" } else { "54,6,36" });
            if is_copied {
                request.planning.strategy = Strategy::Passthrough;
            } else {
                request.codec = Some(rechunk::CodecSpec::none());
            }
            let written = target.clone();
            let flip = WhenWritten(move || {
                let files = chunk_files(&written);
                let file = &files[turn * 7 % files.len()];
                let mut bytes = fs::read(file).unwrap();
                let bit = turn.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
                fs::write(file, bytes).unwrap();
            });
            let error = copy(request, Arc::new(flip)).unwrap_err();
            if is_copied {
                // What is compressed may not decode, or decode to what it was.
                assert!(matches!(error.class(), Class::Differ | Class::Source), "{error}");
            } else {
                assert!(matches!(error, Error::VerifyFailed { count: 1, .. }), "{error}");
            }
        }
    }
}

#[test]
fn verification_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (source(folder.path()), folder.path().join("target.zarr"));
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let observer = Arc::new(WhenWritten(move || stop.cancel()));
    let error = copy_until(request(&source, &target, "3,9,9"), observer, cancel).unwrap_err();
    assert_eq!(error.class(), Class::Interrupted, "{error}");
    assert!(!target.join("zarr.json").exists(), "it was made visible");
}
