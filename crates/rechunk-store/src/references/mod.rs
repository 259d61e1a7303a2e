//! References as a place to read from: keys of Zarr that lead to ranges of other files.
//!
//! kerchunk and VirtualiZarr write them, as one document of JSON or as a directory of Parquet files
//! (<https://fsspec.github.io/kerchunk/spec.html>). What is referred to is read through
//! [`crate::Stores`] like all else, and counted once, where it is read. Nothing in a document is
//! believed: names, ranges and sizes are checked when it is read, and against the files when they
//! are.

mod chunks;
mod document;
mod fault;
mod files;
mod footer;
mod found;
mod index;
mod json;
mod limits;
mod odd;
mod pages;
mod partition;
mod pieces;
mod read;
mod recognise;
mod refused;
mod schema;
mod tables;
mod templates;
#[cfg(test)]
mod tests;
mod thrift;

use std::fmt;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, OnceLock};

use object_store::ObjectMeta;
use tokio::sync::OnceCell;

use self::fault::Fault;
use self::files::{Base, Files};
use self::index::Index;
use self::pieces::Pieces;
use self::recognise::{Form, TABLES_KEY, at_local, in_names};
pub(crate) use self::refused::Refused;
use self::tables::Tables;
use crate::location::{Place, names_behind};
use crate::{Store, StoreError, Stores};

/// A document of references; it is read when something is first asked of it.
pub(crate) struct References {
    /// Name of the references, for people.
    label: Arc<str>,
    form: Form,
    /// The place that holds the document, or its files.
    place: Store,
    /// The document: its key in `place`.
    key: String,
    files: Files,
    loaded: OnceCell<Loaded>,
    /// Whether files are reached over a network, once it is known.
    is_late: OnceLock<bool>,
}

impl fmt::Debug for References {
    /// Without what is in it, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("References").field("label", &self.label).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Loaded {
    content: Content,
    /// The document.
    meta: ObjectMeta,
}

#[derive(Debug)]
enum Content {
    Document(Index),
    Tables(Tables),
}

impl References {
    /// References in `place`: the document at `key` there, or the directory that `place` is. Names
    /// in them are relative to `base`. Nothing is read.
    fn new(label: &str, form: Form, place: Store, key: &str, base: Base, stores: &Stores) -> Self {
        let (label, key) = (label.into(), key.to_owned());
        let files = Files::new(base, stores.clone());
        let (loaded, is_late) = (OnceCell::new(), OnceLock::new());
        Self { label, form, place, key, files, loaded, is_late }
    }

    /// Kind of the references, for people.
    pub(crate) fn what(&self) -> &'static str {
        match self.form {
            Form::Json => "a reference file",
            Form::Parquet => "a directory of references",
        }
    }

    /// Whether many requests are to be in flight, as far as is known.
    pub(crate) fn answers_late(&self) -> bool {
        self.place.answers_late() || self.is_late.get().copied().unwrap_or(false)
    }

    /// The references that a location is or leads into, and what is behind them.
    pub(crate) fn at(
        location: &str,
        place: &Place,
        stores: &Stores,
    ) -> Result<Option<(Arc<Self>, String)>, StoreError> {
        match place {
            Place::Local(path) => Self::at_path(location, path, stores),
            Place::Memory { name: None, .. } => Ok(None),
            Place::Memory { name: Some(name), below } => {
                Self::in_url(&format!("memory://{name}"), below, stores)
            }
            Place::Remote(address) => Self::in_url(&address.root, &address.below, stores),
        }
    }

    fn at_path(
        location: &str,
        path: &FilePath,
        stores: &Stores,
    ) -> Result<Option<(Arc<Self>, String)>, StoreError> {
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
                Form::Json => (Store::open_plain(&parent, stores)?, name),
                Form::Parquet => (Store::open_plain(&all, stores)?, TABLES_KEY),
            };
            let (label, base) = (file.display().to_string(), Base::Local(parent.into()));
            Ok(Self::new(&label, form, place, key, base, stores))
        };
        Ok(Some((stores.references(&all, make)?, below)))
    }

    fn in_url(
        root: &str,
        names: &str,
        stores: &Stores,
    ) -> Result<Option<(Arc<Self>, String)>, StoreError> {
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
                Form::Json => (Store::open_plain(&url(parent), stores)?, name),
                Form::Parquet => (Store::open_plain(&location, stores)?, TABLES_KEY),
            };
            Ok(Self::new(&location, form, place, key, Base::Url(url(parent)), stores))
        };
        Ok(Some((stores.references(&location, make)?, below)))
    }

    /// Name of the references, for people.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// A sentence for people, if there are entries that cannot be read.
    pub(crate) async fn warning(&self) -> Result<Option<String>, StoreError> {
        Ok(match &self.loaded().await?.content {
            Content::Document(index) => index.warning(),
            Content::Tables(tables) => tables.warning(),
        })
    }

    async fn loaded(&self) -> Result<&Loaded, StoreError> {
        let loaded = self.loaded.get_or_try_init(|| self.load()).await?;
        // What lies elsewhere leads elsewhere.
        if self.is_late.get().is_none() && !self.place.answers_late() {
            let file = match &loaded.content {
                Content::Document(index) => index.a_file(),
                Content::Tables(tables) => tables.a_file(&self.place).await.map(Into::into),
            };
            // Who was first has found the same.
            let _ = self.is_late.set(file.is_some_and(|file| self.files.is_remote(&file)));
        }
        Ok(loaded)
    }

    async fn load(&self) -> Result<Loaded, StoreError> {
        let missing = || match self.form {
            Form::Json => self.place.view.not_found(&self.key),
            Form::Parquet => Fault::NoMetadata.of(&self.label),
        };
        let meta = Box::pin(self.place.look_at(&self.key)).await?.ok_or_else(missing)?;
        let pieces = Pieces::new(&self.place, &self.key, meta.size);
        let form = self.form;
        // Parsing takes a while: away from the async threads.
        let read = tokio::task::spawn_blocking(move || match form {
            Form::Json => document::read(pieces).map(Content::Document),
            Form::Parquet => Tables::read(pieces).map(Content::Tables),
        });
        let content = read.await.map_err(|error| Fault::Input(std::io::Error::other(error)));
        let content = content.and_then(|content| content);
        let after = Box::pin(self.place.look_at(&self.key)).await?.ok_or_else(missing)?;
        if (after.size, after.last_modified) != (meta.size, meta.last_modified)
            || after.e_tag != meta.e_tag
        {
            return Err(Fault::Changed.of(&self.label));
        }
        let content = content.map_err(|fault| fault.of(&self.label))?;
        Ok(Loaded { content, meta })
    }
}
