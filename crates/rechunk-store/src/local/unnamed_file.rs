//! Files that have no name before they are whole. Where the system has them, a put is half of the
//! work that it is to make a file under another name and rename it, and a process that is killed
//! leaves nothing of a new file behind.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use object_store::PutPayload;

use super::writing::Way;

/// Whether a file system has files without names: it is taken to, until it says otherwise.
#[derive(Debug)]
pub(crate) struct UnnamedFiles(AtomicBool);

impl Default for UnnamedFiles {
    fn default() -> Self {
        Self(AtomicBool::new(cfg!(target_os = "linux")))
    }
}

impl UnnamedFiles {
    /// False where it is known that there are none: then nothing need be tried.
    pub(crate) fn may_be(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes or replaces the file at `path`, with the directories above it. False if that cannot be
    /// done here: nothing is there that was not before, and another way says what is wrong.
    #[cfg(target_os = "linux")]
    pub(crate) fn put(&self, path: &Path, payload: &PutPayload, way: Way) -> bool {
        let put = || -> io::Result<bool> {
            let Some(file) = self.make(path)? else { return Ok(false) };
            write(&file, payload, way)?;
            self.name(&file, path)
        };
        put().unwrap_or(false)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn put(&self, _: &Path, _: &PutPayload, _: Way) -> bool {
        false
    }

    /// A file where one can be given the name `path`, with the directories above it; `None` if
    /// there are no such files here.
    #[cfg(target_os = "linux")]
    pub(crate) fn make(&self, path: &Path) -> io::Result<Option<File>> {
        use rustix::fs::{Mode, OFlags};
        use rustix::io::Errno;

        let Some(parent) = path.parent() else { return Ok(None) };
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let open = || rustix::fs::open(parent, flags, Mode::from_raw_mode(0o666));
        let opened = match open() {
            Err(Errno::NOENT) => {
                std::fs::create_dir_all(parent)?;
                open()
            }
            opened => opened,
        };
        match opened {
            // Systems and file systems that do not know them.
            Err(Errno::ISDIR | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => {
                self.0.store(false, Ordering::Relaxed);
                Ok(None)
            }
            opened => Ok(Some(File::from(opened?))),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn make(&self, _: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Gives one the name `path`, in place of any file there. False if that cannot be done here.
    #[cfg(target_os = "linux")]
    pub(crate) fn name(&self, file: &File, path: &Path) -> io::Result<bool> {
        use std::os::fd::AsRawFd;

        use rustix::fs::{AtFlags, CWD};
        use rustix::io::Errno;

        let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
        match rustix::fs::linkat(CWD, &unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => replace(&unnamed, path),
            Err(Errno::NOSPC | Errno::DQUOT | Errno::NAMETOOLONG) => Ok(false),
            Err(_) => {
                self.0.store(false, Ordering::Relaxed);
                Ok(false)
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn name(&self, _: &File, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    #[cfg(test)]
    pub(crate) fn that_may_be(may_be: bool) -> Self {
        Self(AtomicBool::new(may_be))
    }
}

/// Writes a new file.
#[cfg(target_os = "linux")]
fn write(mut file: &File, payload: &PutPayload, way: Way) -> io::Result<()> {
    use std::io::Write;

    use crate::length::wide;
    use crate::local::direct_file::DirectFile;

    let parts = payload.iter().map(AsRef::as_ref);
    way.write(
        wide(payload.content_length()),
        |bounce, block_bytes| DirectFile::of(file)?.write(0, parts, bounce, block_bytes),
        || payload.iter().try_for_each(|part| file.write_all(part)),
    )
}

/// Gives a file without a name that of another, by way of one that is swept if this is killed.
/// False if that cannot be done.
#[cfg(target_os = "linux")]
fn replace(unnamed: &str, path: &Path) -> io::Result<bool> {
    use rustix::fs::{AtFlags, CWD};

    let staged = crate::key::staged_here(path);
    rustix::fs::linkat(CWD, unnamed, CWD, &staged, AtFlags::SYMLINK_FOLLOW)?;
    if std::fs::rename(&staged, path).is_ok() {
        return Ok(true);
    }
    std::fs::remove_file(&staged)?;
    Ok(false)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn files_are_made_and_replaced() {
        let (folder, files) = (tempfile::tempdir().unwrap(), UnnamedFiles::default());
        let put = |path: &Path, payload: &PutPayload| files.put(path, payload, Way::Small);
        let path = folder.path().join("c/0/1");
        let parts: PutPayload =
            [bytes::Bytes::from("01"), bytes::Bytes::from("23")].into_iter().collect();
        if !put(&path, &parts) {
            return assert!(!path.exists()); // a file system that has none
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"0123");
        assert!(put(&path, &PutPayload::from_static(b"other")));
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
        // Below a file there can be none, nor in place of a directory; that is for the other way to
        // say.
        assert!(!put(&path.join("2"), &parts));
        assert!(!put(&folder.path().join("c/0"), &parts));
        assert_eq!(std::fs::read_dir(folder.path().join("c")).unwrap().count(), 1);
        assert!(put(&folder.path().join("c/0/2"), &parts));
        assert_eq!(std::fs::read_dir(folder.path().join("c/0")).unwrap().count(), 2);
    }

    #[tokio::test]
    async fn large_files_past_the_cache_are_the_same() {
        let (folder, files) = (tempfile::tempdir().unwrap(), UnnamedFiles::default());
        let bytes: Vec<u8> = (0..=250).cycle().take(3_000_001).collect();
        let parts: PutPayload =
            bytes.chunks(1_300_000).map(bytes::Bytes::copy_from_slice).collect();
        let path = folder.path().join("c/0");
        for _ in ["made", "replaced"] {
            let way = crate::local::writing::direct_way().await;
            assert!(matches!(way, Way::Direct(_)));
            if !files.put(&path, &parts, way) {
                return assert!(!path.exists()); // a file system that has no such files
            }
            assert!(std::fs::read(&path).unwrap() == bytes);
        }
    }
}
