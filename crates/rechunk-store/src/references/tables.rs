//! References in Parquet: a directory with the metadata of all arrays, and for each array files of
//! references, which are read when one of them is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use object_store::path::Path;
use tokio::sync::{OnceCell, Semaphore};

use super::index::KEY_BYTES_MAX;
use super::json::{Json, Kind};
use super::partition::{FILE_BYTES_MAX, Partition, ROWS_MAX};
use super::{Fault, Found, INDEX_BYTES_MAX};
use crate::{Store, StoreError};

/// Most bytes of files that are kept in memory after they were read.
const CACHE_BYTES_MAX: usize = 256 << 20;
/// Most of such files.
const CACHE_FILES_MAX: usize = 4096;
/// Files that are read at once.
const READ_AT_ONCE: usize = 2;
/// Largest metadata document, bytes.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;
/// Most axes of an array.
const AXES_MAX: usize = 64;

/// The arrays of a directory of references.
#[derive(Debug)]
pub(super) struct Tables {
    /// Metadata documents by key.
    documents: BTreeMap<String, Bytes>,
    /// Chunks along each axis, by the path of the array.
    arrays: BTreeMap<String, Vec<u64>>,
    /// Rows of a file.
    record_size: u64,
    cache: Mutex<BTreeMap<String, Cached>>,
    /// Counts uses of the cache.
    now: AtomicU64,
    permits: Semaphore,
}

/// A file, or that there is none.
type Slot = Arc<OnceCell<Option<Arc<Partition>>>>;

#[derive(Debug)]
struct Cached {
    slot: Slot,
    used: u64,
}

/// A chunk: the file its reference is in, and the row there.
struct Row {
    file: String,
    row: usize,
}

impl Tables {
    /// Reads `.zmetadata`. Blocks.
    pub(super) fn read(input: impl Read) -> Result<Self, Fault> {
        let mut json = Json::new(input);
        let (mut name, mut is_first) = (String::new(), true);
        let (mut documents, mut record_size) = (None, None);
        json.begin(b'{')?;
        while json.more(b'}', is_first)? {
            is_first = false;
            json.name(&mut name, KEY_BYTES_MAX)?;
            match name.as_str() {
                "metadata" if documents.is_none() => documents = Some(read_documents(&mut json)?),
                "record_size" if record_size.is_none() => record_size = Some(json.unsigned()?),
                "metadata" | "record_size" => return Err(Fault::value(&name, "it is there twice")),
                _ => json.raw(&mut Vec::new(), DOCUMENT_BYTES_MAX)?,
            }
        }
        json.end()?;
        let documents = documents.ok_or(Fault::NoTables)?;
        let record_size = record_size.ok_or(Fault::NoTables)?;
        if record_size == 0 || record_size > ROWS_MAX {
            return Err(Fault::Rows { limit: ROWS_MAX });
        }
        let mut arrays = BTreeMap::new();
        for (key, document) in &documents {
            if let Some(array) = key.strip_suffix("/.zarray") {
                arrays.insert(array.to_owned(), chunk_counts(key, document)?);
            }
        }
        Ok(Self {
            documents,
            arrays,
            record_size,
            cache: Mutex::default(),
            now: AtomicU64::new(0),
            permits: Semaphore::new(READ_AT_ONCE),
        })
    }

    /// Whether a document is the `.zmetadata` of references. Blocks.
    pub(super) fn are_in(input: impl Read) -> bool {
        let mut json = Json::new(input);
        let (mut name, mut is_first) = (String::new(), true);
        let mut has_size = || {
            json.begin(b'{')?;
            while json.more(b'}', is_first)? {
                is_first = false;
                json.name(&mut name, KEY_BYTES_MAX)?;
                match name.as_str() {
                    "record_size" => return Ok(true),
                    "zarr_consolidated_format" => return Ok(false),
                    _ => json.raw(&mut Vec::new(), INDEX_BYTES_MAX)?,
                }
            }
            Ok::<_, Fault>(false)
        };
        has_size().unwrap_or(false)
    }

