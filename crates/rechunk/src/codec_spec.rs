//! `--codec`: which codec is wanted, in words that only the target's format gives a meaning.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::format::Format;

/// Codec that is wanted, by its name and settings, or in JSON. Formats know different ones, so
/// [`CodecSpec::check`] says whether that of the target has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodecSpec(String);

impl CodecSpec {
    /// Codecs that stay as they are, by whatever name the target has for them.
    pub fn keep() -> Self {
        Self("keep".to_owned())
    }

    /// Chunks that are stored as they are.
    pub fn none() -> Self {
        Self("none".to_owned())
    }

    /// A codec and its settings, as `--codec` takes them: `zstd:3`, `blosc:lz4:5:shuffle`, JSON.
    pub fn parse(text: &str, format: Format) -> Result<Self, Error> {
        let codec = Self(text.to_owned());
        codec.check(format)?;
        Ok(codec)
    }

    /// Refuses what a target of this format does not have.
    pub fn check(&self, format: Format) -> Result<(), Error> {
        match format {
            _ if self.is_keep() => Ok(()),
            Format::Zarr3 | Format::Zarr2 => rechunk_zarr::parse_codec_choice(&self.0).map(drop),
            Format::N5 => rechunk_n5::parse_compression(&self.0).map(drop),
            // They have none; that is said with the name of the file.
            Format::Raw | Format::Npy | Format::Nii => Ok(()),
        }
        .map_err(Error::target_metadata)
    }

    /// True if codecs stay as they are.
    pub(crate) fn is_keep(&self) -> bool {
        self.0.trim() == "keep"
    }

    /// True if there is to be none.
    pub(crate) fn is_none(&self) -> bool {
        self.0 == "none"
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// Takes any words: what they mean depends on the format of the target.
impl FromStr for CodecSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for CodecSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
