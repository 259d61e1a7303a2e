//! One plan, many processes: parts of random shares, at once, twice and late. They die, are stopped
//! and meet a store that fails, and the end is called at any time.
//!
//! A seed says everything. `RECHUNK_SIM_SEEDS` is how many seeds to try, and `RECHUNK_SIM_SEED` one
//! alone, of which all is told.

mod bug;
mod crew;
mod ledger;
mod planted;
mod process;
mod scenario;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rechunk_testkit::SimStore;

use bug::Bug;
use crew::simulate;
use scenario::Scenario;

/// Seeds that an ordinary test run tries.
const SEEDS: u64 = 40;
/// Tests that share them, so that they run at once where there are cores.
const PARTS: u64 = 2;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Simulates a seed in a runtime of its own: a hash of all that happened, or what was wrong.
fn outcome(seed: u64, bug: Option<Bug>, disk: &SimStore) -> Result<u64, String> {
    let simulated = catch_unwind(AssertUnwindSafe(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        rechunk_store::draw_names_from(seed);
        runtime.block_on(simulate(Scenario::new(seed), disk.clone(), bug))
    }));
    simulated.unwrap_or_else(|_| Err("a panic, see above".to_owned()))
}

fn assert_seed(seed: u64, disk: &SimStore) -> u64 {
    match outcome(seed, None, disk) {
        Ok(trace) => trace,
        Err(error) => panic!(
            "seed {seed}: {error}\n\
             RECHUNK_SIM_SEED={seed} cargo test -p rechunk --test facade parts::one_seed"
        ),
    }
}

fn assert_seeds(part: u64) {
    let seeds = 0..number("RECHUNK_SIM_SEEDS").unwrap_or(SEEDS);
    for seed in seeds.filter(|seed| seed % PARTS == part) {
        assert_seed(seed, &SimStore::new(seed));
    }
}

#[test]
fn every_second_seed_from_0() {
    assert_seeds(0);
}

#[test]
fn every_second_seed_from_1() {
    assert_seeds(1);
}

/// Tells all that happens.
#[test]
fn one_seed() {
    let seed = number("RECHUNK_SIM_SEED").unwrap_or(0);
    let disk = SimStore::new(seed);
    disk.keep_log();
    let outcome = outcome(seed, None, &disk);
    disk.log().iter().for_each(|line| println!("{line}"));
    outcome.unwrap();
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..4 {
        let run = || assert_seed(seed, &SimStore::new(seed));
        assert_eq!(run(), run(), "seed {seed}");
    }
}
