//! Regions that are refused, and chunks that are damaged.

use std::fs;
use std::path::Path;

use rechunk::{Class, Error, OpenOptions, Region, RegionOptions, Stores, open_array};

use super::{PLAIN, make, open};

const ZLIB: &str = r#""filters": null, "compressor": {"id": "zlib", "level": 1}"#;

#[track_caller]
fn says<T: std::fmt::Debug>(result: Result<T, Error>, class: Class, texts: &[&str]) {
    let error = result.unwrap_err();
    let text = error.chain().join("; ");
    assert_eq!(error.class(), class, "{text}");
    for expected in texts {
        assert!(text.contains(expected), "{expected:?} is not in {text}");
    }
}

#[tokio::test]
async fn what_does_not_lie_in_the_array_is_refused() {
    let (_folder, path) = make("[4, 6]", "[2, 2]", "<u2", ZLIB);
    let (array, _) = open(&path).await;
    for region in [
        Region::new(vec![0, 0], vec![5, 1]),
        Region::new(vec![4, 6], vec![0, 1]),
        Region::new(vec![u64::MAX, 0], vec![2, 1]),
        Region::new(vec![0], vec![1]),
        Region::new(vec![0, 0, 0], vec![1, 1, 1]),
        Region { start: vec![0, 0], shape: vec![1] },
    ] {
        says(array.read_region(&region).await, Class::Usage, &["does not lie in", "[4, 6]"]);
    }
    assert_eq!(array.read_region([4..4, 0..6]).await.unwrap(), [] as [u8; 0]);
    let mut buffer = [0; 3];
    let wrong = array.read_region_into([0..1, 0..2], &mut buffer).await;
    says(wrong, Class::Usage, &["has 4 bytes, but the buffer has 3"]);
    let wrong = array.write_region([0..1, 0..2], &buffer).await;
    says(wrong, Class::Usage, &["has 4 bytes, but the buffer has 3"]);
}

#[tokio::test]
async fn other_types_are_refused() {
    let (_folder, path) = make("[4]", "[2]", "<u2", ZLIB);
    let (array, _) = open(&path).await;
    says(array.read_region_as::<f32>(0..1).await, Class::Usage, &["uint16", "f32"]);
    says(array.write_region_as(0..1, &[1_i16]).await, Class::Usage, &["uint16", "i16"]);
    let strings = r#""compressor": null, "filters": [{"id": "vlen-utf8"}]"#;
    let (_folder, path) = make("[4]", "[2]", "|O", strings);
    let text = fs::read_to_string(path.join(".zarray"))
        .unwrap()
        .replace("3, \"order\"", "\"\", \"order\"");
    fs::write(path.join(".zarray"), text).unwrap();
    let (array, _) = open(&path).await;
    says(array.read_region(0..1).await, Class::Usage, &["differ in length"]);
}

#[tokio::test]
async fn a_claim_of_the_header_is_no_size_of_a_buffer() {
    let huge = "[549755813888]"; // a tebibyte, the largest chunk that is believed
    let (_folder, path) = make(huge, huge, "<u2", ZLIB);
    let (array, _) = open(&path).await;
    says(array.read_region(0..4).await, Class::Memory, &["takes", "536870912 are allowed"]);
    let all = array.read_region_as::<u16>(0..1 << 39).await;
    says(all, Class::Usage, &["no buffer of more than 2147483648"]);
    // Of what is stored as it is, no more is held than what is read.
    let (_folder, path) = make(huge, huge, "<u2", PLAIN);
    let (array, _) = open(&path).await;
    assert_eq!(array.read_region_as::<u16>(1 << 38..(1 << 38) + 2).await.unwrap(), [3, 3]);
}

#[tokio::test]
async fn a_chunk_has_to_fit_the_memory() {
    let (_folder, path) = make("[4096]", "[1024]", "<u2", ZLIB);
    let (array, _) = open(&path).await;
    let small = array.clone().with_region_options(RegionOptions::default().with_memory_bytes(2048));
    says(small.read_region(0..4).await, Class::Memory, &["no more than 2048 are allowed"]);
    says(small.write_region_as(0..1, &[1_u16]).await, Class::Memory, &["2048"]);
    let one = array.with_region_options(RegionOptions::default().with_memory_bytes(1 << 20));
    let elements: Vec<u16> = (0..4096).collect();
    one.write_region_as(0..4096, &elements).await.unwrap();
    assert_eq!(one.read_region_as::<u16>(0..4096).await.unwrap(), elements);
    let limited = one.with_region_options(RegionOptions::default().with_returned_bytes_max(100));
    let read = limited.read_region(0..51).await;
    says(read, Class::Usage, &["has 102 bytes, and no buffer of more than 100"]);
}

#[tokio::test]
async fn a_damaged_chunk_is_named() {
    let (_folder, path) = make("[4, 6]", "[2, 2]", "<u2", ZLIB);
    let (array, _) = open(&path).await;
    let elements: Vec<u16> = (0..24).collect();
    array.write_region_as([0..4, 0..6], &elements).await.unwrap();
    fs::write(path.join("1.2"), b"no zlib").unwrap();
    let location = path.display().to_string();
    let expected = ["chunk [1, 2]", "1.2 in", &location, "damaged"];
    says(array.read_region([0..4, 0..6]).await, Class::Source, &expected);
    says(array.write_region_as([3..4, 5..6], &[1_u16]).await, Class::Failed, &expected);
    assert_eq!(fs::read(path.join("1.2")).unwrap(), b"no zlib", "it is left as it was");
    assert_eq!(array.read_region_as::<u16>([2..4, 0..4]).await.unwrap()[..4], [12, 13, 14, 15]);
    // All of it is written anew.
    array.write_region_as([2..4, 4..6], &[1_u16; 4]).await.unwrap();
    assert_eq!(array.read_region_as::<u16>([3..4, 4..6]).await.unwrap(), [1, 1]);
}

#[tokio::test]
async fn what_is_only_read_says_so() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let (array, _) = open(&fixtures.join("references/virtualizarr.json/latitude")).await;
    let bytes = array.read_region(0..1).await.unwrap();
    says(array.write_region(0..1, &bytes).await, Class::Target, &["is only read", "references"]);
    let (array, _) = open(&fixtures.join("raw/le-f8.npy")).await;
    let whole = Region::whole(&array.spec().shape);
    let bytes = array.read_region(&whole).await.unwrap();
    says(array.write_region(&whole, &bytes).await, Class::Target, &["is only read", "npy"]);
    let (_folder, path) = make("[4]", "[2]", "<u2", ZLIB);
    let mut options = OpenOptions::default();
    options.select = Some("0:3".parse().unwrap());
    let location = path.display().to_string();
    let array = open_array(&location, &options, &Stores::default()).await.unwrap();
    says(array.write_region_as(0..1, &[1_u16]).await, Class::Usage, &["as a region"]);
    assert_eq!(array.read_region_as::<u16>(0..3).await.unwrap(), [3; 3]);
}
