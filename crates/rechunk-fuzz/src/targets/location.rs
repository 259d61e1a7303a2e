//! Locations and keys.

use rechunk_store::Store;

use super::split;

/// A location, and behind a 0 byte a key in it. Nothing is created, and no key leads out.
pub(crate) fn target(data: &[u8]) {
    let (location, key) = split(data);
    let Ok(location) = std::str::from_utf8(location) else { return };
    // Any path below a place that is not there: others would be this machine's.
    let below = format!("/nonexistent/{location}");
    let opened = [Store::open(&below), Store::open(&format!("memory://{location}"))];
    let Some(key) = key.and_then(|key| std::str::from_utf8(key).ok()) else { return };
    for store in opened.into_iter().flatten() {
        let Ok(child) = store.child(key) else { continue };
        assert_eq!(child.local_root().is_some(), store.local_root().is_some());
        if let (Some(root), Some(above)) = (child.local_root(), store.local_root()) {
            assert!(root.starts_with(above), "{} leads out of {}", root.display(), above.display());
            let climbs = |part: std::path::Component<'_>| part == std::path::Component::ParentDir;
            assert!(!root.components().any(climbs), "{}", root.display());
        }
    }
}