    /// What `key` leads to; files of references are read in `place`.
    pub(super) async fn find(&self, place: &Store, key: &str) -> Result<Option<Found>, StoreError> {
        if let Some(document) = self.documents.get(key) {
            return Ok(Some(Found::Inline(document.clone())));
        }
        let Some(Row { file, row }) = self.row(key) else { return Ok(None) };
        let Some(partition) = self.partition(place, &file).await? else { return Ok(None) };
        if row >= partition.rows() {
            let fault = Fault::RowMissing { rows: partition.rows(), row };
            return Err(fault.of(&format!("{}/{file}", place.label())));
        }
        Ok(partition.found(row))
    }

    /// Where the reference of a chunk is; `None` if `key` is of no chunk of an array.
    fn row(&self, key: &str) -> Option<Row> {
        let (array, chunk) = key.rsplit_once('/')?;
        let counts = self.arrays.get(array)?;
        let row =
            if counts.is_empty() { (chunk == "0").then_some(0)? } else { ravel(counts, chunk)? };
        let (file, row) = (row / self.record_size, row % self.record_size);
        Some(Row { file: format!("{array}/refs.{file}.parq"), row: usize::try_from(row).ok()? })
    }

    /// A file of references; `None` if there is none: then none of its chunks is there.
    async fn partition(
        &self,
        place: &Store,
        file: &str,
    ) -> Result<Option<Arc<Partition>>, StoreError> {
        let slot = self.slot(file);
        let is_new = !slot.initialized();
        let found = slot.get_or_try_init(|| self.load(place, file)).await?.clone();
        if is_new {
            self.shrink(file);
        }
        Ok(found)
    }

    async fn load(&self, place: &Store, file: &str) -> Result<Option<Arc<Partition>>, StoreError> {
        // It is never closed.
        let _permit = self.permits.acquire().await;
        let Some(bytes) = Box::pin(place.get(file, FILE_BYTES_MAX)).await? else { return Ok(None) };
        // What is not as its format wants it may end in a panic of the crate that reads it.
        let read = tokio::task::spawn_blocking(move || Partition::read(&bytes)).await;
        let partition = read.unwrap_or(Err(Fault::Pages));
        let partition =
            partition.map_err(|fault| fault.of(&format!("{}/{file}", place.label())))?;
        Ok(Some(Arc::new(partition)))
    }

