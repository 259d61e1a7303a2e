//! Opens a directory of this machine as a store.

use std::fmt::Display;
use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::path::Path;

use super::files::LocalFiles;
use super::tree;
use crate::location::{below, resolve};
use crate::store::Kind;
use crate::{Store, StoreError};

impl Store {
    /// Opens a directory, which need not exist. Nothing is created.
    pub(crate) fn open_local(
        location: &str,
        path: &FilePath,
        fsyncs: bool,
    ) -> Result<Self, StoreError> {
        let resolved = resolve(location, path)?;
        let refuse =
            |error: &dyn Display| StoreError::refused_location(location, &error.to_string());
        let files = LocalFileSystem::new_with_prefix(&resolved.existing)
            .map_err(|error| refuse(&error))?
            .with_fsync(fsyncs && tree::PUTS_SYNC);
        let prefix = Path::parse(&resolved.below).map_err(|error| refuse(&error))?;
        let root = below(&resolved.existing, &resolved.below);
        let files = LocalFiles::new(files).map_err(|error| refuse(&error))?;
        let habits = Arc::clone(&files.habits);
        let mut store = Self::from_object_store(Arc::new(files), location);
        store.habits = habits;
        store.view = store.view.at(prefix);
        store.kind = Kind::Directory(root.into());
        store.in_place = true;
        store.fsyncs = fsyncs;
        Ok(store)
    }
}
