//! Peak of resident memory, as the operating system counts it. It stays within the allowed memory
//! and 48 MiB (60 of a program that is not optimised), whatever the shapes, the plan and the
//! threads. Arrays are larger than the budget.

use std::collections::BTreeMap;
use std::path::Path;

use crate::arrays::RawArray;
use crate::harness::{Folder, Run, rechunk};
use crate::report::{assert_done, number, text};

const MIB: u64 = 1 << 20;
/// Beyond the budget: code, stacks, the runtime, what the allocator keeps. Code that is not
/// optimised is twice as long, and the pages of it that have run count.
pub(crate) const BEYOND_BYTES: u64 = if cfg!(debug_assertions) { 60 * MIB } else { 48 * MIB };

/// One measured copy.
#[derive(Debug, Clone, Copy)]
struct Cell {
    source: &'static str,
    chunks: &'static str,
    shards: &'static str,
    strategy: &'static str,
    codec: &'static str,
    budget_mib: u64,
    threads: &'static str,
    /// Name of the target, which says its format, and more options.
    target: &'static str,
    options: &'static [&'static str],
}

#[rustfmt::skip]
const fn cell(
    source: &'static str, chunks: &'static str, strategy: &'static str, codec: &'static str,
    budget_mib: u64, threads: &'static str,
) -> Cell {
    let (target, options) = ("target", &[]);
    Cell { source, chunks, shards: "none", strategy, codec, budget_mib, threads, target, options }
}

