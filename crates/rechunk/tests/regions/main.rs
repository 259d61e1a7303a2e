//! Regions of elements, read and written through the public library.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod fixtures;
mod model;
mod refused;
mod remote;

use std::path::Path;

use rechunk::{Axes, OpenArray, OpenOptions, Region, Stores, open_array};

/// Opens an array, with a meter of its own.
async fn open(location: &Path) -> (OpenArray, Stores) {
    let stores = Stores::default();
    let is_nifti = location.extension().is_some_and(|ending| ending == "nii");
    // As nibabel has its axes.
    let options = OpenOptions { axes: is_nifti.then_some(Axes::Keep), ..OpenOptions::default() };
    let location = location.display().to_string();
    (open_array(&location, &options, &stores).await.unwrap(), stores)
}

/// The elements of `region` among all of an array of `shape`.
fn part_of<T: Copy>(all: &[T], shape: &[u64], region: &Region, item: usize) -> Vec<T> {
    let whole = Region::whole(shape);
    let at = |position: Vec<u64>| usize::try_from(whole.ordinal(&position)).unwrap() * item;
    region.positions().flat_map(|position| all[at(position)..][..item].to_vec()).collect()
}

/// Futures can be handed to another thread.
#[tokio::test]
async fn regions_are_read_and_written_by_tasks_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let document = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<u2", "order": "C",
        "compressor": null, "filters": null, "fill_value": 0}"#;
    std::fs::write(folder.path().join(".zarray"), document).unwrap();
    let (array, _) = open(folder.path()).await;
    let done = tokio::spawn(async move {
        array.write_region_as(1..3, &[1_u16, 2]).await.unwrap();
        array.read_region_as::<u16>(0..4).await.unwrap()
    });
    assert_eq!(done.await.unwrap(), [0, 1, 2, 0]);
}
