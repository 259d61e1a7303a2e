//! ZIP files: their directory, and every entry that it has.

use std::io::Write;

use futures::TryStreamExt;
use rechunk_store::{Store, StoreError};

use crate::reading::reads_within;

/// Most bytes of an object that is read.
const OBJECT_BYTES_MAX: u64 = 1 << 20;

/// Objects of an archive that are read.
const OBJECTS_MAX: usize = 16;

/// Most bytes for reading: a record of the directory at its longest, pieces of an object, the
/// object twice. For each byte of the file there is its part of an index too.
const MEMORY_BYTES_MAX: u64 = 4 << 20;
const MEMORY_BYTES_PER_BYTE: u64 = 32;

/// A ZIP file, which has to be a file of this machine.
pub(crate) fn target(data: &[u8]) -> bool {
    let written = tempfile::Builder::new().suffix(".zip").tempfile().and_then(|mut file| {
        file.write_all(data)?;
        Ok(file)
    });
    let Ok(file) = written else { return false };
    let Some(path) = file.path().to_str() else { return false };
    let most = MEMORY_BYTES_MAX + MEMORY_BYTES_PER_BYTE * data.len() as u64;
    reads_within(most, read(path))
}

/// Lists and reads; how many objects could be read. Names stay inside, each is there once, and a
/// range is a part of the whole.
async fn read(path: &str) -> Result<usize, StoreError> {
    let store = Store::open(path)?;
    if store.archive().is_none() {
        return Ok(0); // references are known by what a file begins with
    }
    let objects: Vec<(String, u64)> = store.list("").try_collect().await?;
    assert!(objects.is_sorted_by(|(a, _), (b, _)| a < b), "{objects:?}");
    let mut read = 0;
    for (key, size_bytes) in objects.iter().take(OBJECTS_MAX) {
        assert!(key.split('/').all(|part| !matches!(part, "" | "." | "..")), "{key:?}");
        assert_eq!(store.head(key).await?, Some(*size_bytes));
        let whole = store.get(key, OBJECT_BYTES_MAX).await;
        let middle = size_bytes / 2;
        let length = (size_bytes - middle).min(OBJECT_BYTES_MAX);
        let end = store.get_range(key, middle, length).await;
        // Of an entry that is damaged a part may be read: its checksum is of the whole.
        assert!(end.as_ref().map_or(true, |end| end.len() as u64 == length), "{key:?}");
        let Ok(whole) = whole else { continue };
        let whole = whole.unwrap_or_default();
        assert_eq!(whole.len() as u64, *size_bytes);
        assert!(end.is_ok_and(|end| whole.ends_with(&end)), "{key:?}");
        read += 1;
    }
    store.list_directories("").await?;
    Ok(read)
}
