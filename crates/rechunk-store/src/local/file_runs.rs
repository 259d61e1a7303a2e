//! Runs of bytes between files and buffers: at any place, from any number of threads.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::runs::Run;
use super::writing::Way;
use crate::length::wide;

/// Most files that are open through handles at once, in the whole process: under the 1024 that
/// systems usually allow. Who moves runs has one file open at a time, or two.
pub const OPEN_FILES_MAX: usize = 512;

static OPEN_FILES: OpenSlots = OpenSlots::new(OPEN_FILES_MAX);

/// Bounds the number of open files of a kind.
#[derive(Debug)]
pub(crate) struct OpenSlots {
    taken: AtomicUsize,
    most: usize,
}

impl OpenSlots {
    pub(crate) const fn new(most: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most }
    }

    /// `None` if so many are open already.
    pub(crate) fn take(&'static self) -> Option<OpenSlot> {
        let slot = OpenSlot(self); // gives the place back where there was none
        (self.taken.fetch_add(1, Ordering::Relaxed) < self.most).then_some(slot)
    }
}

/// A place among the files that may be open.
#[derive(Debug)]
pub(crate) struct OpenSlot(&'static OpenSlots);

impl OpenSlot {
    /// One of those whose files are read or written in runs.
    pub(crate) fn take() -> io::Result<Self> {
        let none = || io::Error::other(format!("{OPEN_FILES_MAX} files are open already"));
        OPEN_FILES.take().ok_or_else(none)
    }
}

impl Drop for OpenSlot {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Longest run, and longest gap between two, that is read together with its neighbours, bytes. To
/// read so much more in memory takes less time than another call; and it is less than a page, so
/// that the disk is asked for nothing more.
const SIEVED_BYTES_MAX: u64 = 2 << 10;
/// Bytes that are read together at most.
const SPAN_BYTES_MAX: u64 = 32 << 10;

/// Fills the places of `runs` in `buffer`.
pub(crate) fn read(file: &File, runs: &[Run], buffer: &mut [u8]) -> io::Result<()> {
    let mut span = Vec::new();
    let mut rest = runs;
    while let Some(first) = rest.first() {
        let (runs, bytes) = together(rest);
        if runs == 1 {
            let range = first.range(buffer.len())?;
            read_all(file, &mut buffer[range], first.offset)?;
        } else {
            span.resize(bytes, 0);
            read_all(file, &mut span, first.offset)?;
            for run in &rest[..runs] {
                let range = run.range(buffer.len())?;
                let at = usize::try_from(run.offset - first.offset).map_err(io::Error::other)?;
                buffer[range].copy_from_slice(&span[at..at + run.length]);
            }
        }
        rest = &rest[runs..];
    }
    Ok(())
}

/// Number of the first runs that are best read in one call, and the bytes from their first to their
/// last.
fn together(runs: &[Run]) -> (usize, usize) {
    let Some(first) = runs.first() else { return (0, 0) };
    let mut together = (1, first.length);
    let mut last = first;
    for run in &runs[1..] {
        let is_short = |run: &Run| u64::try_from(run.length).is_ok_and(|b| b <= SIEVED_BYTES_MAX);
        let gap = last.end().and_then(|end| run.offset.checked_sub(end));
        let span = run.end().map(|end| end.saturating_sub(first.offset));
        let span = span.filter(|&span| span <= SPAN_BYTES_MAX).map(usize::try_from);
        let is_near = gap.is_some_and(|gap| gap <= SIEVED_BYTES_MAX);
        let Some(Ok(span)) = span.filter(|_| is_near && is_short(last) && is_short(run)) else {
            break;
        };
        together = (together.0 + 1, span);
        last = run;
    }
    together
}

fn read_all(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    read_exact_at(file, buffer, offset).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "the file became shorter while it was read")
        }
        _ => error,
    })
}

/// Writes what `runs` have in `buffer` to their places.
pub(crate) fn write(file: &File, runs: &[Run], buffer: &[u8], way: Way) -> io::Result<()> {
    let bytes = runs.iter().map(|run| wide(run.length)).sum();
    way.write(
        bytes,
        |bounce, block_bytes| write_direct(file, runs, buffer, bounce, block_bytes),
        || {
            for run in runs {
                write_all_at(file, &buffer[run.range(buffer.len())?], run.offset)?;
            }
            Ok(())
        },
    )
}

#[cfg(target_os = "linux")]
fn write_direct(
    file: &File,
    runs: &[Run],
    buffer: &[u8],
    bounce: &mut [u8],
    block_bytes: usize,
) -> io::Result<()> {
    let direct = crate::local::direct_file::DirectFile::of(file)?;
    for run in runs {
        let part = std::iter::once(&buffer[run.range(buffer.len())?]);
        direct.write(run.offset, part, bounce, block_bytes)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn write_direct(_: &File, _: &[Run], _: &[u8], _: &mut [u8], _: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(unix)]
pub(crate) fn write_all_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[read..];
        offset += u64::try_from(read).unwrap_or(u64::MAX);
    }
    Ok(())
}

#[cfg(windows)]
pub(crate) fn write_all_at(file: &File, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, buffer, offset)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        buffer = &buffer[written..];
        offset += u64::try_from(written).unwrap_or(u64::MAX);
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn runs_past_the_cache_go_to_their_places_and_nowhere_else() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(2_000_000).unwrap();
        let buffer: Vec<u8> = (1..=250).cycle().take(700_000).collect();
        let runs = [
            Run { offset: 100, start: 0, length: 300_000 },
            Run { offset: 300_100, start: 300_000, length: 1 },
            Run { offset: 1_300_000, start: 400_000, length: 300_000 },
        ];
        write(&file, &runs, &buffer, crate::local::writing::direct_way().await).unwrap();
        let mut expected = vec![0; 2_000_000];
        expected[100..300_101].copy_from_slice(&buffer[..300_001]);
        expected[1_300_000..1_600_000].copy_from_slice(&buffer[400_000..]);
        let mut found = vec![0; 2_000_000];
        read_exact_at(&file, &mut found, 0).unwrap();
        assert!(found == expected);
    }
}
