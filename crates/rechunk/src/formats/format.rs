//! The formats: their names, and which one a target's name asks for.

use rechunk_zarr::ZarrVersion;
use serde::{Deserialize, Serialize};

use super::n5::N5;
use super::precomputed::PRECOMPUTED;
use super::raw::{NII, NPY, RAW};
use super::row::{Fact, Row};
use super::zarr::{ZARR2, ZARR3};

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
    /// Neuroglancer's precomputed volumes.
    Precomputed,
    /// Files of raw elements: a directory of block files with `array.json`, or one headerless file.
    Raw,
    /// A file of NumPy.
    Npy,
    /// A file of NIfTI-1 or NIfTI-2.
    Nii,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Zarr3, Self::Zarr2, Self::N5, Self::Precomputed, Self::Raw, Self::Npy, Self::Nii];

    /// Formats whose chunks its documents can describe, in the order in which they are looked for.
    pub(crate) fn lies_over(self) -> &'static [Self] {
        match self {
            Self::Zarr3 => &[Self::Zarr2, Self::N5],
            Self::Zarr2 => &[Self::Zarr3],
            Self::N5 | Self::Precomputed | Self::Raw | Self::Npy | Self::Nii => &[],
        }
    }

    /// Its facts.
    pub(crate) fn row(self) -> &'static Row {
        match self {
            Self::Zarr3 => &ZARR3,
            Self::Zarr2 => &ZARR2,
            Self::N5 => &N5,
            Self::Precomputed => &PRECOMPUTED,
            Self::Raw => &RAW,
            Self::Npy => &NPY,
            Self::Nii => &NII,
        }
    }

    /// Formats by the documents they are recognised by, in the order in which a place is looked at.
    /// A format whose documents are those of another, or that has none, is not among them.
    pub(crate) const LOOKED_FOR: [Self; 5] =
        [Self::Zarr3, Self::Zarr2, Self::Raw, Self::N5, Self::Precomputed];

    /// The name people use, as `--format` takes it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of a name as `--format` takes it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format that the name of a target asks for. Its ending says it, else that of the
    /// container it is in; else it is the first of all.
    pub fn of_target(location: &str) -> Self {
        let mut names = location.trim_end_matches('/').rsplit('/');
        let name = names.clone().next().unwrap_or_default();
        let unzipped = if has_ending(name, "gz") { &name[..name.len() - 3] } else { name };
        let is_file_of = |format: &Self| {
            let name = if format.has(Fact::PackedFiles) { unzipped } else { name };
            format.row().file_ending.is_some_and(|ending| has_ending(name, ending))
        };
        let file = Self::ALL.into_iter().find(is_file_of);
        file.or_else(|| names.find_map(Self::of_container)).unwrap_or(Self::ALL[0])
    }

    /// The format that the name of a container asks for.
    fn of_container(name: &str) -> Option<Self> {
        let asked = |format: &Self| {
            format.row().container_ending.is_some_and(|ending| has_ending(name, ending))
        };
        Self::ALL.into_iter().find(asked)
    }

    /// The format of a directory that is a group by its name alone.
    pub(crate) fn of_bare_container(location: &str) -> Option<Self> {
        Self::of_container(location.trim_end_matches('/'))
            .filter(|format| format.has(Fact::BareGroups))
    }

    /// The format that has documents of this key.
    pub(crate) fn of_key(key: &str) -> Option<Self> {
        Self::LOOKED_FOR.into_iter().find(|format| format.row().keys.all().any(|own| own == key))
    }

    /// Whether a property is one of this format.
    pub(crate) fn has(self, fact: Fact) -> bool {
        self.row().facts.contains(&fact)
    }

    /// The document of a group is all that describes the arrays in it.
    pub(crate) fn describes_members(self) -> bool {
        self.schema().members.is_some()
    }

    /// It has groups of arrays.
    pub(crate) fn has_groups(self) -> bool {
        self.row().container_ending.is_some()
    }

    /// A group can be written in it: of any arrays, or of the levels of one image.
    pub(crate) fn takes_groups(self) -> bool {
        self.has_groups() || self.has(Fact::Levels)
    }

    /// It is the format that a place is looked at for first.
    pub(crate) fn is_looked_for_first(self) -> bool {
        Self::LOOKED_FOR[0] == self
    }

    /// The version, if it is Zarr.
    pub(crate) fn zarr_version(self) -> Option<ZarrVersion> {
        self.row().zarr_version
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
