//! Measures the kernels of `rechunk-kernel` against `memcpy` of the same bytes: `just
//! bench-kernels`.
//!
//! Each kernel moves the same number of bytes as the copy it is compared with, in buffers that stay
//! in the second-level cache (what a chunk is that was just decoded) and in some that do not. The
//! best of many turns counts: what disturbs a turn makes it slower, never faster. The last column
//! is the share of memcpy's bandwidth; a kernel below what is promised for it is marked.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use rechunk_kernel::{KernelError, copy_region, fill, fill_region, is_all};

/// Bytes that are moved: inside the second-level cache, and outside of all.
const SIZES: [(&str, usize); 2] = [("cache", 128 << 10), ("memory", 64 << 20)];
/// Bytes between two runs of a box, for each byte of a run: a box of half the width of its chunk.
const PITCH: usize = 2;
/// Shortest time for which a kernel is repeated.
const REPEATED: Duration = Duration::from_millis(200);

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:32} {:>8} {:>10} {:>8}  promised", "kernel", "in", "GB/s", "of copy")?;
    for (place, bytes) in SIZES {
        let mut bench = Bench::new(place, bytes);
        bench.line(&mut out, "memcpy", 1.0, |bytes, source, target| {
            target[..bytes].copy_from_slice(&source[..bytes]);
            Ok(())
        })?;
        for run in [2, 3, 4, 8, 12, 16, 20, 28, 60, 64, 256, 300, 1000, 4096] {
            // Asked is 1 / 1.5 of memcpy for runs of 256 bytes and more, 40 % at 8. Runs that take
            // two moves each are promised nothing.
            let promised = match run {
                256.. => 1.0 / 1.5,
                8 | 16 | 28.. => 0.4,
                _ => 0.0,
            };
            bench.line(
                &mut out,
                &format!("gather, runs of {run} B"),
                promised,
                |bytes, s, t| boxes(bytes, run, (s, run * PITCH), (t, run), 1),
            )?;
            bench.line(
                &mut out,
                &format!("scatter, runs of {run} B"),
                promised,
                |bytes, s, t| boxes(bytes, run, (s, run), (t, run * PITCH), 1),
            )?;
        }
        for run in [8, 20, 60, 300] {
            bench.line(&mut out, &format!("fill, runs of {run} B"), 0.0, |bytes, _, t| {
                let (shape, strides) =
                    ([(bytes / run) as u64, run as u64], [(run * PITCH) as u64, 1]);
                fill_region(&[7], &shape, t, 0, &strides)
            })?;
        }
        for run in [20, 60, 300] {
            bench.line(
                &mut out,
                &format!("byte-swap, 2 B, runs of {run} B"),
                0.0,
                |bytes, s, t| boxes(bytes, run, (s, run * PITCH), (t, run), 2),
            )?;
        }
        for item in [2, 4, 8] {
            bench.line(&mut out, &format!("byte-swap, {item} B"), 0.4, |bytes, s, t| {
                let (n, stride) = ([(bytes / item) as u64], [item as u64]);
                copy_region(item, &n, s, 0, &stride, t, 0, &stride, item)
            })?;
        }
        for item in [1, 2, 4, 8] {
            bench.line(&mut out, &format!("transpose, {item} B"), 0.0, |bytes, s, t| {
                transpose(bytes, item, s, t)
            })?;
        }
        bench.line(&mut out, "fill, 4 B", 0.4, |bytes, _, target| {
            fill(&[1, 2, 3, 4], &mut target[..bytes]);
            Ok(())
        })?;
        bench.source.fill(7);
        bench.line(&mut out, "is all fill, 4 B", 0.4, |bytes, source, _| {
            black_box(is_all(&[7; 4], &source[..bytes]));
            Ok(())
        })?;
    }
    Ok(())
}

/// Copies rows of `run` bytes, which begin so many bytes apart on each side, in elements of `item`
/// bytes that are swapped.
fn boxes(
    bytes: usize,
    run: usize,
    (source, source_pitch): (&[u8], usize),
    (target, target_pitch): (&mut [u8], usize),
    item: usize,
) -> Result<(), KernelError> {
    let shape = [(bytes / run) as u64, (run / item) as u64];
    let strides = |pitch: usize| [pitch as u64, item as u64];
    let (from, to) = (strides(source_pitch), strides(target_pitch));
    copy_region(item, &shape, source, 0, &from, target, 0, &to, item)
}

/// Copies a square whose rows are the columns of the other side.
fn transpose(
    bytes: usize,
    item: usize,
    source: &[u8],
    target: &mut [u8],
) -> Result<(), KernelError> {
    let edge = (bytes / item).isqrt() as u64;
    let (item_bytes, row) = (item as u64, edge * item as u64);
    copy_region(
        item,
        &[edge, edge],
        source,
        0,
        &[row, item_bytes],
        target,
        0,
        &[item_bytes, row],
        1,
    )
}

struct Bench {
    place: &'static str,
    bytes: usize,
    source: Vec<u8>,
    target: Vec<u8>,
    /// What memcpy takes.
    copy: Option<Duration>,
}

impl Bench {
    fn new(place: &'static str, bytes: usize) -> Self {
        let source = (0..bytes * PITCH).map(|n| n.to_le_bytes()[0]).collect();
        Self { place, bytes, source, target: vec![1; bytes * PITCH], copy: None }
    }

    /// Measures `kernel` and writes what it took.
    fn line(
        &mut self,
        out: &mut impl Write,
        name: &str,
        promised: f64,
        kernel: impl Fn(usize, &[u8], &mut [u8]) -> Result<(), KernelError>,
    ) -> io::Result<()> {
        let (began, mut best) = (Instant::now(), Duration::MAX);
        while began.elapsed() < REPEATED {
            let turn = Instant::now();
            kernel(self.bytes, black_box(&self.source), &mut self.target)
                .map_err(io::Error::other)?;
            best = best.min(turn.elapsed());
            black_box(&self.target);
        }
        let copy = *self.copy.get_or_insert(best);
        let share = copy.as_secs_f64() / best.as_secs_f64();
        let rate = self.bytes as f64 / best.as_secs_f64() / 1e9;
        let verdict = if share < promised { "  MISSED" } else { "" };
        let place = self.place;
        writeln!(out, "{name:32} {place:>8} {rate:10.1} {share:8.2}  {promised:.2}{verdict}")
    }
}
