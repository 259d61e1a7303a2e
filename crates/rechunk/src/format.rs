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
    /// N5.
    N5,
    /// Files of raw elements: a directory of block files with `array.json`, or one headerless file.
    Raw,
    /// A file of NumPy.
    Npy,
    /// A file of NIfTI-1 or NIfTI-2.
    Nii,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Zarr3, Self::Zarr2, Self::N5, Self::Raw, Self::Npy, Self::Nii];

    /// The name people use, as `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zarr3 => "zarr3",
            Self::Zarr2 => "zarr2",
            Self::N5 => "n5",
            Self::Raw => "raw",
            Self::Npy => "npy",
            Self::Nii => "nii",
        }
    }

    /// The format of a name as `--format` takes it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format that the name of a target asks for: by its ending, else by that of the container
    /// it is in, else Zarr v3.
    pub fn of_target(location: &str) -> Self {
        let mut names = location.trim_end_matches('/').rsplit('/');
        let name = names.clone().next().unwrap_or_default();
        let unzipped = if has_ending(name, "gz") { &name[..name.len() - 3] } else { name };
        if has_ending(name, "npy") {
            return Self::Npy;
        }
        if has_ending(unzipped, "nii") {
            return Self::Nii;
        }
        let container = names.find_map(|name| match () {
            () if has_ending(name, "n5") => Some(Self::N5),
            () if has_ending(name, "zarr") => Some(Self::Zarr3),
            () => None,
        });
        container.unwrap_or(Self::Zarr3)
    }

    /// The version, if it is Zarr.
    pub(crate) fn zarr_version(self) -> Option<ZarrVersion> {
        match self {
            Self::Zarr3 => Some(ZarrVersion::V3),
            Self::Zarr2 => Some(ZarrVersion::V2),
            _ => None,
        }
    }

    /// Ending of the names of containers of arrays; `None` if there are no containers.
    pub(crate) fn container_ending(self) -> Option<&'static str> {
        match self {
            Self::Zarr3 | Self::Zarr2 => Some("zarr"),
            Self::N5 => Some("n5"),
            Self::Raw | Self::Npy | Self::Nii => None,
        }
    }

    /// Name for people, without the version: `a Zarr`.
    pub(crate) fn with_article(self) -> &'static str {
        match self {
            Self::Zarr3 | Self::Zarr2 => "a Zarr",
            Self::N5 => "an N5",
            Self::Raw => "a raw",
            Self::Npy => "a NumPy",
            Self::Nii => "a NIfTI",
        }
    }
}

/// True if a name ends in `.ending`, in whatever case.
pub(crate) fn has_ending(name: &str, ending: &str) -> bool {
    let found = name.rsplit_once('.').map(|(_, found)| found);
    found.is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

impl From<ZarrVersion> for Format {
    fn from(version: ZarrVersion) -> Self {
        match version {
            ZarrVersion::V2 => Self::Zarr2,
            ZarrVersion::V3 => Self::Zarr3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ask_for_formats() {
        for (name, format) in [
            ("out.zarr", Format::Zarr3),
            ("out", Format::Zarr3),
            ("a.n5", Format::N5),
            ("a.n5/setup0/timepoint0/s0/", Format::N5),
            ("a.n5/b.zarr/c", Format::Zarr3),
            ("t1.nii.gz", Format::Nii),
            ("T1.NII", Format::Nii),
            ("x.npy", Format::Npy),
        ] {
            assert_eq!(Format::of_target(name), format, "{name}");
        }
    }
}
