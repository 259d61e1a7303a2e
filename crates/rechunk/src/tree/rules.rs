//! Which arrays of a group are copied, and what is asked for each: `--include`, `--exclude`,
//! `--var`.

use rechunk_grid::WriteEmpty;
use rechunk_image::Dialect;
use rechunk_words::{ArrayRule, Cast, ChunkSpec, CodecSpec, PathPattern, Pattern, ShardSpec};
use serde::{Deserialize, Serialize};

use super::coordinates::Coords;
use crate::others::Others;
use crate::{CopyRequest, Error};

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
    /// Version of OME-Zarr that groups say. `None`: the source's, where readers look for it in the
    /// format of the target, else the one that they look for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
}

impl Selection {
    /// Refuses options that say how arrays are to be, where `by` leaves them as they are.
    pub(crate) fn check_unchanged(&self, by: &str) -> Result<(), Error> {
        let option = match self {
            Self { rules, .. } if !rules.is_empty() => "--var",
            Self { coords: Some(_), .. } => "--coords",
            Self { dialect: Some(_), .. } => "a version of OME-Zarr",
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
            Self { dialect: Some(_), .. } => "a version of OME-Zarr",
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
    /// the other files; those of rules mean none of `all` arrays. Of rules for arrays that are not
    /// copied nothing follows: a job file has them for all.
    pub(crate) fn check_used(&self, all: &[String], others: &Others) -> Result<(), Error> {
        for pattern in self.include.iter().chain(&self.exclude) {
            let means = |path: &str| pattern.means(path);
            if !all.iter().any(|path| means(path)) && !others.paths().any(means) {
                return Err(pattern.unused().into());
            }
        }
        for Rule { pattern, .. } in &self.settings {
            if !all.iter().any(|path| pattern.means(path)) {
                return Err(pattern.unused().into());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(rules: &[&str], include: &[&str], exclude: &[&str]) -> Result<Rules, Error> {
        let paths = |texts: &[&str]| -> Result<Vec<PathPattern>, Error> {
            texts.iter().map(|text| Ok(text.parse()?)).collect()
        };
        let rules = rules.iter().map(|text| Ok(text.parse()?)).collect::<Result<_, Error>>()?;
        let (include, exclude) = (paths(include)?, paths(exclude)?);
        let selection = Selection { rules, include, exclude, ..Selection::default() };
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
    fn exclusion_wins_and_unused_patterns_are_refused() {
        let rules = rules(&[], &["a", "b/*"], &["a/x"]).unwrap();
        let selected: Vec<&str> =
            ["a/x", "a/y", "b/z", "b/c/d", "e"].into_iter().filter(|p| rules.selects(p)).collect();
        assert_eq!(selected, ["a/y", "b/z"]);
        let own = |paths: [&str; 2]| paths.map(str::to_owned);
        let none = Others::default();
        assert!(rules.check_used(&own(["a/x", "b/z"]), &none).is_ok());
        let error = rules.check_used(&own(["a/y", "b/z"]), &none).unwrap_err().to_string();
        assert_eq!(error, "--exclude: `a/x` matches no array");
    }
}
