use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use tokio::time::timeout;

use super::{keys, local, on_each, parts};
use crate::{FileSize, Meter, OPEN_FILES_MAX, Role, Run, Store, StoreError};

/// Serialises the tests that count open files of the whole process with those that fill them.
static OPEN_FILES: tokio::sync::RwLock<()> = tokio::sync::RwLock::const_new(());

fn run(offset: u64, start: usize, length: usize) -> Run {
    Run { offset, start, length }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|byte| u8::try_from(byte % 251).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disjoint_runs_may_be_written_at_the_same_time() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    let store = store.with_role(Role::Target).with_meter(&Meter::new());
    let whole = pattern(100_000);
    let part = Arc::new(store.part("c/a.raw", 100_000).await.unwrap());
    // Every task has each seventh run of 100 bytes.
    let tasks = (0..7_usize).map(|task| {
        let (part, bytes) = (Arc::clone(&part), Bytes::from(whole.clone()));
        tokio::spawn(async move {
            let starts = (0..1000).skip(task).step_by(7).map(|number| number * 100);
            let runs: Vec<Run> = starts.map(|at| run(at as u64, at, 100)).collect();
            part.write_runs(&runs, bytes).await.unwrap();
        })
    });
    join_all(tasks).await.into_iter().for_each(|task| task.unwrap());
    assert_eq!(keys(&store, "").await, ["c/a.raw.part"]);
    part.sync().await.unwrap();
    Arc::try_unwrap(part).unwrap().finish().await.unwrap();
    assert_eq!(keys(&store, "").await, ["c/a.raw"]);
    assert_eq!(store.get("c/a.raw", 100_000).await.unwrap().unwrap(), whole);
    let traffic = store.meter().traffic().target;
    assert_eq!((traffic.opens, traffic.runs, traffic.put_requests), (1, 1000, 1000));
    assert_eq!((traffic.written_bytes, traffic.objects), (100_000, 1));
}

#[tokio::test]
async fn what_a_killed_run_wrote_is_used_again() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    let first = store.part("a.raw", 10).await.unwrap();
    first.write_at(4, Bytes::from("4567")).await.unwrap();
    drop(first);
    // A power cut may have taken the end of it.
    let path = store.local_root().unwrap().join("a.raw.part");
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(9).unwrap();
    let second = store.part("a.raw", 10).await.unwrap();
    assert_eq!(second.size_bytes(), 10);
    second.write_at(0, Bytes::from("0123")).await.unwrap();
    second.write_at(8, Bytes::from("89")).await.unwrap();
    second.finish().await.unwrap();
    assert_eq!(store.get("a.raw", 10).await.unwrap().unwrap(), "0123456789");
    // A run that was killed while it finished finds nothing left to do.
    assert!(!store.finish_part("a.raw", 10, b"").await.unwrap());
    let error = store.finish_part("a.raw", 11, b"").await.unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("a.raw.part is missing"), "{error}");
    assert!(store.finish_part("b.raw", 0, b"").await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn ranges_and_a_header_make_a_file() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    let store = store.with_role(Role::Target).with_meter(&Meter::new());
    store.put_range("a.npy", 10, 7, Bytes::from("789")).await.unwrap();
    store.put_range("a.npy", 10, 3, Bytes::from("3456")).await.unwrap();
    assert!(store.finish_part("a.npy", 10, b"hdr").await.unwrap());
    assert_eq!(store.get("a.npy", 10).await.unwrap().unwrap(), "hdr3456789");
    let traffic = store.meter().traffic();
    assert_eq!((traffic.target.put_requests, traffic.target.written_bytes), (2, 7));
    assert_eq!((traffic.target.objects, traffic.target.opens, traffic.target.runs), (1, 0, 0));
    assert_eq!(traffic.control.put, 1);
    let error = store.put_range("b", 10, 8, Bytes::from("890")).await.unwrap_err();
    assert!(matches!(error, StoreError::Short { wanted_bytes: 11, got_bytes: 10, .. }), "{error}");
    assert!(store.put_range("b", 10, u64::MAX, Bytes::from("8")).await.is_err());
}

#[tokio::test]
async fn a_part_of_another_length_is_left_alone() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    store.put("a.raw.part", parts("0123456789")).await.unwrap();
    let error = store.part("a.raw", 9).await.unwrap_err();
    let wrong = matches!(error, StoreError::WrongSize { size_bytes: 10, expected_bytes: 9, .. });
    assert!(wrong && error.is_wrong_size(), "{error}");
    assert!(error.to_string().starts_with("a.raw.part in "), "{error}");
    assert_eq!(store.get("a.raw.part", 10).await.unwrap().unwrap(), "0123456789");
    // No file is this large.
    assert!(store.part("huge", u64::MAX).await.is_err());
}

