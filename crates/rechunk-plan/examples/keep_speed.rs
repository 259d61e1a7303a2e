//! Measures the time of the search for a keep schedule, the best of five: `cargo run --release -p
//! rechunk-plan --example keep_speed`.
#![expect(clippy::disallowed_methods, reason = "it measures time")]
#![expect(clippy::print_stdout, reason = "it is what the example is for")]

use std::time::Instant;

use rechunk_plan::keep::{KeepError, Problem, search};

type Case = (&'static str, &'static [u64], &'static [u64], &'static [u64], u64, u64);

const GB: u64 = 1_000_000_000;
/// Configurations of the published measurements, and larger arrays; what, shape, source file,
/// target file, bytes of an element, memory in bytes.
const CASES: [Case; 24] = [
    ("3500 cfg 0", &[3500; 3], &[875; 3], &[875, 1750, 875], 2, 8 * GB),
    ("3500 cfg 1", &[3500; 3], &[875; 3], &[700, 875, 700], 2, 8 * GB),
    ("3500 cfg 1", &[3500; 3], &[875; 3], &[700, 875, 700], 2, 4 * GB),
    ("3500 cfg 2", &[3500; 3], &[350; 3], &[500; 3], 2, 8 * GB),
    ("3500 cfg 2", &[3500; 3], &[350; 3], &[500; 3], 2, 4 * GB),
    ("3500 cfg 3", &[3500; 3], &[350; 3], &[250; 3], 2, 4 * GB),
    ("3500 cfg 4", &[3500; 3], &[175; 3], &[250; 3], 2, 4 * GB),
    ("3500 cfg 4", &[3500; 3], &[175; 3], &[250; 3], 2, GB / 2),
    ("3500 cfg 5", &[3500; 3], &[350, 875, 350], &[500, 875, 500], 2, 4 * GB),
    ("3500 cfg 6", &[3500; 3], &[350, 875, 350], &[350, 500, 350], 2, 4 * GB),
    ("8000 cfg 2", &[8000; 3], &[800; 3], &[1000; 3], 2, 8 * GB),
    ("8000 cfg 3", &[8000; 3], &[800; 3], &[500; 3], 2, 8 * GB),
    ("8000 cfg 4", &[8000; 3], &[400; 3], &[500; 3], 2, GB / 2),
    ("8000 cfg 4", &[8000; 3], &[400; 3], &[500; 3], 2, GB / 8),
    ("BigBrain", &[3500, 3025, 3850], &[700, 605, 770], &[3500, 3025, 3850], 2, 12 << 30),
    ("BigBrain", &[3500, 3025, 3850], &[700, 605, 770], &[3500, 3025, 3850], 2, 3 << 30),
    ("satellite", &[6443, 17999, 36000], &[1, 17999, 36000], &[6443, 100, 100], 2, 2 * GB),
    ("satellite", &[6443, 17999, 36000], &[1, 17999, 36000], &[6443, 100, 100], 2, 200 * GB),
    ("satellite", &[6443, 17999, 36000], &[1, 17999, 36000], &[6443, 100, 100], 2, 10_000_000),
    ("coprime", &[4001, 4003, 4007], &[101, 103, 107], &[89, 97, 83], 4, GB / 4),
    ("4-D", &[120, 500, 721, 1440], &[1, 10, 721, 1440], &[120, 500, 20, 20], 4, 2 * GB),
    ("5-D", &[20, 30, 200, 300, 400], &[1, 3, 64, 64, 400], &[20, 7, 50, 50, 50], 4, GB),
    ("8-D", &[9; 8], &[2; 8], &[3; 8], 4, 10_000_000),
    ("1-D", &[1_000_000_000_000], &[1_000_003], &[999_983], 8, 5_000_000),
];

fn main() -> Result<(), KeepError> {
    for (name, shape, source, target, item_bytes, memory_bytes) in CASES {
        let problem = Problem::in_c_order(shape, source, target, item_bytes, memory_bytes);
        let mut milliseconds = f64::INFINITY;
        let mut found = search(&problem)?;
        for _ in 0..5 {
            let began = Instant::now();
            found = search(&problem)?;
            milliseconds = milliseconds.min(began.elapsed().as_secs_f64() * 1e3);
        }
        println!(
            "{name:11} {:6.2} GB {milliseconds:7.2} ms {:9} seeks, {:6.3} GB, {:?} kept {:?}",
            memory_bytes as f64 / 1e9,
            found.counts.seeks(),
            found.memory_bytes as f64 / 1e9,
            found.schedule.buffer,
            found.schedule.kept,
        );
    }
    Ok(())
}
