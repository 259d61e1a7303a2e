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
