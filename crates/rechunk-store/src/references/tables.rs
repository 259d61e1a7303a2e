//! References in Parquet: a directory with the metadata of all arrays, and for each array files of
//! references. A file is read when one of its references is wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;

use super::chunks::{Chunks, NOT_V2, is_array_v3};
use super::fault::Fault;
use super::json::Json;
use super::limits::{DOCUMENT_BYTES_MAX, INDEX_BYTES_MAX, KEY_BYTES_MAX, ROWS_MAX};
use super::odd::Odd;
use super::partition::{FILE_BYTES_MAX, Partition};
use crate::referred::cache::Cache;
use crate::referred::found::Found;
use crate::{Store, StoreError};

/// Most files that are asked for without knowing that they are there.
const FILES_ASKED_MAX: u64 = 10_000;
/// Most bytes of a member that is passed over to see whether a document is one of references.
const OTHERS_BYTES_MAX: usize = 128 << 20;

/// The arrays of a directory of references.
#[derive(Debug)]
pub(super) struct Tables {
    /// Metadata documents by key.
    documents: BTreeMap<String, Bytes>,
    /// The arrays by their paths, or why no chunk of one can be found.
    arrays: BTreeMap<String, Result<Chunks, String>>,
    /// Documents whose keys are none of a store.
    odd: Odd,
    /// Rows of a file.
    record_size: u64,
    cache: Cache<Partition>,
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
                "record_size" if record_size.is_none() => record_size = Some(json.unsigned(&name)?),
                "metadata" | "record_size" => return Err(Fault::value(&name, "it is there twice")),
                _ => json.raw(&mut Vec::new(), DOCUMENT_BYTES_MAX)?,
            }
        }
        json.end()?;
        let (documents, odd) = documents.ok_or(Fault::NoTables)?;
        let record_size = record_size.ok_or(Fault::NoTables)?;
        if record_size == 0 || record_size > ROWS_MAX {
            return Err(Fault::Rows { limit: ROWS_MAX });
        }
        let mut arrays = BTreeMap::new();
        for (key, document) in &documents {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", key));
            let chunks = match name {
                ".zarray" => Chunks::read(key, document),
                "zarr.json" if is_array_v3(document) => Err(Fault::value(key, NOT_V2)),
                _ => continue,
            };
            arrays.insert(path.to_owned(), chunks.map_err(|fault| fault.to_string()));
        }
        Ok(Self { documents, arrays, odd, record_size, cache: Cache::default() })
    }

    /// A sentence for people, if there are documents that cannot be read.
    pub(super) fn warning(&self) -> Option<String> {
        self.odd.warning()
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
                    _ => json.raw(&mut Vec::new(), OTHERS_BYTES_MAX)?,
                }
            }
            Ok::<_, Fault>(false)
        };
        has_size().unwrap_or(false)
    }

    /// Finds the target of `key`; files of references are read in `place`.
    pub(super) async fn find(&self, place: &Store, key: &str) -> Result<Option<Found>, StoreError> {
        if let Some(document) = self.documents.get(key) {
            return Ok(Some(Found::Inline(document.clone())));
        }
        let failed = |reason| StoreError::References { location: place.label().to_owned(), reason };
        let found = self.row(key).map_err(failed)?;
        let Some(Row { file, row }) = found else { return Ok(None) };
        let Some(partition) = self.partition(place, &file).await? else { return Ok(None) };
        if row >= partition.rows() {
            let fault = Fault::RowMissing { rows: partition.rows(), row };
            return Err(fault.of(&format!("{}/{file}", place.label())));
        }
        Ok(partition.found(row))
    }

    /// Finds the row of a chunk's reference; `None` if `key` is of no chunk of an array.
    fn row(&self, key: &str) -> Result<Option<Row>, String> {
        let Some((array, chunks, chunk)) = self.array_of(key) else { return Ok(None) };
        let chunks = match chunks {
            Ok(chunks) => chunks,
            // Of an array that is not understood other keys are still missing, as metadata of other
            // formats.
            Err(reason) if chunk.bytes().all(|b| b.is_ascii_digit() || b"./c".contains(&b)) => {
                return Err(reason.clone());
            }
            Err(_) => return Ok(None),
        };
        let Some(row) = chunks.ravel(chunk) else { return Ok(None) };
        let (file, row) = (row / self.record_size, row % self.record_size);
        let row = usize::try_from(row).ok();
        Ok(row.map(|row| Row { file: file_name(array, file), row }))
    }

    /// The array that a key is in, with what is behind the array's path: that of the longest path.
    fn array_of<'a>(&self, key: &'a str) -> Option<(&'a str, &Result<Chunks, String>, &'a str)> {
        let slashes = key.rmatch_indices('/').map(|(at, _)| (&key[..at], &key[at + 1..]));
        let mut places = slashes.chain([("", key)]);
        places.find_map(|(path, rest)| Some((path, self.arrays.get(path)?, rest)))
    }

    /// A file of references; `None` if there is none: then none of its chunks is there.
    async fn partition(
        &self,
        place: &Store,
        file: &str,
    ) -> Result<Option<Arc<Partition>>, StoreError> {
        let load = async {
            let got = Box::pin(place.get(file, FILE_BYTES_MAX)).await?;
            let Some(bytes) = got else { return Ok(None) };
            // What is not as its format wants it may end in a panic of the crate that reads it.
            let read = tokio::task::spawn_blocking(move || Partition::read(&bytes)).await;
            let partition = read.unwrap_or(Err(Fault::Pages));
            partition.map(Some).map_err(|fault| fault.of(&format!("{}/{file}", place.label())))
        };
        self.cache.get(file, load).await
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

    /// The files of references, by array and number, in which keys below `prefix` may be. Where
    /// there may be many, `place` is asked which there are.
    pub(super) async fn files_below(
        &self,
        place: &Store,
        prefix: &str,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let is_inside = |array: &str| prefix.starts_with(&in_array(array, ""));
        let mut arrays = BTreeMap::<&str, u64>::new();
        for (array, chunks) in &self.arrays {
            match chunks {
                Ok(chunks) if is_inside(array) || array.starts_with(prefix) => {
                    arrays.insert(array, chunks.count().div_ceil(self.record_size));
                }
                // What is not understood has chunks all the same; a group may have it among others.
                Err(reason) if is_inside(array) => {
                    let (location, reason) = (place.label().to_owned(), reason.clone());
                    return Err(StoreError::References { location, reason });
                }
                _ => {}
            }
        }
        if arrays.values().fold(0_u64, |sum, &files| sum.saturating_add(files)) <= FILES_ASKED_MAX {
            let all = |(array, files): (&str, u64)| {
                let array = array.to_owned();
                (0..files).map(move |file| (array.clone(), file))
            };
            return Ok(arrays.into_iter().flat_map(all).collect());
        }
        let directory = arrays.keys().copied().find(|array| is_inside(array));
        let mut listed = place.list(directory.unwrap_or(prefix.trim_end_matches('/')));
        let mut found = Vec::new();
        while let Some((key, _)) = listed.try_next().await? {
            let (array, name) = key.rsplit_once('/').unwrap_or(("", &key));
            let number = name.strip_prefix("refs.").and_then(|name| name.strip_suffix(".parq"));
            if let Some((number, &files)) = number.zip(arrays.get(array))
                && let Some(number) = number.parse().ok().filter(|&number| number < files)
                && file_name(array, number) == key
            {
                found.push((array.to_owned(), number));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Keys of the chunks in a file of an array, with what they lead to.
    pub(super) async fn chunks(
        &self,
        place: &Store,
        array: &str,
        file: u64,
    ) -> Result<Vec<(String, Found)>, StoreError> {
        let Some(Ok(chunks)) = self.arrays.get(array) else { return Ok(Vec::new()) };
        let all = chunks.count();
        let name = file_name(array, file);
        let Some(partition) = self.partition(place, &name).await? else { return Ok(Vec::new()) };
        let first = file.saturating_mul(self.record_size);
        // Rows behind those that it is to have are nobody's: those chunks are in the next file.
        let rows = partition.rows().min(usize::try_from(self.record_size).unwrap_or(usize::MAX));
        let found = (0..rows).filter_map(|row| {
            let number = first.saturating_add(crate::length::wide(row));
            let found = partition.found(row).filter(|_| number < all)?;
            Some((in_array(array, &chunks.unravel(number)), found))
        });
        Ok(found.collect())
    }

    /// A file that references lead to, if one is found soon.
    pub(super) async fn a_file(&self, place: &Store) -> Option<String> {
        for array in self.arrays.keys().take(16) {
            let name = file_name(array, 0);
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

/// The key of what is called `name` in the array at a path, which may be empty.
fn in_array(array: &str, name: &str) -> String {
    if array.is_empty() { name.to_owned() } else { format!("{array}/{name}") }
}

fn file_name(array: &str, file: u64) -> String {
    in_array(array, &format!("refs.{file}.parq"))
}

fn read_documents<R: Read>(json: &mut Json<R>) -> Result<(BTreeMap<String, Bytes>, Odd), Fault> {
    let (mut key, mut is_first) = (String::new(), true);
    let (mut documents, mut odd, mut held) = (BTreeMap::new(), Odd::default(), 0_usize);
    json.begin(b'{')?;
    while json.more(b'}', is_first)? {
        is_first = false;
        json.name(&mut key, KEY_BYTES_MAX)?;
        if !Path::parse(&key).is_ok_and(|path| path.as_ref() == key) || key.is_empty() {
            odd.add(&key, "it is no key of a store");
            json.raw(&mut Vec::new(), DOCUMENT_BYTES_MAX)?;
            continue;
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
    Ok((documents, odd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_table_of_references_is_refused() {
        for (text, words) in [
            ("{}", "record_size"),
            (r#"{"metadata":{}}"#, "record_size"),
            (r#"{"metadata":{},"record_size":0}"#, "rows"),
            (r#"{"metadata":{},"record_size":99999999999}"#, "rows"),
            (r#"{"metadata":{},"metadata":{},"record_size":1}"#, "twice"),
            (r#"{"metadata":{"a":{},"a":{}},"record_size":1}"#, "twice"),
        ] {
            let error = Tables::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn documents_at_no_key_are_left_out_and_said() {
        for key in ["../a", "", "a//.zarray", "/a", "./.zgroup"] {
            let tables = tables(&format!(r#"{key:?}:{{}},"a/.zgroup":{{"zarr_format":2}}"#));
            assert_eq!(tables.documents.keys().collect::<Vec<_>>(), ["a/.zgroup"], "{key}");
            assert!(tables.odd.warning().unwrap().contains("no key of a store"), "{key}");
        }
    }

    fn tables(metadata: &str) -> Tables {
        Tables::read(format!(r#"{{"metadata":{{{metadata}}},"record_size":4}}"#).as_bytes())
            .unwrap()
    }

    #[test]
    fn an_array_that_is_wrong_is_named_where_a_chunk_of_it_is_asked_for() {
        for (key, document, words) in [
            ("a/.zarray", r#"{"shape":[1],"chunks":[0]}"#, "sizes"),
            ("a/.zarray", r#"{"shape":[1],"chunks":[1,1]}"#, "sizes"),
            ("a/.zarray", r#"{"shape":3,"chunks":[1]}"#, "sizes"),
            ("a/.zarray", r#"{"shape":[-1],"chunks":[1]}"#, "whole number"),
            ("a/.zarray", r#"{"shape":[1],"chunks":[1],"dimension_separator":"-"}"#, "separator"),
            ("a/.zarray", r#""{}""#, "object"),
            ("a/zarr.json", r#"{"zarr_format":3,"node_type":"array"}"#, "v3"),
        ] {
            let tables =
                tables(&format!(r#""{key}":{document},"b/.zarray":{{"shape":[9],"chunks":[1]}}"#));
            for chunk in ["a/0", "a/c/0/0"] {
                let error = tables.row(chunk).err().unwrap();
                assert!(error.contains(words) && error.contains(key), "{document}: {error}");
            }
            assert!(tables.row("a/.zattrs").unwrap().is_none());
            assert!(tables.row("b/5").unwrap().is_some());
        }
    }

    #[test]
    fn a_chunk_is_of_the_array_of_the_longest_path() {
        let array = |separator| {
            format!(r#"{{"shape":[9, 9],"chunks":[1, 3],"dimension_separator":"{separator}"}}"#)
        };
        let (dots, slashes) = (array("."), array("/"));
        let tables = tables(&format!(
            r#"".zarray":{dots},"a/.zarray":{slashes},"a/0/.zarray":{slashes},"g/zarr.json":{{"node_type":"group"}}"#
        ));
        for (key, file, row) in [
            ("1.2", "refs.1.parq", 1),
            ("a/1/2", "a/refs.1.parq", 1),
            ("a/0/1/2", "a/0/refs.1.parq", 1),
        ] {
            let found = tables.row(key).unwrap().unwrap();
            assert_eq!((found.file.as_str(), found.row), (file, row), "{key}");
        }
        for key in ["1/2", "a/1.2", "g/0", "a/.zattrs"] {
            assert!(tables.row(key).unwrap().is_none(), "{key}");
        }
    }
}
