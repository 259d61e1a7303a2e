//! Keys: `/`-separated names that stay inside the store.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Mutex, PoisonError};

use object_store::path::Path;

use crate::StoreError;

/// `prefix` and `relative` joined. `relative` may come from metadata: whatever it says, the
/// result is below `prefix`.
pub(crate) fn join(location: &str, prefix: &Path, relative: &str) -> Result<Path, StoreError> {
    let invalid = |reason: String| {
        let (location, key) = (location.to_owned(), relative.to_owned());
        StoreError::InvalidKey { location, key, reason }
    };
    check_names(relative).map_err(|reason| invalid(reason.to_owned()))?;
    let joined =
        if prefix.is_root() { relative.to_owned() } else { format!("{prefix}/{relative}") };
    Path::parse(&joined).map_err(|error| invalid(error.to_string()))
}

/// As [`join`], for the key of an object rather than a place that holds some.
pub(crate) fn join_object(location: &str, prefix: &Path, key: &str) -> Result<Path, StoreError> {
    let name = key.rsplit('/').next().unwrap_or(key);
    if staging_target(name).is_some() {
        let reason = "names that end in # and a number are those of unfinished writes".to_owned();
        return Err(StoreError::InvalidKey {
            location: location.to_owned(),
            key: key.to_owned(),
            reason,
        });
    }
    join(location, prefix, key)
}

/// Why `path` does not name something below a place, wherever that is: on a disk, in a bucket or
/// behind a URL. What is read from metadata is asked before a location is made of it.
pub fn check_below(path: &str) -> Result<(), &'static str> {
    /// As URLs may write them.
    const DOTS: [&str; 4] = ["%2e", ".%2e", "%2e.", "%2e%2e"];
    check_names(path)?;
    let leads_up = |name: &str| DOTS.iter().any(|dots| name.eq_ignore_ascii_case(dots));
    if path.split('/').any(leads_up) { Err(DOTTED) } else { Ok(()) }
}

const DOTTED: &str = "it holds a . or .. that could lead elsewhere";

fn check_names(relative: &str) -> Result<(), &'static str> {
    if relative.is_empty() {
        return Err("it is empty");
    }
    if relative.starts_with('/') {
        return Err("it begins with /");
    }
    for name in relative.split('/') {
        match name {
            "" => return Err("a name in it is empty"),
            "." | ".." => return Err(DOTTED),
            _ if name.chars().any(char::is_control) => return Err("it holds a control character"),
            _ => {}
        }
    }
    Ok(())
}

/// Path of an unfinished write to `path` by its only writer. If that is killed, it is swept by
/// [`Store::remove_staging`](crate::Store::remove_staging), or taken by the next write.
pub(crate) fn staged(path: &FilePath) -> PathBuf {
    numbered(path, 0)
}

/// Path of an unfinished write of this process to `path`. Another process may write the file too,
/// at this moment: its number is another one.
pub(crate) fn staged_here(path: &FilePath) -> PathBuf {
    /// The process, and its number. A child of `fork` has another one than its parent.
    static HERE: Mutex<Option<(u32, u32)>> = Mutex::new(None);
    let process = std::process::id();
    let mut here = HERE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = here.filter(|(of, _)| *of == process);
    let (_, number) = *here.insert(known.unwrap_or_else(|| {
        let bits = RandomState::new().hash_one(process);
        // `LocalFileSystem` counts from 1.
        (process, u32::try_from(bits >> 32).unwrap_or_default() | 1 << 31)
    }));
    numbered(path, number)
}

fn numbered(path: &FilePath, number: u32) -> PathBuf {
    let mut staged = path.as_os_str().to_owned();
    staged.push(format!("#{number}"));
    staged.into()
}

/// The name an unfinished write was meant for: `0` for `0#1`. Local puts are written to such a
/// name and then renamed; a killed process leaves it behind.
pub(crate) fn staging_target(name: &str) -> Option<&str> {
    // The same split as `LocalFileSystem` makes, so that what it refuses is what we refuse.
    let (target, suffix) = name.split_once('#')?;
    let is_number = !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(target)
}
