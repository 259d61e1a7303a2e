//! Formats that images in several resolutions lie in.

use rechunk_image::{Container, Dialect};

use super::Format;

impl Format {
    /// The format of a container of images; `None`: any that has groups.
    pub(crate) fn of_images(container: Container) -> Option<Self> {
        match container {
            Container::Zarr2 => Some(Self::Zarr2),
            Container::Zarr3 => Some(Self::Zarr3),
            Container::N5 => Some(Self::N5),
            Container::Any => None,
        }
    }

    /// The dialect in which images are usually described.
    pub(crate) fn usual_dialect(self) -> Dialect {
        match self {
            Self::Zarr2 => Dialect::OmeZarr04,
            Self::N5 => Dialect::BdvN5,
            Self::Zarr3 | Self::Precomputed | Self::Raw | Self::Npy | Self::Nii => {
                Dialect::OmeZarr05
            }
        }
    }
}
