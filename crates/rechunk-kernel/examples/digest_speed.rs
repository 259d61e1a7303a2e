//! Measures the speed of an array's digest, beside copying it: GB/s of one thread, the best of
//! several turns in which both take part.
//!
//! `cargo run --release -p rechunk-kernel --example digest_speed`
#![expect(clippy::disallowed_methods, reason = "it measures time")]
#![expect(clippy::print_stdout, reason = "a program that reports")]

use std::hint::black_box;
use std::time::Instant;

use rechunk_kernel::{DigestKeys, KernelError, copy_region};

const TURNS: usize = 15;

/// A chunk in a larger array: its shape, the bytes of an element, the order of its axes in memory.
struct Chunk {
    name: &'static str,
    shape: Vec<u64>,
    item_bytes: usize,
    is_fortran: bool,
    swaps: bool,
}

impl Chunk {
    fn strides_bytes(&self) -> Vec<u64> {
        let mut strides = vec![0; self.shape.len()];
        let mut stride = u64::try_from(self.item_bytes).unwrap_or(1);
        let mut axes: Vec<usize> = (0..self.shape.len()).collect();
        if !self.is_fortran {
            axes.reverse();
        }
        for axis in axes {
            strides[axis] = stride;
            stride *= self.shape[axis];
        }
        strides
    }
}

/// GB/s of a job on `bytes`.
fn speed(bytes: usize, job: impl FnOnce() -> Result<(), KernelError>) -> Result<f64, KernelError> {
    let started = Instant::now();
    job()?;
    Ok(bytes as f64 / started.elapsed().as_secs_f64() / 1e9)
}

fn main() -> Result<(), KernelError> {
    let chunk = |name, shape: &[u64], item_bytes, is_fortran, swaps| Chunk {
        name,
        shape: shape.to_vec(),
        item_bytes,
        is_fortran,
        swaps,
    };
    let chunks = [
        chunk("f32, one run", &[16 << 20], 4, false, false),
        chunk("u8, one run", &[64 << 20], 1, false, false),
        chunk("f64, one run", &[8 << 20], 8, false, false),
        chunk("f32, 256 x 256 x 256", &[256, 256, 256], 4, false, false),
        chunk("f32, 256 x 256 x 256, Fortran order", &[256, 256, 256], 4, true, false),
        chunk("f32, 256 x 256 x 256, big-endian", &[256, 256, 256], 4, false, true),
        chunk("u8, 256 x 256 x 1024, Fortran order", &[256, 256, 1024], 1, true, false),
        chunk("f32, rows of 4", &[4 << 20, 4], 4, false, false),
        chunk("u8, rows of 3", &[16 << 20, 3], 1, false, false),
        chunk("c128, 1024 x 4096", &[1024, 4096], 16, false, false),
    ];
    println!("{:38} {:>8} {:>8} {:>8}  ratio", "", "memcpy", "copy", "digest");
    for chunk in chunks {
        let strides = chunk.strides_bytes();
        let elements: u64 = chunk.shape.iter().product();
        let bytes = usize::try_from(elements).unwrap_or(0) * chunk.item_bytes;
        let source: Vec<u8> = (0..=250).cycle().take(bytes).collect();
        let mut target = vec![0; bytes];
        let keys = DigestKeys::new(chunk.shape.len(), chunk.item_bytes);
        let start: Vec<u64> = chunk.shape.iter().map(|extent| extent * 3).collect();
        let swap_bytes = if chunk.swaps { chunk.item_bytes } else { 1 };
        let (mut memcpy, mut copy, mut digest) = (0_f64, 0_f64, 0_f64);
        for _ in 0..TURNS {
            memcpy = memcpy.max(speed(bytes, || {
                target.copy_from_slice(black_box(&source));
                Ok(())
            })?);
            let (shape, item_bytes) = (&chunk.shape, chunk.item_bytes);
            copy = copy.max(speed(bytes, || {
                let source = black_box(&source);
                let target = &mut target;
                copy_region(item_bytes, shape, source, 0, &strides, target, 0, &strides, swap_bytes)
            })?);
            digest = digest.max(speed(bytes, || {
                let found = keys.region(&start, shape, black_box(&source), 0, &strides, swap_bytes);
                black_box(found).map(drop)
            })?);
        }
        let ratio = digest / memcpy;
        println!("{:38} {memcpy:8.2} {copy:8.2} {digest:8.2}  {ratio:.2}", chunk.name);
    }
    Ok(())
}
