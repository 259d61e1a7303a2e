//! What is in a document of references, kept small: some 32 bytes for each, and its key.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;

use super::templates::Templates;
use super::{Fault, Found};
use crate::operations::wide;

/// Longest key, bytes.
pub(super) const KEY_BYTES_MAX: usize = 4 << 10;

/// Stands for "the file as a whole" where a length would be.
const WHOLE: u64 = u64::MAX;
/// Stands for "in the document itself" where the number of a file would be.
const INLINE: u32 = u32::MAX;

/// The references of a document, sorted by key.
#[derive(Debug)]
pub(super) struct Index {
    /// Every key, one after the other.
    keys: String,
    entries: Vec<Entry>,
    /// Names of files, in which templates are named.
    urls: Vec<Arc<str>>,
    templates: Templates,
    /// What is kept in the document, one after the other.
    inline: Bytes,
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
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds what is kept in the document: `write` puts it behind the bytes it is given.
    pub(super) fn add_inline(
        &mut self,
        key: &str,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let start = self.inline.len();
        write(&mut self.inline)?;
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
        let number = u32::try_from(self.urls.len()).map_err(|_| self.too_large())?;
        // In the list and in the table, each with its pointer.
        self.urls_bytes += url.len() + 64;
        self.numbers.insert(Arc::clone(&url), number);
        self.urls.push(url);
        Ok(number)
    }

    fn add(&mut self, key: &str, url: u32, start: u64, length: u64) -> Result<(), Fault> {
        let is_key = Path::parse(key).is_ok_and(|path| path.as_ref() == key);
        if key.is_empty() || !is_key {
            return Err(Fault::value(key, "it is no key of a store"));
        }
        let key_bytes =
            u16::try_from(key.len()).map_err(|_| Fault::value(key, "it is too long"))?;
        let key_start = u32::try_from(self.keys.len()).map_err(|_| self.too_large())?;
        self.keys.push_str(key);
        self.entries.push(Entry { key_start, key_bytes, url, start, length });
        if self.held_bytes() > self.limit_bytes {
            return Err(self.too_large());
        }
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        let entries = self.entries.len() * size_of::<Entry>();
        self.keys.len() + entries + self.urls_bytes + self.inline.len()
    }

    fn too_large(&self) -> Fault {
        Fault::TooLarge { limit_bytes: self.limit_bytes }
    }

    /// The index, in whose names of files `templates` are named. Every key is there once. A template can
    /// make a long name of a short one: names are made when they are asked for.
    pub(super) fn finish(self, templates: Templates) -> Result<Index, Fault> {
        if self.held_bytes() + templates.held_bytes() > self.limit_bytes {
            return Err(self.too_large());
        }
        let Self { keys, mut entries, urls, inline, .. } = self;
        for url in urls.iter().filter(|url| templates.are_in(url)) {
            templates.check(url)?;
        }
        let key = |entry: &Entry| key_of(&keys, entry);
        entries.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        let is_twice = |pair: &&[Entry]| matches!(pair, [a, b] if key(a) == key(b));
        if let Some([twice, _]) = entries.windows(2).find(is_twice) {
            return Err(Fault::value(key(twice), "it is there twice"));
        }
        entries.shrink_to_fit();
        Ok(Index { keys, entries, urls, templates, inline: inline.into() })
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
    pub(super) fn key(&self, position: usize) -> &str {
        key_of(&self.keys, &self.entries[position])
    }

    /// What `key` leads to.
    pub(super) fn find(&self, key: &str) -> Option<Found> {
        let found = self.entries.binary_search_by(|entry| key_of(&self.keys, entry).cmp(key));
        found.ok().map(|position| self.found(position))
    }

    /// What the key at `position` leads to.
    pub(super) fn found(&self, position: usize) -> Found {
        let Entry { url, start, length, .. } = self.entries[position];
        let file = usize::try_from(url).ok().and_then(|number| self.urls.get(number));
        match file {
            None => Found::Inline(within(&self.inline, start, length)),
            Some(url) => {
                let range = (length != WHOLE).then(|| start..start + length);
                Found::File { url: self.file(url), range }
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
