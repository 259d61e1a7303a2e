//! Opens locations: directories, remote stores, ZIP files and references.

use std::fmt;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

use crate::connections::Connections;
use crate::icechunk::InUse as Repositories;
use crate::location::{Place, parse, zip_file};
use crate::references::{InUse, Refused};
use crate::store::Kind;
use crate::zip::ZipFile;
use crate::{Meter, Store, StoreError, StoreOptions, key};

/// Opens stores. Clones share connections; so do all stores of one bucket or server, and the bound
/// on requests in flight to it.
#[derive(Clone, Default)]
pub struct Stores {
    connections: Connections,
    /// References that are in use: they are read once.
    references: Arc<InUse>,
    /// Repositories of Icechunk that are in use.
    repositories: Arc<Repositories>,
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &self.connections.options;
        f.debug_struct("Stores").field("options", options).finish_non_exhaustive()
    }
}

impl Stores {
    /// Opens stores as `options` say.
    pub fn new(options: StoreOptions) -> Self {
        Self { connections: Connections::new(options), ..Self::default() }
    }

    /// Uses `client` for the stores at `root` (`s3://bucket`): one of the caller's own, or one that
    /// is no real store.
    #[must_use]
    pub fn with_client(mut self, root: &str, client: Arc<dyn ObjectStore>) -> Self {
        self.connections.bring(root, client);
        self
    }

    /// Returns these connections, with stores that are opened counted in `meter`.
    #[must_use]
    pub fn with_meter(&self, meter: &Arc<Meter>) -> Self {
        let mut stores = self.clone();
        stores.connections.meter = Arc::clone(meter);
        stores
    }

    /// Returns these connections, but nothing waits for a local disk. What has to survive a power
    /// cut is as durable as the system makes it by itself, in its own time and order.
    #[must_use]
    pub fn without_fsync(&self) -> Self {
        let mut stores = self.clone();
        stores.connections.skips_fsync = true;
        stores
    }

    /// The meter that what is opened counts in.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.connections.meter
    }

    /// Opens a path or a URL; nothing is created, nothing need exist, and nothing is sent. URLs are
    /// `file://`, `memory://NAME` (shared by name in this process), `memory:` (gone with its last
    /// clone), `s3://`, `gs://`, `az://`, `http(s)://` (read only). A path to or into a ZIP file is
    /// read only, and so are references of kerchunk or VirtualiZarr (a `.json` file, a directory of
    /// Parquet files), and a repository of Icechunk (a directory that is one, elsewhere a name that
    /// ends in `.icechunk` or has a version behind it: `#branch=main`, `#tag=v1`, `#snapshot=ID`;
    /// then what is in it). The store counts as [`crate::Role::Control`] until told otherwise.
    pub fn open(&self, location: &str) -> Result<Store, StoreError> {
        let connections = &self.connections;
        if let Some((repository, below)) = self.repositories.at(location, connections)? {
            let mut store = Store::from_object_store(Arc::new(Refused), repository.label());
            store.kind = Kind::References(repository);
            return Ok(store.child(&below)?.with_meter(self.meter()));
        }
        let place = parse(location)?;
        if let Some((references, below)) = self.references.at(location, &place, connections)? {
            let mut store = Store::from_object_store(Arc::new(Refused), references.label());
            store.kind = Kind::References(references);
            // What is read is counted and slowed down where references lead to.
            return Ok(store.child(&below)?.with_meter(self.meter()));
        }
        if let Place::Local(path) = &place
            && let Some((file, below)) = zip_file(location, path)?
        {
            let zip = ZipFile::new(&file);
            let mut store = Store::from_object_store(Arc::new(zip.clone()), location);
            if !below.is_empty() {
                store.view = store.view.at(key::join(location, &Path::ROOT, &below)?);
            }
            store.kind = Kind::Archive(zip);
            store.pace.clone_from(&connections.pace);
            return Ok(store.with_meter(self.meter()));
        }
        connections.open_place(location, place)
    }

    /// Most bytes a second that are moved to and from all of them together; `None`: no limit.
    pub fn bytes_per_second(&self) -> Option<u64> {
        self.connections.options.bytes_per_second()
    }
}

impl Store {
    /// Opens a location as [`Stores::open`] does, with a meter and connections of its own.
    pub fn open(location: &str) -> Result<Self, StoreError> {
        Stores::default().open(location)
    }
}
