//! The allocator of the extension, and how it takes the library's advice, as in the command line.
//!
//! It serves what Rust allocates here; Python and other extensions have their own.

use std::sync::Arc;

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};
use rechunk::Observer;
use rechunk::allocator::{Freeing, MIMALLOC_PURGE_DELAY, MemoryAdvice};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PURGE_DELAY: mi_option_t = MIMALLOC_PURGE_DELAY;

/// Sets the allocator's options.
pub(crate) fn configure() {
    apply(MemoryAdvice::AtOnce);
}

/// Tells the allocator how far a run is, and passes all events on. The process goes on after it.
pub(crate) fn freeing(inner: Arc<dyn Observer>) -> Arc<dyn Observer> {
    Arc::new(Freeing::new(inner, false, apply))
}

#[expect(unsafe_code, reason = "the only way to ask mimalloc for it")]
fn apply(advice: MemoryAdvice) {
    match advice.purge_delay() {
        // SAFETY: the function takes two plain numbers and stores one; an option it does not know
        // it ignores. Who frees meanwhile takes the old value or the new one.
        Some(milliseconds) => unsafe { mi_option_set(PURGE_DELAY, milliseconds) },
        // SAFETY: takes a plain flag and may be called from any thread at any time.
        None => unsafe { mi_collect(true) },
    }
}
