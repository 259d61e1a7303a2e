//! Paths of data sets as viewers open them.

use rechunk_datastore::VersionWanted;

use crate::datastore::failure::Failure;

/// The version that stands for all of them, in paths of the DataStore's own viewer.
const ALL: &str = "all";

/// The version of a document, by its name in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name as it was written.
    pub name: String,
    /// The version whose blocks it is about.
    pub version: VersionWanted,
}

impl Named {
    /// A number or `mixedLatest`.
    pub(super) fn of(name: &str) -> Result<Self, Failure> {
        let version = name.parse()?;
        if matches!(version, VersionWanted::Latest | VersionWanted::New) {
            return Err(Failure::no_resource());
        }
        Ok(Self { name: name.to_owned(), version })
    }
}

/// A document of a data set for viewers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Document {
    /// The versions, as JSON.
    List,
    /// The data set as XML.
    Xml(Named),
    /// Settings that people have saved.
    Settings(Named),
    /// A small picture.
    Picture(Named),
}

impl Document {
    /// The document of a path below `/datasets/U/`; `None` if that is none.
    pub(crate) fn below_datasets(names: &[&str]) -> Option<Self> {
        let (name, rest) = names.split_first()?;
        if (*name, rest) == ("json", &[]) {
            return Some(Self::List);
        }
        let named = match *name {
            ALL => Named { name: ALL.to_owned(), version: VersionWanted::MixedLatest },
            other => Named::of(other).ok()?,
        };
        Self::of(named, rest)
    }

    /// The document of a path below `/bdv/U/`.
    pub(super) fn below_bdv(names: &[&str]) -> Result<Self, Failure> {
        match names {
            ["json"] => Ok(Self::List),
            [name, rest @ ..] => Self::of(Named::of(name)?, rest).ok_or_else(Failure::no_resource),
            [] => Err(Failure::no_resource()),
        }
    }

    fn of(named: Named, rest: &[&str]) -> Option<Self> {
        match rest {
            [] => Some(Self::Xml(named)),
            ["settings"] => Some(Self::Settings(named)),
            ["png"] => Some(Self::Picture(named)),
            _ => None,
        }
    }
}
