//! Finds out of a remote store's error whether another try is of use, and puts it into words.
//!
//! `object_store` keeps the type of a failed request to itself, so that its status is read from
//! its text; end-to-end tests against a store that fails (`tests/e2e/cloud`) hold these texts
//! against the library.

use std::error::Error;

use object_store::client::{HttpError, HttpErrorKind};
use thiserror::Error;

/// Longest text of an answer in a message, characters.
const TEXT_MAX: usize = 300;
const STATUS: &str = "Server returned non-2xx status code: ";
const RESPONSE: &str = "Server returned error response: ";

/// A request of which a store did not make what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// An answer that says no.
    Status { code: u16, body: String },
    /// No answer, or a part of one.
    Transport { is_passing: bool },
}

/// An answer that says no, to a request of ours; [`Failure`] knows it as one.
pub(crate) fn answered(code: u16, body: &str) -> Answered {
    Answered(format!("{STATUS}{code}: {}", body.trim()))
}

/// See [`answered`].
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Answered(String);

/// True for an answer that says no, and did so without doing anything.
pub(crate) fn is_answered(error: &(dyn Error + 'static)) -> bool {
    error.is::<Answered>()
}

impl Failure {
    /// Failure of a request that one error of a chain tells of, if it does.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return Some(Self::Transport { is_passing: error.kind() != HttpErrorKind::Unknown });
        }
        let text = error.to_string();
        if let Some(body) = text.strip_prefix(RESPONSE) {
            return Some(Self::Status { code: 200, body: body.to_owned() });
        }
        let (code, rest) = text.strip_prefix(STATUS)?.split_at_checked(3)?;
        let body = rest.split_once(": ").map_or("", |(_, body)| body.trim());
        Some(Self::Status { code: code.parse().ok()?, body: body.to_owned() })
    }

    /// True if the same request may succeed another time.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Transport { is_passing } => *is_passing,
            // S3 says so when a body came too slowly; its own tools try again.
            Self::Status { code: 400, body } => body.contains("RequestTimeout") || body.is_empty(),
            // An error after the answer has begun.
            Self::Status { code: 200, body } => {
                body.contains("InternalError") || body.contains("SlowDown")
            }
            Self::Status { code, .. } => matches!(code, 408 | 429 | 500..600),
        }
    }

    /// It may be a passing one or not, which the answer to a HEAD has no body to say.
    pub(crate) fn is_unexplained(&self) -> bool {
        matches!(self, Self::Status { code: 400, body } if body.is_empty())
    }

    /// The store does not let this user do that.
    pub(crate) fn is_denial(&self) -> bool {
        matches!(self, Self::Status { code: 401 | 403, .. })
    }

    /// Text of an answer, in a line; `None` where there was none.
    pub(crate) fn text(&self) -> Option<String> {
        let Self::Status { code, body } = self else { return None };
        let said = match (element(body, "Code"), element(body, "Message")) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            (Some(text), None) | (None, Some(text)) => text.to_owned(),
            (None, None) => body.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        let said: String = said.chars().filter(|c| !c.is_control()).take(TEXT_MAX).collect();
        let said = if said.is_empty() { said } else { format!(" ({said})") };
        Some(format!("the store answered {code}{said}"))
    }
}

/// The text of the first XML element of a name.
fn element<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

/// `after 10 retries`, if an error says that there were some.
pub(crate) fn retries(error: &(dyn Error + 'static)) -> Option<String> {
    let text = error.to_string();
    let (_, rest) = text.split_once(", after ")?;
    let (count, _) = rest.split_once(" retries")?;
    count.parse::<u64>().is_ok().then(|| format!("after {count} retries"))
}

/// Advice about a store that does not let this user in, if an error of a chain says so.
pub(crate) fn access_hint(error: &(dyn Error + 'static)) -> Option<&'static str> {
    is_denial(error).then_some(
        "; check the credentials (environment, profile, --store-option) and what they allow; \
         a public bucket is read with --store-option skip_signature=true",
    )
}

/// Advice about a web server that gives a whole file where a part was asked for.
pub(crate) fn range_hint(error: &(dyn Error + 'static)) -> Option<&'static str> {
    use object_store::Error::NotSupported;
    let said = error.downcast_ref::<object_store::Error>();
    matches!(said, Some(NotSupported { .. })).then_some(
        "; this server gives whole files only: copy them to a disk first, or serve them with \
         another one",
    )
}

/// Whether one error of a chain says that the store does not let this user do that: a listing says
/// it by its status alone.
pub(crate) fn is_denial(error: &(dyn Error + 'static)) -> bool {
    use object_store::Error::{PermissionDenied, Unauthenticated};
    let said = error.downcast_ref::<object_store::Error>();
    matches!(said, Some(PermissionDenied { .. } | Unauthenticated { .. }))
        || Failure::of(error).is_some_and(|failure| failure.is_denial())
}
