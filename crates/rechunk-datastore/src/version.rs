//! Words for versions and for what a client wants to do with one.

use std::str::FromStr;

use crate::DatastoreError;

/// A version as a client asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionWanted {
    /// That one.
    Number(u64),
    /// The one with the highest number.
    Latest,
    /// One behind it, that is made.
    New,
    /// Of each block the one of the highest version that has it.
    MixedLatest,
}

impl FromStr for VersionWanted {
    type Err = DatastoreError;

    fn from_str(text: &str) -> Result<Self, DatastoreError> {
        Ok(match text {
            "latest" => Self::Latest,
            "new" => Self::New,
            "mixedLatest" => Self::MixedLatest,
            number => Self::Number(version_number(number)?),
        })
    }
}

/// The number of a version: decimal digits.
pub(crate) fn version_number(text: &str) -> Result<u64, DatastoreError> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number);
    number.ok_or_else(|| {
        let words = "a number, `latest`, `new` or `mixedLatest`";
        DatastoreError::Senseless(format!("{text:?} is no version: {words}"))
    })
}

/// Use that a client wants to make of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// Read them.
    Read,
    /// Write them.
    Write,
    /// Both.
    ReadWrite,
    /// Neither.
    NoAccess,
}

impl AccessMode {
    /// True if blocks may be written.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }

    /// Refuses versions that cannot be used so.
    pub fn check(self, version: VersionWanted) -> Result<(), DatastoreError> {
        let refused = match (version, self) {
            (VersionWanted::New, Self::Read) => "a new version has no blocks to read",
            (VersionWanted::MixedLatest, Self::Write) => "`mixedLatest` is only read",
            _ => return Ok(()),
        };
        Err(DatastoreError::Senseless(refused.to_owned()))
    }
}

impl FromStr for AccessMode {
    type Err = DatastoreError;

    fn from_str(text: &str) -> Result<Self, DatastoreError> {
        Ok(match text {
            "read" => Self::Read,
            "write" => Self::Write,
            "read-write" => Self::ReadWrite,
            "no-access" => Self::NoAccess,
            other => {
                let words = "`read`, `write`, `read-write` or `no-access`";
                return Err(DatastoreError::Senseless(format!("{other:?} is no mode: {words}")));
            }
        })
    }
}
