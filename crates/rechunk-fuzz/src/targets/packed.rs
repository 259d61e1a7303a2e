//! Files that are compressed as a whole (`.nii.gz`): the beginning is unpacked for the header.

use std::cell::OnceCell;

use rechunk::{OpenOptions, Stores, open_array};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::memory::peak_of;

/// Most bytes that opening one may take.
const MEMORY_BYTES_MAX: u64 = 8 << 20;

thread_local! {
    static PLACE: OnceCell<Option<(TempDir, Runtime)>> = const { OnceCell::new() };
}

/// A file `a.nii.gz`.
pub(crate) fn target(data: &[u8]) -> bool {
    PLACE.with(|place| {
        let place = place.get_or_init(|| {
            Some((tempfile::tempdir().ok()?, Builder::new_current_thread().build().ok()?))
        });
        let Some((folder, runtime)) = place else { return false };
        let path = folder.path().join("a.nii.gz");
        if std::fs::write(&path, data).is_err() {
            return false;
        }
        let (location, stores) = (path.display().to_string(), Stores::default());
        let open = || runtime.block_on(open_array(&location, &OpenOptions::default(), &stores));
        let (opened, peak_bytes) = peak_of(open);
        assert!(peak_bytes <= MEMORY_BYTES_MAX, "opening took {peak_bytes} bytes");
        opened.is_ok_and(|array| array.spec().shape.len() <= 32)
    })
}