/// A cell with another format.
const fn to(target: &'static str, options: &'static [&'static str], cell: Cell) -> Cell {
    Cell { target, options, shards: "", ..cell }
}

/// A cell with a sharded target.
const fn sharded(shards: &'static str, cell: Cell) -> Cell {
    Cell { shards, ..cell }
}

/// 360 MiB of float32 in time slices, uncompressed; the same in two codecs; 320 MiB in cubes.
const SLICES: [u64; 3] = [360, 512, 512];
const CUBES: [u64; 3] = [400, 640, 640];

#[rustfmt::skip]
const QUICK: [Cell; 16] = [
    cell("raw",   "-1,32,32",    "auto",        "none",                64,   "16"),
    cell("raw",   "-1,32,32",    "multistage",  "none",                64,   "16"),
    cell("raw",   "100,100,100", "keep",        "none",                128,  "16"),
    cell("raw",   "keep",        "passthrough", "none",                64,   "16"),
    // One chunk of 360 MiB, of which tasks read what they take.
    cell("plain", "20,64,64",    "auto",        "none",                64,   "16"),
    cell("zstd",  "-1,32,32",    "push-pull",   "zstd:3",              64,   "16"),
    cell("cubes", "1,640,640",   "auto",        "zstd:1",              64,   "16"),
    // One shard of 360 MiB; shards taken apart, re-cut, and passed through.
    sharded("-1",          cell("raw",    "20,64,64",  "auto",        "zstd:1", 64,  "16")),
    sharded("90,512,512",  cell("shards", "keep",      "passthrough", "zstd:1", 64,  "16")),
    sharded("none",        cell("shards", "-1,32,32",  "auto",        "none",   64,  "16")),
    sharded("360,64,512",  cell("shards", "9,32,32",   "keep",        "zstd:1", 96,  "1")),
    sharded("none",        cell("big",    "10,50,50",  "auto",        "zstd:1", 64,  "16")),
    // Other formats. Raw files are moved in runs of bytes, through buffers of what is allowed.
    sharded("90,256,256",  cell("n5",     "10,64,64",  "auto",        "zstd:1", 64,  "16")),
    to("target.n5", &[],                     cell("raw",    "-1,32,32",  "auto", "gzip:1", 64,  "16")),
    to("target", &["--format", "raw"],       cell("files",  "90,90,90",  "auto", "none",   64,  "16")),
    // Its pieces have sizes that change from buffer to buffer, some of them more than the last.
    to("target", &["--format", "raw"],       cell("whole.npy", "75,75,75", "auto", "none", 64, "16")),
];

/// Beside them, where there is time.
#[rustfmt::skip]
const SLOWER: [Cell; 13] = [
    cell("raw",   "-1,32,32",    "push-pull",   "none",                64,   "1"),
    cell("zstd",  "-1,32,32",    "auto",        "gzip:1",              128,  "1"),
    cell("zstd",  "8,512,512",   "direct",      "zstd:1",              96,   "16"),
    cell("blosc", "90,90,90",    "keep",        "blosc:lz4:5:shuffle", 192,  "1"),
    cell("cubes", "-1,20,20",    "pull",        "none",                96,   "16"),
    cell("cubes", "400,64,64",   "memory",      "none",                1024, "16"),
    sharded("-1,128,128",  cell("zstd",   "-1,32,32",  "push-pull",   "zstd:1", 64,  "16")),
    to("target", &["--format", "raw"],       cell("files",  "360,32,512", "auto", "none",  96,  "1")),
    cell("raw",   "-1,16,512",   "pull",        "none",                64,   "16"),
    cell("blosc", "-1,32,32",    "push-pull",   "blosc:lz4:5:shuffle", 128,  "16"),
    to("target.npy", &[],                    cell("files",  "keep",      "auto", "none",   64,  "16")),
    to("target.nii.gz", &[],                 cell("files",  "keep",      "auto", "none",   64,  "16")),
    sharded("none",        cell("packed.nii.gz", "32,64,64", "auto",  "zstd:1", 64,  "16")),
];

/// Sources, made when they are first needed: raw by a writer here, the others from it by ourselves.
struct Sources {
    folder: Folder,
    made: BTreeMap<&'static str, String>,
}

impl Sources {
    fn path(&mut self, name: &'static str) -> String {
        if let Some(path) = self.made.get(name) {
            return path.clone();
        }
        let path = self.folder.at(name);
        match name {
            "raw" => RawArray::v3(&SLICES, &[4, 512, 512]).write(&path),
            "plain" => RawArray::v3(&SLICES, &SLICES).write(&path),
            // 16 shards of 22 MiB, and one of 360 MiB.
            "shards" | "big" => {
                let shards = if name == "big" { "-1" } else { "90,256,256" };
                let raw = self.path("raw");
                let options = ["--chunks", "10,64,64", "--shards", shards, "--codec", "zstd:1"];
                let copy = ["copy", &raw, &path, "--no-fsync"];
                rechunk(&[&copy[..], &options].concat()).ok();
            }
            "n5" => {
                let raw = self.path("raw");
                let options = ["--format", "n5", "--codec", "gzip:1", "--chunks", "8,128,128"];
                rechunk(&[&["copy", &raw, &path, "--no-fsync"], &options[..]].concat()).ok();
            }
            "files" => {
                let raw = self.path("raw");
                let options = ["--format", "raw", "--codec", "none", "--chunks", "60,128,512"];
                rechunk(&[&["copy", &raw, &path, "--no-fsync"], &options[..]].concat()).ok();
            }
            "packed.nii.gz" | "whole.npy" => {
                let raw = self.path("raw");
                rechunk(&["copy", &raw, &path, "--codec", "none", "--no-fsync"]).ok();
            }
            "cubes" => RawArray::v2(&CUBES, &[64, 64, 64]).of_uint16().write(&path),
            _ => {
                let codec = if name == "zstd" { "zstd:1" } else { "blosc:lz4:5:shuffle" };
                let raw = self.path("raw");
                rechunk(&["copy", &raw, &path, "--codec", codec, "--no-fsync"]).ok();
            }
        }
        self.made.insert(name, path.clone());
        path
    }
}

/// Bytes that a cell is allowed: its budget, or the least that its plan needs where that is more.
fn allowed_bytes(cell: Cell, source: &str, target: &str) -> u64 {
    let budget = cell.budget_mib * MIB;
    let planned = rechunk(
        &[&plan(cell, "plan", source, target)[..], &["--max-mem", &budget.to_string()]].concat(),
    );
    if planned.code == 0 {
        return budget;
    }
    let stderr = planned.ends_with(5).stderr;
    let (_, hint) = stderr.split_once("--max-mem ").expect("a hint names the minimum");
    let digits: String = hint.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

fn plan<'a>(cell: Cell, command: &'a str, source: &'a str, target: &'a str) -> Vec<&'a str> {
    #[rustfmt::skip]
    let arguments = [
        command, source, target, "--chunks", cell.chunks, "--strategy", cell.strategy, "--codec", cell.codec,
        "--threads", cell.threads, "--json",
    ];
    let shards = if cell.shards.is_empty() { Vec::new() } else { vec!["--shards", cell.shards] };
    [&arguments[..], &shards, cell.options].concat()
}

