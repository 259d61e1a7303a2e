//! Encoding and decoding, within bounds that are known before a byte is looked at.

mod cast_value;
mod chain;
mod checksum;
mod filters;
mod n5_blocks;
mod pack_bits;
mod pack_numbers;
mod pcodec;
mod predictor;
mod shards;
mod shuffle;
mod stage;
mod value;
mod workspace;

pub(crate) use cast_value::{encode_each, key_of, unkeyed};
pub(crate) use chain::{Chain, stored_shape, survives};
pub(crate) use pcodec::has_type as pcodec_has_type;
pub(crate) use stage::decode_filter;

#[cfg(test)]
mod tests;