#[tokio::test]
async fn links_and_directories_in_place_of_a_part_are_refused() {
    let _shared = OPEN_FILES.read().await;
    let (directory, store) = local();
    let root = store.local_root().unwrap().to_owned();
    fs::create_dir_all(root.join("c.part")).unwrap();
    let outside = directory.path().join("precious");
    fs::write(&outside, "x").unwrap();
    symlink(&outside, root.join("a.part")).unwrap();
    symlink("nowhere", root.join("b.part")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(root.join("d.part")).status().unwrap();
    assert!(fifo.success());
    for (key, what) in
        [("a", "a symbolic link"), ("b", "a symbolic link"), ("c", "a directory"), ("d", "a pipe")]
    {
        let opened = timeout(Duration::from_secs(10), store.part(key, 1)).await.unwrap();
        let error = opened.unwrap_err();
        assert!(matches!(error, StoreError::NotAnObject { .. }), "{key}: {error}");
        assert!(error.to_string().contains(what), "{key}: {error}");
        assert!(store.finish_part(key, 1, b"").await.is_err(), "{key}");
    }
    assert_eq!(fs::read(&outside).unwrap(), b"x");
    // What is in the way of the name is not removed.
    fs::create_dir_all(root.join("e/f")).unwrap();
    let part = store.part("e", 1).await.unwrap();
    part.write_at(0, Bytes::from("x")).await.unwrap();
    assert!(part.finish().await.is_err());
    assert!(root.join("e.part").is_file() && root.join("e/f").is_dir());
}

#[tokio::test]
async fn runs_are_read_into_their_places() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    let store = store.with_role(Role::Source).with_meter(&Meter::new());
    store.put("a", vec![pattern(100).into()]).await.unwrap();
    let file = store.open_file("a", FileSize::Exactly(100)).await.unwrap();
    let mut buffer = vec![255; 10];
    let capacity = buffer.capacity();
    file.read_runs(&[run(90, 0, 3), run(93, 7, 2), run(5, 3, 4), run(0, 0, 0)], &mut buffer)
        .await
        .unwrap();
    assert_eq!(buffer, [90, 91, 92, 5, 6, 7, 8, 93, 94, 255]);
    assert_eq!(buffer.capacity(), capacity);
    file.read_at(9, 2, &mut buffer).await.unwrap();
    assert_eq!(buffer, [9, 10]);
    let traffic = store.meter().traffic().source;
    // 90 and 5 are not where the file was; 93 and 9 go on with them.
    assert_eq!((traffic.opens, traffic.runs, traffic.seeks), (1, 2, 2));
    assert_eq!((traffic.get_requests, traffic.read_bytes), (2, 11));

    let error = file.read_at(98, 3, &mut buffer).await.unwrap_err();
    assert!(matches!(error, StoreError::Short { wanted_bytes: 101, got_bytes: 100, .. }));
    assert!(file.read_at(u64::MAX, 2, &mut buffer).await.is_err());
    assert!(file.read_runs(&[run(0, 9, 2)], &mut vec![0; 10]).await.is_err());
    assert!(file.read_runs(&[run(0, usize::MAX, 2)], &mut vec![0; 10]).await.is_err());
    // Cut behind our back.
    let path = store.local_root().unwrap().join("a");
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(50).unwrap();
    let error = file.read_at(49, 2, &mut buffer).await.unwrap_err();
    assert!(error.to_string().contains("became shorter"), "{error}");
}

#[tokio::test]
async fn batches_are_counted_in_the_order_they_are_made() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    let store = store.with_role(Role::Source).with_meter(&Meter::new());
    store.put("a", vec![pattern(100).into()]).await.unwrap();
    let file = store.open_file("a", FileSize::Exactly(100)).await.unwrap();
    // One run in three calls from the first byte on, then another.
    let batches: Vec<_> = [run(0, 0, 20), run(20, 0, 20), run(40, 0, 10), run(60, 0, 20)]
        .map(|run| file.batch(vec![run]).unwrap())
        .into();
    let traffic = store.meter().traffic().source;
    assert_eq!((traffic.runs, traffic.seeks, traffic.get_requests), (2, 1, 2));
    for (batch, first) in batches.into_iter().zip([0, 20, 40, 60]).rev() {
        let (runs, buffer) = batch.read(vec![0; 20]).await.unwrap();
        assert_eq!((runs.len(), buffer[0]), (1, first));
    }
    let part = store.part("b", 10).await.unwrap();
    let second = part.batch(vec![run(5, 0, 5)]).unwrap();
    part.batch(vec![run(0, 0, 5)]).unwrap().write(Bytes::from("01234")).await.unwrap();
    second.write(Bytes::from("56789")).await.unwrap();
    part.finish().await.unwrap();
    assert_eq!(store.get("b", 10).await.unwrap().unwrap(), "0123456789");
    let now = store.meter().traffic().source;
    assert_eq!((now.runs - traffic.runs, now.seeks - traffic.seeks), (2, 2));
}

