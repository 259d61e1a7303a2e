//! Refused texts as errors: the option that such a text was given to.

use rechunk_words::{Asked, WordError};

use crate::{Error, Remedy};

impl From<WordError> for Error {
    fn from(error: WordError) -> Self {
        let hint = error.hint.map(Remedy::from);
        let refused = Self::Usage { message: error.message, hint };
        match error.asked {
            None => refused,
            Some(asked) => refused.given_to(option(asked)),
        }
    }
}

/// The option of the command line for a part of a request.
fn option(asked: Asked) -> &'static str {
    match asked {
        Asked::Cast => "--cast",
        Asked::MaxMissing => "--max-missing",
        Asked::Selection => "--select",
        Asked::Region => "--region",
        Asked::Rule => "--var",
    }
}

/// An error of a text, said of `what`.
pub(crate) fn named(what: &str, error: WordError) -> Error {
    let WordError { message, hint, .. } = error;
    Error::Usage { message: format!("{what}: {message}"), hint: hint.map(Into::into) }
}
