//! Units are filled with the elements of inputs.

pub(crate) mod piece_checksum;
pub(crate) mod spread;
