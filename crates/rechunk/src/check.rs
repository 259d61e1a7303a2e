//! Checks of a request before anything is opened: are its words words?

use crate::cast::parse_cast;
use crate::format::Format;
use crate::growth::check_trust;
use crate::request::CopyRequest;
use crate::select::Selected;
use crate::tree::check_rules;
use crate::{ChunkSpec, Error, Selection};

impl CopyRequest {
    /// Refuses what no source could make sense of: specifications that cannot be read. Opens
    /// nothing.
    pub fn check(&self, selection: &Selection) -> Result<(), Error> {
        ChunkSpec::parse(&self.chunks)?;
        if let Some(text) = &self.shards {
            check_shards(text)?;
        }
        if let Some(text) = &self.select {
            Selected::parse(text)?;
        }
        if let Some(text) = &self.cast {
            parse_cast(text)?;
        }
        check_trust(self)?;
        let format = self.format.unwrap_or_else(|| Format::of_target(&self.target));
        if let Some(text) = &self.codec {
            check_codec(text, format)?;
        }
        check_rules(selection, format)
    }
}

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
