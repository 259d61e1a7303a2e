//! Runs plans on tiny arrays and compares with the naive way of doing it.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

#[cfg(target_os = "linux")]
mod announced;
mod bit_flips;
mod by_slab;
mod case;
mod compare;
mod faults;
mod gaps;
mod journal;
mod layout;
mod lent_lanes;
mod limits;
mod narrow;
mod op;
mod oracle;
mod ranges;
mod run_case;
mod runs;
mod slow_disk;
mod store_copies;
mod strategies;
