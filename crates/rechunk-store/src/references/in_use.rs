//! Finds the references that a location leads into, and shares those that are in use.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use super::References;
use super::recognise::{Form, TABLES_KEY, at_local, in_names};
use crate::StoreError;
use crate::connections::Connections;
use crate::location::{Place, names_behind};
use crate::referred::files::Base;
use crate::referred::shared::Shared;

/// References that are in use, by where they are: they are read once.
#[derive(Default)]
pub(crate) struct InUse(Shared<References>);

impl InUse {
    /// The references that a location is or leads into, and what is behind them.
    pub(crate) fn at(
        &self,
        location: &str,
        place: &Place,
        connections: &Connections,
    ) -> Result<Option<(Arc<References>, String)>, StoreError> {
        match place {
            Place::Local(path) => self.at_path(location, path, connections),
            Place::Memory { name: None, .. } => Ok(None),
            Place::Memory { name: Some(name), below } => {
                self.in_url(&format!("memory://{name}"), below, connections)
            }
            Place::Remote(address) => self.in_url(&address.root, &address.below, connections),
        }
    }

    fn at_path(
        &self,
        location: &str,
        path: &FilePath,
        connections: &Connections,
    ) -> Result<Option<(Arc<References>, String)>, StoreError> {
        let path: PathBuf = path.components().collect(); // without a / at the end
        let mut parts: Vec<&FilePath> = path.ancestors().collect();
        parts.reverse();
        let found = parts.into_iter().find_map(|part| Some((part, at_local(part)?)));
        let Some((file, form)) = found else { return Ok(None) };
        let below = names_behind(location, &path, file, "it has a .. behind references")?;
        let absolute = std::path::absolute(file);
        let absolute =
            absolute.map_err(|error| StoreError::refused_location(location, &error.to_string()))?;
        let utf8 = |path: &FilePath| path.to_str().map(ToOwned::to_owned);
        let parts = absolute.parent().and_then(utf8).zip(utf8(&absolute));
        let name = absolute.file_name().and_then(|name| name.to_str());
        let ((parent, all), name) = parts.zip(name).ok_or_else(|| {
            StoreError::refused_location(location, "it is no path to a file, or not UTF-8")
        })?;
        let make = || {
            let (place, key) = match form {
                Form::Json => (connections.open(&parent)?, name),
                Form::Parquet => (connections.open(&all)?, TABLES_KEY),
            };
            let (label, base) = (file.display().to_string(), Base::Local(parent.into()));
            Ok(References::new(&label, form, place, key, base, connections))
        };
        Ok(Some((self.0.get_or_make(&all, make)?, below)))
    }

    fn in_url(
        &self,
        root: &str,
        names: &str,
        connections: &Connections,
    ) -> Result<Option<(Arc<References>, String)>, StoreError> {
        let Some((path, below, form)) = in_names(names) else { return Ok(None) };
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        // In a URL of HTTP a % begins the number of a character.
        let is_http = root.starts_with("http");
        let url = |path: &str| {
            let path = if is_http { path.replace('%', "%25") } else { path.to_owned() };
            if path.is_empty() { root.to_owned() } else { format!("{root}/{path}") }
        };
        let location = url(&path);
        let make = || {
            let (place, key) = match form {
                Form::Json => (connections.open(&url(parent))?, name),
                Form::Parquet => (connections.open(&location)?, TABLES_KEY),
            };
            let base = Base::Url(url(parent));
            Ok(References::new(&location, form, place, key, base, connections))
        };
        Ok(Some((self.0.get_or_make(&location, make)?, below)))
    }
}
