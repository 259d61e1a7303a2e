use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::multipart::MultipartStore;

use crate::backend::Backend;
use crate::local::habits::Habits;
use crate::local::reading::Reading;
use crate::local::tree;
use crate::location::below;
use crate::multipart::{Multipart, PartSizes};
use crate::pace::Pace;
use crate::remote::{Etags, Limiter};
use crate::retry::Patience;
use crate::server_clock::ServerClock;
use crate::versioned::Versioned;
use crate::view::View;
use crate::zip::ZipFile;
use crate::{Durability, Meter, Role, StoreError};

/// A place that holds objects by key, with the meter its operations are counted in. Cheap to
/// clone; clones share everything. The operations are in `operations.rs`.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<dyn ObjectStore>,
    pub(crate) view: View,
    pub(crate) kind: Kind,
    /// Limits on the tries of an operation; `None`: one try.
    pub(crate) patience: Option<Patience>,
    /// Bounds requests in flight to a remote store.
    pub(crate) limiter: Option<Arc<Limiter>>,
    /// The clock of a server.
    pub(crate) clock: Option<Arc<ServerClock>>,
    /// State of the checks by its ETags.
    pub(crate) etags: Option<Arc<Etags>>,
    /// Uploads of large objects in parts, if it takes them so.
    pub(crate) multipart: Option<Multipart>,
    /// The place with notes of its uploads under way, if there is one.
    pub(crate) upload_records: Option<Arc<Store>>,
    /// Limit on the bytes that are moved in a second.
    pub(crate) pace: Option<Arc<Pace>>,
    /// It copies its objects itself, and a copy is there, whole and by itself, when it answers.
    pub(crate) copies: bool,
    /// Makes durable what an `object_store` has answered for; `None` where an answer means that.
    pub(crate) durability: Option<Arc<dyn Durability>>,
    /// True if writes that have to survive a power cut are waited for; else it is left to the
    /// system when they reach the disk.
    pub(crate) fsyncs: bool,
    /// Its operations wait for nobody but the disk, and need no runtime.
    pub(crate) in_place: bool,
    /// Properties of its files.
    pub(crate) habits: Arc<Habits>,
}

/// Kind of a store, as far as its abilities depend on it.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// This directory.
    Directory(Arc<FilePath>),
    /// This ZIP file, or a place inside it.
    Archive(ZipFile),
    /// References, or a place inside some.
    References(Arc<dyn Backend>),
    /// Gone with the process.
    Memory,
    /// Keeps what it has said to be stored.
    Objects,
    /// Is read by keys that are known.
    Http,
    /// An array that is there, whose chunks are read and written by keys that are known.
    Versioned(Arc<dyn Versioned>),
}

impl Store {
    /// A store on anything that speaks the `object_store` trait, called `label` to people. It keeps
    /// all that it has said to be stored, tries everything once, and has no directory.
    pub fn from_object_store(inner: Arc<dyn ObjectStore>, label: &str) -> Self {
        Self {
            inner,
            view: View::new(label),
            kind: Kind::Objects,
            patience: None,
            limiter: None,
            clock: None,
            etags: None,
            multipart: None,
            upload_records: None,
            pace: None,
            copies: false,
            durability: None,
            fsyncs: true,
            in_place: false,
            habits: Arc::default(),
        }
    }

    /// An empty store in memory that is like a remote one in all else. It counts as one that keeps
    /// what it has, takes large objects in parts, and copies objects itself. For tests.
    pub fn objects_in_memory() -> Self {
        let store = Self::from_multipart_store(Arc::new(InMemory::new()), "objects in memory");
        Self { copies: true, ..store }
    }

    /// [`Store::from_object_store`] on one that takes large objects in parts.
    pub fn from_multipart_store<T: ObjectStore + MultipartStore>(
        inner: Arc<T>,
        label: &str,
    ) -> Self {
        let multipart = Some(Multipart::new(Arc::clone(&inner) as _));
        Self { multipart, ..Self::from_object_store(inner, label) }
    }

    /// Returns this place, with large objects sent in parts of these sizes, where the store takes
    /// parts at all. ([`PartSizes::DEFAULT`] is what a store has.)
    #[must_use]
    pub fn with_part_sizes(&self, sizes: PartSizes) -> Self {
        let mut store = self.clone();
        if let Some(multipart) = &mut store.multipart {
            multipart.sizes = sizes;
        }
        store
    }

    /// Returns this place with its requests passed through `wrap`, which may inject faults or
    /// delays. Objects are then sent as a whole, whatever their size.
    #[must_use]
    pub fn wrapped(
        mut self,
        wrap: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>,
    ) -> Self {
        self.inner = wrap(self.inner);
        self.multipart = None;
        self.in_place = false;
        self
    }