/// Runs one cell; a line about it, and whether it kept to its budget.
fn measure(cell: Cell, source: &str, folder: &Folder) -> (String, bool) {
    let target = folder.at(cell.target);
    let allowed_bytes = allowed_bytes(cell, source, &target);
    let budget = allowed_bytes.to_string();
    let copy = plan(cell, "copy", source, &target);
    let (done, peak_bytes) =
        Run::rechunk(&[&copy[..], &["--max-mem", &budget, "--no-fsync"]].concat()).go_measured();
    let report = done.ok().json();
    assert_done(&report);
    let (said, planned) =
        (number(&report, "memory.peak_rss_bytes"), number(&report, "memory.planned_peak_bytes"));
    // What it says of itself is what the operating system says; a page or two come at the end.
    assert!(said.abs_diff(peak_bytes) < 4 * MIB, "{cell:?}: it says {said}, measured {peak_bytes}");
    let verify = ["verify", source, &target, "--max-mem", &budget, "--threads", cell.threads];
    let (done, verify_peak_bytes) = Run::rechunk(&verify).go_measured();
    done.ok();
    if Path::new(&target).is_dir() {
        std::fs::remove_dir_all(&target).unwrap();
    } else {
        std::fs::remove_file(&target).unwrap();
    }
    let limit_bytes = allowed_bytes + BEYOND_BYTES;
    let line = format!(
        "{:>6} → {:<11} shards {:<10} {:<11} {:<19} {:>2} threads: {:>4} MiB allowed, {:>4} planned, {:>4} at its peak, verify {:>4}",
        cell.source,
        cell.chunks,
        cell.shards,
        text(&report, "plan.kind"),
        cell.codec,
        cell.threads,
        allowed_bytes / MIB,
        planned / MIB,
        peak_bytes / MIB,
        verify_peak_bytes / MIB,
    );
    (line, peak_bytes <= limit_bytes && verify_peak_bytes <= limit_bytes)
}

fn stays_within(cells: &[Cell]) {
    let folder = Folder::new();
    let mut sources = Sources { folder: Folder::new(), made: BTreeMap::new() };
    let mut over = 0;
    for &cell in cells {
        let (line, is_within) = measure(cell, &sources.path(cell.source), &folder);
        println!("{line}{}", if is_within { "" } else { "   OVER" });
        over += usize::from(!is_within);
    }
    let (all, beyond) = (cells.len(), BEYOND_BYTES / MIB);
    assert_eq!(over, 0, "{over} of {all} copies took more than was allowed and {beyond} MiB");
}

#[test]
fn copies_stay_within_their_budget() {
    stays_within(&QUICK);
}

/// Every source, chunking, strategy that applies, budget and thread count: `just test-memory`.
#[test]
#[ignore = "long: an hour"]
fn every_copy_stays_within_its_budget() {
    let mut cells = SLOWER.to_vec();
    for source in ["raw", "zstd", "blosc", "cubes"] {
        for (chunks, strategy) in [
            ("-1,32,32", "push-pull"),
            ("-1,32,32", "auto"),
            ("-1,32,32", "multistage"),
            ("100,100,100", "keep"),
            ("-1,16,64", "pull"),
            ("7,300,200", "auto"),
        ] {
            for budget_mib in [96, 192, 384, 1024] {
                for threads in ["1", "16"] {
                    cells.push(cell(source, chunks, strategy, "zstd:1", budget_mib, threads));
                }
            }
        }
    }
    stays_within(&cells);
}
