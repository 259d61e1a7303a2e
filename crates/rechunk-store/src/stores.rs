//! Where stores are opened: how remote ones are reached, and the clients that are shared.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use object_store::ObjectStore;

use crate::pace::Pace;
use crate::references::References;
use crate::remote::{Address, Limiter, Remote};
use crate::{Meter, Store, StoreError, StoreOptions};

/// Opens stores. Clones share connections; so do all stores of one bucket or server, and the bound
/// on requests in flight to it.
#[derive(Clone, Default)]
pub struct Stores {
    options: Arc<StoreOptions>,
    remotes: Arc<Mutex<BTreeMap<String, Remote>>>,
    /// Clients that were brought along, by what they reach.
    brought: BTreeMap<String, Remote>,
    meter: Arc<Meter>,
    /// References that are in use, by where they are: they are read once.
    references: Arc<Mutex<BTreeMap<String, Weak<References>>>>,
    /// True if writes to local directories are left to the system.
    skips_fsync: bool,
    /// Limit on the bytes that are moved in a second, to and from all of them together.
    pace: Option<Arc<Pace>>,
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Stores {
    /// Opens stores as `options` say.
    pub fn new(options: StoreOptions) -> Self {
        let pace = options.bytes_per_second().map(|rate| Arc::new(Pace::new(rate)));
        Self { options: Arc::new(options), pace, ..Self::default() }
    }

    /// Uses `client` for the stores at `root` (`s3://bucket`): one of the caller's own, or one that
    /// is no real store.
    #[must_use]
    pub fn with_client(mut self, root: &str, client: Arc<dyn ObjectStore>) -> Self {
        let limiter = Limiter::new(self.options.concurrency());
        let remote = Remote::brought(client, limiter);
        self.brought.insert(root.to_owned(), remote);
        self
    }

    /// Returns these connections, with stores that are opened counted in `meter`.
    #[must_use]
    pub fn with_meter(&self, meter: &Arc<Meter>) -> Self {
        Self { meter: Arc::clone(meter), ..self.clone() }
    }

    /// Returns these connections, but nothing waits for a local disk. What has to survive a power
    /// cut is as durable as the system makes it by itself, in its own time and order.
    #[must_use]
    pub fn without_fsync(&self) -> Self {
        Self { skips_fsync: true, ..self.clone() }
    }

    /// The meter that what is opened counts in.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Opens a path or a URL; nothing is created, nothing need exist, and nothing is sent. URLs are
    /// `file://`, `memory://NAME` (shared by name in this process), `memory:` (gone with its last
    /// clone), `s3://`, `gs://`, `az://`, `http(s)://` (read only). A path to or into a ZIP file is
    /// read only, and so are references of kerchunk or VirtualiZarr (a `.json` file, a directory of
    /// Parquet files). The store counts as [`crate::Role::Control`] until told otherwise.
    pub fn open(&self, location: &str) -> Result<Store, StoreError> {
        Store::open_with(location, self)
    }

    /// Most bytes a second that are moved to and from all of them together; `None`: no limit.
    pub fn bytes_per_second(&self) -> Option<u64> {
        self.options.bytes_per_second()
    }

    pub(crate) fn pace(&self) -> Option<Arc<Pace>> {
        self.pace.clone()
    }

    pub(crate) fn fsyncs(&self) -> bool {
        !self.skips_fsync
    }

    pub(crate) fn options(&self) -> &StoreOptions {
        &self.options
    }

    /// The references at `location`, those that are in use or else what `make` makes.
    pub(crate) fn references(
        &self,
        location: &str,
        make: impl FnOnce() -> Result<References, StoreError>,
    ) -> Result<Arc<References>, StoreError> {
        // A panic elsewhere cannot leave the map half-changed.
        let mut known = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(references) = known.get(location).and_then(Weak::upgrade) {
            return Ok(references);
        }
        let references = Arc::new(make()?);
        known.retain(|_, references| references.strong_count() > 0);
        known.insert(location.to_owned(), Arc::downgrade(&references));
        Ok(references)
    }

    /// The connection `address` needs, made when it is first asked for.
    pub(crate) fn remote(&self, address: &Address) -> Result<Remote, StoreError> {
        if let Some(remote) = self.brought.get(&address.root) {
            return Ok(remote.clone());
        }
        // Options may differ within a bucket.
        let mut key = address.root.clone();
        for (name, value) in self.options.of(&address.location()) {
            key.extend(["\0", name, "=", value]);
        }
        // A panic elsewhere cannot leave the map half-changed.
        let mut remotes = self.remotes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remote) = remotes.get(&key) {
            return Ok(remote.clone());
        }
        let remote = Remote::connect(address, &self.options)?;
        remotes.insert(key, remote.clone());
        Ok(remote)
    }
}