    /// [`Store::wrapped`], where operations are still done on the thread that first polls them, up
    /// to where what `wrap` adds has to wait. For tests.
    #[must_use]
    pub fn wrapped_in_place(
        self,
        wrap: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>,
    ) -> Self {
        let in_place = self.in_place;
        Self { in_place, ..self.wrapped(wrap) }
    }

    /// Returns this place, with operations that fail for a moment tried again `max_retries` times
    /// within `timeout`.
    #[must_use]
    pub fn with_retries(&self, max_retries: u32, timeout: Duration) -> Self {
        Self { patience: Some(Patience { max_retries, timeout }), ..self.clone() }
    }

    /// Returns this place, where a put is durable not with its answer, but once [`Store::sync`] has
    /// synced `durability`.
    #[must_use]
    pub fn with_durability(&self, durability: Arc<dyn Durability>) -> Self {
        Self { durability: Some(durability), ..self.clone() }
    }

    /// Returns this place, where reading is taken to be slow until `reads` more were fast than
    /// slow. For tests.
    #[must_use]
    pub fn with_slow_reads(&self, reads: i32) -> Self {
        let habits = Habits { reading: Reading::slow_for(reads), ..Habits::default() };
        Self { habits: Arc::new(habits), ..self.clone() }
    }

    /// Returns this place, where all files that are under way have names.
    #[cfg(test)]
    pub(crate) fn without_unnamed_files(&self) -> Self {
        Self { habits: Arc::new(Habits::without_unnamed_files()), ..self.clone() }
    }

    /// Returns this place counted as `role`.
    #[must_use]
    pub fn with_role(&self, role: Role) -> Self {
        let mut store = self.clone();
        store.view.set_role(role);
        store
    }

    /// Returns this place counted in `meter`.
    #[must_use]
    pub fn with_meter(&self, meter: &Arc<Meter>) -> Self {
        let mut store = self.clone();
        store.view.set_meter(meter);
        store
    }

    /// The place `sub` below this one; itself if `sub` is empty. Nothing is created.
    pub fn child(&self, sub: &str) -> Result<Self, StoreError> {
        if sub.is_empty() {
            return Ok(self.clone());
        }
        Ok(Self {
            view: self.view.child(sub)?,
            kind: match &self.kind {
                Kind::Directory(root) => Kind::Directory(below(root, sub).into()),
                kind => kind.clone(),
            },
            ..self.clone()
        })
    }

    /// The place above this one and the name this one has there; `None` at the top of the store.
    pub fn parent(&self) -> Result<Option<(Self, String)>, StoreError> {
        if let Some(root) = self.local_root() {
            let name = root.file_name().and_then(|name| name.to_str());
            let (Some(parent), Some(name)) = (root.parent(), name) else { return Ok(None) };
            let above = Self::open_local(&parent.display().to_string(), parent, self.fsyncs)?;
            let above = Self { pace: self.pace.clone(), ..above };
            let above = above.with_meter(self.meter()).with_role(self.role());
            return Ok(Some((above, name.to_owned())));
        }
        let above = self.view.parent()?;
        Ok(above.map(|(view, name)| (Self { view, ..self.clone() }, name)))
    }

    /// The location for people: as it was given, and the child path.
    pub fn label(&self) -> &str {
        self.view.label()
    }

    /// The directory behind it, if it is a local one.
    pub fn local_root(&self) -> Option<&FilePath> {
        match &self.kind {
            Kind::Directory(root) => Some(root),
            _ => None,
        }
    }

    /// True if its objects are gone with the process.
    pub fn is_volatile(&self) -> bool {
        matches!(self.kind, Kind::Memory)
    }

