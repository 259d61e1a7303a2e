//! The *keep* strategy for raw files: files whose runs of bytes can be read and written by
//! themselves.
//!
//! The array is read in buffers, one after the other; every element is read once and written once.
//! A target file that goes on behind the end of a buffer is, on a *kept* axis, carried in memory
//! until it is complete, and on the others written in parts. [`search`] looks for the buffer, kept
//! axes and order with the fewest seeks that fit the memory; [`Baseline`] has the literature's
//! strategies. [`Model`] counts and bounds any [`Schedule`]; [`Buffers`] says where its buffers are
//! and what they read and write.
//!
//! The method is that of Guédon, Glatard and Hayot-Sasson ("A heuristic to repartition large
//! multi-dimensional arrays with reduced disk seeking"), with closed forms for its counts and its
//! memory, any buffer shape, and the order of buffers by Smith's rule.

mod axis;
mod baseline;
mod best;
mod buffers;
mod counts;
mod error;
mod exact;
mod files;
mod length;
mod lengths;
mod model;
mod order;
mod problem;
mod runs;
mod search;
mod walk;

pub use baseline::Baseline;
pub use best::Found;
pub use buffers::{Buffers, FilePart, WriteBlock, WriteBlocks};
pub use counts::{Counts, SideCounts};
pub use error::KeepError;
pub(crate) use exact::EXACT_BUFFERS_MAX;
pub use model::{Model, is_order};
pub use problem::{Problem, Schedule};
pub use runs::{Run, Runs};
pub use search::search;
