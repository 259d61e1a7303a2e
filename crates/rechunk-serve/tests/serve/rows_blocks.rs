//! Rows 19 to 26, 34, and 38 to 40: blocks that are written and read.

use serde_json::json;

use crate::harness::{ABSENT, Store, block, description, wire};

#[tokio::test]
async fn row_19_a_block_of_any_type_is_read_as_it_was_written() {
    let store = Store::new().await;
    for (name, bytes) in [
        ("uint8", 1),
        ("uint16", 2),
        ("uint32", 4),
        ("uint64", 8),
        ("int8", 1),
        ("int16", 2),
        ("int32", 4),
        ("int64", 8),
        ("float32", 4),
        ("float64", 8),
    ] {
        for compression in ["raw", "gzip", "bzip2", "lz4", "xz", "zstd", "blosc"] {
            let given = json!({"voxelType": name, "compression": compression});
            let id = store.create(&description(&given)).await;
            // All patterns of bits, NaNs with payloads among them.
            let sent = block([20, 30, 7], bytes, 3);
            assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &sent).await, 200);
            assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, sent, "{name} {compression}");
        }
    }
}

#[tokio::test]
async fn row_19_payloads_of_nan_are_kept() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"voxelType": "float32"}))).await;
    let nans =
        [0x7fc0_0001_u32, 0xffc0_dead, 0x7f80_0001, 0x8000_0000].map(u32::to_be_bytes).concat();
    let sent = wire([4, 1, 1], &nans);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &sent).await, 200);
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, sent);
}

#[tokio::test]
async fn rows_20_and_21_blocks_come_in_the_order_of_the_request() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let (a, b) = (block([64, 64, 60], 2, 1), block([36, 64, 60], 2, 2));
    let both = [&a[..], &b[..]].concat();
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0/1/0/0/0/0/0", &both).await, 200);
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0/1/0/0/0/0/0").await, both);
    let three = [&b[..], &a, &b].concat();
    assert_eq!(store.read(&id, "1/1/1/0/1/0/0/0/0/0/0/0/0/0/0/0/1/0/0/0/0/0").await, three);
    // Of a block that is written twice in a request the last counts.
    let twice = [&block([36, 64, 60], 2, 9)[..], &b].concat();
    assert_eq!(store.write(&id, "1/1/1/0/1/0/0/0/0/0/1/0/0/0/0/0", &twice).await, 200);
    assert_eq!(store.read(&id, "1/1/1/0/1/0/0/0/0/0").await, b);
}

#[tokio::test]
async fn rows_22_to_24_blocks_that_are_not_there_are_said_to_be_absent() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
    let sent = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &sent).await, 200);
    let mixed = [&sent[..], ABSENT, &sent].concat();
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0/1/1/0/0/0/0/0/0/0/0/0/0").await, mixed);
    for far in ["1000000/0/0", "9223372036854775807/9223372036854775807/9223372036854775807"] {
        assert_eq!(store.read(&id, &format!("1/1/1/0/{far}/0/0/0")).await, ABSENT);
    }
}

#[tokio::test]
async fn rows_25_and_26_a_block_at_the_edge_has_the_size_it_was_written_with() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"dimensions": [1000, 1000, 1]}))).await;
    for (seed, sizes) in [[64, 64, 64], [40, 64, 1], [0, 64, 64], [1, 1, 1]].into_iter().enumerate()
    {
        let sent = block(sizes, 2, seed);
        assert_eq!(store.write(&id, "1/1/1/0/15/2/0/0/0/0", &sent).await, 200);
        assert_eq!(store.read(&id, "1/1/1/0/15/2/0/0/0/0").await, sent, "{sizes:?}");
    }
}

#[tokio::test]
async fn row_34_the_type_of_elements_is_a_word() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"voxelType": "float64"}))).await;
    let path = format!("/datasets/{id}/2/2/1/0/datatype");
    assert_eq!(store.get(&format!("{path}/1/1/0")).await, (200, "float64".into()));
    assert_eq!(store.get(&format!("{path}/5/0/0")).await.0, 404);
    assert_eq!(store.get(&format!("{path}/0/2/0")).await.0, 404);
    assert_eq!(store.get(&format!("{path}/0/0/1")).await.0, 404);
}

#[tokio::test]
async fn row_38_a_request_names_256_blocks() {
    let store = Store::new().await;
    let level = json!([{"resolutions": [1, 1, 1], "blockDimensions": [2, 2, 2]}]);
    let id = store
        .create(&description(&json!({"resolutionLevels": level, "dimensions": [512, 2, 2]})))
        .await;
    let path = |from: usize| {
        let one = |x: usize| format!("/{}/0/0/0/0/0", x % 256);
        format!("1/1/1/0{}", (from..from + 256).map(one).collect::<String>())
    };
    let sent: Vec<u8> = (0..256).flat_map(|seed| block([2, 2, 2], 2, seed)).collect();
    assert_eq!(store.write(&id, &path(0), &sent).await, 200);
    assert_eq!(store.read(&id, &path(0)).await, sent);
    let (first, second) = sent.split_at(sent.len() / 2);
    assert_eq!(store.read(&id, &path(128)).await, [second, first].concat());
    // A target of 16 KiB is taken too: zeros in front are digits.
    let one = |x| format!("/{x:040}/0/0/0/0/0");
    let long: String = (0..256).map(one).collect();
    assert!(long.len() > 12 << 10);
    assert_eq!(store.read(&id, &format!("1/1/1/0{long}")).await, sent);
}

#[tokio::test]
async fn row_39_levels_have_blocks_of_their_own() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let sent = block([50, 40, 60], 2, 1);
    assert_eq!(store.write(&id, "2/2/1/0/0/0/0/0/0/0", &sent).await, 200);
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, ABSENT);
    assert_eq!(store.read(&id, "2/2/1/0/0/0/0/0/0/0").await, sent);
}

#[tokio::test]
async fn row_46_nothing_is_written_to_mixed_latest() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let sent = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/mixedLatest/0/0/0/0/0/0", &sent).await, 406);
    assert_eq!(store.read(&id, "1/1/1/mixedLatest/0/0/0/0/0/0").await, ABSENT);
}

#[tokio::test]
async fn row_56_a_stop_is_taken() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let path = format!("/datasets/{id}/1/1/1/0/");
    assert_eq!(store.post(&format!("{path}stop"), "text/plain", "").await.0, 200);
    assert_eq!(store.get(&path).await.0, 200);
}
