//! Operations on n-dimensional boxes of elements.
//!
//! Pure: no I/O, no clock, no threads. An [`Operation`] computes one box from others, and says
//! which surroundings it needs, which type it yields and how much memory it takes; a [`Statistic`]
//! measures boxes and merges the parts. [`operation`] builds one from its name and settings,
//! [`operations`] describes all.
//!
//! Elements are bool, integers of 8 to 64 bits and floats of 16 to 64. Each operation says in its
//! description where integers beyond 2^53 are rounded; no other rounds them. A NaN in the window of
//! a filter makes NaN.
//!
//! Axes are in C order, slowest first; shapes and halos are in elements.

mod constant;
mod element;
mod element_text;
mod error;
mod exact_sum;
mod filters;
mod info;
mod operation;
mod pointwise;
mod registry;
mod settings;
mod statistic;
mod statistics;
mod view;

pub use element_text::element;
pub use error::OpError;
pub use exact_sum::ExactSum;
pub use info::{OperationInfo, Parameter};
pub use operation::{Operation, Output, ValueKind};
pub use registry::{operation, operations, parse_settings};
pub use statistic::{Partial, Statistic, Sum, SummaryPart};
pub use view::{BoxView, Outcome, TaskContext};
