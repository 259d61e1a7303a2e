//! Checks of a request before anything is opened: are its words words?

use rechunk_words::CodecSpec;

use crate::formats::Format;
use crate::growth::check_trust;
use crate::request::CopyRequest;
use crate::{Error, Selection};

impl CopyRequest {
    /// Refuses what no source could make sense of: options that do not go together, and codecs that
    /// the target does not have. Opens nothing.
    pub fn check(&self, selection: &Selection) -> Result<(), Error> {
        check_trust(self)?;
        let format = self.target_format();
        if let Some(codec) = &self.codec {
            format.check_codec(codec)?;
        }
        selection
            .rules
            .iter()
            .filter_map(|rule| rule.codec.as_ref())
            .try_for_each(|codec| format.check_codec(codec))
    }
}

impl Format {
    /// Refuses a codec that a target of this format does not have.
    pub fn check_codec(self, codec: &CodecSpec) -> Result<(), Error> {
        if codec.is_keep() {
            return Ok(());
        }
        (self.row().check_codec)(codec.text()).map_err(Error::target_metadata)
    }
}
