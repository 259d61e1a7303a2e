//! Contents of a document of references, kept small: some 32 bytes for each, and its key.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;

use super::fault::Fault;
use super::odd::{Odd, called, scalar_chunk, without_extra_slashes};
use super::templates::Templates;
use crate::length::wide;
use crate::referred::found::Found;

/// Stands for "the file as a whole" where a length would be.
const WHOLE: u64 = u64::MAX;
/// Stands for "in the document itself" where the number of a file would be.
const INLINE: u32 = u32::MAX;
/// Stands for "it cannot be read" where the number of a file would be; the start is that of the
/// reason.
const ODD: u32 = u32::MAX - 1;

/// Documents that say whether an array has no axes.
const ARRAY_DOCUMENTS: [&str; 2] = [".zarray", "zarr.json"];

/// The references of a document, sorted by key.
#[derive(Debug)]
pub(super) struct Index {
    /// Every key, one after the other.
    keys: String,
    entries: Vec<Entry>,
    /// Names of files, in which templates are named.
    urls: Vec<Arc<str>>,
    templates: Templates,
    /// Objects that are kept in the document, one after the other.
    inline: Bytes,
    odd: Odd,
}

/// A reference: `length` bytes from `start` of a file, or of what is kept in the document.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key_start: u32,
    key_bytes: u16,
    url: u32,
    start: u64,
    length: u64,
}

/// An index that grows, within a limit.
#[derive(Debug)]
pub(super) struct Builder {
    keys: String,
    entries: Vec<Entry>,
    urls: Vec<Arc<str>>,
    numbers: std::collections::HashMap<Arc<str>, u32>,
    inline: Vec<u8>,
    urls_bytes: usize,
    limit_bytes: usize,
    odd: Odd,
    /// Entries whose keys have too many slashes: they are understood when all others are known.
    misnamed: Vec<(String, Entry)>,
    misnamed_bytes: usize,
}

impl Builder {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self {
            keys: String::new(),
            entries: Vec::new(),
            urls: Vec::new(),
            numbers: std::collections::HashMap::new(),
            inline: Vec::new(),
            urls_bytes: 0,
            limit_bytes,
            odd: Odd::default(),
            misnamed: Vec::new(),
            misnamed_bytes: 0,
        }
    }

    /// Says what is wrong with the first entry, where no entry can be read.
    pub(super) fn only_fault(&self) -> Option<&str> {
        let can_be_read = self.entries.iter().any(|entry| entry.url != ODD);
        if can_be_read { None } else { self.odd.first() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.misnamed.is_empty()
    }

    /// Adds an entry whose value is none, for a reason.
    pub(super) fn add_odd(&mut self, key: &str, what: &str) -> Result<(), Fault> {
        let start = self.odd.add(key, what);
        self.add(key, ODD, start, 0)
    }

    /// Adds what is kept in the document: `write` puts it behind the bytes it is given.
    pub(super) fn add_inline(
        &mut self,
        key: &str,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let start = self.inline.len();
        if let Err(fault) = write(&mut self.inline) {
            self.inline.truncate(start);
            return Err(fault);
        }
        let length = wide(self.inline.len() - start);
        self.add(key, INLINE, wide(start), length)
    }

    /// Adds a part of a file, or a whole one.
    pub(super) fn add_file(
        &mut self,
        key: &str,
        url: &str,
        range: Option<(u64, u64)>,
    ) -> Result<(), Fault> {
        let (start, length) = range.unwrap_or((0, WHOLE));
        if range.is_some() && start.checked_add(length).is_none_or(|end| end == WHOLE) {
            return Err(Fault::value(key, "its range ends beyond any file"));
        }
        let url = match self.numbers.get(url) {
            Some(&number) => number,
            None => self.add_url(url)?,
        };
        self.add(key, url, start, length)
    }

    fn add_url(&mut self, url: &str) -> Result<u32, Fault> {
        let url: Arc<str> = url.into();
        let number = u32::try_from(self.urls.len()).ok().filter(|&number| number < ODD);
        let number = number.ok_or_else(|| self.too_large())?;
        // In the list and in the table, each with its pointer.
        self.urls_bytes += url.len() + 64;
        self.numbers.insert(Arc::clone(&url), number);
        self.urls.push(url);
        Ok(number)
    }

    fn add(&mut self, key: &str, url: u32, start: u64, length: u64) -> Result<(), Fault> {
        let is_key = Path::parse(key).is_ok_and(|path| path.as_ref() == key);
        let (key_start, key_bytes) = (0, 0);
        let entry = Entry { key_start, key_bytes, url, start, length };
        if key.is_empty() || !is_key {
            self.misnamed_bytes += key.len() + 64;
            self.misnamed.push((key.to_owned(), entry));
        } else {
            let entry = entry.named(key, &mut self.keys).ok_or_else(|| self.too_large())?;
            self.entries.push(entry);
        }
        if self.held_bytes() > self.limit_bytes {
            return Err(self.too_large());
        }
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        let entries = self.entries.len() * size_of::<Entry>();
        let kept = self.urls_bytes + self.inline.len() + self.misnamed_bytes;
        self.keys.len() + entries + kept
    }

    fn too_large(&self) -> Fault {
        Fault::TooLarge { limit_bytes: self.limit_bytes }
    }

    /// The index, in whose names of files `templates` are named. Every key is there once. A
    /// template can make a long name of a short one: names are made when they are asked for.
    pub(super) fn finish(self, templates: Templates) -> Result<Index, Fault> {
        if self.held_bytes() + templates.held_bytes() > self.limit_bytes {
            return Err(self.too_large());
        }
        let Self { keys, entries, urls, inline, odd, misnamed, .. } = self;
        for url in urls.iter().filter(|url| templates.are_in(url)) {
            templates.check(url)?;
        }
        let mut index = Index { keys, entries, urls, templates, inline: inline.into(), odd };
        index.sort();
        let added: Vec<_> = misnamed.iter().filter_map(|entry| index.understood(entry)).collect();
        if !added.is_empty() {
            for (key, entry) in added {
                index.entries.extend(entry.named(&key, &mut index.keys));
            }
            index.sort();
        }
        index.entries.shrink_to_fit();
        Ok(index)
    }
}

