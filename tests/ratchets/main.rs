//! Holds what the sources have reached: each number may only become better, never worse.
//!
//! Every test compares the sources with a table in `tests/ratchets/tables`. It fails where a number
//! is above its ceiling, and also where it is below: `RECHUNK_BLESS=1` then lowers the ceiling.
//! Only a hand may raise one, and its commit says why. Nothing is compiled for this but the test
//! itself, so `cargo test --workspace --test ratchets` takes seconds after any change.

#[cfg(test)]
mod circles;
#[cfg(test)]
mod english;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod length;
#[cfg(test)]
mod options;
#[cfg(test)]
mod public_api;
#[cfg(test)]
mod signatures;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod table;
