//! The memory allocator, and how it takes the library's advice.
//!
//! mimalloc, because glibc faults every large buffer in again each time it is allocated
//! (docs/design/004-memory.md has the measurements).

use std::sync::Arc;

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};
use rechunk::Observer;
use rechunk::allocator::{Freeing, MIMALLOC_PURGE_DELAY, MemoryAdvice};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PURGE_DELAY: mi_option_t = MIMALLOC_PURGE_DELAY;

/// Sets the allocator's options; to be called before memory is used in earnest.
pub(crate) fn configure() {
    apply(MemoryAdvice::AtOnce);
}

/// Keeps freed buffers for a moment: a server takes some of the same size for the next request.
pub(crate) fn keep_between_requests() {
    apply(MemoryAdvice::Soon);
}

/// Tells the allocator how far a run is, and passes all events on. `ends_with_it`: nothing that
/// takes memory follows the run.
pub(crate) fn freeing(inner: Arc<dyn Observer>, ends_with_it: bool) -> impl Observer {
    Freeing::new(inner, ends_with_it, apply)
}

fn apply(advice: MemoryAdvice) {
    match advice.purge_delay() {
        Some(milliseconds) => set_purge_delay(milliseconds),
        None => give_back(),
    }
}

#[expect(unsafe_code, reason = "the only way to set an option of mimalloc at run time")]
fn set_purge_delay(milliseconds: i64) {
    // SAFETY: the function takes two plain numbers and stores one; an option it does not know it
    // ignores. Who frees meanwhile takes the old value or the new one.
    unsafe { mi_option_set(PURGE_DELAY, milliseconds) };
}

/// Gives back all memory that is free now.
#[expect(unsafe_code, reason = "the only way to ask mimalloc for it")]
fn give_back() {
    // SAFETY: takes a plain flag and may be called from any thread at any time.
    unsafe { mi_collect(true) };
}
