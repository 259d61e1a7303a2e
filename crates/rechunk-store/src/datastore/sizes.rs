//! The size of a block, as it stands before its elements on the wire.

use bytes::{BufMut, Bytes, BytesMut};

/// Bytes of a block's header on the wire: its size along x, y and z.
pub(super) const WIRE_HEADER_BYTES: usize = 12;

/// Elements of a block along x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes(pub(super) [u32; 3]);

impl Sizes {
    /// Bytes of the elements; `None` if they are more than can be counted.
    pub(super) fn bytes(self, item_bytes: u64) -> Option<u64> {
        self.0.iter().try_fold(item_bytes, |bytes, size| bytes.checked_mul(u64::from(*size)))
    }

    pub(super) fn wire_header(self) -> Bytes {
        let mut header = BytesMut::with_capacity(WIRE_HEADER_BYTES);
        self.0.iter().for_each(|size| header.put_u32(*size));
        header.freeze()
    }
}
