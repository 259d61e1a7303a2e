//! The contract of a format: where a chunk is, what its bytes mean. Pure: formats do no I/O.
//!
//! A format parses metadata bytes that somebody else fetched into a [`Layout`], and a `Layout`
//! says the key of a chunk, decodes its bytes and encodes elements into bytes. The elements of a
//! decoded chunk stay in the order and byte order they are stored in ([`ElementOrder`]); whoever
//! copies them deals with strides and swaps, so that no transposed copy is ever made.
//!
//! Documents are read alike by all formats: [`json`] and [`field`]. [`cast`] reads elements as
//! another type.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files and look at them"))]

pub mod cast;
mod codec;
mod element_order;
mod error;
pub mod field;
pub mod json;
mod layout;
pub mod numpy;
mod packed;
mod placed_layout;
mod region_layout;
mod runs;
mod shard;
mod squeezed_layout;
pub mod variable;
mod view;

pub use codec::CodecCost;
pub use element_order::ElementOrder;
pub use error::{FormatError, check_chunk_bytes};
pub use layout::{Layout, Plain};
pub use packed::Packed;
pub use placed_layout::PlacedLayout;
pub use region_layout::RegionLayout;
pub use runs::RunFormat;
pub use shard::{IndexLocation, Place, SHARD_CHUNKS_MAX, ShardFormat, ShardIndex, ShardTables};
pub use squeezed_layout::SqueezedLayout;
