//! Real paths of locations: one place has one of them, by whatever name it is given.

use std::path::PathBuf;

use rechunk_store::{Store, is_remote};

/// The real path of a local location, links resolved as far as it exists, or of the file it is
/// in; `None` for URLs.
pub(crate) fn canonical(location: &str) -> Option<PathBuf> {
    if is_remote(location) {
        return None;
    }
    let store = Store::open(location).ok()?;
    let root = store.local_root().or(store.archive())?.to_path_buf();
    let absolute = std::path::absolute(&root).ok()?;
    let mut missing = Vec::new();
    let mut existing = absolute.as_path();
    loop {
        if let Ok(real) = existing.canonicalize() {
            return Some(missing.into_iter().rev().fold(real, |path, name| path.join(name)));
        }
        missing.push(existing.file_name()?.to_owned());
        existing = existing.parent()?;
    }
}
