//! Reads what keys lead to, with the same operations as any store. They are done in the store of
//! the file, or on bytes that are in memory.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;

use super::Referred;
use super::files::shown;
use super::found::Found;
use crate::length::wide;
use crate::view::View;
use crate::wanted::Wanted;
use crate::{Store, StoreError};

/// Files that are asked for their sizes at once.
const ASKED_AT_ONCE: usize = 16;

/// A key and what it leads to.
pub(crate) type Entry = Result<(String, Found), StoreError>;

impl Referred {
    /// The store of the file named `url`, counted and watched as `view` is, and the key in it.
    fn open(&self, view: &View, url: &str) -> Result<(Store, String), StoreError> {
        let (store, key) = self.files.open(url)?;
        let store = store.with_role(view.role()).with_meter(view.meter());
        Ok((store.watching_as(view), key))
    }

    /// Reads what is wanted of what `key` leads to into `buffer`, which gets room for `room_bytes`
    /// if it has to grow. Returns the size of all of it. Counted as one request, wherever it is.
    pub(crate) async fn read(
        &self,
        view: &View,
        key: &str,
        found: &Found,
        (wanted, room_bytes): (Wanted<'_>, u64),
        buffer: &mut Vec<u8>,
    ) -> Result<u64, StoreError> {
        let (url, range, condition) = match found {
            Found::Inline(bytes) => {
                let (start, length) = wanted_part(view, key, wanted, wide(bytes.len()))?;
                view.meter().count_get(view.role());
                view.meter().count_read_bytes(view.role(), length);
                fill(buffer, bytes, start, length, room_bytes);
                return Ok(wide(bytes.len()));
            }
            Found::File { url, range, condition } => (url, range, condition),
            Found::Odd(reason) => return Err(odd(view, key, reason)),
        };
        let failed = |source| referenced(view, key, found, source);
        let (store, name) = self.open(view, url).map_err(failed)?;
        let Some(range) = range else {
            let read = Box::pin(store.read(&name, wanted, room_bytes, buffer)).await;
            let size = read.map_err(failed)?;
            return size.ok_or_else(|| failed(store.view.not_found(&name)));
        };
        let size_bytes = range.end - range.start;
        let (start, length) = wanted_part(view, key, wanted, size_bytes)?;
        if length == 0 {
            // Nothing is asked of a store for no bytes.
            view.meter().count_get(view.role());
            buffer.clear();
            return Ok(size_bytes);
        }
        let within =
            Wanted::Within { start: range.start + start, length, condition: condition.as_ref() };
        let read = Box::pin(store.read(&name, within, room_bytes, buffer)).await.map_err(failed)?;
        read.map(|_| size_bytes).ok_or_else(|| failed(store.view.not_found(&name)))
    }

    /// Size of what `key` leads to. The file is asked only where it is meant as a whole.
    pub(crate) async fn look_at(
        &self,
        view: &View,
        key: &str,
        found: &Found,
    ) -> Result<u64, StoreError> {
        match (found, found.size_bytes()) {
            (Found::Odd(reason), _) => Err(odd(view, key, reason)),
            (_, Some(size)) => {
                view.meter().count_head();
                Ok(size)
            }
            (_, None) => self.file_bytes(view, key, found).await,
        }
    }

    /// Size of the file that a key leads to as a whole.
    async fn file_bytes(&self, view: &View, key: &str, found: &Found) -> Result<u64, StoreError> {
        let Found::File { url, .. } = found else { return Ok(found.size_bytes().unwrap_or(0)) };
        let failed = |source| referenced(view, key, found, source);
        let (store, name) = self.open(view, url).map_err(failed)?;
        let size = Box::pin(store.head(&name)).await.map_err(failed)?;
        size.ok_or_else(|| failed(store.view.not_found(&name)))
    }

    /// Keys of `entries`, below the place of `view`, with the sizes of what they lead to.
    pub(crate) fn sizes(
        self: Arc<Self>,
        view: &View,
        entries: BoxStream<'static, Entry>,
    ) -> BoxStream<'static, Result<(String, u64), StoreError>> {
        let (view, skipped) = (view.clone(), view.below().len());
        let sizes = entries.map(move |entry| {
            let (view, referred) = (view.clone(), Arc::clone(&self));
            async move {
                let (key, found) = entry?;
                let size = match found.size_bytes() {
                    Some(size) => size,
                    None => referred.file_bytes(&view, &key, &found).await?,
                };
                Ok((key[skipped..].to_owned(), size))
            }
        });
        sizes.buffered(ASKED_AT_ONCE).boxed()
    }
}

/// Returns the first byte and number of bytes that are wanted of an object of a known size.
fn wanted_part(
    view: &View,
    key: &str,
    wanted: Wanted<'_>,
    size_bytes: u64,
) -> Result<(u64, u64), StoreError> {
    view.check_exact(key, wanted, size_bytes)?;
    match wanted {
        Wanted::Whole { limit_bytes } | Wanted::Part { limit_bytes, .. }
            if size_bytes > limit_bytes =>
        {
            Err(view.too_large(key, size_bytes, limit_bytes))
        }
        Wanted::Whole { .. } | Wanted::Part { .. } | Wanted::Exactly { .. } => Ok((0, size_bytes)),
        Wanted::RangeOf { start, length, .. }
        | Wanted::Range { start, length }
        | Wanted::Within { start, length, .. } => match start.checked_add(length) {
            Some(end) if end <= size_bytes => Ok((start, length)),
            _ => Err(view.short(key, length, size_bytes.saturating_sub(start))),
        },
        Wanted::End { end, length } => Ok(end.of(size_bytes, length)),
    }
}

/// Makes the error of an entry that cannot be read.
fn odd(view: &View, key: &str, reason: &str) -> StoreError {
    let key: String = format!("{}{key}", view.below()).chars().take(200).collect();
    let reason = format!("it has an entry {key:?}, and {reason}");
    StoreError::References { location: view.label().to_owned(), reason }
}

/// Makes the error of the file that a key leads to.
fn referenced(view: &View, key: &str, found: &Found, source: StoreError) -> StoreError {
    let what = match found {
        Found::Inline(_) => "kept beside the references".to_owned(),
        Found::Odd(reason) => reason.as_ref().to_owned(),
        Found::File { url, range: None, .. } => format!("the whole of {}", shown(url)),
        Found::File { url, range: Some(range), .. } if range.is_empty() => {
            format!("no bytes of {}", shown(url))
        }
        Found::File { url, range: Some(range), .. } => {
            format!("bytes {} to {} of {}", range.start, range.end - 1, shown(url))
        }
    };
    let (location, key) = (view.label().to_owned(), key.to_owned());
    StoreError::Referenced { location, key, what, source: Box::new(source) }
}

/// Puts a part of `bytes` into a buffer, which gets room for `room_bytes` if it has to grow.
fn fill(buffer: &mut Vec<u8>, bytes: &Bytes, start: u64, length: u64, room_bytes: u64) {
    let narrow = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let start = narrow(start).min(bytes.len());
    let part = &bytes[start..start.saturating_add(narrow(length)).min(bytes.len())];
    buffer.clear();
    if buffer.capacity() < part.len() {
        *buffer = Vec::new();
        // Room for more is a help, and not to be had at any price.
        let _ = buffer.try_reserve_exact(narrow(room_bytes).max(part.len()));
    }
    buffer.extend_from_slice(part);
}
