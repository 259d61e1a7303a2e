//! Encoding and decoding, within bounds that are known before a byte is looked at.

mod chain;
mod checksum;
mod filters;
mod n5_blocks;
mod pack_bits;
mod pcodec;
mod shards;
mod shuffle;
mod stage;
mod value;
mod workspace;

pub(crate) use chain::{Chain, stored_shape, survives};
pub(crate) use pcodec::has_type as pcodec_has_type;
pub(crate) use stage::decode_filter;

#[cfg(test)]
mod tests;
