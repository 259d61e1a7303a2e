//! Exit codes: a promise to scripts.

use std::process::ExitCode;

use rechunk::Class;

/// The exit code of an error's class.
pub(crate) fn of(class: Class) -> ExitCode {
    ExitCode::from(class as u8)
}
