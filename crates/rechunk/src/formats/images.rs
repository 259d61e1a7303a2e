//! Formats that images in several resolutions lie in.

use rechunk_image::{Container, Dialect};
use rechunk_words::VoxelAxis;

use super::Format;
use super::precomputed::scale_path;

impl Format {
    /// The format of a container of images; `None`: any that has groups.
    pub(crate) fn of_images(container: Container) -> Option<Self> {
        match container {
            Container::Zarr2 => Some(Self::Zarr2),
            Container::Zarr3 => Some(Self::Zarr3),
            Container::N5 => Some(Self::N5),
            Container::Precomputed => Some(Self::Precomputed),
            Container::Any => None,
        }
    }

    /// Path by which a level with such voxels is named, where that follows from their size.
    pub(crate) fn level_path(self, voxels: &[VoxelAxis]) -> Option<String> {
        match self {
            Self::Precomputed => scale_path(voxels),
            Self::Zarr2 | Self::Zarr3 | Self::N5 | Self::Raw | Self::Npy | Self::Nii => None,
        }
    }

    /// The dialect in which images are usually described.
    pub(crate) fn usual_dialect(self) -> Dialect {
        match self {
            Self::Zarr2 => Dialect::OmeZarr04,
            Self::N5 => Dialect::BdvN5,
            Self::Precomputed => Dialect::Precomputed,
            Self::Zarr3 | Self::Raw | Self::Npy | Self::Nii => Dialect::OmeZarr05,
        }
    }
}
