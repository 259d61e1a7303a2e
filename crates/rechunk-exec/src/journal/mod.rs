//! The journal: which tasks are done, so that a run that was killed can go on.
//!
//! Lines, in a local file or in numbered objects ([`log`]). The first says which plan the tasks are
//! numbered by, each of the others marks tasks (or steps of a task) as done, or says that tasks
//! are to be done again; every line ends with a checksum of itself. A mark is written only after
//! what it stands for is durable (see [`writer`]), so a line that can be read can be believed. A
//! damaged line costs what it marks, which is done again.

mod contents;
mod done;
mod error;
mod line;
mod log;
mod open;
mod reader;
mod writer;

pub use contents::JournalContents;
pub use done::DoneSet;
pub use error::JournalError;
pub use line::{JOURNAL_VERSION, JournalHeader};
pub(crate) use line::{Mark, STEP_MARK_INTERVAL};
pub(crate) use log::Log;
pub use log::{JOURNAL_KEY, SEGMENTS};
pub use open::Journal;
pub(crate) use writer::{Marks, Writer};
