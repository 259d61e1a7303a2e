//! Files of raw elements as a format. Pure: no I/O, no async.
//!
//! An array is one file ([`parse_npy`], [`parse_nifti`], or [`RawMetadata::headerless`], whose
//! shape and type somebody says), or a directory with a file per block and `array.json`
//! ([`parse_array_json`]). All become [`RawMetadata`], and [`RawLayout`] says where chunks are: the
//! blocks, or slabs of the one file that are contiguous in it.
//!
//! Elements are never scaled and never moved to another axis: what a header says beyond shape, type
//! and order becomes attributes.

mod array_json;
mod element_name;
mod files;
mod key_template;
mod layout;
mod metadata;
mod nifti;
mod npy;
mod python;
mod record;
mod slab;
mod target;

pub use array_json::{ARRAY_JSON, parse_array_json};
pub use files::{Files, Header};
pub use key_template::KeyTemplate;
pub use layout::RawLayout;
pub use metadata::{CHUNK_BYTES_MAX, RawMetadata};
pub use nifti::{AxisOrder, cast_nifti, has_nifti_header, parse_nifti, select_nifti};
pub use npy::parse_npy;
pub use slab::SLAB_BYTES;

/// Longest header that is read, bytes: give [`parse_npy`] and [`parse_nifti`] as much of a file,
/// or all of it if it has less.
pub const HEADER_BYTES_MAX: u64 = 1 << 20;