    /// Why nothing can be written to it, if that is so: what it is.
    pub fn read_only(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Archive(_) => Some("a ZIP file"),
            Kind::References(ref references) => Some(references.what()),
            Kind::Http => Some("an HTTP server"),
            Kind::Versioned(ref place) => place.read_only(),
            _ => None,
        }
    }

    /// True for a level of a data set at a server. Its array is there before anything is written,
    /// and keeps its shape, chunks and type.
    pub fn is_versioned(&self) -> bool {
        matches!(self.kind, Kind::Versioned(_))
    }

    /// True for a version that is still to be made: there is nothing to be read.
    pub fn is_new_version(&self) -> bool {
        matches!(&self.kind, Kind::Versioned(place) if place.is_new())
    }

    /// A name of the version that it is: places of one name have the same blocks. `None` elsewhere,
    /// and for a version that is still to be made.
    pub async fn version_name(&self) -> Result<Option<String>, StoreError> {
        match &self.kind {
            Kind::Versioned(place) => place.version_name().await,
            _ => Ok(None),
        }
    }

    /// Makes the version that the location asks for as a new one, each time it is called; returns
    /// the location of that version. `None` where none is asked for.
    pub async fn make_version(&self) -> Result<Option<String>, StoreError> {
        match &self.kind {
            Kind::Versioned(place) if place.is_new() => place.make().await.map(Some),
            _ => Ok(None),
        }
    }

    /// True if its objects can be listed; else keys have to be known.
    pub fn can_list(&self) -> bool {
        !matches!(self.kind, Kind::Http | Kind::Versioned(_))
    }

    /// A range of an object is asked for as an object is. Not of every HTTP server; and what is
    /// packed in a ZIP file is unpacked from its beginning.
    pub fn reads_ranges(&self) -> bool {
        !matches!(self.kind, Kind::Http | Kind::Versioned(_) | Kind::Archive(_))
    }

    /// A list of what is in it costs less than asking for each object that may be there.
    pub fn lists_for_little(&self) -> bool {
        match self.kind {
            Kind::Directory(_) | Kind::Archive(_) | Kind::Memory | Kind::Objects => true,
            Kind::References(_) | Kind::Http | Kind::Versioned(_) => false, // all of them would be fetched; none can be had
        }
    }

    /// The ZIP file it is or is inside of; such a store is only read.
    pub fn archive(&self) -> Option<&FilePath> {
        match &self.kind {
            Kind::Archive(zip) => Some(zip.path()),
            _ => None,
        }
    }

    /// The comment of the ZIP file it is inside of; `None` where there is none, or none that can be
    /// read.
    pub async fn archive_comment(&self) -> Option<String> {
        let Kind::Archive(zip) = &self.kind else { return None };
        zip.comment().await.ok().filter(|comment| !comment.is_empty())
    }

    /// A sentence for people, if this is a place of references and entries of them cannot be read.
    pub async fn references_warning(&self) -> Result<Option<String>, StoreError> {
        match &self.kind {
            Kind::References(references) => references.warning().await,
            _ => Ok(None),
        }
    }

    /// Returns `location`, by which this place was opened, such that it names the state that is
    /// read. Of a branch of a repository that is a snapshot; `None` elsewhere.
    pub async fn fixed_location(&self, location: &str) -> Result<Option<String>, StoreError> {
        match &self.kind {
            Kind::References(references) => references.fixed_location(location).await,
            _ => Ok(None),
        }
    }

    /// Its answers take long, compared with their bytes: many requests are to be in flight.
    pub fn answers_late(&self) -> bool {
        match &self.kind {
            Kind::Objects | Kind::Http | Kind::Versioned(_) => true,
            Kind::References(references) => references.answers_late(),
            Kind::Directory(_) | Kind::Archive(_) | Kind::Memory => false,
        }
    }

    /// True if writes that have to survive a power cut are waited for (see
    /// [`Stores::without_fsync`](crate::Stores::without_fsync)). Else "durable" means what the
    /// system makes of it, except for documents that are replaced.
    pub fn fsyncs(&self) -> bool {
        self.fsyncs
    }

    /// Each put is made durable by itself.
    pub(crate) fn puts_sync(&self) -> bool {
        self.fsyncs && tree::PUTS_SYNC
    }

    /// Its operations are done on the thread that first polls them, without waiting for another
    /// one, if that thread is in no runtime. So a thread that may block does them from beginning to
    /// end, but for large writes that go past the page cache. (Local directories, unless the rate
    /// of bytes is bounded.)
    pub fn works_in_place(&self) -> bool {
        self.in_place && self.pace.is_none() && self.patience.is_none()
    }

    /// And parts of objects are written to their places in a file, in any order.
    pub fn writes_in_place(&self) -> bool {
        self.works_in_place() && self.local_root().is_some()
    }

    /// Opens the directory of a local store at the next read, and from then on looks names up in it
    /// first. This is for the chunks of a source, which are as many as there may be. What is not
    /// found in it, listed, or opened to be read in runs is looked for by all of its path, as
    /// before: whoever has to know whether another directory has taken its name meanwhile asks
    /// [`Store::is_same_directory`].
    pub fn hold_directory(&self) {
        self.habits.directory.hold();
    }

    /// Files have been read lately that were not in memory: it pays to read several at once, on
    /// threads that do nothing else.
    pub fn reads_slowly(&self) -> bool {
        self.habits.reading.is_slow()
    }

    /// The role it is counted as.
    pub fn role(&self) -> Role {
        self.view.role()
    }

    /// The meter it is counted in.
    pub fn meter(&self) -> &Arc<Meter> {
        self.view.meter()
    }

    /// The directory, or an error that says what it was needed for.
    pub(crate) fn require_local(&self, operation: &'static str) -> Result<PathBuf, StoreError> {
        self.local_root()
            .map(FilePath::to_owned)
            .ok_or_else(|| StoreError::Unsupported { location: self.label().to_owned(), operation })
    }
}
