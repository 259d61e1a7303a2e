//! Sizes that files have to have.

/// Size that a file has to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSize {
    /// This many bytes.
    Exactly(u64),
    /// This many bytes or more: what follows is nobody's business.
    AtLeast(u64),
}

impl FileSize {
    /// True for a file of `size_bytes`.
    pub fn holds(self, size_bytes: u64) -> bool {
        match self {
            Self::Exactly(bytes) => size_bytes == bytes,
            Self::AtLeast(bytes) => size_bytes >= bytes,
        }
    }

    /// The bytes that are known to be there.
    pub fn bytes(self) -> u64 {
        let (Self::Exactly(bytes) | Self::AtLeast(bytes)) = self;
        bytes
    }
}
