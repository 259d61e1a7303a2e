//! Checks of a request before anything is opened: are its words words?

use crate::cast::parse_cast;
use crate::format::Format;
use crate::growth::check_trust;
use crate::option_words::{check_codec, check_shards};
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