#[tokio::test]
async fn short_runs_near_each_other_are_read_as_if_one_by_one() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    let store = store.with_role(Role::Source).with_meter(&Meter::new());
    let whole = pattern(400_000);
    store.put("a", vec![whole.clone().into()]).await.unwrap();
    let file = store.open_file("a", FileSize::Exactly(400_000)).await.unwrap();
    let (mut runs, mut offset, mut start) = (Vec::new(), 1_u64, 3);
    // Short and long ones, with small and large gaps and none; a step back; more than one span.
    for number in 0..400_usize {
        let length = [8, 1, 512, 2048, 2049, 17][number % 6];
        runs.push(run(offset, start, length));
        start += length + 1;
        offset += length as u64 + [3, 0, 2048, 40, 2049][number % 5];
        if number == 200 {
            offset = 100;
        }
    }
    assert!(offset < 400_000 && runs[199].end().unwrap() > 200_000);
    runs.push(run(399_999, 0, 1));
    let mut buffer = vec![0xEE; start];
    file.read_runs(&runs, &mut buffer).await.unwrap();
    let mut expected = vec![0xEE; start];
    for run in &runs {
        let from = usize::try_from(run.offset).unwrap();
        expected[run.start..run.start + run.length]
            .copy_from_slice(&whole[from..from + run.length]);
    }
    assert!(buffer == expected);
    let traffic = store.meter().traffic().source;
    let bytes: usize = runs.iter().map(|run| run.length).sum();
    assert_eq!(traffic.read_bytes, bytes as u64);
}

#[tokio::test]
async fn a_file_has_to_be_there_and_of_its_size() {
    let _shared = OPEN_FILES.read().await;
    let (_directory, store) = local();
    store.put("a", parts("0123456789")).await.unwrap();
    for size in [FileSize::Exactly(10), FileSize::AtLeast(10), FileSize::AtLeast(9)] {
        let file = store.open_file("a", size).await.unwrap();
        assert_eq!(file.bytes(), size.bytes());
    }
    for size in [FileSize::Exactly(9), FileSize::Exactly(11), FileSize::AtLeast(11)] {
        let error = store.open_file("a", size).await.unwrap_err();
        assert!(
            error.is_wrong_size() && error.to_string().contains("has 10 bytes, but"),
            "{error}"
        );
    }
    let missing = store.open_file("b", FileSize::AtLeast(0)).await.unwrap_err();
    assert!(missing.is_not_found() && missing.to_string().starts_with("b is missing in"));
    fs::create_dir(store.local_root().unwrap().join("c")).unwrap();
    let error = store.open_file("c", FileSize::AtLeast(0)).await.unwrap_err();
    assert!(matches!(error, StoreError::NotAnObject { .. }), "{error}");

    let mut buffer = Vec::new();
    store.get_exact_into("a", 10, 0..10, 0, &mut buffer).await.unwrap();
    assert_eq!(buffer, b"0123456789");
    assert!(store.get_exact_into("a", 9, 0..9, 0, &mut buffer).await.unwrap_err().is_wrong_size());
    assert!(store.get_exact_into("b", 9, 0..9, 0, &mut buffer).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn only_directories_have_files() {
    let store = Store::open("memory:").unwrap();
    store.put("a", parts("x")).await.unwrap();
    let errors = [
        store.open_file("a", FileSize::AtLeast(0)).await.map(drop).unwrap_err(),
        store.part("a", 1).await.map(drop).unwrap_err(),
        store.put_range("a", 1, 0, Bytes::from("x")).await.unwrap_err(),
        store.finish_part("a", 1, b"").await.map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::Unsupported { .. }), "{error}");
        assert!(error.to_string().ends_with("only a local directory can"), "{error}");
    }
    on_each(async |store| {
        for key in ["../a", "a/../../b", "", "a#1"] {
            assert!(store.part(key, 1).await.is_err(), "{key}");
            assert!(store.open_file(key, FileSize::AtLeast(0)).await.is_err(), "{key}");
        }
    })
    .await;
}

#[tokio::test]
async fn open_files_are_limited_and_given_back() {
    let _alone = OPEN_FILES.write().await;
    let (_directory, store) = local();
    store.put("a", parts("x")).await.unwrap();
    let mut open = Vec::new();
    for _ in 0..OPEN_FILES_MAX {
        open.push(store.open_file("a", FileSize::Exactly(1)).await.unwrap());
    }
    let error = store.open_file("a", FileSize::Exactly(1)).await.unwrap_err();
    assert!(error.to_string().contains("512 files are open already"), "{error}");
    assert!(store.part("b", 1).await.is_err());
    open.pop();
    store.open_file("a", FileSize::Exactly(1)).await.unwrap();
    store.part("b", 1).await.unwrap();
}
