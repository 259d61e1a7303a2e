//! Files of Icechunk repositories: the branches of one, a snapshot, or a manifest.

use bytes::Bytes;
use futures::TryStreamExt;
use rechunk_store::{Store, StoreError};

use crate::reading::reads_within;

/// The branches of a repository that the package icechunk wrote.
const REPO: &[u8] = include_bytes!("../../../../fixtures/icechunk/v2/repo");
/// The snapshots of the branch main of that one and of another, of version 1, with their ids.
const SNAPSHOTS: [(&str, &[u8]); 2] = [
    (
        "97GBHGZ6BQ4JPRJ8B6P0",
        include_bytes!("../../../../fixtures/icechunk/v2/snapshots/97GBHGZ6BQ4JPRJ8B6P0"),
    ),
    (
        "R42WZSY1QRMERWZB9WE0",
        include_bytes!("../../../../fixtures/icechunk/v1/snapshots/R42WZSY1QRMERWZB9WE0"),
    ),
];
/// Manifests of those.
const MANIFEST_IDS: [&str; 20] = [
    "1Q5TJ0WD3M19SE43RV50",
    "6VTXGMX6CWVFM2SQCXPG",
    "BPWWQSN7G7Z36EG06260",
    "DF3ZMD8NFSW46FTE5MTG",
    "GG43D9GD5S09X630YK90",
    "GZDHFGWJGYS41EW256KG",
    "JTZMG96ASS8G2C846CJ0",
    "MBJT74RPD356153ZG9C0",
    "SZW4KH5555JD9NNZMK80",
    "ZN6TW7892RHGZ516CYNG",
    "4X0CGTPFNHFX3BEXBCNG",
    "8FEFCE2KC1W6VX2TQB80",
    "BBVVRZW267TYTBPETS50",
    "F7QB49FVFX3APK9WR74G",
    "FGG54KVAB48FJJT53VDG",
    "H59X02BBB6Q58RBGPCA0",
    "KJ4M4W2DHZZ8JANCPT50",
    "NWCSAECRH74Y4XTHB8A0",
    "SFDFCPZNJRRM0XWVD3R0",
    "YRPG2GY5AMXHZKYEDXXG",
];
/// Arrays of both.
const ARRAYS: [&str; 6] =
    ["inline", "outside", "scalar", "sharded", "weather/daily/native", "weather/daily/split"];

/// Places in a file of what it is, and of how that is compressed.
const KIND_AT: usize = 37;
const COMPRESSION_AT: usize = 38;
/// The file that chunks outside of the repositories are in.
const OUTSIDE: &str = "memory://vrt/rechunk/virt.bin";
const OUTSIDE_BYTES: usize = 640;

/// Most bytes of an object that is read.
const OBJECT_BYTES_MAX: u64 = 1 << 20;
/// Objects of an array that are read.
const OBJECTS_MAX: usize = 16;
/// Most bytes for reading a file: those of the others; and for each byte of it.
const MEMORY_BYTES_MAX: u64 = 4 << 20;
const MEMORY_BYTES_PER_BYTE: u64 = 64;

/// Reads a file that is not compressed, as what it says that it is. Nothing outside of this process
/// is reached: what names another place is left out.
pub(crate) fn target(data: &[u8]) -> bool {
    let count = |text: &str| {
        let parts = data.windows(text.len());
        parts.filter(|part| *part == text.as_bytes()).count()
    };
    let kind = data.get(KIND_AT).copied();
    let names_others = kind != Some(6) && count("://") != count("memory://");
    if data.get(COMPRESSION_AT) != Some(&0) || names_others {
        return false;
    }
    let most = MEMORY_BYTES_MAX + MEMORY_BYTES_PER_BYTE * data.len() as u64;
    reads_within(most, put_and_read(data))
}

async fn put_and_read(data: &[u8]) -> Result<usize, StoreError> {
    let place = format!("memory://icechunk-{:?}", std::thread::current().id());
    let store = Store::open(&place)?;
    let kind = data[KIND_AT];
    let data = Bytes::copy_from_slice(data);
    let or_data = |of: u8, bytes: &'static [u8]| {
        if kind == of { data.clone() } else { Bytes::from_static(bytes) }
    };
    store.put("r.icechunk/repo", vec![or_data(6, REPO)]).await?;
    for (id, snapshot) in SNAPSHOTS {
        store.put(&format!("r.icechunk/snapshots/{id}"), vec![or_data(1, snapshot)]).await?;
    }
    for id in MANIFEST_IDS {
        // All but one of them are of another id than their names say.
        store.put(&format!("r.icechunk/manifests/{id}"), vec![or_data(2, b"")]).await?;
    }
    let (folder, file) = OUTSIDE.rsplit_once('/').unwrap_or((OUTSIDE, ""));
    Store::open(folder)?.put(file, vec![Bytes::from_static(&[7; OUTSIDE_BYTES])]).await?;
    if kind == 6 {
        return read(&format!("{place}/r.icechunk")).await;
    }
    let mut read_objects = 0;
    for (id, _) in SNAPSHOTS {
        // One of two snapshots is another one than its name says.
        if let Ok(objects) = read(&format!("{place}/r.icechunk#snapshot={id}")).await {
            read_objects += objects;
        }
    }
    Ok(read_objects)
}

/// Lists and reads; how many objects could be read. Keys stay inside, each is there once, and a
/// range is a part of the whole.
async fn read(location: &str) -> Result<usize, StoreError> {
    let store = Store::open(location)?;
    assert!(store.read_only().is_some());
    store.list_directories("").await?;
    let mut read = 0;
    for array in ARRAYS {
        let document = store.get(&format!("{array}/zarr.json"), OBJECT_BYTES_MAX).await?;
        read += usize::from(document.is_some());
        let listed = store.list(array).try_collect::<Vec<(String, u64)>>().await;
        let Ok(mut objects) = listed else { continue };
        objects.sort();
        assert!(objects.is_sorted_by(|(a, _), (b, _)| a < b), "{objects:?}");
        for (key, size_bytes) in objects.iter().take(OBJECTS_MAX) {
            assert!(key.split('/').all(|part| !matches!(part, "" | "." | "..")), "{key:?}");
            assert_eq!(store.head(key).await?, Some(*size_bytes), "{key:?}");
            let Ok(whole) = store.get(key, OBJECT_BYTES_MAX).await else { continue };
            let whole = whole.unwrap_or_default();
            assert_eq!(whole.len() as u64, *size_bytes);
            let middle = size_bytes / 2;
            let end = store.get_range(key, middle, size_bytes - middle).await;
            assert!(end.is_ok_and(|end| whole.ends_with(&end)), "{key:?}");
            read += 1;
        }
    }
    Ok(read)
}
