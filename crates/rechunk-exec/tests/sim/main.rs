//! The real executor and journal on a simulated store, under a clock that does not run.
//!
//! A seed says everything: the array, the plan, how long calls take, what goes wrong with them, and
//! where the process dies. After every run that ends, whichever way, what is stored is checked
//! ([`check`]). `RECHUNK_SIM_SEEDS` is how many seeds to try, `RECHUNK_SIM_FIRST` the first of
//! them, and `RECHUNK_SIM_SEED` one alone.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

mod ahead;
#[path = "../exec/case.rs"]
#[expect(dead_code, reason = "shared with the other tests, which use all of it")]
mod case;
mod check;
mod drive;
mod expected;
mod late;
#[path = "../exec/layout.rs"]
mod layout;
mod many;
mod planted;
mod scenario;
