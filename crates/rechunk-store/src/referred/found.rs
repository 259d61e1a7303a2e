//! Targets that keys of references lead to.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::condition::Condition;
use crate::length::wide;

/// Target of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Bytes that are kept beside the references.
    Inline(Bytes),
    /// A range of a file, or all of it. A range is read if the file is in the state of the
    /// condition.
    File { url: Arc<str>, range: Option<Range<u64>>, condition: Option<Condition> },
    /// Something that cannot be read, for a reason. (It is not missing.)
    Odd(Arc<str>),
}

impl Found {
    /// Bytes of the object, if they are known without asking for the file.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Inline(bytes) => Some(wide(bytes.len())),
            Self::File { range, .. } => range.as_ref().map(|range| range.end - range.start),
            Self::Odd(_) => Some(0), // it is there, and nothing more is known of it
        }
    }
}
