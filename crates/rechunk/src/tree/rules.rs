//! Which arrays of a group are copied, and what is asked for each: `--include`, `--exclude`,
//! `--var`.

use std::fmt;
use std::str::FromStr;

use rechunk_grid::WriteEmpty;
use serde::{Deserialize, Serialize};

use super::coordinates::Coords;
use super::pattern::Pattern;
use crate::others::Others;
use crate::path_pattern::PathPattern;
use crate::{Cast, ChunkSpec, CodecSpec, CopyRequest, Error, ShardSpec};

/// Names of settings that a rule of `--var` can have.
pub const RULE_SETTINGS: [&str; 5] = ["chunks", "codec", "shards", "write-empty", "cast"];

/// Which arrays of a group are copied, and what differs for some.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Selection {
    /// Rules; of several that set the same, the last counts.
    pub rules: Vec<ArrayRule>,
    /// Arrays that are copied; all if there are none.
    pub include: Vec<PathPattern>,
    /// Arrays that are left out.
    pub exclude: Vec<PathPattern>,
    /// Treatment of coordinates; `None`: see [`Coords`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coords: Option<Coords>,
    /// Files that are neither metadata nor chunks are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_others: bool,
}

impl Selection {
    /// Refuses options that say how arrays are to be, where `by` leaves them as they are.
    pub(crate) fn check_unchanged(&self, by: &str) -> Result<(), Error> {
        let option = match self {
            Self { rules, .. } if !rules.is_empty() => "--var",
            Self { coords: Some(_), .. } => "--coords",
            _ => return Ok(()),
        };
        Err(Error::Usage {
            message: format!("{by}: {option} cannot be given: the target keeps its own chunks"),
            hint: Some("leave it out".into()),
        })
    }

    /// Refuses options that only a group has.
    pub(crate) fn check_unused(&self) -> Result<(), Error> {
        let option = match self {
            Self { rules, .. } if !rules.is_empty() => "--var",
            Self { include, .. } if !include.is_empty() => "--include",
            Self { exclude, .. } if !exclude.is_empty() => "--exclude",
            Self { coords: Some(_), .. } => "--coords",
            _ => return Ok(()),
        };
        Err(Error::Usage {
            message: format!("{option} is for the arrays of a group, and the source is one array"),
            hint: Some("leave it out; --chunks, --shards and --codec are for one array".into()),
        })
    }
}

/// Wishes for one array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wishes {
    pub chunks: ChunkSpec,
    pub shards: Option<ShardSpec>,
    pub keep_extent: bool,
    pub codec: Option<CodecSpec>,
    pub write_empty: WriteEmpty,
    pub cast: Option<Cast>,
}

impl Wishes {
    /// Wishes for all arrays.
    pub(crate) fn of(request: &CopyRequest) -> Self {
        Self {
            chunks: request.chunks.clone(),
            shards: request.shards.clone(),
            keep_extent: request.keep_extent,
            codec: request.codec.clone(),
            write_empty: request.write_empty,
            cast: request.cast.clone(),
        }
    }
}

/// A [`Selection`], with the patterns that were of use.
#[derive(Debug)]
pub(crate) struct Rules {
    settings: Vec<Rule>,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    pub coords: Option<Coords>,
}

/// A rule with its pattern.
#[derive(Debug)]
struct Rule {
    pattern: Pattern,
    set: ArrayRule,
}

impl Rules {
    pub(crate) fn of(selection: &Selection) -> Self {
        let patterns = |option, paths: &[PathPattern]| -> Vec<Pattern> {
            paths.iter().map(|path| Pattern::given_to(option, path)).collect()
        };
        let rule = |set: &ArrayRule| Rule {
            pattern: Pattern::given_to("--var", &set.arrays),
            set: set.clone(),
        };
        Self {
            settings: selection.rules.iter().map(rule).collect(),
            include: patterns("--include", &selection.include),
            exclude: patterns("--exclude", &selection.exclude),
            coords: selection.coords,
        }
    }

