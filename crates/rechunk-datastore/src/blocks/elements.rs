use std::collections::BTreeMap;

use bytes::Bytes;

use crate::BlockAddress;

/// Sizes of a block, and its elements: big-endian, x fastest.
pub(crate) type Elements = ([u32; 3], Vec<u8>);

/// Blocks of an object that change: those with bytes are stored, the others are removed.
pub(crate) type Changes = BTreeMap<BlockAddress, Option<Bytes>>;
