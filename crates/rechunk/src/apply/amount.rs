//! Amounts along axes, as users write them: pads and gaps.

use std::fmt;
use std::str::FromStr;

use rechunk_grid::ArraySpec;
use serde::{Deserialize, Serialize};

use crate::WordError;

/// Voxels for each axis. One number for all of them (`2`), one for each (`0,2,2`), by name of
/// dimension (`y=2,x=2`, the others 0), or `auto`: as many as the operation needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Pads {
    /// As many as the operation needs.
    Auto,
    /// Along every axis.
    All(u64),
    /// One for each axis, slowest first.
    Each(Vec<u64>),
    /// By name of dimension.
    Named(Vec<(String, u64)>),
}

impl FromStr for Pads {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let number = |text: &str| {
            text.trim().parse::<u64>().map_err(|_| {
                WordError::new(
                    format!("`{text}` is not a number of elements"),
                    Some("write one number, one for each axis (0,2,2), or y=2,x=2"),
                )
            })
        };
        let entries: Vec<&str> = text.split(',').map(str::trim).collect();
        if entries == ["auto"] {
            return Ok(Self::Auto);
        }
        if entries.iter().any(|entry| entry.contains('=')) {
            let named = entries.iter().map(|entry| {
                let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
                Ok((name.trim().to_owned(), number(value)?))
            });
            return named.collect::<Result<_, _>>().map(Self::Named);
        }
        match entries.as_slice() {
            [one] => number(one).map(Self::All),
            each => {
                each.iter().map(|entry| number(entry)).collect::<Result<_, _>>().map(Self::Each)
            }
        }
    }
}

impl fmt::Display for Pads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Auto => "auto".to_owned(),
            Self::All(pad) => pad.to_string(),
            Self::Each(pads) => pads.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
            Self::Named(named) => {
                let entries = named.iter().map(|(name, pad)| format!("{name}={pad}"));
                entries.collect::<Vec<_>>().join(",")
            }
        };
        f.write_str(&text)
    }
}

impl TryFrom<String> for Pads {
    type Error = WordError;

    fn try_from(text: String) -> Result<Self, WordError> {
        text.parse()
    }
}

impl From<Pads> for String {
    fn from(pads: Pads) -> Self {
        pads.to_string()
    }
}

impl Pads {
    /// Voxels along each axis of an array; `auto` stands for `Pads::Auto`.
    pub(crate) fn resolve(&self, spec: &ArraySpec, auto: &[u64]) -> Result<Vec<u64>, WordError> {
        let rank = spec.shape.len();
        match self {
            Self::Auto => Ok(auto.to_vec()),
            Self::All(pad) => Ok(vec![*pad; rank]),
            Self::Each(pads) if pads.len() == rank => Ok(pads.clone()),
            Self::Each(pads) => Err(WordError::new(
                format!("`{self}` has {} entries, and the array {rank} axes", pads.len()),
                None,
            )),
            Self::Named(named) => {
                let names = spec.dimension_names.clone().unwrap_or_default();
                let mut pads = vec![0; rank];
                for (name, pad) in named {
                    let is_it = |found: &Option<String>| found.as_deref() == Some(name.as_str());
                    let axis = names.iter().position(is_it).ok_or_else(|| {
                        WordError::new(format!("the array has no dimension `{name}`"), None)
                    })?;
                    pads[axis] = *pad;
                }
                Ok(pads)
            }
        }
    }
}
