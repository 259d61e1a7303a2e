//! The type that elements are cast to.

use std::fmt;

use rechunk_format::cast::{CastTo, castable_names};
use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

use crate::error::{Asked, WordError};

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
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let to = CastTo::parse(text).ok_or_else(|| {
            let message = format!("`{text}` is no type that numbers are cast to");
            let names = castable_names().join(", ");
            let hint = format!("write one of {names}, or as NumPy does: >i2");
            WordError::new(message, Some(&hint)).of(Asked::Cast)
        })?;
        Ok(Self { to, text: text.trim().to_owned() })
    }

    /// The type and its byte order.
    pub fn to(&self) -> CastTo {
        self.to
    }

    /// The type.
    pub fn data_type(&self) -> DataType {
        self.to.data_type
    }
}

text_form!(Cast);

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
