//! Manifests: where the chunks of arrays are (*Chunk Manifest Files* of the specification).
//!
//! A manifest is checked once, when it is read; references are then found in it by halves, where
//! they lie.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use zstd::bulk::Decompressor;

use super::flat::{Damaged, List, Table};
use super::id::Id;
use super::snapshot::NODE_BYTES;
use super::url::url_of;
use crate::condition::Condition;
use crate::length::wide;
use crate::referred::cache::Held;
use crate::referred::found::Found;

/// Longest name of a file, bytes.
const LOCATION_BYTES_MAX: usize = 8 << 10;
/// Memory that unpacking names takes beside their dictionary, about.
const UNPACKING_BYTES: usize = 256 << 10;

/// References of chunks, by array and index.
pub(super) struct Manifest {
    bytes: Bytes,
    arrays: Vec<ArrayRefs>,
    /// Unpacks names of files, where they are packed.
    names: Option<Mutex<Decompressor<'static>>>,
    dictionary_bytes: usize,
}

/// The references of an array: where their list is.
struct ArrayRefs {
    node: [u8; NODE_BYTES],
    place: (usize, usize),
}

/// Fields of a reference.
mod field {
    pub(super) const INDEX: usize = 0;
    pub(super) const INLINE: usize = 1;
    pub(super) const OFFSET: usize = 2;
    pub(super) const LENGTH: usize = 3;
    pub(super) const CHUNK: usize = 4;
    pub(super) const LOCATION: usize = 5;
    pub(super) const ETAG: usize = 6;
    pub(super) const MODIFIED: usize = 7;
    pub(super) const PACKED: usize = 8;
}

impl Held for Manifest {
    fn held_bytes(&self) -> usize {
        let names = self.names.as_ref().map_or(0, |_| UNPACKING_BYTES + 2 * self.dictionary_bytes);
        self.bytes.len() + self.arrays.len() * size_of::<ArrayRefs>() + names
    }
}

impl Manifest {
    /// Reads the manifest `id`, unpacked. Blocks.
    pub(super) fn read(bytes: Bytes, id: Id) -> Result<Self, String> {
        let table = Table::root(&bytes).map_err(flat)?;
        if table.fixed(0).map_err(flat)?.map(Id) != Some(id) {
            return Err("it is another manifest than its name says".to_owned());
        }
        let mut arrays: Vec<ArrayRefs> = Vec::new();
        let mut has_packed = false;
        for array in table.list(1).map_err(flat)?.tables() {
            let array = array.map_err(flat)?;
            let node = array.fixed(0).map_err(flat)?.ok_or_else(|| flat(Damaged))?;
            if arrays.last().is_some_and(|last| last.node >= node) {
                return Err("the arrays in it are not in order".to_owned());
            }
            let list = array.list(1).map_err(flat)?;
            has_packed |= check(&list)?;
            arrays.push(ArrayRefs { node, place: list.place() });
        }
        let dictionary = table.vector(2, 1).map_err(flat)?;
        // What is not said is zstd.
        let is_zstd = table.fixed(3).map_err(flat)?.is_none_or(|[algorithm]| algorithm == 1);
        if has_packed && !is_zstd {
            return Err("names in it are packed in a way that is not known".to_owned());
        }
        let names = dictionary.filter(|_| has_packed).map(Decompressor::with_dictionary);
        let names = names.transpose();
        let names = names.map_err(|error| format!("its dictionary cannot be used ({error})"))?;
        if has_packed && names.is_none() {
            return Err("names in it are packed, and the dictionary for that is missing".to_owned());
        }
        let (names, dictionary_bytes) = (names.map(Mutex::new), dictionary.map_or(0, <[u8]>::len));
        Ok(Self { bytes, arrays, names, dictionary_bytes })
    }

