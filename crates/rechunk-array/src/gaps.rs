//! Arrays of which little is stored: a list of what is there instead of a question for each chunk
//! that is not.
//!
//! Who reads an array asks for its chunks one by one; where most are missing, that is nearly all it
//! does. So it counts, and when enough were missing the store lists what it has of the array: one
//! request for a thousand objects. From then on nothing is asked for that is not on the list. An
//! array of which most is there is not listed, unless a gap comes first.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rechunk_format::{Layout, ShardFormat};
use rechunk_grid::{ChunkGrid, Region};
use rechunk_kernel::narrow;
use rechunk_store::StoreError;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::Array;

/// Keys that a listing may hold for each object that would fit: foreign keys are not walked over
/// for ever.
const KEYS_PER_OBJECT: usize = 4;
/// Time to wait for a list that is being made, where it comes from a disk: a few thousand names. It
/// saves requests, and comes sooner where there are none meanwhile.
const PATIENCE: Duration = Duration::from_millis(5);
/// Bytes that an object on the list takes while it is made: its ordinal, in a set.
const LISTED_BYTES: u64 = 32;

/// Which objects of an array are there: chunks, or shards where chunks lie in some.
#[derive(Debug)]
pub struct ObjectList {
    /// Indices of all objects there may be.
    all: Region,
    /// Numbers in C order of those that are there, ascending.
    there: Vec<u64>,
}

impl ObjectList {
    pub(crate) fn contains(&self, index: &[u64]) -> bool {
        self.there.binary_search(&self.all.ordinal(index)).is_ok()
    }

    /// Indices of the objects that are there, in C order.
    pub fn indices(&self) -> impl Iterator<Item = Vec<u64>> {
        self.there.iter().map(|&ordinal| self.all.position(ordinal))
    }
}

/// Known gaps of an array, and the list they come from.
#[derive(Debug)]
pub(crate) struct Gaps {
    grid: ChunkGrid,
    after_missing: u64,
    most: usize,
    /// The array's own documents, at least, are there: a list of nothing is none.
    has_documents: bool,
    missing: AtomicU64,
    found: AtomicU64,
    /// The number of an object that was there: a list without it is none.
    one_there: OnceLock<u64>,
    listing: watch::Sender<Phase>,
    list: OnceLock<ObjectList>,
}

/// Progress of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not wanted: more is there than is missing.
    Unwanted,
    /// Enough was missing, then.
    Wanted(Instant),
    /// It is there, or there will be none.
    Over,
}

impl Gaps {
    /// Counts object `index`, which was asked for.
    pub(crate) fn count(&self, index: &[u64], is_there: bool) {
        if is_there {
            self.found.fetch_add(1, Ordering::Relaxed);
            self.one_there.get_or_init(|| self.grid.indices().ordinal(index));
            return;
        }
        let missing = self.missing.fetch_add(1, Ordering::Relaxed) + 1;
        if missing >= self.after_missing && missing >= self.found.load(Ordering::Relaxed) {
            self.listing.send_if_modified(|phase| {
                let is_first = *phase == Phase::Unwanted;
                if is_first {
                    *phase = Phase::Wanted(Instant::now());
                }
                is_first
            });
        }
    }

    /// Object `index` is known to be missing.
    pub(crate) fn has(&self, index: &[u64]) -> bool {
        self.list.get().is_some_and(|list| !list.contains(index))
    }
}

impl Array {
    /// The grid of its objects: of chunks, or of shards where chunks lie in some. `None` where
    /// several chunks are ranges of a file, or the layout makes no grid.
    pub fn object_grid(&self) -> Option<ChunkGrid> {
        let spec = self.layout().spec();
        if !self.has_whole_objects() {
            return None;
        }
        match self.layout().shards() {
            Some(format) => ChunkGrid::new(&spec.shape, format.shard_shape()).ok(),
            None => spec.grid().ok(),
        }
    }

    /// Lets [`Array::list_when_sparse`] list the array after `after_missing` objects were missing
    /// and no more were there. The list takes up to `bytes_max`. Unchanged where a list costs no
    /// less than the requests. Of an array that has its documents a list of nothing is not
    /// believed.
    #[must_use]
    pub fn finding_gaps(mut self, after_missing: u64, bytes_max: u64, has_documents: bool) -> Self {
        let is_listed = self.store().lists_for_little() && !self.is_scattered();
        let grid = self.object_grid().filter(|_| is_listed);
        self.gaps = grid.map(|grid| {
            Arc::new(Gaps {
                grid,
                after_missing,
                most: narrow(bytes_max / LISTED_BYTES),
                has_documents,
                missing: AtomicU64::new(0),
                found: AtomicU64::new(0),
                one_there: OnceLock::new(),
                listing: watch::Sender::new(Phase::Unwanted),
                list: OnceLock::new(),
            })
        });
        self
    }

    /// True if the key of an object does not say which chunks it has.
    pub fn is_scattered(&self) -> bool {
        self.layout().shards().is_some_and(ShardFormat::is_scattered)
    }

