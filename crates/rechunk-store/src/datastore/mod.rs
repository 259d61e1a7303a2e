//! Data sets of a server that speaks the REST dialect of the HPC Datastore, as arrays of N5.
//!
//! A location names a level of a version. Its description becomes an `attributes.json`, and each of
//! its blocks an object of that dataset, so that all that reads and writes N5 does so here. Blocks
//! that are wanted at one moment are asked for together.

mod answer;
mod client;
mod connect;
mod description;
mod fault;
mod level;
mod location;
mod queue;
mod reads;
mod server;
mod sizes;
mod writes;

pub(crate) use connect::connect;
pub(crate) use fault::{is_missing_dataset, token_hint};
pub(crate) use location::LevelLocation;