    /// Says which nodes there are, before it is asked which of them are meant.
    #[expect(clippy::needless_pass_by_value, reason = "an iterator is made for the call")]
    pub(crate) fn know<'a>(&self, paths: impl Iterator<Item = &'a str> + Clone) {
        let rules = self.settings.iter().map(|rule| &rule.pattern);
        for pattern in self.include.iter().chain(&self.exclude).chain(rules) {
            pattern.know(paths.clone());
        }
    }

    /// Whether the node at `path` is copied.
    pub(crate) fn selects(&self, path: &str) -> bool {
        let one_of = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.means(path));
        (self.include.is_empty() || one_of(&self.include)) && !one_of(&self.exclude)
    }

    /// Refuses misspelt patterns. Those that choose arrays mean none of `all` arrays and none of
    /// the other files; those of rules mean none of the `selected` arrays.
    pub(crate) fn check_used(
        &self,
        all: &[String],
        others: &Others,
        selected: &[String],
    ) -> Result<(), Error> {
        for pattern in self.include.iter().chain(&self.exclude) {
            let means = |path: &str| pattern.means(path);
            if !all.iter().any(|path| means(path)) && !others.paths().any(means) {
                return Err(pattern.unused());
            }
        }
        for Rule { pattern, .. } in &self.settings {
            if !selected.iter().any(|path| pattern.means(path)) {
                return Err(pattern.unused());
            }
        }
        Ok(())
    }

    /// Wishes for the array at `path`: of each setting, what the last rule says, else `wishes`.
    pub(crate) fn apply(&self, path: &str, mut wishes: Wishes) -> Wishes {
        for Rule { set: rule, .. } in self.settings.iter().filter(|rule| rule.pattern.means(path)) {
            if let Some(chunks) = &rule.chunks {
                wishes.chunks.clone_from(chunks);
            }
            wishes.shards = rule.shards.clone().or(wishes.shards);
            wishes.codec = rule.codec.clone().or(wishes.codec);
            wishes.cast = rule.cast.clone().or(wishes.cast);
            wishes.write_empty = rule.write_empty.unwrap_or(wishes.write_empty);
        }
        wishes
    }
}

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

impl FromStr for ArrayRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl TryFrom<String> for ArrayRule {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<ArrayRule> for String {
    fn from(rule: ArrayRule) -> Self {
        rule.to_string()
    }
}

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
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Usage {
            message: format!("--var: `{text}`: {reason}"),
            hint: Some(
                "write it like 'air/*: chunks -1,30,30; codec zstd:5; shards none; write-empty \
                 never; cast float32'"
                    .into(),
            ),
        };
        let (pattern, settings) =
            text.split_once(':').ok_or_else(|| wrong("there is no `:` behind a path".into()))?;
        let arrays = PathPattern::parse(pattern).map_err(|error| error.given_to("--var"))?;
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

    fn rules(rules: &[&str], include: &[&str], exclude: &[&str]) -> Result<Rules, Error> {
        let paths = |texts: &[&str]| -> Result<Vec<PathPattern>, Error> {
            texts.iter().map(|text| text.parse()).collect()
        };
        let rules = rules.iter().map(|text| text.parse()).collect::<Result<_, Error>>()?;
        let (include, exclude) = (paths(include)?, paths(exclude)?);
        let selection = Selection { rules, include, exclude, coords: None, no_others: false };
        let saved = serde_json::to_string(&selection).unwrap();
        assert_eq!(serde_json::from_str::<Selection>(&saved).unwrap(), selection);
        Ok(Rules::of(&selection))
    }

    #[test]
    fn the_last_rule_counts_for_each_setting() {
        let rules = rules(
            &[
                "**: codec zstd:5; shards none",
                r#"a/*: chunks -1,3; codec {"id": "x\";y", "l": [1]}; write-empty never"#,
                "a/b: chunks 2,2",
            ],
            &[],
            &[],
        )
        .unwrap();
        let of = |path| rules.apply(path, Wishes::of(&CopyRequest::new("s", "t")));
        let b = of("a/b");
        assert_eq!((b.chunks.to_string().as_str(), b.shards), ("2,2", Some(ShardSpec::None)));
        assert_eq!(b.codec.unwrap().text(), r#"{"id": "x\";y", "l": [1]}"#);
        assert_eq!(b.write_empty, WriteEmpty::Never);
        let c = of("c");
        assert_eq!((c.chunks, c.codec.unwrap().text()), (ChunkSpec::Keep, "zstd:5"));
    }

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
            let error = rules(&[text], &[], &[]).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn exclusion_wins_and_unused_patterns_are_refused() {
        let rules = rules(&[], &["a", "b/*"], &["a/x"]).unwrap();
        let selected: Vec<&str> =
            ["a/x", "a/y", "b/z", "b/c/d", "e"].into_iter().filter(|p| rules.selects(p)).collect();
        assert_eq!(selected, ["a/y", "b/z"]);
        let own = |paths: [&str; 2]| paths.map(str::to_owned);
        let none = Others::default();
        assert!(rules.check_used(&own(["a/x", "b/z"]), &none, &[]).is_ok());
        let error = rules.check_used(&own(["a/y", "b/z"]), &none, &[]).unwrap_err().to_string();
        assert_eq!(error, "--exclude: `a/x` matches no array");
    }
}
