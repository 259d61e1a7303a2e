//! References: documents of JSON, and files of Parquet.

use bytes::Bytes;
use futures::TryStreamExt;
use rechunk_store::{Store, StoreError};
use serde_json::Value;

use super::split;
use crate::reading::reads_within;

/// Most bytes of an object that is read.
const OBJECT_BYTES_MAX: u64 = 1 << 20;

/// Objects that are read.
const OBJECTS_MAX: usize = 16;

/// Most bytes for reading a document: its buffers; and for each byte of it a part of an index.
const MEMORY_BYTES_MAX: u64 = 4 << 20;
const MEMORY_BYTES_PER_BYTE: u64 = 64;

/// Most bytes for reading a file of Parquet: its columns unpacked, and its rows, as many as there
/// may be.
const PARQUET_BYTES_MAX: u64 = 384 << 20;

/// The array that a file of Parquet is of.
const TABLES: &str = r#"{"metadata": {"a/.zarray": {"shape": [12, 10, 15], "chunks": [2, 5, 15]}}, "record_size": 10}"#;

/// Files that are referred to, and what each of them has, bytes.
const FILES: [&str; 4] = ["file", "day1.nc", "day2.nc", "day3.nc"];
const FILE_BYTES: usize = 32 << 10;

/// Reads a document or, by its first bytes, a file of Parquet. Behind a 0 byte is a document of
/// tables, and behind another one a file of Parquet. Nothing outside of this process is to be
/// reached: names of it are left out as far as they are seen, and `just fuzz` sets a proxy that is
/// not there.
pub(crate) fn target(data: &[u8]) -> bool {
    if names_others(data) {
        return false;
    }
    let (tables, data) = match data.split_first() {
        Some((0, rest)) => match split(rest) {
            (tables, Some(parquet)) => (tables, parquet),
            _ => return false,
        },
        _ => (TABLES.as_bytes(), data),
    };
    let is_parquet = data.starts_with(b"PAR1") || tables != TABLES.as_bytes();
    let small = MEMORY_BYTES_MAX + MEMORY_BYTES_PER_BYTE * data.len() as u64;
    let most = if is_parquet { PARQUET_BYTES_MAX } else { small };
    reads_within(most, put_and_read(data, is_parquet.then_some(tables)))
}

/// Looks for what names a server: as it is, and as JSON or its templates may put it together.
fn names_others(data: &[u8]) -> bool {
    let finds = |wanted: &[u8]| data.windows(wanted.len()).any(|part| part == wanted);
    if finds(b"://") {
        return true;
    }
    match serde_json::from_slice(data) {
        Ok(document) => holds_a_scheme(&document, false),
        // Not all that is accepted is JSON to others.
        Err(_) => [&b"//"[..], b"/\\/", b"\\/", b"\\u002", b"\\u003"].into_iter().any(finds),
    }
}

/// The end of a scheme in what a place may be made of: what is no text of an object in itself.
fn holds_a_scheme(value: &Value, is_place: bool) -> bool {
    match value {
        Value::String(text) => is_place && text.contains(':'),
        Value::Array(values) => values.iter().any(|value| holds_a_scheme(value, true)),
        Value::Object(members) => members.iter().any(|(name, value)| {
            holds_a_scheme(value, is_place || matches!(name.as_str(), "templates" | "gen"))
        }),
        _ => false,
    }
}

async fn put_and_read(data: &[u8], tables: Option<&[u8]>) -> Result<usize, StoreError> {
    let place = format!("memory://references-{:?}", std::thread::current().id());
    let store = Store::open(&place)?;
    for file in FILES {
        store.put(file, vec![Bytes::from_static(&[7; FILE_BYTES])]).await?;
    }
    if let Some(tables) = tables {
        store.put("r.parq/.zmetadata", vec![Bytes::copy_from_slice(tables)]).await?;
        store.put("r.parq/a/refs.0.parq", vec![Bytes::copy_from_slice(data)]).await?;
        return read(&format!("{place}/r.parq")).await;
    }
    store.put("refs.json", vec![Bytes::copy_from_slice(data)]).await?;
    read(&format!("{place}/refs.json")).await
}

/// Lists and reads; how many objects could be read. Keys stay inside, each is there once, and a
/// range is a part of the whole.
async fn read(location: &str) -> Result<usize, StoreError> {
    let store = Store::open(location)?;
    assert!(store.read_only().is_some());
    store.list_directories("").await?;
    let mut objects: Vec<(String, u64)> = store.list("").try_collect().await?;
    objects.sort();
    assert!(objects.is_sorted_by(|(a, _), (b, _)| a < b), "{objects:?}");
    let mut read = 0;
    for (key, size_bytes) in objects.iter().take(OBJECTS_MAX) {
        assert!(key.split('/').all(|part| !matches!(part, "" | "." | "..")), "{key:?}");
        let Ok(whole) = store.get(key, OBJECT_BYTES_MAX).await else { continue };
        let whole = whole.unwrap_or_default();
        assert_eq!(whole.len() as u64, *size_bytes);
        assert_eq!(store.head(key).await?, Some(*size_bytes));
        let middle = size_bytes / 2;
        let end = store.get_range(key, middle, size_bytes - middle).await;
        assert!(end.is_ok_and(|end| whole.ends_with(&end)), "{key:?}");
        read += 1;
    }
    Ok(read)
}