    fn slot(&self, file: &str) -> Slot {
        let used = self.now.fetch_add(1, Ordering::Relaxed);
        // A panic elsewhere cannot leave the table half-changed.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cache.get_mut(file) {
            cached.used = used;
            return Arc::clone(&cached.slot);
        }
        let slot = Slot::default();
        cache.insert(file.to_owned(), Cached { slot: Arc::clone(&slot), used });
        slot
    }

    /// Forgets the files that were not used for the longest time, as long as all take too much;
    /// never `kept`.
    fn shrink(&self, kept: &str) {
        let held = |cached: &Cached| {
            let found = cached.slot.get().and_then(Option::as_ref);
            found.map_or(0, |partition| partition.held_bytes())
        };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum: usize = cache.values().map(held).sum();
        while sum > CACHE_BYTES_MAX || cache.len() > CACHE_FILES_MAX {
            let is_other = |(file, _): &(&String, &Cached)| *file != kept;
            let oldest = cache.iter().filter(is_other).min_by_key(|(_, cached)| cached.used);
            let Some(file) = oldest.map(|(file, _)| file.clone()) else { return };
            sum -= cache.remove(&file).map_or(0, |cached| held(&cached));
        }
    }

    /// Names of what is directly below `prefix` and has keys below it.
    pub(super) fn directories(&self, prefix: &str) -> BTreeSet<String> {
        let below = self.documents.keys().filter_map(|key| key.strip_prefix(prefix));
        below.filter_map(|rest| rest.split_once('/')).map(|(name, _)| name.to_owned()).collect()
    }

    /// The metadata documents below `prefix`.
    pub(super) fn documents_below(&self, prefix: &str) -> Vec<(String, Found)> {
        let below = self.documents.iter().filter(|(key, _)| key.starts_with(prefix));
        below.map(|(key, document)| (key.clone(), Found::Inline(document.clone()))).collect()
    }

    /// The files of references, by array and number, in which keys below `prefix` may be.
    pub(super) fn files_below(
        &self,
        prefix: &str,
    ) -> impl Iterator<Item = (String, u64)> + Send + use<> {
        let is_below = |array: &str| {
            let chunks = format!("{array}/");
            chunks.starts_with(prefix) || prefix.starts_with(&chunks)
        };
        let arrays: Vec<(String, u64)> = self
            .arrays
            .iter()
            .filter(|(array, _)| is_below(array))
            .map(|(array, counts)| (array.clone(), chunks(counts).div_ceil(self.record_size)))
            .collect();
        arrays.into_iter().flat_map(|(array, files)| (0..files).map(move |n| (array.clone(), n)))
    }

    /// Keys of the chunks in a file of an array, with what they lead to.
    pub(super) async fn chunks(
        &self,
        place: &Store,
        array: &str,
        file: u64,
    ) -> Result<Vec<(String, Found)>, StoreError> {
        let counts = self.arrays.get(array).map(Vec::as_slice).unwrap_or_default();
        let all = chunks(counts);
        let name = format!("{array}/refs.{file}.parq");
        let Some(partition) = self.partition(place, &name).await? else { return Ok(Vec::new()) };
        let first = file.saturating_mul(self.record_size);
        let found = (0..partition.rows()).filter_map(|row| {
            let number = first.saturating_add(crate::operations::wide(row));
            let found = partition.found(row).filter(|_| number < all)?;
            Some((format!("{array}/{}", unravel(counts, number)), found))
        });
        Ok(found.collect())
    }

    /// A file that references lead to, if one is found soon.
    pub(super) async fn a_file(&self, place: &Store) -> Option<String> {
        for array in self.arrays.keys().take(16) {
            let name = format!("{array}/refs.0.parq");
            // Whoever reads a chunk is told what is wrong.
            if let Ok(Some(partition)) = self.partition(place, &name).await
                && let Some(file) = partition.a_file()
            {
                return Some(file.to_owned());
            }
        }
        None
    }
}

/// How many chunks there are in all.
fn chunks(counts: &[u64]) -> u64 {
    counts.iter().fold(1_u64, |all, &count| all.saturating_mul(count))
}

fn read_documents<R: Read>(json: &mut Json<R>) -> Result<BTreeMap<String, Bytes>, Fault> {
    let (mut key, mut is_first) = (String::new(), true);
    let (mut documents, mut held) = (BTreeMap::new(), 0_usize);
    json.begin(b'{')?;
    while json.more(b'}', is_first)? {
        is_first = false;
        json.name(&mut key, KEY_BYTES_MAX)?;
        if !Path::parse(&key).is_ok_and(|path| path.as_ref() == key) || key.is_empty() {
            return Err(Fault::value(&key, "it is no key of a store"));
        }
        let mut document = Vec::new();
        json.raw(&mut document, DOCUMENT_BYTES_MAX)?;
        held = held.saturating_add(key.len() + document.len() + 128);
        if held > INDEX_BYTES_MAX {
            return Err(Fault::TooLarge { limit_bytes: INDEX_BYTES_MAX });
        }
        document.shrink_to_fit();
        if documents.insert(key.clone(), document.into()).is_some() {
            return Err(Fault::value(&key, "it is there twice"));
        }
    }
    Ok(documents)
}

