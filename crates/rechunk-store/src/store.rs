use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;

use crate::local_files::LocalFiles;
use crate::location::{Place, parse, resolve, zip_file};
use crate::zip::ZipFile;
use crate::{Meter, Role, StoreError, key, local_tree, memory};

/// A place that holds objects by key, with the meter its operations are counted in. Cheap to
/// clone; clones share everything. The operations are in `operations.rs`.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<dyn ObjectStore>,
    /// Where the keys of this store begin inside `inner`.
    pub(crate) prefix: Path,
    label: Arc<str>,
    pub(crate) role: Role,
    pub(crate) meter: Arc<Meter>,
    /// The directory, if this is one.
    local_root: Option<Arc<FilePath>>,
    /// The ZIP file it is, or is inside of.
    archive: Option<Arc<FilePath>>,
}

impl Store {
    /// Opens a path, a `file://` URL, `memory://NAME` (shared by name in this process) or
    /// `memory:` (gone with its last clone). A path to or into a ZIP file is read only. Nothing is created, and nothing need exist. It
    /// counts as [`Role::Control`] in a meter of its own until told otherwise.
    pub fn open(location: &str) -> Result<Self, StoreError> {
        match parse(location)? {
            Place::Local(path) => match zip_file(location, &path)? {
                None => Self::open_local(location, &path),
                Some((file, below)) => {
                    let zip = Arc::new(ZipFile::new(&file));
                    let mut store = Self::from_object_store(zip, location);
                    if !below.is_empty() {
                        store.prefix = key::join(location, &Path::ROOT, &below)?;
                    }
                    store.archive = Some(file.into());
                    Ok(store)
                }
            },
            Place::Memory { name: None, .. } => {
                Ok(Self::from_object_store(Arc::new(InMemory::new()), location))
            }
            Place::Memory { name: Some(name), below } => {
                let label = format!("memory://{name}");
                Self::from_object_store(memory::named(&name), &label).child(&below)
            }
        }
    }

    fn open_local(location: &str, path: &FilePath) -> Result<Self, StoreError> {
        let resolved = resolve(location, path)?;
        let refuse = |reason: String| StoreError::Location {
            location: location.to_owned(),
            reason,
            source: None,
        };
        let files = LocalFileSystem::new_with_prefix(&resolved.existing)
            .map_err(|error| refuse(error.to_string()))?
            .with_fsync(local_tree::PUTS_SYNC);
        let prefix = Path::parse(&resolved.below).map_err(|error| refuse(error.to_string()))?;
        let root = join_path(&resolved.existing, &resolved.below);
        let mut store = Self::from_object_store(Arc::new(LocalFiles(files)), location);
        store.prefix = prefix;
        store.local_root = Some(root.into());
        Ok(store)
    }

    /// A store on anything that speaks the `object_store` trait, called `label` to people. It has
    /// no directory, so that nothing which needs one works.
    pub fn from_object_store(inner: Arc<dyn ObjectStore>, label: &str) -> Self {
        Self {
            inner,
            prefix: Path::ROOT,
            label: label.into(),
            role: Role::Control,
            meter: Meter::new(),
            local_root: None,
            archive: None,
        }
    }

    /// The same place with its requests passed through `wrap`, e.g. to inject faults or delays.
    #[must_use]
    pub fn wrapped(
        mut self,
        wrap: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>,
    ) -> Self {
        self.inner = wrap(self.inner);
        self
    }

    /// The same place counted as `role`.
    #[must_use]
    pub fn with_role(&self, role: Role) -> Self {
        Self { role, ..self.clone() }
    }

    /// The same place counted in `meter`.
    #[must_use]
    pub fn with_meter(&self, meter: &Arc<Meter>) -> Self {
        Self { meter: Arc::clone(meter), ..self.clone() }
    }

    /// The place `sub` below this one; itself if `sub` is empty. Nothing is created.
    pub fn child(&self, sub: &str) -> Result<Self, StoreError> {
        if sub.is_empty() {
            return Ok(self.clone());
        }
        Ok(Self {
            prefix: key::join(&self.label, &self.prefix, sub)?,
            label: format!("{}/{sub}", self.label.trim_end_matches('/')).into(),
            local_root: self.local_root.as_deref().map(|root| join_path(root, sub).into()),
            ..self.clone()
        })
    }

    /// The place above this one and the name this one has there; `None` at the top of the store.
    pub fn parent(&self) -> Result<Option<(Self, String)>, StoreError> {
        if let Some(root) = self.local_root() {
            let name = root.file_name().and_then(|name| name.to_str());
            let (Some(parent), Some(name)) = (root.parent(), name) else { return Ok(None) };
            let above = Self::open_local(&parent.display().to_string(), parent)?;
            let above = above.with_meter(&self.meter).with_role(self.role);
            return Ok(Some((above, name.to_owned())));
        }
        if self.prefix.is_root() {
            return Ok(None);
        }
        let (above, name) =
            self.prefix.as_ref().rsplit_once('/').unwrap_or(("", self.prefix.as_ref()));
        let label = self.label.trim_end_matches('/');
        let label = label.strip_suffix(name).unwrap_or(label).trim_end_matches('/').into();
        let prefix =
            if above.is_empty() { Path::ROOT } else { key::join(&self.label, &Path::ROOT, above)? };
        Ok(Some((Self { prefix, label, ..self.clone() }, name.to_owned())))
    }

    /// The location for people: as it was given, and the child path.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The directory behind it, if it is a local one.
    pub fn local_root(&self) -> Option<&FilePath> {
        self.local_root.as_deref()
    }

    /// The ZIP file it is or is inside of; such a store is only read.
    pub fn archive(&self) -> Option<&FilePath> {
        self.archive.as_deref()
    }

    /// The role it is counted as.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The meter it is counted in.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// The directory, or an error that says what it was needed for.
    pub(crate) fn require_local(&self, operation: &'static str) -> Result<PathBuf, StoreError> {
        self.local_root
            .as_deref()
            .map(FilePath::to_owned)
            .ok_or_else(|| StoreError::Unsupported { location: self.label.to_string(), operation })
    }
}

/// `root` with `below` under it; without the trailing slash an empty `below` would leave.
fn join_path(root: &FilePath, below: &str) -> PathBuf {
    if below.is_empty() { root.to_owned() } else { root.join(below) }
}
