//! Regions of elements, read and written through the public library.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod fixtures;
mod model;
mod other_keys;
mod refused;
mod remote;

use std::fs;
use std::path::{Path, PathBuf};

use rechunk::{Axes, OpenArray, OpenOptions, Region, Stores, open_array};
use tempfile::TempDir;

/// Members of a Zarr v2 document that has no codec.
const PLAIN: &str = r#""filters": null, "compressor": null"#;

/// An array of Zarr v2 without chunks.
fn make(shape: &str, chunks: &str, dtype: &str, rest: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let document = format!(
        r#"{{"zarr_format": 2, "shape": {shape}, "chunks": {chunks}, "dtype": "{dtype}",
             "fill_value": 3, "order": "C", {rest}}}"#
    );
    fs::write(folder.path().join(".zarray"), document).unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

/// Opens an array, with a meter of its own.
async fn open(location: &Path) -> (OpenArray, Stores) {
    let stores = Stores::default();
    let is_nifti = location.extension().is_some_and(|ending| ending == "nii");
    // As nibabel has its axes.
    let mut options = OpenOptions::default();
    options.axes = is_nifti.then_some(Axes::Keep);
    let location = location.display().to_string();
    (open_array(&location, &options, &stores).await.unwrap(), stores)
}

/// The elements of `region` among all of an array of `shape`.
fn part_of<T: Copy>(all: &[T], shape: &[u64], region: &Region, item: usize) -> Vec<T> {
    let whole = Region::whole(shape);
    let at = |position: Vec<u64>| usize::try_from(whole.ordinal(&position)).unwrap() * item;
    region.positions().flat_map(|position| all[at(position)..][..item].to_vec()).collect()
}
