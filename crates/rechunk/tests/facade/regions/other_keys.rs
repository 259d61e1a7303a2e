//! Chunks that lie under other keys than the metadata says.

use std::fs;

use super::{PLAIN, make, open};

#[tokio::test]
async fn chunks_under_other_keys_are_read_and_written_where_they_lie() {
    let (_folder, path) = make("[2, 4]", "[2, 2]", "<u2", PLAIN);
    fs::create_dir(path.join("0")).unwrap();
    for column in [0, 1] {
        let elements = (0..4_u16).flat_map(|n| (10 * column + n).to_le_bytes());
        fs::write(path.join(format!("0/{column}")), elements.collect::<Vec<_>>()).unwrap();
    }
    let (array, _) = open(&path).await;
    assert_eq!(array.read_region_as::<u16>([0..2, 1..3]).await.unwrap(), [1, 10, 3, 12]);
    assert_eq!(array.read_region_as::<u16>([1..2, 0..4]).await.unwrap(), [2, 3, 12, 13]);
    let (array, _) = open(&path).await;
    array.write_region_as([0..1, 1..4], &[7_u16; 3]).await.unwrap();
    assert_eq!(
        array.read_region_as::<u16>([0..2, 0..4]).await.unwrap(),
        [0, 7, 7, 7, 2, 3, 12, 13]
    );
    for column in [0, 1] {
        assert!(!path.join(format!("0.{column}")).exists(), "the chunk is there twice");
    }
}

/// Chunks that are nowhere are missing: that was looked for once.
#[tokio::test]
async fn chunks_that_are_nowhere_read_as_fill() {
    let (_folder, path) = make("[4, 4]", "[2, 2]", "<u2", PLAIN);
    let (array, stores) = open(&path).await;
    assert_eq!(array.read_region_as::<u16>([0..1, 0..4]).await.unwrap(), [3; 4]);
    let control = stores.meter().traffic().control;
    assert_eq!(array.read_region_as::<u16>([3..4, 0..4]).await.unwrap(), [3; 4]);
    assert_eq!(stores.meter().traffic().control, control);
    array.write_region_as([3..4, 3..4], &[9_u16]).await.unwrap();
    assert_eq!(array.read_region_as::<u16>([3..4, 2..4]).await.unwrap(), [3, 9]);
}
