//! Free room on the disk of a local store.

use std::path::Path;

use crate::store::Store;

/// Free room of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FreeRoom {
    /// Identifies the disk on this machine: places of one disk share its room.
    pub disk: u64,
    /// Bytes that a process without privileges may still write.
    pub free_bytes: u64,
}

impl Store {
    /// Looks at the disk of a local store, which need not exist yet. `None` for other stores, and
    /// where the system does not say.
    pub fn free_room(&self) -> Option<FreeRoom> {
        let root = self.local_root()?;
        let there = root.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        // A relative path ends with an empty one.
        let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        room_at(there)
    }
}

#[cfg(unix)]
fn room_at(path: &Path) -> Option<FreeRoom> {
    let (disk, room) = (rustix::fs::stat(path).ok()?.st_dev, rustix::fs::statvfs(path).ok()?);
    Some(FreeRoom { disk, free_bytes: room.f_bavail.saturating_mul(room.f_frsize) })
}

#[cfg(not(unix))]
fn room_at(_path: &Path) -> Option<FreeRoom> {
    None
}

#[cfg(test)]
mod tests {
    use crate::Stores;

    #[test]
    fn places_of_one_disk_say_the_same_and_need_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| {
            let path = folder.path().join(path).display().to_string();
            Stores::default().open(&path).unwrap().free_room().unwrap()
        };
        assert_eq!(at("").disk, at("not/there/yet.zarr").disk);
        assert!(at("not/there").free_bytes > 0);
        assert_eq!(Stores::default().open("memory://room").unwrap().free_room(), None);
    }
}
