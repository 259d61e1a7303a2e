//! Duties of a store that can be written.

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    UpdateVersion,
};

/// Bytes of which each range is another one.
pub(crate) fn bytes(length: u32) -> Bytes {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

pub(crate) async fn check(store: &dyn ObjectStore) {
    reads(store).await;
    lists(store).await;
    conditions(store).await;
    uploads(store).await;
    copies(store).await;
}

async fn reads(store: &dyn ObjectStore) {
    let (key, data) = (Path::parse("reads/a b%/c+d").unwrap(), bytes(100_000));
    let missing = store.get(&key).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "{missing:?}");
    let missing = store.head(&key).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "{missing:?}");
    let put = store.put(&key, data.clone().into()).await.unwrap();
    let got = store.get(&key).await.unwrap();
    assert_eq!(got.meta.e_tag, put.e_tag);
    assert_eq!(got.bytes().await.unwrap(), data);
    let head = store.head(&key).await.unwrap();
    assert_eq!((head.size, head.e_tag), (100_000, put.e_tag));
    assert_eq!(store.get_range(&key, 10..20).await.unwrap(), data[10..20]);
    let ranges = store.get_ranges(&key, &[0..1, 99_999..100_000]).await.unwrap();
    assert_eq!(ranges, [&data[..1], &data[99_999..]]);
    for (range, expected) in [
        (GetRange::Suffix(16), &data[99_984..]),
        (GetRange::Suffix(200_000), &data[..]),
        (GetRange::Offset(99_000), &data[99_000..]),
        (GetRange::Bounded(99_000..200_000), &data[99_000..]),
    ] {
        let options = GetOptions { range: Some(range.clone()), ..GetOptions::default() };
        let got = store.get_opts(&key, options).await.unwrap();
        assert_eq!(got.bytes().await.unwrap(), expected, "{range}");
    }
    let options = GetOptions { range: Some(GetRange::Offset(100_000)), ..GetOptions::default() };
    assert!(store.get_opts(&key, options).await.is_err(), "a range beyond the end");
    let directory = store.head(&Path::from("reads")).await.unwrap_err();
    assert!(matches!(directory, Error::NotFound { .. }), "{directory:?}");
    store.delete(&key).await.unwrap();
    assert!(matches!(store.get(&key).await.unwrap_err(), Error::NotFound { .. }));
    store.put(&key, PutPayload::new()).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap().len(), 0);
    let options = GetOptions { range: Some(GetRange::Suffix(1)), ..GetOptions::default() };
    assert!(store.get_opts(&key, options).await.is_err(), "the last byte of none");
}

async fn lists(store: &dyn ObjectStore) {
    let names = ["zarr.json", "c/0/0", "c/0/1", "c/1/0", "c 2/é&<x>", "d"];
    for name in names {
        store.put(&Path::parse(format!("lists/{name}")).unwrap(), "x".into()).await.unwrap();
    }
    let prefix = Path::from("lists");
    let keys = |metas: Vec<object_store::ObjectMeta>| {
        let mut keys: Vec<String> = metas.into_iter().map(|meta| meta.location.into()).collect();
        keys.sort();
        keys
    };
    let all = keys(store.list(Some(&prefix)).try_collect().await.unwrap());
    let mut expected: Vec<String> = names.map(|name| format!("lists/{name}")).into();
    expected.sort();
    assert_eq!(all, expected);
    let after = store.list_with_offset(Some(&prefix), &Path::from("lists/c/0/1"));
    let after = keys(after.try_collect().await.unwrap());
    assert_eq!(after, ["lists/c/1/0", "lists/d", "lists/zarr.json"]);
    let level = store.list_with_delimiter(Some(&prefix)).await.unwrap();
    assert_eq!(keys(level.objects), ["lists/d", "lists/zarr.json"]);
    let prefixes: Vec<&str> = level.common_prefixes.iter().map(AsRef::as_ref).collect();
    assert_eq!(prefixes, ["lists/c", "lists/c 2"]);
    let locations = store.list(Some(&prefix)).map_ok(|meta| meta.location).boxed();
    let deleted: Vec<Path> = store.delete_stream(locations).try_collect().await.unwrap();
    assert_eq!(deleted.len(), names.len());
    assert!(keys(store.list(Some(&prefix)).try_collect().await.unwrap()).is_empty());
    let level = store.list_with_delimiter(Some(&prefix)).await.unwrap();
    assert!(level.common_prefixes.is_empty(), "no prefix without an object");
}

async fn conditions(store: &dyn ObjectStore) {
    let key = Path::from("conditions/lock");
    let put = |body: &'static str, mode| {
        store.put_opts(&key, body.into(), PutOptions { mode, ..PutOptions::default() })
    };
    let first = put("one", PutMode::Create).await.unwrap();
    let again = put("two", PutMode::Create).await.unwrap_err();
    assert!(matches!(again, Error::AlreadyExists { .. }), "{again:?}");
    let first = UpdateVersion::from(first);
    put("two", PutMode::Update(first.clone())).await.unwrap();
    let old = put("three", PutMode::Update(first)).await.unwrap_err();
    assert!(matches!(old, Error::Precondition { .. }), "{old:?}");
    assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap(), "two");
    // Of many that create one key, one does.
    let race = futures::future::join_all((0..16).map(|_| {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let key = Path::from("conditions/race");
        async move { store.put_opts(&key, "x".into(), options).await.is_ok() }
    }));
    assert_eq!(race.await.into_iter().filter(|&won| won).count(), 1);
}

async fn uploads(store: &dyn ObjectStore) {
    let (key, data) = (Path::from("uploads/shard"), bytes(11 << 20));
    let mut upload = store.put_multipart(&key).await.unwrap();
    for at in (0..data.len()).step_by(5 << 20) {
        let part = data.slice(at..data.len().min(at + (5 << 20)));
        upload.put_part(part.into()).await.unwrap();
    }
    let missing = store.head(&key).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "an upload is no object: {missing:?}");
    upload.complete().await.unwrap();
    assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap(), data);
    let aborted = Path::from("uploads/aborted");
    let mut upload = store.put_multipart(&aborted).await.unwrap();
    upload.put_part("x".into()).await.unwrap();
    upload.abort().await.unwrap();
    assert!(store.head(&aborted).await.is_err());
}

async fn copies(store: &dyn ObjectStore) {
    let (from, to) = (Path::from("copies/a b"), Path::from("copies/c d"));
    store.put(&from, "bytes".into()).await.unwrap();
    store.copy(&from, &to).await.unwrap();
    assert_eq!(store.get(&to).await.unwrap().bytes().await.unwrap(), "bytes");
    let missing = store.copy(&Path::from("copies/none"), &to).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "{missing:?}");
    assert_eq!(store.get(&from).await.unwrap().bytes().await.unwrap(), "bytes");
}
