//! Rules: settings that differ for some arrays of a group, as text.

use std::fmt;

use rechunk_grid::WriteEmpty;
use serde::{Deserialize, Serialize};

use crate::cast_spec::Cast;
use crate::chunk_spec::ChunkSpec;
use crate::codec_spec::CodecSpec;
use crate::error::{Asked, WordError};
use crate::path_pattern::PathPattern;
use crate::shard_spec::ShardSpec;

/// Names of settings that a rule can have.
pub const RULE_SETTINGS: [&str; 5] = ["chunks", "codec", "shards", "write-empty", "cast"];

/// Settings that differ for some arrays of a group. As text:
/// `GLOB: chunks SPEC; codec SPEC; shards SPEC; write-empty WHEN; cast TYPE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub struct ArrayRule {
    /// Arrays that it is for.
    pub arrays: PathPattern,
    /// Chunk shape.
    pub chunks: Option<ChunkSpec>,
    /// Shards.
    pub shards: Option<ShardSpec>,
    /// Codec.
    pub codec: Option<CodecSpec>,
    /// When all-fill chunks are written.
    pub write_empty: Option<WriteEmpty>,
    /// The type that elements are cast to.
    pub cast: Option<Cast>,
}

text_form!(ArrayRule);

/// Writes what [`ArrayRule::parse`] reads.
impl fmt::Display for ArrayRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write_empty = self.write_empty.map(|when| match when {
            WriteEmpty::Auto => "auto".to_owned(),
            WriteEmpty::Always => "always".to_owned(),
            WriteEmpty::Never => "never".to_owned(),
        });
        let settings = [
            ("chunks", self.chunks.as_ref().map(ToString::to_string)),
            ("shards", self.shards.as_ref().map(ToString::to_string)),
            ("codec", self.codec.as_ref().map(ToString::to_string)),
            ("write-empty", write_empty),
            ("cast", self.cast.as_ref().map(ToString::to_string)),
        ];
        let set =
            settings.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
        write!(f, "{}: {}", self.arrays, set.collect::<Vec<_>>().join("; "))
    }
}

impl ArrayRule {
    /// A rule for these arrays that sets nothing yet.
    pub fn new(arrays: PathPattern) -> Self {
        Self { arrays, chunks: None, shards: None, codec: None, write_empty: None, cast: None }
    }

    /// Parses a rule; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let wrong = |reason: String| {
            let hint = "write it like 'air/*: chunks -1,30,30; codec zstd:5; shards none; \
                        write-empty never; cast float32'";
            WordError::new(format!("`{text}`: {reason}"), Some(hint)).of(Asked::Rule)
        };
        let (pattern, settings) =
            text.split_once(':').ok_or_else(|| wrong("there is no `:` behind a path".into()))?;
        let arrays = PathPattern::parse(pattern).map_err(|error| error.of(Asked::Rule))?;
        let mut rule = Self::new(arrays);
        let settings: Vec<&str> =
            parts(settings).into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
        if settings.is_empty() {
            return Err(wrong("it sets nothing".to_owned()));
        }
        for setting in settings {
            let (name, value) = setting.split_once(char::is_whitespace).unwrap_or((setting, ""));
            let value = value.trim();
            if value.is_empty() && name != "chunks" && RULE_SETTINGS.contains(&name) {
                return Err(wrong(format!("`{name}` has no value")));
            }
            let is_double = match name {
                "chunks" => rule.chunks.replace(value.parse()?).is_some(),
                "shards" => rule.shards.replace(value.parse()?).is_some(),
                "codec" => rule.codec.replace(value.parse()?).is_some(),
                "cast" => rule.cast.replace(value.parse()?).is_some(),
                "write-empty" => {
                    let when = match value {
                        "auto" => WriteEmpty::Auto,
                        "always" => WriteEmpty::Always,
                        "never" => WriteEmpty::Never,
                        _ => return Err(wrong(format!("`{value}` is not auto, always or never"))),
                    };
                    rule.write_empty.replace(when).is_some()
                }
                _ => {
                    let known = RULE_SETTINGS.join(", ");
                    return Err(wrong(format!("`{name}` is not one of {known}")));
                }
            };
            if is_double {
                return Err(wrong(format!("`{name}` is there twice")));
            }
        }
        Ok(rule)
    }
}

/// The parts between `;`, those inside of JSON not counted.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut is_escaped, mut start) = (0_u32, false, false, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        let is_plain = !std::mem::take(&mut is_escaped);
        match letter {
            '\\' if is_quoted && is_plain => is_escaped = true,
            '"' if is_plain => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rule_is_refused() {
        for (text, says) in [
            ("a", "no `:`"),
            ("a:", "sets nothing"),
            ("a: chunk 1", "`chunk` is not one of"),
            ("a: codec", "`codec` has no value"),
            ("a: codec x; codec y", "twice"),
            ("a: write-empty sometimes", "not auto"),
            (": chunks 1", "is empty"),
        ] {
            let error = ArrayRule::parse(text).unwrap_err();
            assert_eq!(error.asked, Some(Asked::Rule), "{text}");
            assert!(error.message.contains(says), "{text}: {error}");
        }
        let error = ArrayRule::parse("a: cast word").unwrap_err();
        assert_eq!(error.asked, Some(Asked::Cast));
    }

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for text in [
            "air/*: chunks -1,30,30; shards none; codec zstd:5; write-empty never; cast float32",
            r#"**: codec {"id": "x\";y", "l": [1]}"#,
        ] {
            assert_eq!(ArrayRule::parse(text).unwrap().to_string(), text);
        }
    }
}
