//! `--append` and `--region`: the place in a target that exists.

use rechunk_words::{Asked, RegionSpec, WordError};
use serde::{Deserialize, Serialize};

use crate::Error;

/// Place in a target that exists, for the source to go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Placement {
    /// Behind its end, along a dimension of that name, or along an axis of that number.
    Append(String),
    /// Into a region of it.
    Region(RegionSpec),
    /// Into all of it, which it keeps the shape of: a version of a data set at a server.
    Whole,
}

impl Placement {
    /// Parses a region; says what is wrong with it otherwise.
    pub fn parse_region(text: &str) -> Result<Self, Error> {
        named(RegionSpec::parse(text)).map(Self::Region)
    }

    /// The option of the command line, or what stands for one.
    pub fn option(&self) -> &'static str {
        match self {
            Self::Append(_) => "--append",
            Self::Region(_) => "--region",
            Self::Whole => "the data set",
        }
    }

    /// Whether it goes by the names of axes.
    pub(crate) fn names_axes(&self) -> bool {
        match self {
            Self::Append(text) => text.trim().parse::<usize>().is_err(),
            Self::Region(region) => region.is_named(),
            Self::Whole => false,
        }
    }

    /// Returns the text of the option.
    pub fn text(&self) -> String {
        match self {
            Self::Append(text) => text.clone(),
            Self::Region(region) => region.to_string(),
            Self::Whole => String::new(),
        }
    }
}

/// An error of a region under the name of its own option.
pub(crate) fn named<T>(result: Result<T, WordError>) -> Result<T, Error> {
    result.map_err(|error| error.of(Asked::Region).into())
}
