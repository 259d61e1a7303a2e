//! A directory that stays open: names in it are looked up without the names of the directories
//! above. Looking those up takes a third of the time that opening a small file does.

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The directory of a store, if it is to be held. It is that one for as long, whatever its name
/// comes to mean.
#[derive(Debug, Default)]
pub(crate) struct HeldDirectory {
    is_wanted: AtomicBool,
    /// `None` inside: it cannot be opened, and names are looked up from the top.
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "the standard library opens no file in a directory")
    )]
    directory: OnceLock<Option<File>>,
}

impl HeldDirectory {
    /// It is to be held from the next name on that is looked up.
    pub(crate) fn hold(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Opens the file `name` of the directory, which is at `path`, for reading, without waiting, if
    /// that works. Opening it by all of its path tells why it does not.
    #[cfg(unix)]
    pub(crate) fn open(&self, path: &Path, name: &str) -> Option<File> {
        use rustix::fs::{Mode, OFlags, openat};
        if !self.is_wanted.load(Ordering::Relaxed) {
            return None;
        }
        let directory = self.directory.get_or_init(|| open_directory(path).ok()).as_ref()?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat(directory, name, flags, Mode::empty()).ok().map(File::from)
    }

    #[cfg(not(unix))]
    pub(crate) fn open(&self, _: &Path, _: &str) -> Option<File> {
        None
    }
}

#[cfg(unix)]
fn open_directory(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::DIRECTORY.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}
