//! Opens stores that clients of `object_store` reach, with the connections and limits they share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::location::{Place, parse};
use crate::multipart::Multipart;
use crate::pace::Pace;
use crate::remote::{Address, Limiter, Remote, Scheme};
use crate::retry::Patience;
use crate::store::Kind;
use crate::{Meter, Store, StoreError, StoreOptions, datastore, memory};

/// Connections, and what stores that are opened have in common. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Connections {
    pub(crate) options: Arc<StoreOptions>,
    remotes: Arc<Mutex<BTreeMap<String, Remote>>>,
    /// Clients that were brought along, by what they reach.
    brought: BTreeMap<String, Remote>,
    pub(crate) meter: Arc<Meter>,
    /// True if writes to local directories are left to the system.
    pub(crate) skips_fsync: bool,
    /// Limit on the bytes that are moved in a second, to and from all of them together.
    pub(crate) pace: Option<Arc<Pace>>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Connections {
    /// Takes `options` for all that is opened.
    pub(crate) fn new(options: StoreOptions) -> Self {
        let pace = options.bytes_per_second().map(|rate| Arc::new(Pace::new(rate)));
        Self { options: Arc::new(options), pace, ..Self::default() }
    }

    /// Uses `client` for the stores at `root`.
    pub(crate) fn bring(&mut self, root: &str, client: Arc<dyn ObjectStore>) {
        let limiter = Limiter::new(self.options.concurrency());
        let remote = Remote::brought(client, limiter);
        self.brought.insert(root.to_owned(), remote);
    }

    /// Opens a location that is no file with objects in it. Nothing is created, and nothing sent.
    pub(crate) fn open(&self, location: &str) -> Result<Store, StoreError> {
        self.open_place(location, parse(location)?)
    }

    /// Opens a place that [`parse`] has made of `location`, as [`Self::open`] does.
    pub(crate) fn open_place(&self, location: &str, place: Place) -> Result<Store, StoreError> {
        let mut store = match place {
            Place::Local(path) => Store::open_local(location, &path, !self.skips_fsync)?,
            Place::Memory { name: None, .. } => {
                let mut store = Store::from_object_store(Arc::new(InMemory::new()), location);
                store.kind = Kind::Memory;
                store
            }
            Place::Memory { name: Some(name), below } => {
                let label = format!("memory://{name}");
                let mut store = Store::from_object_store(memory::named(&name), &label);
                store.kind = Kind::Memory;
                store.child(&below)?
            }
            Place::Remote(address) => {
                let Remote { inner, multipart, limiter, clock, etags, versioned } =
                    self.remote(&address)?;
                let mut store = Store::from_object_store(inner, &address.root);
                if address.scheme == Scheme::Http {
                    store.kind = Kind::Http;
                }
                if let Some(versioned) = versioned {
                    store.kind = Kind::Versioned(versioned);
                }
                let options = &self.options;
                let (max_retries, timeout) = (options.max_retries(), options.timeout());
                store.patience = Some(Patience { max_retries, timeout });
                store.limiter = Some(limiter);
                store.clock = Some(clock);
                store.etags = (address.scheme == Scheme::S3).then_some(etags);
                // Of a client that was brought along it is not known what a copy is.
                store.copies =
                    multipart.is_some() && matches!(address.scheme, Scheme::S3 | Scheme::Gcs);
                store.multipart = multipart.map(Multipart::new);
                store.child(&address.below)?
            }
        };
        if !matches!(store.kind, Kind::Memory) {
            store.pace.clone_from(&self.pace);
        }
        Ok(store.with_meter(&self.meter))
    }

    /// The connection `address` needs, made when it is first asked for.
    fn remote(&self, address: &Address) -> Result<Remote, StoreError> {
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
        let remote = match address.scheme {
            Scheme::Datastore => datastore::connect(address, &self.options)?,
            _ => Remote::connect(address, &self.options)?,
        };
        remotes.insert(key, remote.clone());
        Ok(remote)
    }
}
