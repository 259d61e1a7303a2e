//! Regions of arrays that other implementations have written hold what those read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rechunk::{DataType, Region};
use sha2::{Digest, Sha256};

use super::{open, part_of};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Swaps native and little-endian order.
fn little(data_type: DataType, mut elements: Vec<u8>) -> Vec<u8> {
    if cfg!(target_endian = "big") {
        data_type.swap(&mut elements);
    }
    elements
}

/// The array at `location` as a whole, little-endian. A part of it is what lies there in the whole.
async fn whole(location: &Path) -> Vec<u8> {
    let (array, stores) = open(location).await;
    let (shape, data_type) = (array.spec().shape.clone(), array.spec().data_type);
    let all = array.read_region(Region::whole(&shape)).await.unwrap();
    let start: Vec<u64> = shape.iter().map(|extent| extent / 3).collect();
    let extent = shape.iter().zip(&start).map(|(all, start)| (all - start).div_ceil(2)).collect();
    let inside = Region::new(start, extent);
    let item = usize::try_from(array.spec().item_bytes()).unwrap();
    let mut part = vec![0; usize::try_from(inside.elements()).unwrap() * item];
    array.read_region_into(&inside, &mut part).await.unwrap();
    assert_eq!(part, part_of(&all, &shape, &inside, item), "{}", location.display());
    let traffic = stores.meter().traffic().source;
    assert!(traffic.get_requests + traffic.get_missing > 0 || all.is_empty());
    little(data_type, all)
}

fn with_elements(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixtures().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "elements"))
        .map(|path| path.with_extension(""))
        .filter(|path| path.extension().is_some_and(|ending| ending != "json"))
        .collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn zarr_with_shards_and_filters_of_zarr_python() {
    let arrays = with_elements("extensions");
    assert!(arrays.len() > 8);
    for path in arrays {
        let elements = fs::read(format!("{}.elements", path.display())).unwrap();
        assert_eq!(whole(&path).await, elements, "{}", path.display());
    }
}

#[tokio::test]
async fn npy_and_nifti_of_numpy_and_nibabel() {
    let arrays = with_elements("raw");
    assert!(arrays.len() > 20);
    for path in arrays {
        let elements = fs::read(format!("{}.elements", path.display())).unwrap();
        assert_eq!(whole(&path).await, elements, "{}", path.display());
    }
}

/// Arrays with a digest of their elements.
async fn check_digests(folder: &str, inside: &str) -> usize {
    let digests = fs::read(fixtures().join(folder).join("SHA256.json")).unwrap();
    let digests: BTreeMap<String, String> = serde_json::from_slice(&digests).unwrap();
    for (name, expected) in &digests {
        let elements = whole(&fixtures().join(folder).join(inside).join(name)).await;
        let digest = Sha256::digest(&elements);
        let digest = digest.iter().fold(String::new(), |hex, b| format!("{hex}{b:02x}"));
        assert_eq!(digest, *expected, "{name}");
    }
    digests.len()
}

#[tokio::test]
async fn n5_of_java_and_tensorstore() {
    assert!(check_digests("n5", "").await > 5);
}

#[tokio::test]
async fn references_of_virtualizarr() {
    assert!(check_digests("references", "virtualizarr.json").await > 5);
}

#[tokio::test]
async fn only_the_elements_of_a_file_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (64, 65536), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").bytes());
    bytes.extend((0_u32..64 << 16).flat_map(u32::to_le_bytes));
    fs::write(&path, bytes).unwrap();
    let (array, stores) = open(&path).await;
    let found: Vec<u32> = array.read_region_as([1..5, 7..9]).await.unwrap();
    let expected = (1_u32..5).flat_map(|row| [(row << 16) + 7, (row << 16) + 8]);
    assert_eq!(found, expected.collect::<Vec<_>>());
    let traffic = stores.meter().traffic().source;
    assert_eq!((traffic.get_requests, traffic.read_bytes), (4, 32), "a row is 256 KiB long");
}
