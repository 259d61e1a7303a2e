//! `--cast`: which type elements are cast to.

use std::fmt;
use std::str::FromStr;

use rechunk_format::cast::{CastTo, castable_names};
use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Type that elements are cast to. Parsed from the text that the command line takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cast {
    to: CastTo,
    /// The type as it was spelled.
    text: String,
}

impl Cast {
    /// Parses the name of a type, or what NumPy spells it; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let to = CastTo::parse(text).ok_or_else(|| Error::Usage {
            message: format!("--cast: `{text}` is no type that numbers are cast to"),
            hint: Some(
                format!("write one of {}, or as NumPy does: >i2", castable_names().join(", "))
                    .into(),
            ),
        })?;
        Ok(Self { to, text: text.trim().to_owned() })
    }

    /// Its byte order, too.
    pub(crate) fn to(&self) -> CastTo {
        self.to
    }

    /// The type.
    pub fn data_type(&self) -> DataType {
        self.to.data_type
    }
}

impl FromStr for Cast {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Cast {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<Cast> for String {
    fn from(cast: Cast) -> Self {
        cast.text
    }
}

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
