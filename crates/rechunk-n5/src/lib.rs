//! N5 as a format: attributes and blocks. Pure: no I/O, no async.
//!
//! [`parse_dataset`] reads an `attributes.json` into [`N5Metadata`], [`N5Metadata::new_target`]
//! makes that of an array to be written, and [`N5Metadata::document`] its document. [`N5Layout`]
//! says where blocks are and codes them.
//!
//! N5 counts axes fastest first; everything else here counts them slowest first. [`AxisOrder`] says
//! how one becomes the other. No element moves either way.
//!
//! What is read here was written by others: documents and blocks are bounded before they are
//! believed, and no header's claim becomes an allocation. Formats: the N5 specification,
//! <https://github.com/saalfeldlab/n5>, and what its Java library does.

mod attributes;
mod block;
mod block_shape;
mod choice;
mod compression;
mod data_type;
mod dimension_names;
mod layout;
mod lenient;
mod metadata;
mod parse;
mod payload;
mod target;
mod typed;
mod version;

pub use choice::parse_compression;
pub use compression::Compression;
pub use data_type::N5Type;
pub use dimension_names::AxisOrder;
pub use layout::{N5Layout, PlainBlock, VARIABLE_BLOCK_BYTES_MAX};
pub use metadata::{BLOCK_BYTES_MAX, N5Metadata};
pub use parse::{N5Group, group_document, parse_dataset, parse_group, reserved_names};
pub use target::N5Target;
pub use typed::{Turned, keeps_from_opening, suits_dataset, turned};
pub use version::N5Version;

/// Key of the document of a group or a dataset, relative to it.
pub const ATTRIBUTES_KEY: &str = "attributes.json";
