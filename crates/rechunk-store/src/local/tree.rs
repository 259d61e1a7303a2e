//! Local directories as a whole: removing, renaming, making durable. All of it blocks.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::key::{self, staging_target};

/// Removes `path` and everything below it. Nothing there, or no directory there, is fine: then
/// nothing is below it. A symbolic link is not followed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        },
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the directory at `path` if there is nothing in it. One that is not empty stays, and none
/// is fine.
pub(crate) fn remove_empty(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::DirectoryNotEmpty
                    | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}

/// Moves a directory to a name that is free (or an empty directory) and, if it `fsyncs`, makes the
/// move durable.
pub(crate) fn rename(from: &Path, to: &Path, fsyncs: bool) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::rename(from, to)?;
    for parent in [to.parent(), from.parent()].into_iter().flatten().filter(|_| fsyncs) {
        sync_directory(parent)?;
    }
    Ok(())
}

/// Makes a directory and those above it that are missing; if it `fsyncs`, their names are durable
/// then. (To sync the file system would wait for whatever else was written to it.)
pub(crate) fn create_directories(directory: &Path, fsyncs: bool) -> io::Result<()> {
    let missing = directory.ancestors().take_while(|at| !at.exists()).count();
    fs::create_dir_all(directory)?;
    for above in directory.ancestors().skip(1).take(missing).filter(|_| fsyncs) {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        match sync_directory(above) {
            // It may be written and not read; what was made in it can be.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => sync(directory)?,
            result => result?,
        }
    }
    Ok(())
}

/// Writes a whole file so that there is all of it under its name or what was there before. If it
/// `fsyncs`, that holds after a power cut too: its bytes are durable before it gets the name, and
/// the name when this returns.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], fsyncs: bool) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    create_directories(parent, fsyncs)?;
    let staged = key::staged(path);
    let mut file = File::create(&staged)?;
    file.write_all(bytes)?;
    if fsyncs {
        file.sync_all()?;
    }
    fs::rename(&staged, path)?;
    if fsyncs { sync_directory(parent) } else { Ok(()) }
}

/// Deletes what killed writes have left below `root`: files `NAME#NUMBER` where `NAME` could be
/// one that we write. Returns how many.
pub(crate) fn remove_staging(root: &Path) -> io::Result<u64> {
    let mut removed = 0;
    each_leftover(root, |path| {
        removed += 1;
        fs::remove_file(path)
    })?;
    Ok(removed)
}

/// Counts the files that killed writes have left below `root`; returns the key of the first in
/// order, too.
pub(crate) fn count_staging(root: &Path) -> io::Result<(u64, Option<String>)> {
    let (mut count, mut first) = (0, None);
    each_leftover(root, |path| {
        count += 1;
        let key = path.strip_prefix(root).unwrap_or(path).display().to_string();
        if first.as_ref().is_none_or(|first| key < *first) {
            first = Some(key);
        }
        Ok(())
    })?;
    Ok((count, first))
}

fn each_leftover(root: &Path, mut visit: impl FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?; // of the entry itself: links are not followed
            if kind.is_dir() {
                directories.push(entry.path());
            } else if kind.is_file() && entry.file_name().to_str().is_some_and(is_leftover) {
                visit(&entry.path())?;
            }
        }
    }
    Ok(())
}

/// Calls `visit` with the path below `root` of everything down to `depth` names, until it breaks.
/// Names are joined by `/`; directories, and links to some, have a `/` at the end. What is no
/// Unicode is no key. What cannot be looked at is an error, but links to nothing.
pub(crate) fn each_name(
    root: &Path,
    depth: usize,
    visit: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut open = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => vec![(entries?, String::new())],
    };
    while let Some((entries, below)) = open.last_mut() {
        let Some(entry) = entries.next() else {
            open.pop();
            continue;
        };
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let mut path = format!("{below}{name}");
        let kind = entry.file_type()?;
        let is_directory = kind.is_dir()
            || kind.is_symlink()
                && match fs::metadata(entry.path()) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                    metadata => metadata?.is_dir(),
                };
        if is_directory {
            path.push('/');
        }
        if visit(&path).is_break() {
            return Ok(());
        }
        if is_directory && open.len() < depth {
            open.push((fs::read_dir(entry.path())?, path));
        }
    }
    Ok(())
}

/// The first directory found, `root` or one at most `depth` names below it, that was changed since
/// then.
pub(crate) fn changed_directory(
    root: &Path,
    depth: usize,
    since: SystemTime,
) -> io::Result<Option<PathBuf>> {
    let now = SystemTime::now();
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((directory, at)) = open.pop() {
        let changed = match fs::metadata(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found?.modified()?,
        };
        if changed > since && changed <= now {
            return Ok(Some(directory));
        }
        if at == depth {
            continue;
        }
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push((entry.path(), at + 1));
            }
        }
    }
    Ok(None)
}

/// Whether a file name is that of an unfinished write of ours. Chunk keys and metadata names have
/// only these characters; somebody's `Copy of notes#2` is left alone.
fn is_leftover(name: &str) -> bool {
    staging_target(name).is_some_and(|target| {
        !target.is_empty()
            && target.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    })
}

/// Makes everything written to the file system of `root` durable. If there is no `root`, nothing
/// was written.
pub(crate) fn sync(root: &Path) -> io::Result<()> {
    match File::open(root) {
        Ok(directory) => sync_file_system(&directory),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// One call for any number of files. It also reports errors of earlier background writes.
#[cfg(target_os = "linux")]
fn sync_file_system(directory: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(directory)?)
}

/// Elsewhere every put is made durable by itself (see [`PUTS_SYNC`]), which leaves nothing but
/// the directory.
#[cfg(all(unix, not(target_os = "linux")))]
fn sync_file_system(directory: &File) -> io::Result<()> {
    directory.sync_all()
}

#[cfg(not(unix))]
fn sync_file_system(_: &File) -> io::Result<()> {
    Ok(())
}

/// Whether each put has to be durable by itself, for want of a call that syncs them all.
pub(crate) const PUTS_SYNC: bool = !cfg!(target_os = "linux");

/// Makes the name of a file durable, and those of the directories that it is in below `root`.
pub(crate) fn sync_names(path: &Path, root: &Path) -> io::Result<()> {
    for directory in path.ancestors().skip(1) {
        sync_directory(directory)?;
        if directory == root {
            break;
        }
    }
    Ok(())
}

/// Makes the names in a directory durable, where a directory can be synced.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
