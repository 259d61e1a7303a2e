//! References: documents of JSON, and files of Parquet.

use std::cell::OnceCell;

use bytes::Bytes;
use futures::TryStreamExt;
use rechunk_store::{Store, StoreError};
use tokio::runtime::{Builder, Runtime};

use crate::memory::peak_of;

/// Most bytes of an object that is read.
const OBJECT_BYTES_MAX: u64 = 1 << 20;

/// Objects that are read.
const OBJECTS_MAX: usize = 16;

/// What reading a document may take, bytes: its buffers; and for each byte of it a part of an index.
const MEMORY_BYTES_MAX: u64 = 4 << 20;
const MEMORY_BYTES_PER_BYTE: u64 = 64;

/// What reading a file of Parquet may take: its columns unpacked, and its rows, as many as there may be.
const PARQUET_BYTES_MAX: u64 = 1 << 30;

/// The array that a file of Parquet is of.
const TABLES: &str = r#"{"metadata": {"a/.zarray": {"shape": [12, 10, 15], "chunks": [2, 5, 15]}}, "record_size": 10}"#;

thread_local! {
    static RUNTIME: OnceCell<Option<Runtime>> = const { OnceCell::new() };
}

/// A document, or a file of Parquet by its first bytes. Nothing outside of this process is named.
pub(crate) fn target(data: &[u8]) {
    if data.windows(3).any(|part| part == b"://") {
        return;
    }
    let is_parquet = data.starts_with(b"PAR1");
    RUNTIME.with(|runtime| {
        let runtime = runtime.get_or_init(|| Builder::new_current_thread().build().ok());
        let Some(runtime) = runtime else { return };
        let (read, peak_bytes) = peak_of(|| runtime.block_on(put_and_read(data, is_parquet)));
        let small = MEMORY_BYTES_MAX + MEMORY_BYTES_PER_BYTE * data.len() as u64;
        let most = if is_parquet { PARQUET_BYTES_MAX } else { small };
        assert!(peak_bytes <= most, "reading took {peak_bytes} bytes, more than {most}: {read:?}");
    });
}

async fn put_and_read(data: &[u8], is_parquet: bool) -> Result<(), StoreError> {
    let place = format!("memory://references-{:?}", std::thread::current().id());
    let store = Store::open(&place)?;
    store.put("file", vec![Bytes::from_static(&[7; 100])]).await?;
    if is_parquet {
        store.put("r.parq/.zmetadata", vec![Bytes::from_static(TABLES.as_bytes())]).await?;
        store.put("r.parq/a/refs.0.parq", vec![Bytes::copy_from_slice(data)]).await?;
        return read(&format!("{place}/r.parq")).await;
    }
    store.put("refs.json", vec![Bytes::copy_from_slice(data)]).await?;
    read(&format!("{place}/refs.json")).await
}

/// Lists and reads. Keys stay inside, each is there once, and a range is a part of the whole.
async fn read(location: &str) -> Result<(), StoreError> {
    let store = Store::open(location)?;
    assert!(store.read_only().is_some());
    store.list_directories("").await?;
    let mut objects: Vec<(String, u64)> = store.list("").try_collect().await?;
    objects.sort();
    assert!(objects.is_sorted_by(|(a, _), (b, _)| a < b), "{objects:?}");
    for (key, size_bytes) in objects.iter().take(OBJECTS_MAX) {
        assert!(key.split('/').all(|part| !matches!(part, "" | "." | "..")), "{key:?}");
        let Ok(whole) = store.get(key, OBJECT_BYTES_MAX).await else { continue };
        let whole = whole.unwrap_or_default();
        assert_eq!(whole.len() as u64, *size_bytes);
        assert_eq!(store.head(key).await?, Some(*size_bytes));
        let middle = size_bytes / 2;
        let end = store.get_range(key, middle, size_bytes - middle).await;
        assert!(end.is_ok_and(|end| whole.ends_with(&end)), "{key:?}");
    }
    Ok(())
}
