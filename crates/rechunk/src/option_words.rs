//! Words that options of a copy take for shards and codecs, looked at before anything is opened.

use crate::format::Format;
use crate::{ChunkSpec, Error};

/// Refuses what `--shards` does not take.
pub(crate) fn check_shards(text: &str) -> Result<(), Error> {
    if text.trim() != "none" {
        ChunkSpec::parse(text)?;
    }
    Ok(())
}

/// True for what `--codec` says where codecs stay as they are, by whatever name the target has for
/// them.
pub(crate) fn is_keep(text: &str) -> bool {
    text.trim() == "keep"
}

/// Refuses what `--codec` does not take for a target of this format.
pub(crate) fn check_codec(text: &str, format: Format) -> Result<(), Error> {
    match format {
        _ if is_keep(text) => Ok(()),
        Format::Zarr3 | Format::Zarr2 => rechunk_zarr::parse_codec_choice(text).map(drop),
        Format::N5 => rechunk_n5::parse_compression(text).map(drop),
        // They have none; that is said with the name of the file.
        Format::Raw | Format::Npy | Format::Nii => Ok(()),
    }
    .map_err(Error::target_metadata)
}
