//! Reading of stores on a runtime of the thread, within a bound of memory.

use std::cell::OnceCell;

use rechunk_store::StoreError;
use tokio::runtime::{Builder, Runtime};

use crate::memory::peak_of;

thread_local! {
    static RUNTIME: OnceCell<Option<Runtime>> = const { OnceCell::new() };
}

/// True if `read` reads some objects, and fails the target if it allocates more than `most` bytes.
pub(crate) fn reads_within(
    most: u64,
    read: impl Future<Output = Result<usize, StoreError>>,
) -> bool {
    RUNTIME.with(|runtime| {
        let runtime = runtime.get_or_init(|| Builder::new_current_thread().build().ok());
        let Some(runtime) = runtime else { return false };
        let (read, peak_bytes) = peak_of(|| runtime.block_on(read));
        assert!(peak_bytes <= most, "reading took {peak_bytes} bytes, more than {most}: {read:?}");
        read.is_ok_and(|objects| objects > 0)
    })
}
