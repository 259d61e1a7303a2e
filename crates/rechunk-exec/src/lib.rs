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

mod begin;
mod check;
mod cpu;
mod error;
mod event;
mod execution;
mod fill;
mod gaps;
mod journal;
mod memory;
mod op;
mod pyramid;
mod raw_runs;
mod regions;
mod run;
mod stage;
mod steps;
mod task_range;
mod tasks;
mod units;
mod variable;
mod ways_in;
mod ways_out;
mod windows;

pub use error::{ExecError, Fault};
pub use event::{Event, NullObserver, Observer};
pub use execution::{ArrayDigest, Differences, Execution, RunReport, Sink};
pub use journal::{
    DoneSet, JOURNAL_KEY, JOURNAL_VERSION, Journal, JournalContents, JournalError, JournalHeader,
    SEGMENTS,
};
pub use op::{Op, OpElements};
pub use pyramid::levels::LevelArrays;
pub use run::run;
pub use stage::piece_place::{intermediate_key, intermediate_keys};
pub use task_range::TaskRange;
pub use windows::window_op::{WindowCall, WindowInput, WindowOp, Windows};
