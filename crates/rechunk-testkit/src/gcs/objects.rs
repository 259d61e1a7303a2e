//! Objects as files. The time of a file's last change, in microseconds, is its generation, so it
//! outlives the server; each write gets one that was never given before.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::file_answer::generation;

/// Directory in which files are written before they get their name.
pub(super) const STAGING: &str = ".staging";

#[derive(Debug)]
pub(super) struct Objects {
    staging: PathBuf,
    staged: AtomicU64,
    last_generation: AtomicU64,
}

impl Objects {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            staging: root.join(STAGING),
            staged: AtomicU64::new(0),
            last_generation: AtomicU64::new(0),
        }
    }

    /// The generation of the object at `path`; 0 if there is none.
    pub(super) fn generation(path: &Path) -> u64 {
        let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file);
        metadata.as_ref().map_or(0, generation)
    }

    /// Makes the file at `path` be these bytes, at once; what it is like then.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<Metadata> {
        let number = self.staged.fetch_add(1, Ordering::Relaxed);
        let staged = self.staging.join(format!("{}-{number}", std::process::id()));
        let mut file = File::create(&staged)?;
        file.write_all(bytes)?;
        let micros = self.next_generation(Self::generation(path));
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_micros(micros))?;
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::rename(&staged, path)?;
        file.metadata()
    }

    /// The time, or a later one if it was given already.
    fn next_generation(&self, present: u64) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let micros = since.unwrap_or(Duration::ZERO).as_micros();
        let now = u64::try_from(micros).unwrap_or(u64::MAX);
        let next = |last: u64| now.max(last + 1).max(present + 1);
        let last =
            self.last_generation
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        last.map_or(now, next)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_write_has_a_later_generation() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(STAGING)).unwrap();
        let (objects, path) = (Objects::new(root.path()), root.path().join("bucket/a/b"));
        assert_eq!(Objects::generation(&path), 0);
        let mut generations = BTreeSet::new();
        for number in 0..100_u8 {
            let metadata = objects.write(&path, &[number]).unwrap();
            assert_eq!(generation(&metadata), Objects::generation(&path));
            assert!(generations.last() < Some(&generation(&metadata)));
            generations.insert(generation(&metadata));
        }
        // Another server on the same directory, with a clock that is behind.
        let later = Duration::from_hours(1);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() + later).unwrap();
        let before = Objects::generation(&path);
        Objects::new(root.path()).write(&path, b"new").unwrap();
        assert!(Objects::generation(&path) > before);
        assert_eq!(std::fs::read_dir(root.path().join(STAGING)).unwrap().count(), 0);
    }
}
