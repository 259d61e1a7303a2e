//! The formats: their names, and which one a target's name asks for.

use rechunk_zarr::ZarrVersion;
use serde::{Deserialize, Serialize};

/// A format that is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Zarr v3.
    Zarr3,
    /// Zarr v2.
    Zarr2,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Zarr3, Self::Zarr2];

    /// The name people use, as `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zarr3 => "zarr3",
            Self::Zarr2 => "zarr2",
        }
    }

    /// The format of a name as `--format` takes it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The version, if it is Zarr.
    #[expect(clippy::unnecessary_wraps, reason = "other formats follow")]
    pub(crate) fn zarr_version(self) -> Option<ZarrVersion> {
        match self {
            Self::Zarr3 => Some(ZarrVersion::V3),
            Self::Zarr2 => Some(ZarrVersion::V2),
        }
    }

    /// What the name of a container of arrays ends with.
    pub(crate) fn container_ending(self) -> &'static str {
        match self {
            Self::Zarr3 | Self::Zarr2 => "zarr",
        }
    }
}

impl From<ZarrVersion> for Format {
    fn from(version: ZarrVersion) -> Self {
        match version {
            ZarrVersion::V2 => Self::Zarr2,
            ZarrVersion::V3 => Self::Zarr3,
        }
    }
}
