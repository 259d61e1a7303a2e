//! Which objects of an array that is read were there, and which were missing: each counted once,
//! however often it is asked for.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rechunk_format::{ShardFormat, ShardIndex};
use rechunk_grid::{ChunkGrid, Region};
use rechunk_store::{Role, StoreError};

use crate::gaps::ObjectList;
use crate::{Array, ArrayError};

/// Numbers that one page of a set has room for.
const PAGE_NUMBERS: u64 = 4096;
/// Most pages: with 520 bytes each they take 2 MiB.
const PAGES_MAX: usize = 4096;
/// Most objects of which it is noted that they were found, a bit each: 1 MiB.
const NOTED_MAX: u64 = 1 << 23;
/// Keys of missing objects that are kept to be named.
const NAMED_MAX: usize = 16;

/// Missing parts of an array that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    /// Chunks that were not there.
    pub chunks: u64,
    /// All chunks of the array.
    pub of: u64,
    /// Objects (chunks, or shards where chunks lie in some) that were not there.
    pub objects: u64,
    /// All objects of the array.
    pub of_objects: u64,
    /// Objects were found.
    pub found_any: bool,
    /// There may be more: they are too many to tell apart.
    pub is_least: bool,
    /// Keys of the first missing objects in C order of those that were noticed first.
    pub first: Vec<String>,
}

/// Presence of the objects of an array, as far as it is known.
#[derive(Debug)]
pub(crate) struct Presence {
    objects: ChunkGrid,
    chunks: ChunkGrid,
    /// Objects that were there before, and those that this run has found: none of them may be
    /// missing. Empty where there are too many to note.
    there: Vec<AtomicU64>,
    found_any: AtomicBool,
    missing: Mutex<MissingObjects>,
}

#[derive(Debug, Default)]
struct MissingObjects {
    objects: Pages,
    /// Shards that are there, and of which chunks are missing.
    partial: Pages,
    /// Missing chunks of missing objects.
    chunks: u64,
    /// Missing chunks of shards that are there.
    chunks_of_partial: u64,
    first: BTreeMap<u64, String>,
}

/// A set of numbers, of which those that lie together take little.
#[derive(Debug, Default)]
struct Pages {
    by_number: BTreeMap<u64, Box<[u64; 64]>>,
    count: u64,
    is_full: bool,
}

impl Pages {
    /// Adds a number. True if it was not there before; false, too, where there is no room for it.
    fn insert(&mut self, number: u64) -> bool {
        let page = number / PAGE_NUMBERS;
        if self.by_number.len() >= PAGES_MAX && !self.by_number.contains_key(&page) {
            self.is_full = true;
            return false;
        }
        let words = self.by_number.entry(page).or_insert_with(|| Box::new([0; 64]));
        let at = usize::try_from(number % PAGE_NUMBERS / 64).unwrap_or(0);
        let bit = 1 << (number % 64);
        let is_new = words[at] & bit == 0;
        words[at] |= bit;
        self.count += u64::from(is_new);
        is_new
    }
}

impl Presence {
    fn new(array: &Array) -> Option<Arc<Self>> {
        let objects = array.object_grid()?;
        let chunks = array.layout().spec().grid().ok()?;
        let count = objects.count();
        let words = if count <= NOTED_MAX { count.div_ceil(64) } else { 0 };
        let there = (0..words).map(|_| AtomicU64::new(0)).collect();
        let (found_any, missing) = (AtomicBool::new(false), Mutex::default());
        Some(Arc::new(Self { objects, chunks, there, found_any, missing }))
    }

    /// Notes that this run has found object `index`.
    pub(crate) fn found(&self, index: &[u64]) {
        self.found_any.store(true, Ordering::Relaxed);
        self.set_there(self.objects.indices().ordinal(index));
    }

