//! Runs a plan within its budget, resumably, and reports what happened.
//!
//! [`run`] takes an [`Execution`] (a plan, the arrays and the stores) through the stages of the
//! plan. A task takes its whole memory from a gate before it starts and waits for memory nowhere
//! else; within it as many *lanes* as the plan says each fetch, decode and copy one input chunk,
//! or encode and store one finished output chunk. All CPU work is done on a pool of its own.
//!
//! A [`Journal`] records which tasks are done, after what they wrote is durable. An [`Observer`]
//! is told what happens. Requests and bytes are counted by the meter of the stores.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files and look at them"))]

mod ahead;
mod announce;
mod announced;
mod begin;
mod begun_steps;
mod busy_tasks;
mod by_slab;
mod check;
mod commit;
mod context;
mod cpu;
mod decode;
mod digest;
mod error;
mod event;
mod execution;
mod flow;
mod frame;
mod gaps;
mod gate;
mod gather;
mod in_place;
mod input;
mod journal;
mod kept;
mod lane;
mod loans;
mod local_jobs;
mod missing;
mod passthrough;
mod piece_checksum;
mod piece_place;
mod pieces;
mod plain;
mod pool;
mod run;
mod runs;
mod shards;
mod slabs;
mod slot;
mod source;
mod spread;
mod stage_run;
mod step_marks;
mod store_copies;
mod stored;
mod take_in;
mod target;
mod task;
mod tasks;
mod unit;
mod whole_shards;
mod workers;

pub use digest::ArrayDigest;
pub use error::{ExecError, Fault};
pub use event::{Event, NullObserver, Observer};
pub use execution::{Differences, Execution, RunReport, Sink};
pub use journal::{
    DoneSet, JOURNAL_KEY, JOURNAL_VERSION, Journal, JournalContents, JournalError, JournalHeader,
    SEGMENTS,
};
pub use piece_place::intermediate_keys;
pub use run::run;
