//! Errors of databases: whether they pass, and in which words they are told.

use std::borrow::Cow;

use rechunk_datastore::DatastoreError;
use sqlx::Error;

/// Results of SQLite that pass: another process has the file.
const SQLITE_BUSY: [&str; 2] = ["5", "6"];
/// The result of SQLite for a journal that whoever only reads cannot roll back.
const SQLITE_READONLY_ROLLBACK: &str = "776";
/// The result of SQLite for a file that is none of it.
const SQLITE_NOT_A_DATABASE: &str = "26";

fn code(error: &Error) -> Option<String> {
    let Error::Database(error) = error else { return None };
    error.code().map(Cow::into_owned)
}

/// True if it may be otherwise in a moment, on another connection.
pub(crate) fn passes(error: &Error) -> bool {
    match error {
        Error::Io(_)
        | Error::Protocol(_)
        | Error::PoolTimedOut
        | Error::PoolClosed
        | Error::WorkerCrashed => true,
        Error::Database(database) => {
            let Some(code) = code(error) else { return false };
            if database.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() {
                // The first byte is the kind.
                let kind = code.parse::<u32>().map_or(code, |code| (code & 0xff).to_string());
                return SQLITE_BUSY.contains(&kind.as_str());
            }
            // Connections, resources, an operator who stops it, locks and times that are over.
            ["08", "53", "57P", "55P03", "57014", "40"].iter().any(|class| code.starts_with(class))
        }
        _ => false,
    }
}

/// An error of a register that is open.
pub(crate) fn failed(error: &Error) -> DatastoreError {
    if passes(error) {
        return away(error.to_string());
    }
    if code(error).as_deref() == Some("22021") {
        let reason = "a text has a character that PostgreSQL does not store (NUL)";
        return DatastoreError::Senseless(reason.to_owned());
    }
    DatastoreError::Register(error.to_string())
}

/// That the register cannot be reached now.
pub(crate) fn away(reason: impl std::fmt::Display) -> DatastoreError {
    tracing::warn!(%reason, "the database does not answer");
    DatastoreError::Unavailable("the database does not answer: try again later".to_owned())
}

/// True if a file of SQLite cannot be read before somebody who may write has undone what a process
/// that was killed had begun.
pub(crate) fn is_interrupted(error: &Error) -> bool {
    code(error).as_deref() == Some(SQLITE_READONLY_ROLLBACK)
}

/// Why a database cannot be opened, and what to do.
pub(crate) fn opening(error: &Error) -> String {
    let advice = match code(error).as_deref() {
        Some(SQLITE_NOT_A_DATABASE) => {
            "it is no file of SQLite; move it away and import the folder, or name another database"
        }
        Some("28P01" | "28000") => "the user or the password is wrong",
        Some("3D000") => "make it first, as with createdb",
        Some("42501") => "the user may not do that there",
        Some("14" | "8" | "1544") => "the file and its directory have to be writable",
        _ if matches!(error, Error::Io(_)) => "is the server up, and can it be reached from here?",
        _ => return error.to_string(),
    };
    format!("{error}; {advice}")
}
