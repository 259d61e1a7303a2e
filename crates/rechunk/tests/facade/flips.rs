//! A bit that flips in a finished target is found by `verify`, whatever the codec; a thousand of
//! them.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use rechunk::{
    CancellationToken, CopyRequest, Existing, Job, NullObserver, OpenOptions, Planning, Running,
    Stores, verify,
};

use crate::files::chunk_files;

/// Elements of an axis; every chunk is whole, so that there is no padding to flip bits in.
const EXTENT: usize = 32;

/// A square of uint16 that no code under test has written: smooth, with a little noise.
fn write_source(path: &Path) {
    fs::create_dir_all(path).unwrap();
    let document = format!(
        r#"{{"zarr_format": 2, "shape": [{EXTENT}, {EXTENT}], "chunks": [{EXTENT}, {EXTENT}],
             "dtype": "<u2", "compressor": null, "fill_value": 0, "order": "C", "filters": null}}"#
    );
    fs::write(path.join(".zarray"), document).unwrap();
    let element = |n: usize| u16::try_from(n / 3 * 7 + (n * n / 8) % 5 + 1).unwrap();
    let bytes: Vec<u8> = (0..EXTENT * EXTENT).flat_map(|n| element(n).to_le_bytes()).collect();
    fs::write(path.join("0.0"), bytes).unwrap();
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn planning() -> Planning {
    let mut planning = Planning::default();
    planning.memory_bytes = Some(8 << 20);
    planning.threads = Some(1);
    planning
}

async fn copy(source: &Path, target: &Path, codec: &str, shards: Option<&str>) {
    let mut request = CopyRequest::new(&text(source), &text(target));
    request.chunks = "8,16".parse().unwrap();
    request.shards = shards.map(|text| text.parse().unwrap());
    request.codec = Some(codec.parse().unwrap());
    request.planning = planning();
    let job = Job::prepare(request, &Stores::default()).await.unwrap();
    let existing = Existing::Refuse;
    let mut running = Running::new(existing);
    running.durable = false;
    job.run(running, Arc::new(NullObserver), CancellationToken::new()).await.unwrap();
}

/// Whether `verify` says that two arrays are equal.
async fn are_equal(source: &Path, target: &Path) -> bool {
    let (options, observer, stores) =
        (OpenOptions::default(), Arc::new(NullObserver), Stores::default());
    let (source, target) = (text(source), text(target));
    let cancel = CancellationToken::new();
    let found = verify(&source, &target, &options, &planning(), observer, cancel, &stores).await;
    found.is_ok_and(|found| found.equal)
}

/// What the decoders of others make of a chunk; `None` if they refuse it.
type Decode = fn(&[u8]) -> Option<Vec<u8>>;

fn gunzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut decoded).ok().map(|_| decoded)
}

fn unzstd(bytes: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::decompress(bytes, 1 << 16).ok()
}

#[tokio::test]
async fn a_thousand_flipped_bits_of_a_target_are_found() {
    const FLIPS: u32 = 250;
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    write_source(&source);
    let as_stored: Decode = |bytes| Some(bytes.to_vec());
    let targets: [(&str, &str, Option<&str>, Decode); 4] = [
        ("none", "none", None, as_stored),
        ("gzip", "gzip:5", None, gunzip),
        ("zstd", "zstd:1", None, unzstd),
        // Every bit of a shard without padding is a chunk's, or of the index, which has a checksum.
        ("shards", "none", Some("16,32"), as_stored),
    ];
    for (name, codec, shards, decode) in targets {
        let target = folder.path().join(name);
        copy(&source, &target, codec, shards).await;
        assert!(are_equal(&source, &target).await, "{name}");
        let files = chunk_files(&target);
        assert_eq!(files.len(), if shards.is_some() { 2 } else { 8 });
        let (mut state, mut found, mut harmless) = (1_u64, 0, 0);
        for _ in 0..FLIPS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x9E37_79B9);
            let drawn = usize::try_from(state >> 33).unwrap();
            let file = &files[drawn % files.len()];
            let good = fs::read(file).unwrap();
            let mut bad = good.clone();
            let bit = drawn / files.len() % (8 * good.len());
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(file, &bad).unwrap();
            let is_harmless = decode(&bad).is_some_and(|elements| Some(elements) == decode(&good));
            let equal = are_equal(&source, &target).await;
            assert!(!equal || is_harmless, "{name}: bit {bit} of {} is missed", file.display());
            (found, harmless) = (found + u32::from(!equal), harmless + u32::from(is_harmless));
            fs::write(file, good).unwrap();
        }
        println!("{name}: {found} of {FLIPS} found, {harmless} change no element");
        assert!(found > FLIPS * 9 / 10, "{name}: {found} found");
        assert!(are_equal(&source, &target).await, "{name}");
    }
}
