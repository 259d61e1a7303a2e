use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use tokio::time::timeout;

use super::{keys, local, parts};
use crate::{AppendFile, Store, StoreError};

#[tokio::test]
async fn opening_and_reading_create_nothing() {
    let (directory, store) = local();
    assert_eq!(store.get("zarr.json", 9).await.unwrap(), None);
    assert!(store.is_empty().await.unwrap());
    assert!(!store.exists_anything().await.unwrap());
    store.sync().await.unwrap();
    store.delete_prefix("").await.unwrap();
    assert_eq!(store.remove_staging().await.unwrap(), 0);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    fs::create_dir_all(store.local_root().unwrap()).unwrap();
    assert!(store.exists_anything().await.unwrap() && store.is_empty().await.unwrap());
}

#[tokio::test]
async fn what_is_no_file_is_an_error_and_never_missing() {
    let (_directory, store) = local();
    let root = store.local_root().unwrap().to_owned();
    fs::create_dir_all(root.join("c/0")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("file", root.join("link")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(root.join("fifo")).status().unwrap();
    assert!(fifo.success());

    let get = |key: &'static str| {
        let store = store.clone();
        async move { timeout(Duration::from_secs(10), store.get(key, 9)).await.unwrap() }
    };
    for key in ["c/0", "c", "fifo", "dangling"] {
        let error = get(key).await.unwrap_err();
        assert!(matches!(error, StoreError::NotAnObject { .. }), "{key}: {error}");
        assert!(store.head(key).await.is_err(), "{key}");
        assert!(store.get_range(key, 0, 1).await.is_err(), "{key}");
    }
    let below_a_file = get("file/0").await.unwrap_err().to_string();
    assert!(below_a_file.ends_with("; a part of the path is a file"), "{below_a_file}");
    assert_eq!(get("link").await.unwrap().unwrap(), "x");
    assert_eq!(get("c/1").await.unwrap(), None);
    assert_eq!(keys(&store, "").await, ["file", "link"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_comes_while_it_is_read_is_missing_or_there() {
    let (_directory, store) = local();
    let writer = store.clone();
    let writes = tokio::spawn(async move {
        for _ in 0..3000 {
            writer.put("a/b", vec!["x".into()]).await.unwrap();
            writer.delete("a/b").await.unwrap();
        }
    });
    while !writes.is_finished() {
        let found = store.get("a/b", 9).await.unwrap();
        assert!(found.is_none_or(|bytes| bytes == "x"));
    }
    writes.await.unwrap();
}

#[tokio::test]
async fn leftovers_of_killed_writes_are_hidden_and_removed() {
    let (_directory, store) = local();
    let root = store.local_root().unwrap().to_owned();
    store.put("c/0", parts("good")).await.unwrap();
    for name in ["c/0#1", "c/1#27", "zarr.json#1", "c/0#x", "c/my notes#2", "c/#3"] {
        fs::write(root.join(name), "half").unwrap();
    }
    symlink("0", root.join("c/link#1")).unwrap();
    // A leftover does not get into the way of writing the same key again.
    store.put("c/1", parts("good")).await.unwrap();
    assert_eq!(store.remove_staging().await.unwrap(), 3);
    let mut left: Vec<_> = fs::read_dir(root.join("c"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["#3", "0", "0#x", "1", "link#1", "my notes#2"]);
}

#[tokio::test]
async fn deleting_does_not_follow_links_out() {
    let (directory, store) = local();
    let outside = directory.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("precious"), "x").unwrap();
    store.put("c/0", parts("x")).await.unwrap();
    symlink(&outside, store.local_root().unwrap().join("c/link")).unwrap();
    symlink(&outside, store.local_root().unwrap().join("whole")).unwrap();
    store.delete_prefix("c").await.unwrap();
    store.delete_prefix("whole").await.unwrap();
    assert!(outside.join("precious").is_file());
    assert!(!store.local_root().unwrap().join("c").exists());
    let root = Store::open("/").unwrap();
    assert!(root.delete_prefix("").await.is_err());
}

#[tokio::test]
async fn a_directory_is_put_in_place_by_renaming() {
    let (directory, staging) = local();
    let target = directory.path().join("elsewhere/final.zarr");
    let target = Store::open(target.to_str().unwrap()).unwrap();
    staging.put("c/0", parts("x")).await.unwrap();
    Store::rename(&staging, &target).await.unwrap();
    assert_eq!(keys(&target, "").await, ["c/0"]);
    assert!(!staging.local_root().unwrap().exists());

    staging.put("c/1", parts("x")).await.unwrap();
    let occupied = Store::rename(&staging, &target).await.unwrap_err().to_string();
    assert!(occupied.contains("move what is there out of the way"), "{occupied}");
    assert_eq!(keys(&target, "").await, ["c/0"]);
    let memory = Store::open("memory:").unwrap();
    let error = Store::rename(&memory, &target).await.unwrap_err();
    assert!(matches!(error, StoreError::Unsupported { .. }));
}

#[tokio::test]
async fn a_journal_grows_and_is_found_again() {
    let (_directory, store) = local();
    let mut journal = AppendFile::open(&store, ".rechunk/journal").await.unwrap();
    assert_eq!(journal.read_all(0).await.unwrap(), "");
    journal.append(b"one\n").await.unwrap();
    journal.sync_data().await.unwrap();
    let mut again = AppendFile::open(&store, ".rechunk/journal").await.unwrap();
    assert_eq!(again.read_all(9).await.unwrap(), "one\n");
    again.append(b"two\n").await.unwrap();
    assert_eq!(journal.read_all(8).await.unwrap(), "one\ntwo\n");
    let error = journal.read_all(7).await.unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { size_bytes: 8, .. }));

    let memory = Store::open("memory:").unwrap();
    assert!(AppendFile::open(&memory, "journal").await.is_err());
    assert!(AppendFile::open(&store, "../journal").await.is_err());
    assert!(AppendFile::open(&store, ".rechunk").await.is_err());
}

#[tokio::test]
async fn listings_longer_than_a_batch_are_complete() {
    let (_directory, store) = local();
    let root = store.local_root().unwrap().to_owned();
    fs::create_dir_all(root.join("c")).unwrap();
    for file in 0..2500 {
        fs::write(root.join(format!("c/{file}")), "").unwrap();
    }
    assert_eq!(keys(&store, "c").await.len(), 2500);
}

#[tokio::test]
async fn an_object_in_parts_whose_file_is_swept_is_not_made_of_the_rest() {
    let (_directory, store) = local();
    let store = store.without_unnamed_files();
    let object = store.begin("c/0", 0).unwrap();
    object.write_at(0, "0123".into()).await.unwrap();
    assert_eq!(store.remove_staging().await.unwrap(), 1);
    assert!(object.write_at(4, "4567".into()).await.is_err());
    assert!(object.finish(8).await.is_err());
    // Nor of less than it is to have.
    let object = store.begin("c/0", 0).unwrap();
    object.write_at(4, "4567".into()).await.unwrap();
    let error = object.finish(9).await.unwrap_err().to_string();
    assert!(error.contains("8 of 9 bytes"), "{error}");
    assert_eq!(store.get("c/0", 9).await.unwrap(), None);
}

#[tokio::test]
async fn only_an_empty_directory_is_removed_as_empty() {
    let (_directory, store) = local();
    store.remove_empty().await.unwrap();
    store.put("lock", parts("x")).await.unwrap();
    store.remove_empty().await.unwrap();
    assert!(store.exists("lock").await.unwrap());
    store.delete("lock").await.unwrap();
    store.remove_empty().await.unwrap();
    assert!(!store.exists_anything().await.unwrap());
}

/// Of what is wanted, down to where keys end: others' directories are not looked into.
#[tokio::test]
async fn what_was_written_since_is_an_error_whoever_has_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().display().to_string()).unwrap();
    fs::create_dir_all(folder.path().join("c/other")).unwrap();
    symlink("..", folder.path().join("c/other/loop")).unwrap();
    fs::write(folder.path().join("c/1"), b"ab").unwrap();
    fs::write(folder.path().join("notes"), b"ab").unwrap();
    let (now, hour) = (SystemTime::now(), Duration::from_hours(1));
    let is_chunk = |key: &str| key == "c/1";
    let before = store.watched(now + hour, now + hour);
    before.check_unchanged_objects(2, is_chunk).await.unwrap();
    assert_eq!(before.late_objects(), 0);
    let between = store.watched(now - hour, now + hour);
    between.check_unchanged_objects(2, is_chunk).await.unwrap();
    assert_eq!(between.late_objects(), 1);
    let since = store.watched(now - hour, now - hour);
    let error = since.check_unchanged_objects(2, is_chunk).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { key, .. } if key == "c/1"));
    since.check_unchanged_objects(2, |key| key == "c/2").await.unwrap();
}
