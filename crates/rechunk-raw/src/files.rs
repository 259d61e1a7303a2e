//! Which files an array is in.

use crate::KeyTemplate;

/// Which files an array is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// A file per chunk, those at the edge clipped.
    Blocks {
        /// Their names.
        key: KeyTemplate,
        /// Bytes of each file before its first element; they mean nothing here.
        offset_bytes: u64,
    },
    /// All elements in one file.
    Single {
        /// Its name.
        name: String,
        /// Bytes before the first element.
        offset_bytes: u64,
        /// Bytes of the header.
        header: Header,
    },
}

/// Bytes before the elements of a file, all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Header {
    /// Nothing that is known.
    None,
    /// The header of an `.npy` file.
    Npy(Vec<u8>),
    /// The header of a `.nii` file, with its extensions.
    Nifti(Vec<u8>),
}

impl Header {
    /// The bytes; empty where they are not known.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::None => &[],
            Self::Npy(bytes) | Self::Nifti(bytes) => bytes,
        }
    }

    /// More may follow the elements: NIfTI allows it (nibabel reads such files), the others do
    /// not.
    pub fn allows_tail(&self) -> bool {
        matches!(self, Self::Nifti(_))
    }
}

impl Files {
    /// Bytes of a file before its first element.
    pub fn offset_bytes(&self) -> u64 {
        let (Self::Blocks { offset_bytes, .. } | Self::Single { offset_bytes, .. }) = self;
        *offset_bytes
    }

    /// Name of the format for people.
    pub fn format_name(&self) -> &'static str {
        match self {
            Self::Single { header: Header::Npy(_), .. } => "npy",
            Self::Single { header: Header::Nifti(_), .. } => "nii",
            _ => "raw",
        }
    }
}
