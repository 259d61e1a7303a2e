//! Zarr v2 and v3.

mod described;
mod documents;
mod row;
mod target;

pub(crate) use documents::{V2, V3};
pub(crate) use row::{ZARR2, ZARR3};
pub(crate) use target::target;
