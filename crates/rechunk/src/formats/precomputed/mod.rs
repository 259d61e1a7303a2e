//! Neuroglancer's precomputed volumes.

mod described;
mod documents;
mod row;
mod target;

pub(crate) use documents::{SCHEMA, volume_of};
pub(crate) use row::PRECOMPUTED;
pub(crate) use target::{scale_path, target};
