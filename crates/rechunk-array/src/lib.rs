//! An opened array: a layout on a store.
//!
//! The layout says where a chunk is and how large it may be, the store holds the bytes; an
//! [`Array`] is both. It moves encoded chunks and says in every error which array, chunk and key it
//! is about. Where chunks lie in shards it reads their indexes, and fills them one chunk after the
//! other; where they are ranges of files it fills these, and gives them their names in the end.
//! Where little is stored it has a list made of what is there; and it counts what was missing.
//! Runs of plans decode by themselves, with their own buffers and threads. Programs that want the
//! elements of a box read and write [regions](Array::read_region_into).
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files and look at them"))]

mod array;
mod error;
mod files;
mod gaps;
mod lazy_index;
mod presence;
mod regions;
mod shards;
mod within;

pub use array::Array;
pub use error::ArrayError;
pub use gaps::ObjectList;
pub use lazy_index::{LazyIndex, LazyIndexes};
pub use presence::Missing;
pub use regions::{RegionError, RegionOptions, RegionRead};
pub use shards::{ShardWriter, WholeShard};
pub use within::Within;

#[cfg(test)]
mod tests;
