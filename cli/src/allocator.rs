//! The memory allocator, and how soon it gives memory back.
//!
//! mimalloc, because glibc faults every large buffer in again each time it is allocated
//! (docs/design/004-memory.md has the measurements). By itself it keeps what was freed for a
//! second, which would count as resident memory beyond the budget: here it is given back at once.

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc.h, which the bindings do not name.
const PURGE_DELAY: mi_option_t = 15;

/// Milliseconds from freeing memory to giving it back to the system: none. Large buffers are kept
/// and used again by whoever holds them, so that this costs little.
const PURGE_DELAY_MILLISECONDS: i64 = 0;

/// Sets the allocator's options; to be called before memory is used in earnest.
#[expect(unsafe_code, reason = "the only way to set an option of mimalloc at run time")]
pub(crate) fn configure() {
    // SAFETY: the function takes two plain numbers, may be called at any time from one thread,
    // and this is called first thing in `main`; an option it does not know it ignores.
    unsafe { mi_option_set(PURGE_DELAY, PURGE_DELAY_MILLISECONDS) };
}

/// Gives back what is free now: between two stages, whose buffers have different sizes.
#[expect(unsafe_code, reason = "the only way to ask mimalloc for it")]
pub(crate) fn give_back() {
    // SAFETY: takes a plain flag and may be called from any thread at any time.
    unsafe { mi_collect(true) };
}
