use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::future::join_all;
use object_store::limit::LimitStore;

use super::{keys, list, local, on_each, parts};
use crate::{
    ControlTraffic, End, Got, Meter, Narrow, Role, RoleTraffic, Store, StoreError, StoreOptions,
    Stores, Traffic,
};

#[tokio::test]
async fn an_object_comes_back_as_it_was_put() {
    on_each(async |store| {
        assert_eq!(store.get("c/0/0", 10).await.unwrap(), None);
        assert_eq!(store.head("c/0/0").await.unwrap(), None);
        store.put("c/0/0", parts("hello")).await.unwrap();
        store.put("c/0/1", Vec::new()).await.unwrap();
        assert_eq!(store.get("c/0/0", 5).await.unwrap().unwrap(), "hello");
        assert_eq!(store.get("c/0/1", 0).await.unwrap().unwrap(), "");
        assert_eq!(store.head("c/0/0").await.unwrap(), Some(5));
        store.put("c/0/0", parts("other")).await.unwrap();
        assert_eq!(store.get("c/0/0", 5).await.unwrap().unwrap(), "other");
        store.sync().await.unwrap();
        assert_eq!(store.remove_staging().await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn an_object_above_the_limit_is_refused_unread() {
    on_each(async |store| {
        let store = store.with_role(Role::Source);
        store.put("c/0", parts("hello")).await.unwrap();
        let error = store.get("c/0", 4).await.unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { size_bytes: 5, limit_bytes: 4, .. }));
        assert_eq!(store.meter().traffic().source.read_bytes, 0);
    })
    .await;
}

#[tokio::test]
async fn a_range_of_a_file_can_be_read_bit_by_bit() {
    let (_folder, store) = local();
    let store = store.with_role(Role::Source).with_meter(&Meter::new());
    store.put("x", parts("0123456789")).await.unwrap();
    let mut range = store.open_range("x", 2, 7).await.unwrap();
    let mut buffer = b"before".to_vec();
    for expected in ["234", "", "5678"] {
        range.read_into(expected.len(), 9, &mut buffer).unwrap();
        assert_eq!(buffer, expected.as_bytes());
    }
    let traffic = store.meter().traffic().source;
    assert_eq!((traffic.get_requests, traffic.read_bytes), (1, 7));
    // One byte of the file is left.
    let error = range.read_into(2, 2, &mut buffer).unwrap_err();
    assert!(matches!(error, StoreError::Short { wanted_bytes: 2, got_bytes: 1, .. }), "{error}");
    for (key, start) in [("y", 0), ("x", 4), ("x", 10), ("x", u64::MAX)] {
        let error = store.open_range(key, start, 7).await.unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
        assert_eq!(error.is_not_found(), key == "y", "{error}");
    }
}

#[tokio::test]
async fn a_range_may_be_of_an_object_of_its_size_alone() {
    on_each(async |store| {
        let store = store.with_role(Role::Source).with_meter(&Meter::new());
        store.put("x", parts("0123456789")).await.unwrap();
        let mut buffer = b"before".to_vec();
        for (range, expected) in [(3..7, "3456"), (0..10, "0123456789"), (9..10, "9")] {
            assert!(store.get_range_of_into("x", 10, range, 10, &mut buffer).await.unwrap());
            assert_eq!(buffer, expected.as_bytes());
        }
        assert_eq!(store.meter().traffic().source.read_bytes, 15);
        assert!(!store.get_range_of_into("y", 10, 3..7, 4, &mut buffer).await.unwrap());
        for (size_bytes, range) in [(9, 3..7), (11, 3..7), (20, 3..15), (20, 12..15)] {
            let other = store.get_range_of_into("x", size_bytes, range, 9, &mut buffer).await;
            let other = other.unwrap_err();
            assert!(other.is_wrong_size() && other.to_string().contains("has 10 bytes"), "{other}");
        }
        let traffic = store.meter().traffic().source;
        assert_eq!((traffic.get_requests, traffic.get_missing, traffic.read_bytes), (7, 1, 15));
    })
    .await;
}

#[tokio::test]
async fn a_range_is_all_there_or_an_error() {
    on_each(async |store| {
        store.put("x", parts("0123456789")).await.unwrap();
        assert_eq!(store.get_range("x", 3, 4).await.unwrap(), "3456");
        assert_eq!(store.get_range("x", 9, 1).await.unwrap(), "9");
        assert_eq!(store.get_range("x", 3, 0).await.unwrap(), "");
        let short = store.get_range("x", 8, 4).await.unwrap_err();
        assert!(matches!(short, StoreError::Short { wanted_bytes: 4, got_bytes: 2, .. }));
        assert!(store.get_range("x", 10, 1).await.unwrap_err().is_wrong_size());
        assert!(store.get_range("x", u64::MAX, 2).await.is_err());
        assert!(store.get_range("y", 0, 1).await.unwrap_err().is_not_found());
    })
    .await;
}

/// One request, of the bytes that were read, from a directory; elsewhere all of it.
#[tokio::test]
async fn a_part_is_what_the_first_bytes_say() {
    on_each(async |store| {
        let store = store.with_role(Role::Source);
        store.put("x", parts("0123456789")).await.unwrap();
        let before = store.meter().traffic().source;
        let mut buffer = b"before".to_vec();
        let narrow = Narrow::new(3, |head, size_bytes| {
            assert_eq!((&head[..], size_bytes), (&b"012"[..], 10));
            head[0] = b'+';
            Some(5..8)
        });
        let got = store.get_part_into("x", 10, &narrow, &mut buffer).await.unwrap();
        let read = store.meter().traffic().source;
        assert_eq!(read.get_requests - before.get_requests, 1);
        let read_bytes = read.read_bytes - before.read_bytes;
        if store.local_root().is_some() {
            assert_eq!((got, &buffer[..], read_bytes), (Got::Part, &b"+12567"[..], 6));
        } else {
            assert_eq!((got, &buffer[..], read_bytes), (Got::Whole, &b"0123456789"[..], 10));
        }
        let all = Narrow::new(3, |_, _| None);
        let got = store.get_part_into("x", 10, &all, &mut buffer).await.unwrap();
        assert_eq!((got, &buffer[..]), (Got::Whole, &b"0123456789"[..]));
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
        for outside in [2..5, 8..11, 7..5, 3..10] {
            let narrow = Narrow::new(3, move |head, _| {
                head.fill(b'-');
                Some(outside.clone())
            });
            let got = store.get_part_into("x", 10, &narrow, &mut buffer).await.unwrap();
            assert_eq!((got, &buffer[..]), (Got::Whole, &b"0123456789"[..]), "that cannot be");
        }
        let small = Narrow::new(10, |_, _| panic!("there is nothing behind it"));
        let got = store.get_part_into("x", 10, &small, &mut buffer).await.unwrap();
        assert_eq!((got, &buffer[..]), (Got::Whole, &b"0123456789"[..]));
        let got = store.get_part_into("y", 10, &all, &mut buffer).await.unwrap();
        assert_eq!(got, Got::Missing);
        let large = store.get_part_into("x", 9, &all, &mut buffer).await.unwrap_err();
        assert!(matches!(large, StoreError::TooLarge { size_bytes: 10, limit_bytes: 9, .. }));
    })
    .await;
}

/// Where bytes are counted out, it matters most.
#[tokio::test]
async fn parts_are_read_at_a_limited_rate_too() {
    let (directory, _) = local();
    let options = StoreOptions::default().with_bytes_per_second(1 << 20);
    let store = Stores::new(options).open(directory.path().to_str().unwrap()).unwrap();
    assert!(!store.works_in_place());
    store.put("x", parts("0123456789")).await.unwrap();
    let (narrow, mut buffer) = (Narrow::new(3, |_, _| Some(5..8)), Vec::new());
    let got = store.get_part_into("x", 10, &narrow, &mut buffer).await.unwrap();
    assert_eq!((got, &buffer[..]), (Got::Part, &b"012567"[..]));
}

#[tokio::test]
async fn deleting_and_listing_keep_to_the_prefix() {
    on_each(async |store| {
        for key in ["c/0", "c/1/0", "cat", "zarr.json"] {
            store.put(key, parts(key)).await.unwrap();
        }
        let outside = store.child("c/1").unwrap();
        assert_eq!(keys(&outside, "").await, ["0"]);
        assert_eq!(keys(&store, "c").await, ["c/0", "c/1/0"]);
        assert_eq!(list(&store, "").await[2], ("cat".to_owned(), 3));
        store.delete("zarr.json").await.unwrap();
        store.delete("zarr.json").await.unwrap();
        store.delete_prefix("nothing/there").await.unwrap();
        store.delete_prefix("cat").await.unwrap();
        store.delete_prefix("c").await.unwrap();
        assert_eq!(keys(&store, "").await, ["cat"]);
        assert!(!store.is_empty().await.unwrap());
        store.delete_prefix("").await.unwrap();
        assert!(store.is_empty().await.unwrap());
        assert!(!store.exists_anything().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn no_key_leads_out_of_the_store() {
    on_each(async |store| {
        for key in ["", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "a/", "./a", "a\n", "0#1"]
        {
            let error = store.get(key, 9).await.unwrap_err();
            assert!(matches!(error, StoreError::InvalidKey { .. }), "{key:?}: {error}");
            assert!(store.put(key, Vec::new()).await.is_err(), "{key:?}");
            assert!(store.delete(key).await.is_err(), "{key:?}");
        }
        for prefix in ["..", "/", "a/.."] {
            assert!(store.delete_prefix(prefix).await.is_err(), "{prefix:?}");
            assert!(store.list(prefix).try_next().await.is_err(), "{prefix:?}");
            assert!(store.child(prefix).is_err(), "{prefix:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn odd_but_harmless_keys_work() {
    on_each(async |store| {
        let odd = ["%2e%2e", "a b", "a%20b", "ü/日本", "a\\b", "[x]{y}~`|", "x#y", "..."];
        for key in odd {
            store.put(key, parts(key)).await.unwrap();
        }
        for key in odd {
            assert_eq!(store.get(key, 99).await.unwrap().unwrap(), key);
        }
        let mut sorted = odd.to_vec();
        sorted.sort_unstable();
        assert_eq!(keys(&store, "").await, sorted);
    })
    .await;
}

#[tokio::test]
async fn traffic_is_counted_by_role() {
    on_each(async |store| {
        let meter = Meter::new();
        let store = store.with_meter(&meter);
        let (source, target) = (store.with_role(Role::Source), store.with_role(Role::Target));
        target.put("c/0", parts("hello")).await.unwrap();
        source.get("c/0", 9).await.unwrap();
        source.get("c/1", 9).await.unwrap();
        source.child("c").unwrap().get_range("0", 1, 2).await.unwrap();
        store.put("zarr.json", parts("{}")).await.unwrap();
        store.get("zarr.json", 9).await.unwrap();
        store.get(".zarray", 9).await.unwrap();
        source.exists("c/0").await.unwrap();
        list(&source, "").await;
        target.delete("c/0").await.unwrap();
        meter.add_decoded_read(Role::Source, 40);
        meter.add_decoded_written(Role::Target, 50);
        meter.add_puts_skipped(Role::Target, 1);

        let traffic = meter.traffic();
        let expected = Traffic {
            source: RoleTraffic {
                get_requests: 2,
                get_missing: 1,
                read_bytes: 7,
                decoded_read_bytes: 40,
                ..RoleTraffic::default()
            },
            intermediate: RoleTraffic::default(),
            target: RoleTraffic {
                put_requests: 1,
                put_skipped: 1,
                written_bytes: 5,
                objects: 1,
                decoded_written_bytes: 50,
                ..RoleTraffic::default()
            },
            control: ControlTraffic { get: 2, put: 1, head: 1, list: 1, delete: 1 },
        };
        assert_eq!(traffic, expected);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_may_use_one_store() {
    on_each(async |store| {
        let store = store.with_meter(&Meter::new()).with_role(Role::Target);
        let tasks = (0..200_u32).map(|task| {
            let store = store.clone();
            tokio::spawn(async move {
                // All write one key too: whole objects, no writer sees another's staging.
                store.put("same", parts(&"x".repeat(1000))).await.unwrap();
                store.put(&format!("c/{task}"), parts(&task.to_string())).await.unwrap();
                store.get(&format!("c/{task}"), 9).await.unwrap().unwrap()
            })
        });
        for (task, result) in join_all(tasks).await.into_iter().enumerate() {
            assert_eq!(result.unwrap(), task.to_string());
        }
        assert_eq!(store.get("same", 1000).await.unwrap().unwrap().len(), 1000);
        assert_eq!(keys(&store, "").await.len(), 201);
        assert_eq!(store.meter().traffic().target.put_requests, 400);
    })
    .await;
}

#[tokio::test]
async fn a_wrapped_store_is_still_a_directory() {
    let (_directory, store) = local();
    let store = store.wrapped(|inner| Arc::new(LimitStore::new(inner, 1)));
    store.put("c/0", parts("hello")).await.unwrap();
    assert_eq!(store.get("c/0", 9).await.unwrap().unwrap(), "hello");
    assert!(store.local_root().unwrap().join("c/0").is_file());
    let (narrow, mut buffer) = (Narrow::new(1, |_, _| Some(2..3)), Vec::new());
    let got = store.get_part_into("c/0", 9, &narrow, &mut buffer).await.unwrap();
    assert_eq!((got, &buffer[..]), (Got::Part, &b"hl"[..]));
}

#[test]
fn causes_are_found_however_deep() {
    let wrapped = |kind: io::ErrorKind| {
        let deep = io::Error::other(io::Error::from(kind));
        let error = object_store::Error::Generic { store: "test", source: Box::new(deep) };
        StoreError::from_object_store("data.zarr", "c/0", "write", error)
    };
    let full = wrapped(io::ErrorKind::StorageFull);
    assert!(full.is_no_space() && !full.is_retryable() && !full.is_permission_denied());
    let text = full.to_string();
    assert!(
        text.starts_with("cannot write c/0 in data.zarr: no storage space; make room"),
        "{text}"
    );
    assert!(wrapped(io::ErrorKind::QuotaExceeded).is_no_space());
    assert!(wrapped(io::ErrorKind::ReadOnlyFilesystem).is_permission_denied());
    assert!(wrapped(io::ErrorKind::ConnectionReset).is_retryable());
    let missing = wrapped(io::ErrorKind::NotFound);
    assert!(missing.is_not_found() && !missing.is_no_space());
}

#[tokio::test]
async fn an_end_comes_with_the_size() {
    on_each(async |store| {
        assert_eq!(store.get_end("c/0", End::Last, 3).await.unwrap(), None);
        store.put("c/0", parts("0123456789")).await.unwrap();
        let end = async |end, length| store.get_end("c/0", end, length).await;
        assert_eq!(end(End::First, 3).await.unwrap(), Some((Bytes::from("012"), 10)));
        assert_eq!(end(End::Last, 3).await.unwrap(), Some((Bytes::from("789"), 10)));
        for which in [End::First, End::Last] {
            assert_eq!(end(which, 10).await.unwrap(), Some((Bytes::from("0123456789"), 10)));
            assert_eq!(end(which, 11).await.unwrap(), Some((Bytes::from("0123456789"), 10)));
        }
        store.put("c/0", Vec::new()).await.unwrap();
        for which in [End::First, End::Last] {
            let end = store.get_end("c/0", which, 3).await;
            assert_eq!(end.unwrap(), Some((Bytes::new(), 0)));
        }
    })
    .await;
}

#[tokio::test]
async fn an_object_in_parts_is_there_when_it_is_whole() {
    on_each(async |store| {
        let store = store.with_role(Role::Target);
        store.put("c/0/1", parts("something that was there before")).await.unwrap();
        let before = store.meter().traffic().target;
        let object = store.begin("c/0/1", 0).unwrap();
        object.write_at(4, Bytes::from("456")).await.unwrap();
        object.write_at(0, Bytes::from("0123")).await.unwrap();
        let old = store.get("c/0/1", 100).await.unwrap().unwrap();
        assert_eq!(old, "something that was there before");
        object.finish(7).await.unwrap();
        assert_eq!(store.get("c/0/1", 100).await.unwrap().unwrap(), "0123456");
        assert_eq!(list(&store, "").await, [("c/0/1".to_owned(), 7)]);
        let traffic = store.meter().traffic().target;
        assert_eq!(traffic.put_requests - before.put_requests, 1);
        assert_eq!(traffic.written_bytes - before.written_bytes, 7);
        assert_eq!(traffic.objects - before.objects, 1);
    })
    .await;
}

#[tokio::test]
async fn an_object_that_was_not_finished_is_swept() {
    let (_directory, store) = local();
    let store = store.without_unnamed_files();
    let object = store.begin("c/0/1", 0).unwrap();
    object.write_at(0, Bytes::from("0123456789")).await.unwrap();
    drop(object);
    // A second run writes less under the same name.
    let object = store.begin("c/0/1", 0).unwrap();
    object.write_at(0, Bytes::from("abc")).await.unwrap();
    object.finish(3).await.unwrap();
    assert_eq!(store.get("c/0/1", 100).await.unwrap().unwrap(), "abc");
    let object = store.begin("c/0/2", 0).unwrap();
    object.write_at(0, Bytes::from("0123456789")).await.unwrap();
    assert_eq!(list(&store, "").await.len(), 1);
    assert_eq!(store.remove_staging().await.unwrap(), 1);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_object_that_was_not_finished_leaves_nothing() {
    let (_directory, store) = local();
    let object = store.begin("c/0/1", 0).unwrap();
    object.write_at(0, Bytes::from("0123456789")).await.unwrap();
    if store.habits.unnamed.may_be() {
        assert_eq!(store.count_staging().await.unwrap(), (0, None));
    }
    drop(object);
    store.remove_staging().await.unwrap();
    assert_eq!(list(&store, "").await.len(), 0);
}

#[tokio::test]
async fn parents_and_directories() {
    on_each(async |store| {
        let array = store.child("g/a b").unwrap();
        array.put("c/0/0", parts("x")).await.unwrap();
        array.put("zarr.json", parts("{}")).await.unwrap();
        store.put("g/zarr.json", parts("{}")).await.unwrap();
        let (group, name) = array.parent().unwrap().unwrap();
        assert_eq!(name, "a b");
        assert_eq!(keys(&group, "").await, ["a b/c/0/0", "a b/zarr.json", "zarr.json"]);
        let (above, name) = group.parent().unwrap().unwrap();
        assert_eq!((name.as_str(), above.exists("g/zarr.json").await.unwrap()), ("g", true));
        assert_eq!(group.list_directories("").await.unwrap(), ["a b"]);
        assert_eq!(above.list_directories("g/a b").await.unwrap(), ["c"]);
        assert!(above.list_directories("g/a b/c/0").await.unwrap().is_empty());
        assert_eq!(group.count_staging().await.unwrap(), (0, None));
    })
    .await;
    let top = Store::open("memory:").unwrap();
    assert!(top.parent().unwrap().is_none());
    assert!(Store::open("/").unwrap().parent().unwrap().is_none());
}

#[tokio::test]
async fn what_a_killed_write_leaves_is_counted() {
    let (directory, store) = local();
    store.put("c/0/0", parts("x")).await.unwrap();
    for name in ["c/0/1#1", "c/0/0#12", "notes#x"] {
        std::fs::write(directory.path().join("new/data.zarr").join(name), "").unwrap();
    }
    assert_eq!(store.count_staging().await.unwrap(), (2, Some("c/0/0#12".to_owned())));
    assert_eq!(store.remove_staging().await.unwrap(), 2);
}

#[tokio::test]
async fn objects_are_deleted_by_their_names() {
    on_each(async |store| {
        for number in 0..3 {
            store.put(&format!("c/{number}"), parts("x")).await.unwrap();
        }
        store.delete_keys((1..1200).map(|number| format!("c/{number}"))).await.unwrap();
        assert_eq!(keys(&store, "").await, ["c/0"]);
        assert!(store.delete_keys(["../c".to_owned()]).await.is_err());
    })
    .await;
}
