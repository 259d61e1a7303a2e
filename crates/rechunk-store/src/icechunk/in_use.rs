//! Finds the repository that a location leads into, and shares those that are in use.

use std::sync::Arc;

use super::recognise::parts;
use super::repository::Repository;
use super::version::{MAIN, Version, version};
use crate::StoreError;
use crate::connections::Connections;
use crate::location::{Place, parse};
use crate::percent::percent_decode;
use crate::referred::files::Base;
use crate::referred::shared::Shared;
use crate::versioned_location::Parts;

/// Repositories that are in use, by where they are and their versions.
#[derive(Debug, Default)]
pub(crate) struct InUse(Shared<Repository>);

impl InUse {
    /// The repository that a location is or leads into, and what is behind it.
    pub(crate) fn at(
        &self,
        location: &str,
        connections: &Connections,
    ) -> Result<Option<(Arc<Repository>, String)>, StoreError> {
        let Some(parts) = parts(location) else { return Ok(None) };
        let refused = |reason: String| StoreError::refused_location(location, &reason);
        let behind = names_behind(&parts).map_err(refused)?;
        let version = match parts.version {
            "" => Version::Branch(MAIN.to_owned()),
            text => version(text).map_err(refused)?,
        };
        let base = match parse(parts.root)? {
            Place::Local(path) => Base::Local(
                std::path::absolute(&path)
                    .map_err(|error| StoreError::refused_location(location, &error.to_string()))?,
            ),
            Place::Memory { name: None, .. } => {
                return Err(refused("nothing is in it yet".to_owned()));
            }
            Place::Memory { .. } | Place::Remote(_) => Base::Url(parts.root.to_owned()),
        };
        let name = format!("{base:?} {version}");
        let make = || {
            let place = connections.open(parts.root)?;
            Ok(Repository::new(place, version, base, connections))
        };
        Ok(Some((self.0.get_or_make(&name, make)?, behind)))
    }
}

/// The names behind a repository, `/`-separated.
fn names_behind(parts: &Parts<'_>) -> Result<String, String> {
    let is_url = ["file://", "http://", "https://"].iter().any(|s| parts.root.starts_with(s));
    let names = if is_url {
        let bytes = percent_decode(parts.behind).and_then(|bytes| String::from_utf8(bytes).ok());
        bytes.ok_or("a % in it stands for no character of a name")?
    } else {
        parts.behind.to_owned()
    };
    if names.contains('#') && Parts::with_version(&names).is_some() {
        return Err("the version of a repository is named behind the repository itself, before \
                    what is in it: REPOSITORY#branch=NAME/PATH"
            .to_owned());
    }
    let names: Vec<&str> =
        names.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if names.contains(&"..") {
        return Err("it has a .. behind a repository".to_owned());
    }
    Ok(names.join("/"))
}
