//! View of a place, for whatever reads it. It has the name, the beginning of the keys, the counters
//! of requests, and the watch over objects.

use std::io;
use std::sync::Arc;

use object_store::ObjectMeta;
use object_store::path::Path;

use crate::file_size::FileSize;
use crate::wanted::Wanted;
use crate::watch::Watch;
use crate::{Meter, Role, StoreError, key};

/// Name of a place, and what is counted and checked of each object there.
#[derive(Debug, Clone)]
pub(crate) struct View {
    label: Arc<str>,
    /// Beginning of the keys of this place in the store.
    prefix: Path,
    role: Role,
    meter: Arc<Meter>,
    /// Time since which objects that are read must not have been written.
    watch: Option<Watch>,
}

impl View {
    /// Creates the view of a whole store that people call `label`.
    pub(crate) fn new(label: &str) -> Self {
        let (role, meter) = (Role::Control, Meter::new());
        Self { label: label.into(), prefix: Path::ROOT, role, meter, watch: None }
    }

    /// Returns this view of the place at `prefix`.
    pub(crate) fn at(self, prefix: Path) -> Self {
        Self { prefix, ..self }
    }

    /// Returns the view of the place `sub` below this one.
    pub(crate) fn child(&self, sub: &str) -> Result<Self, StoreError> {
        Ok(Self {
            prefix: key::join(&self.label, &self.prefix, sub)?,
            label: format!("{}/{sub}", self.label.trim_end_matches('/')).into(),
            ..self.clone()
        })
    }

    /// Returns the view of the place above, and the name that this one has there; `None` at the top
    /// of the store.
    pub(crate) fn parent(&self) -> Result<Option<(Self, String)>, StoreError> {
        if self.prefix.is_root() {
            return Ok(None);
        }
        let (above, name) =
            self.prefix.as_ref().rsplit_once('/').unwrap_or(("", self.prefix.as_ref()));
        let label = self.label.trim_end_matches('/');
        let label = label.strip_suffix(name).unwrap_or(label).trim_end_matches('/').into();
        let prefix =
            if above.is_empty() { Path::ROOT } else { key::join(&self.label, &Path::ROOT, above)? };
        Ok(Some((Self { label, prefix, ..self.clone() }, name.to_owned())))
    }

    /// Counts as `role` from now on.
    pub(crate) fn set_role(&mut self, role: Role) {
        self.role = role;
    }

    /// Counts in `meter` from now on.
    pub(crate) fn set_meter(&mut self, meter: &Arc<Meter>) {
        self.meter = Arc::clone(meter);
    }

    /// Is watched by `watch` from now on.
    pub(crate) fn set_watch(&mut self, watch: Option<Watch>) {
        self.watch = watch;
    }

    /// Returns the key, below this place, of an object of the store.
    pub(crate) fn key_of<'a>(&self, object: &'a Path) -> &'a str {
        let object = object.as_ref();
        object.strip_prefix(self.prefix.as_ref()).unwrap_or(object).trim_start_matches('/')
    }

    /// Makes the error of an object with more bytes than are taken.
    pub(crate) fn too_large(&self, key: &str, size_bytes: u64, limit_bytes: u64) -> StoreError {
        let (location, key) = (self.label().to_owned(), key.to_owned());
        StoreError::TooLarge { location, key, size_bytes, limit_bytes }
    }

    /// Returns the location for people.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Returns the beginning of the keys of this place.
    pub(crate) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Returns the beginning of the keys of this place, unless it is the whole store.
    pub(crate) fn list_prefix(&self) -> Option<&Path> {
        (!self.prefix.is_root()).then_some(&self.prefix)
    }

    /// Returns the beginning of the keys below this place: with a `/` at its end, or empty.
    pub(crate) fn below(&self) -> String {
        if self.prefix.is_root() { String::new() } else { format!("{}/", self.prefix) }
    }

    /// Returns the role that requests are counted as.
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Returns the meter that requests are counted in.
    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Returns the watch over objects, if there is one.
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// Returns the path of the object at `key` in the store; an error if that is no key.
    pub(crate) fn object_path(&self, key: &str) -> Result<Path, StoreError> {
        key::join_object(&self.label, &self.prefix, key)
    }

    /// Refuses a file of another size.
    pub(crate) fn check_size(
        &self,
        key: &str,
        size: FileSize,
        size_bytes: u64,
    ) -> Result<(), StoreError> {
        if size.holds(size_bytes) {
            return Ok(());
        }
        let (location, key) = (self.label().to_owned(), key.to_owned());
        Err(StoreError::WrongSize { location, key, size_bytes, expected_bytes: size.bytes() })
    }

    /// Refuses an object that has not the size it has to have.
    pub(crate) fn check_exact(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        size_bytes: u64,
    ) -> Result<(), StoreError> {
        match wanted {
            Wanted::Exactly { size_bytes: expected }
            | Wanted::RangeOf { size_bytes: expected, .. } => {
                self.check_size(key, FileSize::Exactly(expected), size_bytes)
            }
            _ => Ok(()),
        }
    }

    /// Refuses an object that is not in the state that is wanted, or not any more.
    pub(crate) fn check_state(
        &self,
        key: &str,
        wanted: Wanted<'_>,
        found: &ObjectMeta,
    ) -> Result<(), StoreError> {
        if let Wanted::Within { condition: Some(condition), .. } = wanted {
            condition.check(&self.label, key, found)?;
        }
        self.check_unchanged(key, found)
    }

    /// Refuses an object that was written since the place is watched; counts one that was written
    /// before, but after reading had begun.
    pub(crate) fn check_unchanged(&self, key: &str, found: &ObjectMeta) -> Result<(), StoreError> {
        if self.is_late(key, found)? {
            self.add_late(1);
        }
        Ok(())
    }

    /// Returns true if an object was written after reading had begun, and before the place is
    /// watched; an error if it was later.
    pub(crate) fn is_late(&self, key: &str, found: &ObjectMeta) -> Result<bool, StoreError> {
        match &self.watch {
            Some(watch) => watch.is_late(&self.label, key, found),
            None => Ok(false),
        }
    }

    /// Counts objects that were written after reading had begun.
    pub(crate) fn add_late(&self, objects: u64) {
        if let Some(watch) = &self.watch {
            watch.add_late(objects);
        }
    }

    /// Translates the failure of an action on the object at `key`.
    pub(crate) fn failed(
        &self,
        key: &str,
        action: &'static str,
        error: object_store::Error,
    ) -> StoreError {
        StoreError::from_object_store(&self.label, key, action, error)
    }

    /// Translates an error of the system in an action on the object at `key`.
    pub(crate) fn failed_io(
        &self,
        key: &str,
        action: &'static str,
        error: io::Error,
    ) -> StoreError {
        let (location, key) = (self.label().to_owned(), key.to_owned());
        StoreError::Failed { location, key, action, source: Box::new(error) }
    }

    /// Makes the error of an object that has to be there, and is not.
    pub(crate) fn not_found(&self, key: &str) -> StoreError {
        StoreError::NotFound { location: self.label().to_owned(), key: key.to_owned() }
    }

    /// Makes the error of an object with fewer bytes than are wanted.
    pub(crate) fn short(&self, key: &str, wanted_bytes: u64, got_bytes: u64) -> StoreError {
        let (location, key) = (self.label().to_owned(), key.to_owned());
        StoreError::Short { location, key, wanted_bytes, got_bytes }
    }
}
