//! The file of a program before it is read: a regular one, of the length that it has to have.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rechunk_grid::{DataType, format_shape};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Elements that the file of a program has to hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub data_type: DataType,
    pub shape: &'a [u64],
    /// Shape that the output would have with its pads, or without them, whichever it should not.
    pub other_shape: &'a [u64],
    /// Name of the other shape in messages.
    pub other: &'static str,
}

impl Expected<'_> {
    /// Says that a file has other elements.
    pub(crate) fn mismatch(&self, shape: &[u64]) -> String {
        let (has, should) = (format_shape(shape), format_shape(self.shape));
        if shape == self.other_shape {
            let other = self.other;
            return format!("it has {has} elements, the box {other}; it should have {should}");
        }
        format!("it has {has} elements, it should have {should}")
    }
}

/// Opens an output. Never waits, and never follows a link.
pub(crate) fn open(path: &Path) -> Result<File, String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Err(missing(path)),
        Err(Errno::LOOP | Errno::MLINK) => return Err("it is a symbolic link, no file".to_owned()),
        Err(error) => return Err(format!("{}: {}", path.display(), io::Error::from(error))),
    };
    let is_file = file.metadata().map_err(|error| unreadable(&error))?.is_file();
    if is_file { Ok(file) } else { Err(format!("{} is no regular file", path.display())) }
}

fn missing(path: &Path) -> String {
    match path.parent() {
        Some(directory) if !directory.is_dir() => {
            "the directory of the task is gone, and with it the output".to_owned()
        }
        _ => format!("there is no {}", path.display()),
    }
}

/// Says that a file could not be read.
pub(crate) fn unreadable(error: &io::Error) -> String {
    format!("it cannot be read: {error}")
}

/// Reads the `bytes` that have to follow what was read, and refuses a file with fewer or more.
///
/// `header` is the number of bytes before.
pub(crate) fn read_rest(
    mut file: impl Read,
    length: u64,
    header: usize,
    bytes: usize,
) -> Result<Vec<u8>, String> {
    let expected = header.checked_add(bytes).and_then(|bytes| u64::try_from(bytes).ok());
    if expected != Some(length) {
        let expected = expected.unwrap_or(u64::MAX);
        let partial = if length < expected { "; it is not whole" } else { "" };
        return Err(format!("it has {length} bytes, it should have {expected}{partial}"));
    }
    let mut elements = vec![0; bytes];
    file.read_exact(&mut elements).map_err(|error| unreadable(&error))?;
    Ok(elements)
}

/// Returns the length of a file, bytes.
pub(crate) fn length(file: &File) -> Result<u64, String> {
    file.metadata().map(|metadata| metadata.len()).map_err(|error| unreadable(&error))
}
