//! Every target over its corpus and over a fixed number of mutations of it: no coverage, no luck,
//! the same inputs on every machine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread;

use rechunk_fuzz::{TARGETS, Target};

/// Mutations per target; `RECHUNK_MUTATIONS` says another number.
const MUTATIONS: u32 = 4_000;
/// Longest input, bytes.
const INPUT_BYTES_MAX: usize = 64 << 10;

/// Targets of several cases: names in their corpora begin with the number of one.
const CASES: [&str; 7] = [
    "chunk_decode",
    "zfp_decode",
    "n5_block",
    "shard",
    "strings",
    "precomputed_chunk",
    "precomputed_shard",
];

/// Words to which formats give a meaning; put in places where chance would not.
const WORDS: [&[u8]; 24] = [
    b"null",
    b"NaN",
    b"-Infinity",
    b"1e500",
    b"18446744073709551615",
    b"9223372036854775807",
    b"-1",
    b"0",
    b"\"\\u0000\"",
    b"\\ud800",
    b"\"bytes\"",
    b"\"transpose\"",
    b"\"gzip\"",
    b"\"crc32c\"",
    b"[]",
    b"{}",
    b"[[[[",
    b"}}}}",
    b"\x00",
    b"\xff\xff\xff\xff",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"\n",
    b" #00000000\n",
];

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz").join(target);
    let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Numbers without a pattern (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap()
    }
}

fn mutated(numbers: &mut Numbers, seeds: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let mut input = seeds[numbers.below(seeds.len())].1.clone();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(input.len());
        let end = (at + 1 + numbers.below(16)).min(input.len());
        match numbers.below(7) {
            0 if at < input.len() => input[at] ^= 1 << numbers.below(8),
            1 if at < input.len() => input[at] = u8::try_from(numbers.below(256)).unwrap(),
            2 => drop(input.drain(at..end)),
            3 => {
                let word = WORDS[numbers.below(WORDS.len())];
                drop(input.splice(at..end, word.iter().copied()));
            }
            4 => drop(input.splice(at..at, input[at..end].to_vec())),
            5 => input.truncate(at),
            _ => {
                let other = &seeds[numbers.below(seeds.len())].1;
                let from = numbers.below(other.len());
                let piece = &other[from..(from + numbers.below(256)).min(other.len())];
                drop(input.splice(at..end, piece.iter().copied()));
            }
        }
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}

/// Panics that are no target's way out: also those of threads that a reader starts, which it hears
/// of as of any error. The crate `parquet` has assertions that hostile files meet, and those are
/// contained.
static PANICS: AtomicU64 = AtomicU64::new(0);

fn count_panics() {
    let shown = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info.location().is_none_or(|at| !at.file().contains("/parquet-")) {
            PANICS.fetch_add(1, Ordering::Relaxed);
            shown(info);
        }
    }));
}

/// Held for reading by every input, and for writing by one that is looked at alone. Of a panic
/// nothing says which input it was of.
static ALONE: RwLock<()> = RwLock::new(());

/// Runs a target: whether it accepts the input, or what to say of one that it does not survive,
/// which is kept.
fn run(name: &str, target: Target, input: &[u8], from: &str) -> Result<bool, String> {
    let survived = || {
        let before = PANICS.load(Ordering::Relaxed);
        let done = catch_unwind(AssertUnwindSafe(|| target(input)));
        done.ok().filter(|_| before == PANICS.load(Ordering::Relaxed))
    };
    let beside = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(is_accepted) = survived() {
        return Ok(is_accepted);
    }
    drop(beside);
    let _alone = ALONE.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(is_accepted) = survived() {
        return Ok(is_accepted);
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.input"));
    std::fs::write(&kept, input).unwrap();
    Err(format!("{name} does not survive {from}, kept as {}", kept.display()))
}

/// The case of a target that an input is of, by the number its name begins with.
fn case(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.split('-').next()?.parse().ok()
}

/// Every input of the corpus. A target that accepts none, of a case of its, tests nothing of it.
fn corpus_is_accepted(
    name: &str,
    target: Target,
    seeds: &[(PathBuf, Vec<u8>)],
) -> Result<(), String> {
    let mut accepted = BTreeMap::from([(None, false)]);
    for (path, input) in seeds {
        let is_accepted = run(name, target, input, &path.display().to_string())?;
        *accepted.entry(None).or_default() |= is_accepted;
        if CASES.contains(&name) {
            *accepted.entry(case(path)).or_default() |= is_accepted;
        }
    }
    match accepted.into_iter().find(|(_, is_accepted)| !is_accepted) {
        Some((case, _)) => Err(format!("{name} accepts no input of its corpus, case {case:?}")),
        None => Ok(()),
    }
}

/// The first input that a target does not survive.
fn replay(name: &str, target: Target) -> Result<(), String> {
    let seeds = corpus(name);
    corpus_is_accepted(name, target, &seeds)?;
    let mut numbers = Numbers(name.bytes().map(u64::from).sum());
    let mutations = std::env::var("RECHUNK_MUTATIONS").map_or(MUTATIONS, |n| n.parse().unwrap());
    (0..mutations).try_for_each(|number| {
        let input = mutated(&mut numbers, &seeds);
        run(name, target, &input, &format!("mutation {number}")).map(drop)
    })
}

#[test]
fn targets_survive_their_corpus_and_mutations_of_it() {
    count_panics();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failed = Vec::new();
        while let Some((name, target)) = TARGETS.get(next.fetch_add(1, Ordering::Relaxed)) {
            failed.extend(replay(name, *target).err());
        }
        failed
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failed: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
