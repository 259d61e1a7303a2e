//! A look at a place of the directory that is served, without a way out of it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::time::SystemTime;

use cap_std::fs::{Dir, ReadDir};

/// A file that is open.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub file: File,
    pub bytes: u64,
    /// When it was last written, if the system says so.
    pub modified: Option<SystemTime>,
    /// A number that another file of its name does not have; 0 where there is none.
    pub number: u64,
}

/// A thing at a place.
#[derive(Debug)]
pub(super) enum Found {
    File(OpenFile),
    Directory(ReadDir),
    Nothing,
    /// The system does not allow it, or a link leads out of the directory that is served.
    Refused,
}

impl Found {
    /// Looks at `path`, which is relative.
    pub(super) fn at(directory: &Dir, path: &str) -> io::Result<Self> {
        match Self::look(directory, path) {
            Err(error) => match error.kind() {
                ErrorKind::NotFound
                | ErrorKind::NotADirectory
                | ErrorKind::InvalidFilename
                | ErrorKind::InvalidInput => Ok(Self::Nothing),
                ErrorKind::PermissionDenied => Ok(Self::Refused),
                _ if is_loop(&error) => Ok(Self::Nothing),
                _ => Err(error),
            },
            found => found,
        }
    }

    fn look(directory: &Dir, path: &str) -> io::Result<Self> {
        // Opening what is no file may wait for ever.
        let metadata = directory.metadata(path)?;
        if metadata.is_dir() {
            return directory.read_dir(path).map(Self::Directory);
        }
        if !metadata.is_file() {
            return Ok(Self::Nothing);
        }
        let file = directory.open(path)?.into_std();
        // Of what is open now: it may have been replaced.
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(Self::Nothing);
        }
        let (bytes, modified) = (metadata.len(), metadata.modified().ok());
        Ok(Self::File(OpenFile { file, bytes, modified, number: number(&metadata) }))
    }
}

/// Links that lead to each other.
fn is_loop(error: &io::Error) -> bool {
    cfg!(unix) && error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(unix)]
fn number(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_metadata: &std::fs::Metadata) -> u64 {
    0
}
