//! Decoded elements of any box of an array, read and written, in bounded memory.
//!
//! Regions are the way in for programs that want elements, not copies: one call, no plan and no
//! state on disk. [`Array::read_region_into`](crate::Array::read_region_into) asks only for chunks
//! that meet the region, in shards only for the chunks inside. Chunks on their way take no more
//! memory together than [`RegionOptions::memory_bytes`].

mod budget;
mod error;
mod frame;
mod geometry;
mod options;
mod pieces;
mod read;
mod unpack;
mod write;

pub use error::RegionError;
pub use options::RegionOptions;
pub use read::RegionRead;
