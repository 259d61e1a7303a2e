//! Announcing what will be read soon, so that a disk fetches it while something else is done.
//!
//! Reading ahead is the system's own business inside of a file. It knows nothing of the next file, which is what
//! comes next where each chunk is one. Announced, many are under way at once, though no thread waits for them.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::Store;
use crate::local_files::{self, special_kind};

impl Store {
    /// What was announced lately was not in memory: it pays to announce what will be read. At first that is
    /// not known, and this says so. False where nothing can be announced.
    pub fn reads_from_disk(&self) -> bool {
        self.is_announced_to() && self.reading.is_from_disk()
    }

    /// Tells the system of a local directory that `range` of the object will be read. Returns at once, having looked
    /// whether it is in memory already. Nothing is counted, nothing is read, and what goes wrong does so
    /// again when it is read. To be called by a thread that may block: the file is opened.
    pub fn announce(&self, key: &str, range: Range<u64>) {
        if self.is_announced_to() {
            let is_in_memory = self.announced(key, range);
            self.reading.found(is_in_memory.unwrap_or(true)); // who cannot say gains nothing
        }
    }

    /// Not where the rate of bytes is bounded: what is announced would be read faster.
    fn is_announced_to(&self) -> bool {
        cfg!(target_os = "linux") && self.writes_in_place()
    }

    fn announced(&self, key: &str, range: Range<u64>) -> io::Result<bool> {
        let path = self.file_path(key, "announce files").map_err(io::Error::other)?;
        let (file, metadata) = local_files::open(&path)?;
        let end = range.end.min(metadata.len());
        if special_kind(&metadata).is_some() || range.start >= end {
            return Ok(true);
        }
        ask_for(&file, range.start..end)
    }
}

/// Has the system fetch a range of a file that is not empty, unless it is in memory. An error where it cannot say.
#[cfg(target_os = "linux")]
fn ask_for(file: &File, range: Range<u64>) -> io::Result<bool> {
    use std::num::NonZeroU64;

    use rustix::fs::{Advice, fadvise};

    /// It takes in no more at once than it reads ahead of itself: this, unless somebody has set it otherwise.
    const AT_ONCE_BYTES: u64 = 128 << 10;

    // In the middle: the beginning may have been looked at by somebody.
    if is_in_memory(file, range.start + (range.end - range.start) / 2)? {
        return Ok(true);
    }
    let mut at = range.start;
    while let Some(bytes) = NonZeroU64::new((range.end - at).min(AT_ONCE_BYTES)) {
        fadvise(file, at, Some(bytes), Advice::WillNeed)?;
        at += bytes.get();
    }
    Ok(false)
}

#[cfg(not(target_os = "linux"))]
fn ask_for(_: &File, _: Range<u64>) -> io::Result<bool> {
    Ok(true)
}

/// Whether the byte at `offset` can be read without waiting for a disk. An error where the file system cannot say.
#[cfg(target_os = "linux")]
fn is_in_memory(file: &File, offset: u64) -> io::Result<bool> {
    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    let mut byte = [0];
    match preadv2(file, &mut [io::IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::time::Duration;

    use rustix::fs::{Advice, fadvise};

    use super::*;

    /// A store has to look at eight files in memory to believe that all are.
    fn believes(store: &Store, key: &str) {
        for _ in 0..8 {
            assert!(store.reads_from_disk());
            store.announce(key, 0..u64::MAX);
        }
        assert!(!store.reads_from_disk());
    }

    #[test]
    fn what_is_not_in_memory_is_fetched() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().to_string_lossy()).unwrap();
        fs::write(directory.path().join("there"), vec![7; 300_000]).unwrap();
        believes(&store, "there");
        fs::write(directory.path().join("gone"), vec![7; 300_000]).unwrap();
        let gone = File::open(directory.path().join("gone")).unwrap();
        gone.sync_all().unwrap();
        fadvise(&gone, 0, None, Advice::DontNeed).unwrap();
        if is_in_memory(&gone, 150_000).unwrap_or(true) {
            return; // a file system that is memory, or does not say
        }
        store.announce("gone", 0..u64::MAX);
        assert!(store.reads_from_disk());
        let mut tries = 0..500;
        while [0, 150_000, 299_999].iter().any(|&at| !is_in_memory(&gone, at).unwrap()) {
            assert!(tries.next().is_some(), "nobody fetches it");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(store.meter().traffic(), crate::Traffic::default());
    }

    #[test]
    fn what_cannot_be_read_is_left_to_who_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().to_string_lossy()).unwrap();
        fs::create_dir(directory.path().join("directory")).unwrap();
        fs::write(directory.path().join("empty"), []).unwrap();
        fs::write(directory.path().join("short"), [1, 2, 3]).unwrap();
        for key in ["directory", "empty", "missing", "short"] {
            store.announce(key, 3..9);
            store.announce(key, Range { start: 9, end: 3 });
            store.announce(key, u64::MAX..u64::MAX);
        }
        assert!(!store.reads_from_disk());
    }
}
