//! Memory that the process has allocated, for targets that hold a reader to a bound.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Returns the result of `work`, and the most bytes that all threads had allocated meanwhile beside
/// those before. C libraries allocate elsewhere: libFuzzer's `-rss_limit_mb` is for them.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let done = work();
    (done, MEMORY.peak_usage().saturating_sub(before) as u64)
}
