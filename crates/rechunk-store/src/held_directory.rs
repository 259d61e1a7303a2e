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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use crate::Store;

    async fn get(store: &Store, key: &str) -> Option<Vec<u8>> {
        store.get(key, 100).await.ok().flatten().map(Vec::from)
    }

    #[tokio::test]
    async fn what_is_held_is_read_whatever_takes_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let [place, aside] = ["place", "aside"].map(|name| folder.path().join(name));
        fs::create_dir_all(place.join("c")).unwrap();
        fs::write(place.join("c/0"), [1]).unwrap();
        fs::write(place.join("a b"), [3]).unwrap();
        let store = Store::open(&place.to_string_lossy()).unwrap();
        assert_eq!(get(&store, "c/0").await, Some(vec![1]));
        store.hold_directory();
        let child = store.child("c").unwrap();
        for _ in 0..2 {
            assert_eq!(get(&store, "c/0").await, Some(vec![1]));
            assert_eq!(get(&child, "0").await, Some(vec![1]));
            assert_eq!(get(&store, "c/1").await, None);
            let error = store.get("c", 100).await.unwrap_err().to_string();
            assert!(error.contains("a directory"), "{error}");
            fs::rename(&place, &aside).unwrap();
            fs::create_dir_all(place.join("c")).unwrap();
            fs::write(place.join("c/0"), [2]).unwrap();
            assert_eq!(get(&store, "c/0").await, Some(vec![1]), "it has moved");
            fs::remove_dir_all(&place).unwrap();
            fs::rename(&aside, &place).unwrap();
        }
        assert_eq!(get(&store, "a b").await, Some(vec![3]), "a name that is no plain one");
        fs::remove_dir_all(&place).unwrap();
        fs::create_dir_all(place.join("c")).unwrap();
        fs::write(place.join("c/0"), [2]).unwrap();
        assert_eq!(get(&store, "c/0").await, Some(vec![2]), "it is gone: there is another one");
    }

    #[tokio::test]
    async fn what_cannot_be_held_is_read_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("later");
        let store = Store::open(&place.to_string_lossy()).unwrap();
        store.hold_directory();
        assert_eq!(get(&store, "0").await, None);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("0"), [1]).unwrap();
        assert_eq!(get(&store, "0").await, Some(vec![1]));
    }
}