/// Chunks along each axis of the array that a `.zarray` describes.
fn chunk_counts(key: &str, document: &[u8]) -> Result<Vec<u64>, Fault> {
    let wrong =
        || Fault::value(key, "its shape and its chunks are no lists of sizes, equally long");
    let mut json = Json::new(document);
    let (mut name, mut is_first) = (String::new(), true);
    let (mut shape, mut chunks) = (None, None);
    json.begin(b'{')?;
    while json.more(b'}', is_first)? {
        is_first = false;
        json.name(&mut name, KEY_BYTES_MAX)?;
        match name.as_str() {
            "shape" | "chunks" if json.kind()? != Kind::List => return Err(wrong()),
            "shape" => shape = Some(sizes(&mut json)?),
            "chunks" => chunks = Some(sizes(&mut json)?),
            _ => json.raw(&mut Vec::new(), DOCUMENT_BYTES_MAX)?,
        }
    }
    let (shape, chunks) = shape.zip(chunks).ok_or_else(wrong)?;
    if shape.len() != chunks.len() || chunks.contains(&0) {
        return Err(wrong());
    }
    Ok(shape.iter().zip(&chunks).map(|(extent, chunk)| extent.div_ceil(*chunk)).collect())
}

fn sizes(json: &mut Json<&[u8]>) -> Result<Vec<u64>, Fault> {
    let mut sizes = Vec::new();
    json.begin(b'[')?;
    while json.more(b']', sizes.is_empty())? {
        if sizes.len() == AXES_MAX {
            return Err(Fault::value(".zarray", "it has too many axes"));
        }
        sizes.push(json.unsigned()?);
    }
    Ok(sizes)
}

/// The number of the chunk `1.0.2`, in C order; `None` if there is no such chunk.
fn ravel(counts: &[u64], chunk: &str) -> Option<u64> {
    let mut number = 0_u64;
    let mut indices = chunk.split('.');
    for &count in counts {
        let text = indices.next()?;
        // A chunk has one name.
        let is_plain = text == "0" || !text.starts_with(['0', '+']);
        let index: u64 = text.parse().ok().filter(|&index| is_plain && index < count)?;
        number = number.checked_mul(count)?.checked_add(index)?;
    }
    indices.next().is_none().then_some(number)
}

/// The name of a chunk by its number.
fn unravel(counts: &[u64], number: u64) -> String {
    let mut rest = number;
    let mut indices: Vec<String> = Vec::new();
    for &count in counts.iter().rev() {
        indices.push((rest % count.max(1)).to_string());
        rest /= count.max(1);
    }
    indices.reverse();
    if indices.is_empty() { "0".to_owned() } else { indices.join(".") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_numbered_in_c_order() {
        let counts = [2, 3, 4];
        for number in 0..24 {
            assert_eq!(ravel(&counts, &unravel(&counts, number)), Some(number));
        }
        assert_eq!(ravel(&counts, "1.2.3"), Some(23));
        for chunk in ["2.0.0", "0.0", "0.0.0.0", "00.0.0", "+1.0.0", "a.0.0", "", "0/0/0"] {
            assert_eq!(ravel(&counts, chunk), None, "{chunk}");
        }
        assert_eq!(ravel(&[u64::MAX, u64::MAX], "1.18446744073709551614"), None, "beyond counting");
    }

    #[test]
    fn what_is_no_table_of_references_is_refused() {
        for (text, words) in [
            ("{}", "record_size"),
            (r#"{"metadata":{}}"#, "record_size"),
            (r#"{"metadata":{},"record_size":0}"#, "rows"),
            (r#"{"metadata":{},"record_size":99999999999}"#, "rows"),
            (r#"{"metadata":{},"metadata":{},"record_size":1}"#, "twice"),
            (r#"{"metadata":{"a":{},"a":{}},"record_size":1}"#, "twice"),
            (r#"{"metadata":{"../a":{}},"record_size":1}"#, "no key"),
            (r#"{"metadata":{"a/.zarray":{"shape":[1],"chunks":[0]}},"record_size":1}"#, "sizes"),
            (r#"{"metadata":{"a/.zarray":{"shape":[1],"chunks":[1,1]}},"record_size":1}"#, "sizes"),
            (r#"{"metadata":{"a/.zarray":{"shape":3,"chunks":[1]}},"record_size":1}"#, "sizes"),
            (
                r#"{"metadata":{"a/.zarray":{"shape":[-1],"chunks":[1]}},"record_size":1}"#,
                "whole number",
            ),
        ] {
            let error = Tables::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
