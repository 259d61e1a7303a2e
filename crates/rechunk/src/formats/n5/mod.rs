//! N5.

mod codecs;
mod containers;
mod described;
mod documents;
mod row;
mod target;

pub(crate) use containers::is_inside_n5;
pub(crate) use described::N5Array;
pub(crate) use documents::{SCHEMA, says_version};
pub(crate) use row::N5;
pub(crate) use target::target;
