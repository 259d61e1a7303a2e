//! Many seeds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rechunk_testkit::SimStore;

use crate::drive::{Bug, simulate, simulate_on};

/// Seeds that an ordinary test run tries.
const SEEDS: u64 = 2000;
/// Tests that share them, so that they run at once where there are cores.
const PARTS: u64 = 4;

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Simulates a seed; a panic is a failure too.
pub(crate) fn outcome(seed: u64, bug: Option<Bug>) -> Result<u64, String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| simulate(seed, bug)));
    outcome.unwrap_or_else(|_| Err("a panic, see above".to_owned()))
}

fn assert_seed(seed: u64) -> u64 {
    match outcome(seed, None) {
        Ok(trace) => trace,
        Err(error) => panic!(
            "seed {seed}: {error}\n\
             RECHUNK_SIM_SEED={seed} cargo test -p rechunk-exec --test sim one_seed"
        ),
    }
}

fn assert_part(part: u64) {
    if number("RECHUNK_SIM_SEED").is_some() {
        return;
    }
    let first = number("RECHUNK_SIM_FIRST").unwrap_or(0);
    let last = first + number("RECHUNK_SIM_SEEDS").unwrap_or(SEEDS);
    for seed in (first..last).filter(|seed| seed % PARTS == part) {
        assert_seed(seed);
    }
}

#[test]
fn every_fourth_seed_from_0() {
    assert_part(0);
}

#[test]
fn every_fourth_seed_from_1() {
    assert_part(1);
}

#[test]
fn every_fourth_seed_from_2() {
    assert_part(2);
}

#[test]
fn every_fourth_seed_from_3() {
    assert_part(3);
}

/// Tells all that happens.
#[test]
fn one_seed() {
    let seed = number("RECHUNK_SIM_SEED").unwrap_or(0);
    let disk = SimStore::new(seed);
    disk.keep_log();
    let outcome = simulate_on(seed, None, &disk);
    disk.log().iter().for_each(|line| println!("{line}"));
    outcome.unwrap();
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..100 {
        assert_eq!(assert_seed(seed), assert_seed(seed), "seed {seed}");
    }
    assert_ne!(assert_seed(1), assert_seed(2));
}
