//! Chunk-wise apply: an operation on an array, box by box.
//!
//! A request for it is that of a copy with an [`ApplyRequest`]: source and target are opened,
//! specified, begun, resumed and finished as those of a copy; here is what differs.

mod amount;
mod boxes;
mod command;
mod converted;
mod deferred;
mod function;
mod named;
mod opened;
mod planned;
mod provenance;
mod report;
mod request;
mod result_type;
mod statistic;
mod updated;
mod verified;
mod words;

pub use amount::Pads;
pub use function::{Function, FunctionCall};
pub(crate) use opened::Opened;
pub use report::{ApplyReport, LevelReport};
pub use request::{ApplyRequest, LevelRequest, OperationRequest};
pub use statistic::{StatisticReport, statistic, statistic_plan};
