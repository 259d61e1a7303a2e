//! Locations and keys.

use std::path::{Component, Path};
use std::sync::OnceLock;

use rechunk_store::{Store, is_remote};
use tempfile::TempDir;

use super::split;

/// A location, and behind a 0 byte a key in it. Nothing is created, and no key leads out.
pub(crate) fn target(data: &[u8]) -> bool {
    let (location, key) = split(data);
    let Ok(location) = std::str::from_utf8(location) else { return false };
    // Reads all of it, and touches nothing: stores that are reached over a network are not opened.
    let is_remote = is_remote(location);
    let Some(folder) = folder() else { return false };
    // Any path below a place of ours: others would be this machine's.
    let below = format!("{}/{location}", folder.display());
    let url = format!("file://{below}");
    let opened =
        [Store::open(&below), Store::open(&url), Store::open(&format!("memory://{location}"))];
    assert!(folder.read_dir().is_ok_and(|mut entries| entries.next().is_none()), "{location:?}");
    let Some(key) = key.and_then(|key| std::str::from_utf8(key).ok()) else { return is_remote };
    let mut is_accepted = false;
    for store in opened.into_iter().flatten() {
        let Ok(child) = store.child(key) else { continue };
        is_accepted = true;
        assert_eq!(child.local_root().is_some(), store.local_root().is_some());
        if let (Some(root), Some(above)) = (child.local_root(), store.local_root()) {
            assert!(root.starts_with(above), "{} leads out of {}", root.display(), above.display());
            let names = root.strip_prefix(above).map(Path::components);
            let climbs = |part: Component<'_>| part == Component::ParentDir;
            assert!(names.is_ok_and(|mut names| !names.any(climbs)), "{}", root.display());
        }
    }
    is_accepted
}

/// An empty directory.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<TempDir>> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().ok()).as_ref().map(TempDir::path)
}
