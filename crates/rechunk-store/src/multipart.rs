//! Sizes of the parts in which large objects are sent, and the client that takes parts.

use std::fmt;
use std::sync::Arc;

use object_store::multipart::MultipartStore;

/// Sizes of the parts in which large objects are sent to a store that takes them so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartSizes {
    /// Whole objects of more bytes are sent in parts.
    pub threshold_bytes: u64,
    /// Bytes of a part of those, at least.
    pub part_bytes: u64,
    /// Bytes of a part of an object that is written piece by piece ([`Store::begin`]): one is held,
    /// and another on its way. Such an object of no more bytes is sent as a whole.
    pub log_part_bytes: u64,
}

impl PartSizes {
    /// Sizes where nobody says otherwise.
    pub const DEFAULT: Self =
        Self { threshold_bytes: 64 << 20, part_bytes: 64 << 20, log_part_bytes: 16 << 20 };
    /// Most parts of one object; stores allow no more.
    pub const PARTS_MAX: u64 = 10_000;
    /// Most bytes of an object that is sent as a whole; S3 takes no more.
    pub const WHOLE_BYTES_MAX: u64 = 5 << 30;

    /// Bytes of a part of a whole object of `object_bytes`; `None` if it is sent as a whole.
    pub(crate) fn part_of(&self, object_bytes: u64) -> Option<u64> {
        let part_bytes = self.part_bytes.max(object_bytes.div_ceil(Self::PARTS_MAX)).max(1);
        let whole_bytes_max = self.threshold_bytes.min(Self::WHOLE_BYTES_MAX);
        (object_bytes > whole_bytes_max).then_some(part_bytes)
    }
}

/// State that a store needs to take objects in parts.
#[derive(Clone)]
pub(crate) struct Multipart {
    pub(crate) api: Arc<dyn MultipartStore>,
    pub(crate) sizes: PartSizes,
}

impl Multipart {
    pub(crate) fn new(api: Arc<dyn MultipartStore>) -> Self {
        Self { api, sizes: PartSizes::DEFAULT }
    }
}

impl fmt::Debug for Multipart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Multipart").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_grow_with_objects_that_would_have_too_many() {
        let sizes =
            PartSizes { threshold_bytes: 64 << 20, part_bytes: 16 << 20, log_part_bytes: 1 };
        assert_eq!(sizes.part_of(64 << 20), None);
        assert_eq!(sizes.part_of((64 << 20) + 1), Some(16 << 20));
        let never = PartSizes { threshold_bytes: u64::MAX, ..sizes };
        assert_eq!((never.part_of(5 << 30), never.part_of(6 << 30)), (None, Some(16 << 20)));
        let part_bytes = sizes.part_of(16 << 40).unwrap();
        assert!((16_u64 << 40).div_ceil(part_bytes) <= PartSizes::PARTS_MAX);
    }
}
