//! Runs of bytes between a file and a buffer: where they are, and how they are counted.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::length::wide;

/// So many bytes from `offset` on in a file are those from `start` on in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// First byte in the file.
    pub offset: u64,
    /// First byte in the buffer.
    pub start: usize,
    /// Bytes.
    pub length: usize,
}

/// Bytes that a buffer needs beside those that go to a file, so that [`start_as_in_page`] finds a
/// place for them.
pub const AS_IN_PAGE_BYTES: usize = 4096;

/// Returns the best place in `buffer` for bytes that go to `offset` of a file: as far behind a
/// page's beginning as there. Then whole pages of them can go past the page cache without another
/// copy. Less than [`AS_IN_PAGE_BYTES`].
pub fn start_as_in_page(buffer: &[u8], offset: u64) -> usize {
    let to_page = buffer.as_ptr().align_offset(AS_IN_PAGE_BYTES) % AS_IN_PAGE_BYTES;
    let in_page = usize::try_from(offset % wide(AS_IN_PAGE_BYTES)).unwrap_or(0);
    (to_page + in_page) % AS_IN_PAGE_BYTES
}

impl Run {
    /// The byte behind the last one in the file, if it can be counted.
    pub(crate) fn end(&self) -> Option<u64> {
        self.offset.checked_add(u64::try_from(self.length).ok()?)
    }

    /// Returns the place in a buffer of so many bytes; an error if the run leaves it.
    pub(crate) fn range(&self, buffer_bytes: usize) -> io::Result<std::ops::Range<usize>> {
        let end = self.start.checked_add(self.length).filter(|&end| end <= buffer_bytes);
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a run outside of its buffer");
        Ok(self.start..end.ok_or_else(outside)?)
    }
}

/// Runs and bytes of one call.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RunCounts {
    pub(crate) runs: u64,
    pub(crate) seeks: u64,
    pub(crate) bytes: u64,
}

/// Place where the last run through a handle ended. What begins there goes on with that run,
/// however many calls it takes; what begins elsewhere is another one, and a seek.
#[derive(Debug)]
pub(crate) struct Position(AtomicU64);

/// Nothing has been moved yet: the file is at its first byte. (No run ends here.)
const JUST_OPENED: u64 = u64::MAX;

impl Default for Position {
    fn default() -> Self {
        Self(AtomicU64::new(JUST_OPENED))
    }
}

impl Position {
    /// Counts `runs`, one after the other; those without bytes are none.
    pub(crate) fn count(&self, runs: &[Run]) -> RunCounts {
        let mut counts = RunCounts::default();
        let Some(last) = runs.iter().rfind(|run| run.length > 0) else { return counts };
        let mut at = self.0.swap(last.end().unwrap_or(JUST_OPENED), Ordering::Relaxed);
        for run in runs.iter().filter(|run| run.length > 0) {
            counts.runs += u64::from(run.offset != at);
            let expected = if at == JUST_OPENED { 0 } else { at };
            counts.seeks += u64::from(run.offset != expected);
            counts.bytes += u64::try_from(run.length).unwrap_or(u64::MAX);
            at = run.end().unwrap_or(JUST_OPENED);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_as_in_the_file_has_its_pages_where_memory_has_them() {
        let buffer = vec![0; 3 * AS_IN_PAGE_BYTES];
        for (cut, offset) in
            [(0, 0), (1, 0), (0, 5), (4095, 4095), (17, 1_040_000), (4000, u64::MAX)]
        {
            let buffer = &buffer[cut..];
            let start = start_as_in_page(buffer, offset);
            assert!(start < AS_IN_PAGE_BYTES, "{start}");
            let to_page = buffer[start..].as_ptr().align_offset(AS_IN_PAGE_BYTES);
            let in_file =
                wide(AS_IN_PAGE_BYTES) - 1 - (offset.wrapping_sub(1)) % wide(AS_IN_PAGE_BYTES);
            assert_eq!(wide(to_page), in_file, "{cut} {offset}");
        }
    }
}