impl Entry {
    /// The entry under a key, which is put behind `keys`; `None` if they would be too long.
    fn named(self, key: &str, keys: &mut String) -> Option<Self> {
        let key_start = u32::try_from(keys.len()).ok()?;
        let key_bytes = u16::try_from(key.len()).ok()?;
        keys.push_str(key);
        Some(Self { key_start, key_bytes, ..self })
    }
}

/// The range `start..start + length` of bytes that are in memory; they were counted when they came.
fn within(bytes: &Bytes, start: u64, length: u64) -> Bytes {
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(bytes.len());
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len() - start);
    bytes.slice(start..start + length)
}

fn key_of<'a>(keys: &'a str, entry: &Entry) -> &'a str {
    let start = usize::try_from(entry.key_start).unwrap_or(usize::MAX);
    &keys[start..start + usize::from(entry.key_bytes)]
}

impl Index {
    /// Sorts by key. Of a key that is there twice, with different values, neither is taken.
    fn sort(&mut self) {
        let Self { keys, entries, odd, .. } = self;
        let value = |entry: &Entry| (entry.url, entry.start, entry.length);
        entries.sort_unstable_by(|a, b| key_of(keys, a).cmp(key_of(keys, b)));
        entries.dedup_by(|again, first| {
            let is_twice = key_of(keys, again) == key_of(keys, first);
            if is_twice && first.url != ODD && value(again) != value(first) {
                let start = odd.add(key_of(keys, first), "it is there twice");
                *first = Entry { url: ODD, start, length: 0, ..*first };
            }
            is_twice
        });
    }

    /// Interprets an entry whose key has too many slashes. It is the chunk of an array without
    /// axes, which VirtualiZarr calls `crs/`, or else something that cannot be read.
    fn understood(&mut self, (key, entry): &(String, Entry)) -> Option<(String, Entry)> {
        let plain = without_extra_slashes(key);
        let chunk = plain.as_ref().filter(|plain| format!("{plain}/") == *key);
        let chunk = chunk.and_then(|array| Some(format!("{array}/{}", self.scalar_chunk(array)?)));
        if let Some(chunk) = chunk.filter(|chunk| self.find(chunk).is_none()) {
            return Some((chunk, *entry));
        }
        if entry.url != ODD {
            self.odd.add(key, "it is no key of a store");
        }
        let plain = plain.filter(|plain| self.find(plain).is_none())?;
        let start = self.odd.reason_number(&called(key));
        Some((plain, Entry { url: ODD, start, length: 0, ..*entry }))
    }

    /// The name of its only chunk, if there is an array without axes at a path.
    fn scalar_chunk(&self, array: &str) -> Option<&'static str> {
        ARRAY_DOCUMENTS.into_iter().find_map(|name| {
            let Found::Inline(document) = self.find(&format!("{array}/{name}"))? else {
                return None;
            };
            scalar_chunk(name, &document)
        })
    }

    /// A sentence for people, if there are entries that cannot be read.
    pub(super) fn warning(&self) -> Option<String> {
        self.odd.warning()
    }

    pub(super) fn key(&self, position: usize) -> &str {
        key_of(&self.keys, &self.entries[position])
    }

    /// Finds the target of `key`.
    pub(super) fn find(&self, key: &str) -> Option<Found> {
        let found = self.entries.binary_search_by(|entry| key_of(&self.keys, entry).cmp(key));
        found.ok().map(|position| self.found(position))
    }

    /// Target of the key at `position`.
    pub(super) fn found(&self, position: usize) -> Found {
        let Entry { url, start, length, .. } = self.entries[position];
        if url == ODD {
            return Found::Odd(self.odd.reason(start).into());
        }
        let file = usize::try_from(url).ok().and_then(|number| self.urls.get(number));
        match file {
            None => Found::Inline(within(&self.inline, start, length)),
            Some(url) => {
                let range = (length != WHOLE).then(|| start..start + length);
                Found::File { url: self.file(url), range, condition: None }
            }
        }
    }

    /// Positions of the keys that start with `prefix`.
    pub(super) fn below(&self, prefix: &str) -> Range<usize> {
        let key = |entry: &Entry| key_of(&self.keys, entry);
        let start = self.entries.partition_point(|entry| key(entry) < prefix);
        let rest = &self.entries[start..];
        start..start + rest.partition_point(|entry| key(entry).starts_with(prefix))
    }

    fn file(&self, url: &Arc<str>) -> Arc<str> {
        if !self.templates.are_in(url) {
            return Arc::clone(url);
        }
        // It was checked when it was read.
        self.templates.expand(url).map_or_else(|_| Arc::clone(url), Into::into)
    }

    /// A file that references lead to, if there is one.
    pub(super) fn a_file(&self) -> Option<Arc<str>> {
        self.urls.first().map(|url| self.file(url))
    }
}
