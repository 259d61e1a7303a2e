//! A model of a job of a million tasks that a thousand workers divide. Shares, marks and journals
//! are the real ones, on a simulated store; tasks are no more than their numbers.
//!
//! `RECHUNK_SIM_SEEDS` is how many hundreds of seeds to try, and `RECHUNK_SIM_SEED` one alone.
#![expect(clippy::disallowed_methods, reason = "a seed may be given in the environment")]

mod bug;
mod job;
mod ledger;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};

use bug::Bug;
use job::ModelJob;

/// Seeds that an ordinary test run tries.
const SEEDS: u64 = 1;
const WORKERS: u64 = 1000;
/// Workers where a bug is looked for.
const FEW: u64 = 24;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Simulates a seed: how often it was that a worker had to do what another had begun, or what was
/// wrong.
fn outcome(seed: u64, workers: u64, bug: Option<Bug>) -> Result<u64, String> {
    let simulated = catch_unwind(AssertUnwindSafe(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(ModelJob::new(seed, workers, bug).simulate())
    }));
    simulated.unwrap_or_else(|_| Err("a panic, see above".to_owned()))
}

#[test]
fn a_million_tasks_are_done_by_a_thousand_workers() {
    let seeds = match number("RECHUNK_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("RECHUNK_SIM_SEEDS").map_or(SEEDS, |seeds| seeds / 100),
    };
    for seed in seeds {
        let done = outcome(seed, WORKERS, None);
        assert!(done.is_ok(), "seed {seed}: {done:?}");
    }
}

#[test]
fn few_workers_do_them_in_many_ways() {
    let mut gone_on_with = 0;
    for seed in 0..15 {
        let done = outcome(seed, FEW, None);
        gone_on_with += done.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(gone_on_with > 1, "workers went on with others {gone_on_with} times");
}

/// Finds a bug: the words of the first seed that does.
fn found(bug: Bug) -> String {
    let found = |seed| outcome(seed, FEW, Some(bug)).err();
    (0..40).find_map(found).unwrap_or_else(|| panic!("{bug:?} is not found"))
}

#[test]
fn planted_bugs_are_found() {
    for (bug, words) in [
        (Bug::ShareLosesLast, "are not done when all shares are"),
        (Bug::MarkBeforeTasks, "is not done"),
        (Bug::SkipsOpen, "when the parts were closed"),
        (Bug::ReadsNoJournals, "done"),
        (Bug::EndsAtOnce, "not done"),
    ] {
        let said = found(bug);
        assert!(said.contains(words), "{bug:?}: {said}");
    }
}