    /// The references of an array; none if the manifest has none of it.
    fn refs(&self, node: [u8; NODE_BYTES]) -> Option<List<'_>> {
        let found = self.arrays.binary_search_by_key(&node, |array| array.node).ok()?;
        Some(List::in_buffer(&self.bytes, self.arrays[found].place))
    }

    /// Number of references of an array.
    pub(super) fn count(&self, node: [u8; NODE_BYTES]) -> usize {
        self.refs(node).map_or(0, |refs| refs.len())
    }

    /// Index and target of the reference of a number.
    pub(super) fn entry(
        &self,
        node: [u8; NODE_BYTES],
        number: usize,
    ) -> Result<(Vec<u32>, Found), String> {
        let refs = self.refs(node).ok_or_else(|| flat(Damaged))?;
        let reference = refs.table(number).map_err(flat)?;
        let index = index_of(&reference).map_err(flat)?;
        Ok((numbers(index).collect(), self.found(&reference)?))
    }

    /// Finds the target of the chunk at `index` of an array.
    pub(super) fn find(
        &self,
        node: [u8; NODE_BYTES],
        index: &[u32],
    ) -> Result<Option<Found>, String> {
        let Some(refs) = self.refs(node) else { return Ok(None) };
        let (mut from, mut to) = (0, refs.len());
        while from < to {
            let middle = from + (to - from) / 2;
            let reference = refs.table(middle).map_err(flat)?;
            let at = numbers(index_of(&reference).map_err(flat)?);
            match at.cmp(index.iter().copied()) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return self.found(&reference).map(Some),
            }
        }
        Ok(None)
    }

    /// A file outside of the repository that a chunk is in, if one is found soon.
    pub(super) fn a_file(&self) -> Option<Found> {
        let first = |array: &ArrayRefs| {
            let refs = List::in_buffer(&self.bytes, array.place);
            self.found(&refs.table(0).ok()?).ok()
        };
        let mut found = self.arrays.iter().take(16).filter_map(first);
        found.find(|found| matches!(found, Found::File { url, .. } if url.contains("://")))
    }

    fn found(&self, reference: &Table<'_>) -> Result<Found, String> {
        if let Some(inline) = reference.vector(field::INLINE, 1).map_err(flat)? {
            return Ok(Found::Inline(self.bytes.slice_ref(inline)));
        }
        let start = reference.u64(field::OFFSET).map_err(flat)?;
        let range = start..start.saturating_add(reference.u64(field::LENGTH).map_err(flat)?);
        if let Some(id) = reference.fixed(field::CHUNK).map_err(flat)?.map(Id) {
            let url = format!("chunks/{id}").into();
            return Ok(Found::File { url, range: Some(range), condition: None });
        }
        let url = url_of(&self.location(reference)?)?.into();
        let etag = reference.text(field::ETAG).map_err(flat)?;
        let modified = i64::from(reference.u32(field::MODIFIED).map_err(flat)?);
        let condition = match etag {
            Some(etag) => Some(Condition::Etag(etag.into())),
            None => (modified > 0).then_some(Condition::UnmodifiedSince(modified)),
        };
        Ok(Found::File { url, range: Some(range), condition })
    }

    /// Location of the file that a chunk outside of the repository is in.
    fn location(&self, reference: &Table<'_>) -> Result<String, String> {
        if let Some(location) = reference.text(field::LOCATION).map_err(flat)? {
            let is_short = location.len() <= LOCATION_BYTES_MAX;
            return is_short
                .then(|| location.to_owned())
                .ok_or_else(|| format!("its location has {} bytes", location.len()));
        }
        let packed = reference.vector(field::PACKED, 1).map_err(flat)?;
        let names = packed.zip(self.names.as_ref());
        let (packed, names) = names.ok_or_else(|| flat(Damaged))?;
        // A panic elsewhere leaves nothing behind that a next name depends on.
        let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
        let unpacked = names.decompress(packed, LOCATION_BYTES_MAX);
        let unpacked = unpacked.ok().and_then(|name| String::from_utf8(name).ok());
        unpacked.ok_or_else(|| "its location cannot be unpacked".to_owned())
    }
}

/// Checks the references of an array: they are in order, and each of one kind. True if names of
/// files are packed.
fn check(refs: &List<'_>) -> Result<bool, String> {
    let (mut last, mut has_packed): (Option<&[u8]>, _) = (None, false);
    for reference in refs.tables() {
        let reference = reference.map_err(flat)?;
        let index = index_of(&reference).map_err(flat)?;
        let is_next = last.is_none_or(|last| {
            last.len() == index.len() && numbers(last).cmp(numbers(index)).is_lt()
        });
        if !is_next {
            return Err("the chunks of an array in it are not in order".to_owned());
        }
        last = Some(index);
        let is_packed = reference.vector(field::PACKED, 1).map_err(flat)?.is_some();
        let is_virtual = is_packed || reference.vector(field::LOCATION, 1).map_err(flat)?.is_some();
        let kinds = [
            reference.vector(field::INLINE, 1).map_err(flat)?.is_some(),
            reference.fixed::<12>(field::CHUNK).map_err(flat)?.is_some(),
            is_virtual,
        ];
        if kinds.into_iter().filter(|&is_of| is_of).count() != 1 {
            let index: Vec<u32> = numbers(index).collect();
            return Err(format!("its reference of chunk {index:?} is not of one kind"));
        }
        let [start, length] = [field::OFFSET, field::LENGTH].map(|number| reference.u64(number));
        let (start, length) = (start.map_err(flat)?, length.map_err(flat)?);
        if start.checked_add(length).is_none_or(|end| end > wide(isize::MAX.unsigned_abs())) {
            return Err("a range in it ends beyond any file".to_owned());
        }
        has_packed |= is_packed;
    }
    Ok(has_packed)
}

/// The index of the chunk that a reference is of: four bytes each axis.
fn index_of<'a>(reference: &Table<'a>) -> Result<&'a [u8], Damaged> {
    reference.vector(field::INDEX, 4)?.ok_or(Damaged)
}

fn numbers(index: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (numbers, _) = index.as_chunks();
    numbers.iter().map(|bytes| u32::from_le_bytes(*bytes))
}

fn flat(damaged: Damaged) -> String {
    damaged.to_string()
}
