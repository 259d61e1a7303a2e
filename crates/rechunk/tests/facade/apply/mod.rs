//! Chunk-wise apply through the public library: what it writes, counts, resumes and refuses.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

mod case;
mod counts;
mod deferred;
mod function;
mod interrupted;
mod parts;
mod reference;
mod refused;
mod rules;
mod updated;
mod values;
mod volume;
