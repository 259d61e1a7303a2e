//! Repositories that the package icechunk wrote (`fixtures/icechunk`), read as stores.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;

use rechunk_store::{Role, Store, StoreError, Stores};

fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/icechunk");
    folder.join(name).display().to_string()
}

/// Stores in which the bucket that chunks outside of the fixtures are in is there.
async fn stores() -> Stores {
    let bucket = Arc::new(InMemory::new());
    let bytes = std::fs::read(fixture("virtual.bin")).unwrap();
    bucket.put(&"virtual.bin".into(), Bytes::from(bytes).into()).await.unwrap();
    Stores::default().with_client("s3://rechunk-test", bucket)
}

async fn error_at(location: &str) -> String {
    let store = Store::open(location).unwrap();
    let error = store.get("zarr.json", 1 << 20).await.unwrap_err();
    assert!(matches!(error, StoreError::Repository { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn a_key_leads_to_a_chunk_wherever_it_is() {
    let virtual_bytes = std::fs::read(fixture("virtual.bin")).unwrap();
    for version in ["v1", "v2"] {
        let store = stores().await.open(&fixture(version)).unwrap().with_role(Role::Source);
        let node = store.get("weather/daily/native/zarr.json", 1 << 20).await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&node).contains("\"y\""), "{version}");
        // Without codecs: the elements themselves, 2 bytes each.
        let inline = store.get("inline/c/2/0", 24).await.unwrap().unwrap();
        assert_eq!(inline.len(), 24, "{version}: chunks at the end are whole");
        let native = store.get("weather/daily/native/c/2/1", 1 << 20).await.unwrap().unwrap();
        let middle = store.get_range("weather/daily/native/c/2/1", 5, 9).await.unwrap();
        assert_eq!(native[5..14], middle, "{version}");
        for (row, is_there) in [(0, true), (7, false), (39, true), (40, false)] {
            let found = store.get(&format!("outside/c/{row}/0"), 16).await;
            let expected = &virtual_bytes[(row * 16).min(624)..][..16];
            match found {
                Ok(found) => {
                    let expected = is_there.then(|| Bytes::copy_from_slice(expected));
                    assert_eq!(found, expected, "{version} {row}");
                }
                // The object of this test is younger than the reference to it.
                Err(error) => {
                    let error = error.to_string();
                    assert!(row % 2 == 1 && error.contains("was changed after"), "{row}: {error}");
                }
            }
        }
        for missing in ["weather/daily/split/c/2/0", "never/c/0", "x", "inline/.zarray", "c/0"] {
            assert_eq!(store.get(missing, 1 << 20).await.unwrap(), None, "{version} {missing}");
        }
        assert!(store.get("scalar/c", 64).await.unwrap().is_some(), "{version}");
        let traffic = store.meter().traffic().source;
        assert_eq!((traffic.get_requests, traffic.get_missing), (7, 7), "{version}");
    }
}

#[tokio::test]
async fn every_object_is_listed_once_and_has_the_size_that_it_says() {
    for version in ["v1", "v2"] {
        let store = stores().await.open(&fixture(version)).unwrap();
        let listed: Vec<(String, u64)> = store.list("").try_collect().await.unwrap();
        let mut keys: Vec<&str> = listed.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        let count = |prefix: &str| keys.iter().filter(|key| key.starts_with(prefix)).count();
        assert!(keys.is_sorted_by(|a, b| a < b), "{version}: each once");
        assert_eq!(count("weather/daily/native/c/"), 6, "{version}");
        assert_eq!((count("weather/daily/split/c/"), count("outside/c/")), (8, 36), "{version}");
        assert_eq!(
            (count("sharded/c/"), count("scalar/"), count("never/")),
            (4, 2, 1),
            "{version}"
        );
        for (key, size) in &listed {
            assert_eq!(store.head(key).await.unwrap(), Some(*size), "{version} {key}");
        }
        let below: Vec<(String, u64)> =
            store.list("weather/daily/split/c/1").try_collect().await.unwrap();
        assert_eq!(below.len(), 4, "{version}");
        let group = store.child("weather").unwrap();
        assert_eq!(group.list_directories("").await.unwrap(), ["daily"], "{version}");
        let names = group.list_directories("daily").await.unwrap();
        assert_eq!(names, ["native", "split"], "{version}");
        assert_eq!(store.list_directories("inline").await.unwrap(), ["c"], "{version}");
    }
}

#[tokio::test]
async fn a_version_is_a_branch_a_tag_or_a_snapshot() {
    for version in ["v1", "v2"] {
        let read = async |location: &str| {
            let store = Store::open(location).unwrap();
            store.get("weather/daily/native/c/0/0", 1 << 20).await.unwrap().unwrap()
        };
        let at = |text: &str| format!("{}{text}", fixture(version));
        let (main, other) = (read(&at("")).await, read(&at("#branch=other")).await);
        let tag = read(&at("#tag=v1")).await;
        assert_eq!(read(&at("#branch=main")).await, main, "{version}");
        assert_eq!(read(&at("#branch=old")).await, tag, "{version}");
        assert!(main != other && main != tag && other != tag, "{version}");
        let location = at("#branch=other/weather");
        let fixed = Store::open(&location).unwrap().fixed_location(&location).await.unwrap();
        let fixed = fixed.unwrap();
        assert!(fixed.contains("#snapshot=") && fixed.ends_with("/weather"), "{fixed}");
        let store = Store::open(&fixed).unwrap();
        let chunk = store.get("daily/native/c/0/0", 1 << 20).await.unwrap().unwrap();
        assert_eq!(chunk, other, "{version}");
        assert_eq!(store.fixed_location(&fixed).await.unwrap(), None);
        assert_eq!(store.read_only(), Some("an Icechunk repository"));
        assert!(store.put("x", vec![Bytes::new()]).await.is_err());

        let unknown = error_at(&at("#branch=dev")).await;
        assert!(unknown.contains("no branch \"dev\""), "{unknown}");
        assert!(unknown.contains("the branches main, old, other and the tag"), "{unknown}");
        let deleted = error_at(&at("#tag=gone")).await;
        assert!(deleted.contains("tag \"gone\" was deleted"), "{deleted}");
        let expired = error_at(&at("#snapshot=0000000000000000000G")).await;
        assert!(expired.contains("0000000000000000000G is not there any more"), "{expired}");
    }
    let behind = Store::open(&format!("{}/inline#tag=v1", fixture("v2"))).unwrap_err().to_string();
    assert!(behind.contains("behind the repository itself"), "{behind}");
}

#[tokio::test]
async fn what_is_asked_for_is_the_repository_its_snapshot_and_manifests_once() {
    let bucket = Arc::new(InMemory::new());
    for file in walk(&PathBuf::from(fixture("v2"))) {
        let key = file.strip_prefix(fixture("v2")).unwrap().to_str().unwrap().to_owned();
        let bytes = Bytes::from(std::fs::read(&file).unwrap());
        bucket.put(&format!("a/{key}").as_str().into(), bytes.into()).await.unwrap();
    }
    let stores = stores().await.with_client("s3://repository", Arc::clone(&bucket) as _);
    let store = stores.open("s3://repository/a#branch=main").unwrap().with_role(Role::Source);
    for _ in 0..3 {
        for row in 0..3 {
            let key = format!("weather/daily/split/c/{row}/1");
            assert_eq!(store.get(&key, 1 << 20).await.unwrap().is_some(), row < 2);
        }
    }
    let traffic = store.meter().traffic();
    assert_eq!((traffic.source.get_requests, traffic.source.get_missing), (6, 3));
    // `repo`, the snapshot, and the manifests of two rows of chunks; `repo` is not asked again.
    assert_eq!(traffic.control.get, 4, "{traffic:?}");
    bucket.delete(&"a/repo".into()).await.unwrap();
    let open = stores.open("s3://repository/a#branch=main").unwrap();
    assert!(open.get("zarr.json", 1 << 20).await.unwrap().is_some());
    drop((store, open));
    let gone = stores.open("s3://repository/a.icechunk").unwrap();
    let error = gone.get("zarr.json", 1 << 20).await.unwrap_err().to_string();
    assert!(error.contains("there is no repository"), "{error}");
}

fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| walk(folder)));
    files
}
