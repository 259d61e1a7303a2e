//! Specifying a target in each format.

use super::{Format, Metadata, Wish, n5, precomputed, raw, zarr};
use crate::Error;

/// The metadata of a target, and a sentence for whatever the source has and it has not.
pub(crate) fn specified(wish: &Wish<'_>) -> Result<(Metadata, Vec<String>), Error> {
    let specify = match wish.format {
        Format::Zarr3 | Format::Zarr2 => zarr::target,
        Format::N5 => n5::target,
        Format::Precomputed => precomputed::target,
        Format::Raw | Format::Npy | Format::Nii => raw::target,
    };
    specify(wish)
}
