//! Pyramids: an image in several resolutions, out of an array or of an image.
//!
//! [`prepare_pyramid`] opens the source and its image, works out the levels, and plans all of them
//! as one job of a group: its first array has the plan that writes the chunks of all levels, the
//! others only their documents. All else is the code of the copy of a group.

mod assemble;
mod choice;
mod described;
mod image;
mod known;
mod labels;
mod plan;
mod report;
mod request;
mod sizes;
mod targets;
mod verified;

pub(crate) use assemble::prepare_pyramid;
pub(crate) use plan::PyramidJob;
pub use report::{PassReport, PyramidReport, ResolutionReport};
pub use request::{LevelSize, LevelsRequest, PyramidRequest};