    /// Number of names in the key of an object.
    pub fn key_depth(&self) -> usize {
        self.first_key().split('/').count()
    }

    fn first_key(&self) -> String {
        self.layout().object_key(&vec![0; self.layout().spec().shape.len()])
    }

    /// Objects that are there, if they were listed.
    pub fn object_list(&self) -> Option<&ObjectList> {
        self.gaps.as_ref()?.list.get()
    }

    /// Waits until enough was missing (see [`Array::finding_gaps`]), then lists what is there.
    /// `None` if that cannot be had or is too much: then each object is asked for, as before. Never
    /// ends where enough is there.
    pub async fn list_when_sparse(&self) -> Option<&ObjectList> {
        let gaps = self.gaps.as_ref()?;
        if gaps.after_missing > 0 {
            // The sender is ours: it does not go away.
            let _ = gaps.listing.subscribe().wait_for(|&phase| phase != Phase::Unwanted).await;
        }
        let listed = self.list_objects(gaps).await;
        let listed = listed.map(|list| list.map(|list| gaps.list.get_or_init(|| list)));
        gaps.listing.send_replace(Phase::Over);
        match listed {
            Ok(Some(list)) => Some(list),
            Ok(None) => {
                tracing::debug!(array = self.location(), "has no list that could be relied on");
                None
            }
            Err(error) => {
                tracing::debug!(array = self.location(), %error, "cannot be listed");
                None
            }
        }
    }

    /// Waits a moment for a list that is being made, where that may be all it takes.
    pub async fn wait_for_list(&self) {
        let Some(gaps) = self.gaps.as_ref().filter(|_| !self.store().answers_late()) else {
            return;
        };
        let Phase::Wanted(since) = *gaps.listing.borrow() else { return };
        let mut listing = gaps.listing.subscribe();
        // Where it comes later, each object is asked for until then.
        let over = listing.wait_for(|&phase| phase == Phase::Over);
        let _ = timeout_at(since + PATIENCE, over).await;
    }

    /// The object that chunk `index` is in is known to be missing.
    pub fn is_in_gap(&self, index: &[u64]) -> bool {
        // Asked for every chunk: nothing is computed as long as there is no list.
        let Some(list) = self.object_list() else { return false };
        match self.layout().shards() {
            Some(format) => !list.contains(&format.shard_of(index)),
            None => !list.contains(index),
        }
    }

    async fn list_objects(&self, gaps: &Arc<Gaps>) -> Result<Option<ObjectList>, StoreError> {
        let (layout, depth) = (Arc::clone(self.layout()), self.key_depth());
        // Elsewhere nothing stands in the way of anything.
        let first_key = self.store().local_root().map(|_| self.first_key());
        let wanted = Arc::downgrade(gaps);
        let take = move |listing: &mut Listing, key: &str| {
            // Nobody waits for it where the run has ended.
            let Some(gaps) = wanted.upgrade() else { return ControlFlow::Break(()) };
            listing.take(key, first_key.as_deref(), &gaps, layout.as_ref());
            if listing.ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let listing = self.store().fold_keys(depth, Listing::default(), take).await?;
        let known = gaps.one_there.get();
        let has_known = known.is_none_or(|ordinal| listing.there.contains(ordinal));
        let is_gone = listing.keys == 0 && gaps.has_documents;
        if listing.ends || is_gone || !has_known {
            return Ok(None);
        }
        let there: Vec<u64> = listing.there.into_iter().collect();
        tracing::debug!(array = self.location(), objects = there.len(), "was listed");
        Ok(Some(ObjectList { all: gaps.grid.indices(), there }))
    }
}

/// Names that a store has listed so far.
#[derive(Debug, Default)]
struct Listing {
    there: BTreeSet<u64>,
    keys: usize,
    /// It is too much, or something stands in the way of chunks: then each is to be asked for.
    ends: bool,
}

impl Listing {
    /// Takes a key; `first_key` is that of the first object, where files can stand in the way of
    /// others.
    fn take(&mut self, key: &str, first_key: Option<&str>, gaps: &Gaps, layout: &dyn Layout) {
        let (name, is_directory) = match key.strip_suffix('/') {
            Some(name) => (name, true),
            None => (key, false),
        };
        let ordinal = |key: &str| {
            let index = layout.object_index(key)?;
            let is_one = index.len() == gaps.grid.rank() && gaps.grid.contains(&index);
            is_one.then(|| gaps.grid.indices().ordinal(&index))
        };
        self.keys += 1;
        self.there.extend(ordinal(name));
        // A file where the directory of some chunks would be: that they cannot be read is to be
        // said.
        let is_in_the_way = first_key.filter(|_| !is_directory).is_some_and(|first| {
            let below: Vec<&str> = first.split('/').skip(name.split('/').count()).collect();
            !below.is_empty() && ordinal(&format!("{name}/{}", below.join("/"))).is_some()
        });
        self.ends |= is_in_the_way
            || self.keys > gaps.most.saturating_mul(KEYS_PER_OBJECT)
            || self.there.len() > gaps.most;
    }
}