    /// Notes that the object of this number in C order is there.
    fn set_there(&self, number: u64) {
        if let Some((word, bit)) = self.bit(number) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn is_there(&self, number: u64) -> bool {
        self.bit(number).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    fn bit(&self, number: u64) -> Option<(&AtomicU64, u64)> {
        let word = self.there.get(usize::try_from(number / 64).ok()?)?;
        Some((word, 1 << (number % 64)))
    }

    /// Notes that object `index` is missing. False if it was there before.
    pub(crate) fn missing(&self, index: &[u64], key: impl FnOnce() -> String) -> bool {
        let number = self.objects.indices().ordinal(index);
        if self.is_there(number) {
            return false;
        }
        let mut missing = self.lock();
        if missing.objects.insert(number) {
            missing.chunks += self.chunks_of(index);
            let is_first = missing.first.len() < NAMED_MAX
                || missing.first.last_key_value().is_some_and(|(last, _)| number < *last);
            if is_first {
                missing.first.insert(number, key());
                if missing.first.len() > NAMED_MAX {
                    missing.first.pop_last();
                }
            }
        }
        true
    }

    /// Notes which chunks of shard `shard`, which is there, are missing, as far as `index` says: of
    /// all of it or of a table.
    pub(crate) fn partial(&self, format: &ShardFormat, shard: &[u64], index: &ShardIndex) {
        let chunks = self.chunk_indices(shard);
        if index.count() >= chunks.elements() && is_inside(&self.chunks, format, shard) {
            return;
        }
        let Ok(parts) = ChunkGrid::new(self.chunks.array_shape(), &format.index_shape()) else {
            return;
        };
        for part in parts.covering(&self.objects.region(shard)).positions() {
            let chunks = self.chunks.covering(&parts.region(&part));
            if !index.slots().contains(&format.slot(&chunks.start)) {
                continue; // another table
            }
            let is_absent = |chunk: &Vec<u64>| index.entry(format.slot(chunk)).is_none();
            let absent = chunks.positions().filter(is_absent).fold(0, |count: u64, _| count + 1);
            if absent > 0 {
                let mut missing = self.lock();
                if missing.partial.insert(parts.indices().ordinal(&part)) {
                    missing.chunks_of_partial += absent;
                }
            }
        }
    }

    fn has(&self, index: &[u64]) -> bool {
        index.len() == self.objects.rank() && self.objects.contains(index)
    }

    /// Counts as missing all objects that are not noted.
    fn not_there(&self, key: impl Fn(&[u64]) -> String) -> Missing {
        let (all, mut objects, mut chunks) = (self.objects.indices(), 0, 0_u64);
        let mut first = Vec::new();
        for number in (0..self.objects.count()).filter(|&number| !self.is_there(number)) {
            let index = all.position(number);
            objects += 1;
            chunks = chunks.saturating_add(self.chunks_of(&index));
            if first.len() < NAMED_MAX {
                first.push(key(&index));
            }
        }
        let (of, of_objects) = (self.chunks.count(), self.objects.count());
        let found_any = objects < of_objects;
        Missing { chunks, of, objects, of_objects, found_any, is_least: false, first }
    }

    /// The indices of the chunks that an object holds.
    fn chunk_indices(&self, object: &[u64]) -> Region {
        self.chunks.covering(&self.objects.region(object))
    }

    fn chunks_of(&self, object: &[u64]) -> u64 {
        self.chunk_indices(object).elements()
    }

    fn lock(&self) -> MutexGuard<'_, MissingObjects> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts missing objects; where the objects that are there were listed, by that list.
    fn report(&self, list: Option<&ObjectList>) -> Missing {
        let missing = self.lock();
        let (of, of_objects) = (self.chunks.count(), self.objects.count());
        let (mut objects, mut chunks) = (missing.objects.count, missing.chunks);
        let mut found_any = self.found_any.load(Ordering::Relaxed);
        if let Some(list) = list {
            let (mut listed, mut in_listed) = (0_u64, 0_u64);
            for index in list.indices() {
                listed += 1;
                in_listed = in_listed.saturating_add(self.chunks_of(&index));
            }
            objects = of_objects.saturating_sub(listed);
            chunks = of.saturating_sub(in_listed);
            found_any |= listed > 0;
        }
        Missing {
            chunks: chunks.saturating_add(missing.chunks_of_partial),
            of,
            objects,
            of_objects,
            found_any,
            is_least: missing.partial.is_full || list.is_none() && missing.objects.is_full,
            first: missing.first.values().cloned().collect(),
        }
    }
}

/// All slots of a shard are chunks of the array: it does not reach beyond its end.
fn is_inside(chunks: &ChunkGrid, format: &ShardFormat, shard: &[u64]) -> bool {
    let ends = shard.iter().zip(format.shard_shape());
    let ends = ends.map(|(index, extent)| (index + 1).saturating_mul(*extent));
    ends.zip(chunks.array_shape()).all(|(end, extent)| end <= *extent)
}

impl Array {
    /// Counts missing objects of the array from now on. `known` are the numbers, in C order, of
    /// objects that are there: an error where one of them is missing after all. Unchanged where
    /// chunks are ranges of files, which have to be there.
    #[must_use]
    pub fn counting_missing(mut self, known: &[u64]) -> Self {
        self.presence = Presence::new(&self);
        if let Some(presence) = &self.presence {
            for &number in known {
                presence.set_there(number);
            }
        }
        self
    }

    /// Lists what is there of an array whose missing objects are
    /// [counted](Array::counting_missing), and notes it. What is missing by that list, shards taken
    /// for whole; `None` where it cannot be listed, or where there are too many objects to note.
    pub async fn list_there(&self) -> Result<Option<Missing>, StoreError> {
        let Some(presence) = self.presence.as_ref().filter(|presence| !presence.there.is_empty())
        else {
            return Ok(None);
        };
        if !self.store().lists_for_little() || self.is_scattered() {
            return Ok(None);
        }
        let (noted, layout) = (Arc::clone(presence), Arc::clone(self.layout()));
        let take = move |(): &mut (), key: &str| {
            let index = layout.object_index(key).filter(|index| noted.has(index));
            if let Some(index) = index {
                noted.set_there(noted.objects.indices().ordinal(&index));
            }
            ControlFlow::Continue(())
        };
        self.store().with_role(Role::Control).fold_keys(self.key_depth(), (), take).await?;
        Ok(Some(presence.not_there(|index| self.layout().object_key(index))))
    }

    /// Objects that were missing so far; `None` if they are not [counted](Array::counting_missing).
    pub fn missing(&self) -> Option<Missing> {
        self.presence.as_ref().map(|presence| presence.report(self.object_list()))
    }

    /// Notes that object `index`, which was asked for, is there, or that it is missing: an error if
    /// it was there before.
    pub(crate) fn note(&self, index: &[u64], is_there: bool) -> Result<(), ArrayError> {
        let is_listed = !is_there && self.object_list().is_some_and(|list| list.contains(index));
        if let Some(gaps) = &self.gaps {
            gaps.count(index, is_there);
        }
        let Some(presence) = &self.presence else { return Ok(()) };
        if is_there {
            presence.found(index);
            return Ok(());
        }
        if !is_listed && presence.missing(index, || self.layout().object_key(index)) {
            return Ok(());
        }
        Err(self.removed(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_each_number_once_and_have_an_end() {
        let mut pages = Pages::default();
        for number in [0, 63, 64, 4095, 4096, 1 << 40, 0, 64] {
            pages.insert(number);
        }
        assert_eq!((pages.count, pages.by_number.len(), pages.is_full), (6, 3, false));
        for page in 0..5000 {
            pages.insert(page * PAGE_NUMBERS);
        }
        assert!(pages.is_full);
        assert_eq!(pages.by_number.len(), PAGES_MAX);
        assert!(pages.insert(1), "a page that is there takes more");
    }
}
