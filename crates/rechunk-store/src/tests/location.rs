use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::{keys, parts};
use crate::{Store, StoreError, StoreOptions, Stores};

#[tokio::test]
async fn odd_directories_can_be_opened() {
    let directory = TempDir::new().unwrap();
    for name in ["a b", "100%", "%41", "x#1", "ü日本", "a:b", "[?]", "-x"] {
        let root = directory.path().join(name).join("data.zarr");
        let store = Store::open(root.to_str().unwrap()).unwrap();
        store.put("c/0", parts("x")).await.unwrap();
        assert!(root.join("c/0").is_file(), "{name}");
        // Now that the directory is there it is found another way.
        let again = Store::open(root.to_str().unwrap()).unwrap();
        assert_eq!(again.get("c/0", 1).await.unwrap().unwrap(), "x", "{name}");
        assert_eq!(keys(&again, "").await, ["c/0"], "{name}");
    }
}

#[tokio::test]
async fn paths_mean_what_they_mean_to_the_shell() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir_all(path("real/deep")).unwrap();
    fs::create_dir_all(path("other")).unwrap();
    symlink(path("real/deep"), path("other/link")).unwrap();
    let store = Store::open(&path("other/link/../x.zarr/")).unwrap();
    store.put("a", parts("x")).await.unwrap();
    assert!(directory.path().join("real/x.zarr/a").is_file());

    let reason = |name: &str| Store::open(&path(name)).unwrap_err().to_string();
    assert!(reason("none/../x").contains("has a .. behind a directory that does not exist"));
    symlink("nowhere", path("dangling")).unwrap();
    assert!(reason("dangling").contains("is a symbolic link to something that is missing"));
    fs::write(path("file"), "").unwrap();
    assert!(reason("file/x").contains("Not a directory"));
}

#[tokio::test]
async fn file_urls_are_paths() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().to_str().unwrap();
    for prefix in ["file://", "file://localhost"] {
        let store = Store::open(&format!("{prefix}{root}/a%20b.zarr")).unwrap();
        store.put("x", parts("x")).await.unwrap();
        assert!(directory.path().join("a b.zarr/x").is_file());
        store.delete_prefix("").await.unwrap();
        assert!(!directory.path().join("a b.zarr").exists());
    }
    for wrong in ["file://host/x", "file://x", "file:///a%2", "file:///a%zz", "file:///%ff"] {
        let error = Store::open(wrong).unwrap_err();
        assert!(matches!(error, StoreError::Location { .. }), "{wrong}: {error}");
    }
}

#[tokio::test]
async fn memory_is_shared_by_name_only() {
    let store = Store::open("memory://shared-by-name/a").unwrap();
    store.put("b", parts("x")).await.unwrap();
    let again = Store::open("memory://shared-by-name/").unwrap();
    assert_eq!(keys(&again, "").await, ["a/b"]);
    assert_eq!(
        (store.label(), again.label()),
        ("memory://shared-by-name/a", "memory://shared-by-name")
    );
    Store::open("memory:").unwrap().put("b", parts("x")).await.unwrap();
    assert!(Store::open("memory:").unwrap().is_empty().await.unwrap());
    assert!(Store::open("memory://").is_err());
}

#[test]
fn opening_a_remote_store_sends_nothing() {
    // None of these hosts exists.
    for location in ["s3://b/x", "gs://b/x", "http://h.invalid/x", "https://h.invalid/x"] {
        let mut options = StoreOptions::default();
        options.add("skip_signature=true").unwrap();
        let store = Stores::new(options).open(location).unwrap();
        assert_eq!(store.label(), location);
        assert!(!store.is_volatile() && store.local_root().is_none());
        assert_eq!(store.read_only().is_some(), location.starts_with("http"));
    }
}

#[test]
fn what_is_no_location_is_refused_clearly() {
    for location in ["ftp://b/x", "odd+1://x"] {
        let error = Store::open(location).unwrap_err();
        assert!(matches!(error, StoreError::UnsupportedScheme { .. }), "{location}");
        assert!(error.to_string().contains("is no kind of store"), "{error}");
    }
    assert!(matches!(Store::open(""), Err(StoreError::Location { .. })));
    assert!(Store::open("a\0b").is_err());
}

#[test]
fn a_child_is_named_by_its_path() {
    let store = Store::open("some/dir/").unwrap();
    assert_eq!(store.label(), "some/dir/");
    assert_eq!(store.child("a/0").unwrap().label(), "some/dir/a/0");
}
