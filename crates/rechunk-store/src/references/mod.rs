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
mod footer;
mod in_use;
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
use std::sync::{Arc, OnceLock};

use object_store::ObjectMeta;
use tokio::sync::OnceCell;

use self::fault::Fault;
pub(crate) use self::in_use::InUse;
use self::index::Index;
use self::pieces::Pieces;
use self::recognise::Form;
pub(crate) use self::refused::Refused;
use self::tables::Tables;
use crate::connections::Connections;
use crate::referred::Referred;
use crate::referred::files::Base;
use crate::{Store, StoreError};

/// A document of references; it is read when something is first asked of it.
pub(crate) struct References {
    /// Name of the references, for people.
    label: Arc<str>,
    form: Form,
    /// The place that holds the document, or its files.
    place: Store,
    /// The document: its key in `place`.
    key: String,
    referred: Arc<Referred>,
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
    fn new(
        label: &str,
        form: Form,
        place: Store,
        key: &str,
        base: Base,
        connections: &Connections,
    ) -> Self {
        let (label, key) = (label.into(), key.to_owned());
        let referred = Arc::new(Referred::new(base, connections.clone()));
        let (loaded, is_late) = (OnceCell::new(), OnceLock::new());
        Self { label, form, place, key, referred, loaded, is_late }
    }

    /// Name of the references, for people.
    pub(crate) fn label(&self) -> &str {
        &self.label
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
            let _ = self.is_late.set(file.is_some_and(|file| self.referred.is_remote(&file)));
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
