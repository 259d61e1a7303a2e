//! A simulated object store: one thread, a paused clock, everything by a seed.
//!
//! [`SimStore`] is what would be on the servers or on the disk. Whoever uses it does so through a
//! [`SimClient`], an `object_store` that stands for one process: it can die at any of its calls,
//! before or after the call has its effect, and be paused.

mod client;
mod dice;
mod disk;
mod faults;
mod read;
mod write;

pub use client::{End, SimClient};
pub use dice::Dice;
pub use disk::SimStore;
pub use faults::SimFaults;
