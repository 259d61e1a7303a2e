//! Objects sent in parts, to a store in memory.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::join_all;
use object_store::memory::InMemory;
use proptest::prelude::*;

use crate::{PartSizes, Role, Store};

/// A store that takes parts of `part_bytes`, and more whole than `threshold_bytes`.
fn store(threshold_bytes: u64, part_bytes: u64) -> Store {
    let sizes = PartSizes { threshold_bytes, part_bytes, log_part_bytes: part_bytes };
    let store = Store::from_multipart_store(Arc::new(InMemory::new()), "objects");
    store.with_part_sizes(sizes).with_role(Role::Target)
}

/// Requests that an object of `bytes` in parts takes beside its put.
fn requests(bytes: usize, part_bytes: u64) -> u64 {
    let bytes = bytes as u64;
    if bytes <= part_bytes { 0 } else { 1 + bytes.div_ceil(part_bytes) }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    runtime.unwrap().block_on(work)
}

/// Pieces of any length, the order in which they come, and a head that comes last.
fn logs() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<usize>, Vec<u8>, u64)> {
    let pieces = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 1..12);
    (pieces, prop::collection::vec(any::<u8>(), 0..25), 1_u64..17).prop_flat_map(
        |(pieces, head, part_bytes)| {
            let order = Just((0..pieces.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(pieces), order, Just(head), Just(part_bytes))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_log_is_what_its_pieces_are_one_after_the_other(
        (pieces, order, head, part_bytes) in logs(),
    ) {
        let whole = [&head[..], &pieces.concat()].concat();
        let (found, traffic) = run(async {
            let store = store(u64::MAX, part_bytes);
            let object = store.begin("c/0", head.len() as u64).unwrap();
            let offset = |n: usize| head.len() + pieces[..n].concat().len();
            join_all(order.iter().map(|&n| {
                let piece = Bytes::copy_from_slice(&pieces[n]);
                let (object, offset) = (&object, offset(n) as u64);
                async move { assert_eq!(object.write_at(offset, piece.clone()).await.unwrap(), piece) }
            }))
            .await;
            object.write_at(0, Bytes::from(head.clone())).await.unwrap_or_default();
            assert!(!store.exists("c/0").await.unwrap());
            object.finish(whole.len() as u64).await.unwrap();
            let found = store.with_role(Role::Control).get("c/0", 1 << 20).await.unwrap().unwrap();
            (found, store.meter().traffic().target)
        });
        prop_assert_eq!(&found[..], &whole[..]);
        prop_assert_eq!(traffic.part_requests, requests(whole.len(), part_bytes));
        prop_assert_eq!((traffic.put_requests, traffic.objects), (1, 1));
        prop_assert_eq!(traffic.written_bytes, whole.len() as u64);
    }

    #[test]
    fn a_whole_object_is_sent_in_parts_above_the_threshold(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..6),
        threshold_bytes in 0_u64..100, part_bytes in 1_u64..40,
    ) {
        let whole = pieces.concat();
        let (found, traffic) = run(async {
            let store = store(threshold_bytes, part_bytes);
            let pieces = pieces.into_iter().map(Bytes::from).collect();
            store.put("c/0", pieces).await.unwrap();
            let found = store.with_role(Role::Control).get("c/0", 1 << 20).await.unwrap().unwrap();
            (found, store.meter().traffic().target)
        });
        let bytes = whole.len() as u64;
        prop_assert_eq!(&found[..], &whole[..]);
        let is_whole = bytes <= threshold_bytes;
        let expected = if is_whole { 0 } else { 1 + bytes.div_ceil(part_bytes) };
        prop_assert_eq!(traffic.part_requests, expected);
        prop_assert_eq!((traffic.put_requests, traffic.objects), (1, 1));
        prop_assert_eq!(traffic.written_bytes, bytes);
    }
}

#[tokio::test]
async fn a_log_that_is_not_whole_is_no_object() {
    let store = store(u64::MAX, 4);
    let object = store.begin("c/0", 3).unwrap();
    object.write_at(3, Bytes::from_static(b"0123456789")).await.unwrap();
    let again = object.write_at(3, Bytes::from_static(b"x")).await.unwrap_err();
    assert!(again.to_string().contains("byte 3 has not been written"), "{again}");
    assert!(object.finish(13).await.unwrap_err().to_string().contains("13 of 13"));

    let object = store.begin("c/1", 0).unwrap();
    object.write_at(0, Bytes::from_static(b"0123456789")).await.unwrap();
    let short = object.finish(11).await.unwrap_err();
    assert!(short.to_string().contains("gave 10 of 11 bytes"), "{short}");
    assert!(store.is_empty().await.unwrap());
}

#[tokio::test]
async fn who_waits_for_a_piece_that_fails_is_told() {
    let store = store(u64::MAX, 4);
    let object = Arc::new(store.begin("c/0", 0).unwrap());
    let waiting = tokio::spawn({
        let object = Arc::clone(&object);
        async move { object.write_at(10, Bytes::from_static(b"late")).await }
    });
    tokio::task::yield_now().await;
    // The store has no place for it: the piece before is not written.
    object.finish(99).await.unwrap_err();
    let error = waiting.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("byte 10"), "{error}");
}

#[tokio::test]
async fn a_store_without_parts_takes_objects_whole() {
    let store = Store::from_object_store(Arc::new(InMemory::new()), "objects");
    let sizes = PartSizes { threshold_bytes: 0, part_bytes: 1, log_part_bytes: 1 };
    let store = store.with_part_sizes(sizes).with_role(Role::Target);
    store.put("a", vec![Bytes::from_static(b"0123")]).await.unwrap();
    assert_eq!(store.meter().traffic().target.part_requests, 0);
    assert_eq!(store.abort_uploads().await.unwrap(), 0);
}
