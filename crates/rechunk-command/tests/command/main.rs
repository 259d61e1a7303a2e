//! Commands as users write them, with programs that do well and programs that do not.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests make files, and bound the time they take")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

mod contract;
mod files;
mod fixtures;
mod limits;
mod misbehaviour;
mod oracle;
mod persistent;
mod refusals;
