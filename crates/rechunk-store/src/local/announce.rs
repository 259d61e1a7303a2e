//! Announcing what will be read soon, so that a disk fetches it while something else is done.
//!
//! Reading ahead is the system's own business inside of a file. It knows nothing of the next file,
//! which is what comes next where each chunk is one. Announced, many are under way at once, though
//! no thread waits for them.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::files::{self, special_kind};
use crate::Store;

impl Store {
    /// True if announcing may be of use: on a system that can be told, in a local directory whose
    /// rate of bytes is not bounded. (Announced bytes would be read faster than a bound allows.)
    pub fn takes_announcements(&self) -> bool {
        cfg!(target_os = "linux") && self.writes_in_place()
    }

    /// True if announced bytes were lately not in memory, so that it is of use to announce more, or
    /// if that is not known yet. False where nothing can be announced.
    pub fn reads_from_disk(&self) -> bool {
        self.takes_announcements() && self.habits.reading.is_from_disk()
    }

    /// Tells the system of a local directory that `range` of the object will be read, unless it is
    /// in memory. Waits for no disk, if that has room for more to do. Nothing is counted, and what
    /// goes wrong does so again when it is read. To be called by a thread that may block: the file
    /// is opened. False if no more is to be announced now: it does not pay.
    pub fn announce(&self, key: &str, range: Range<u64>) -> bool {
        if self.takes_announcements() {
            match self.announced(key, range) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {} // says nothing of the others
                found => self.habits.reading.found(found.unwrap_or(true)), // who cannot say gains nothing
            }
        }
        self.reads_from_disk()
    }

    fn announced(&self, key: &str, range: Range<u64>) -> io::Result<bool> {
        let path = self.file_path(key, "announce files").map_err(io::Error::other)?;
        let (file, metadata) = files::open(&path)?;
        let end = range.end.min(metadata.len());
        if special_kind(&metadata).is_some() || range.start >= end {
            return Ok(true);
        }
        ask_for(&file, range.start..end)
    }
}

/// Has the system fetch a range of a file that is not empty, unless it is in memory, and says
/// whether it is. An error where the system cannot say.
#[cfg(target_os = "linux")]
fn ask_for(file: &File, range: Range<u64>) -> io::Result<bool> {
    use std::num::NonZeroU64;

    use rustix::fs::{Advice, fadvise};

    /// It takes in no more at once than it reads ahead of itself: this, unless somebody has set it
    /// otherwise.
    const AT_ONCE_BYTES: u64 = 128 << 10;

    // What is small comes with its first byte, which the system begins to fetch when it is asked
    // for it. The first of what is large may be there because something before it was read.
    let is_small = range.end - range.start <= AT_ONCE_BYTES;
    if is_in_memory(file, if is_small { range.start } else { range.end - 1 })? {
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
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether the byte at `offset` can be read without waiting for a disk. An error where the file
/// system cannot say. (If not, Linux begins to fetch it.)
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
        for turn in 0..8 {
            assert!(store.reads_from_disk());
            assert_eq!(store.announce(key, 0..u64::MAX), turn < 7);
        }
        assert!(!store.reads_from_disk());
    }

    /// A file of which the system has nothing in memory; `None` if it does not forget it, or does
    /// not say.
    fn on_the_disk(directory: &std::path::Path, name: &str) -> io::Result<Option<File>> {
        let forgotten = |name: &str| {
            fs::write(directory.join(name), vec![7; 4 << 20])?;
            let file = File::open(directory.join(name))?;
            file.sync_all()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
            io::Result::Ok(file)
        };
        let (file, other) = (forgotten(name)?, forgotten("other")?);
        // Of another one: to look for it is to fetch it.
        Ok(is_in_memory(&other, 3 << 20).is_ok_and(|is_there| !is_there).then_some(file))
    }

    #[test]
    fn what_is_not_in_memory_is_fetched() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().to_string_lossy()).unwrap();
        fs::write(directory.path().join("there"), vec![7; 300_000]).unwrap();
        for wait in [10, 100, 1000, 5000] {
            believes(&store, "there");
            let Some(gone) = on_the_disk(directory.path(), "gone").unwrap() else { return };
            assert!(store.announce("gone", 0..u64::MAX), "a disk is read");
            assert!(store.reads_from_disk());
            std::thread::sleep(Duration::from_millis(wait));
            // Once each, and far from each other: what is not there is fetched now.
            let places = [1, 2, 3, 0].map(|place| place << 20);
            if places.iter().all(|&at| is_in_memory(&gone, at).unwrap()) {
                assert_eq!(store.meter().traffic(), crate::Traffic::default());
                return;
            }
        }
        panic!("nobody fetches it");
    }

    #[test]
    fn what_cannot_be_read_is_left_to_who_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().to_string_lossy()).unwrap();
        fs::create_dir(directory.path().join("directory")).unwrap();
        fs::write(directory.path().join("empty"), []).unwrap();
        fs::write(directory.path().join("short"), [1, 2, 3]).unwrap();
        for _ in 0..20 {
            assert!(store.announce("missing", 0..9), "one that is missing says nothing of others");
        }
        for key in ["directory", "empty", "short"] {
            store.announce(key, 3..9);
            store.announce(key, Range { start: 9, end: 3 });
            store.announce(key, u64::MAX..u64::MAX);
        }
        assert!(!store.reads_from_disk());
    }
}
