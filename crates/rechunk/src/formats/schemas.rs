//! The schema of each format.

use super::schema::Schema;
use super::{Format, n5, precomputed, raw, zarr};

impl Format {
    /// Functions that read and write its documents.
    pub(crate) fn schema(self) -> &'static Schema {
        match self {
            Self::Zarr3 => &zarr::V3,
            Self::Zarr2 => &zarr::V2,
            Self::N5 => &n5::SCHEMA,
            Self::Precomputed => &precomputed::SCHEMA,
            Self::Raw | Self::Npy | Self::Nii => &raw::SCHEMA,
        }
    }
}
