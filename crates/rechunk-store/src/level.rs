//! One level of a store: the directories and the files directly at a place, in one listing.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path as FilePath;
use std::time::{SystemTime, UNIX_EPOCH};

use object_store::path::Path;

use crate::key::{check_below, staging_target};
use crate::store::Kind;
use crate::{Store, StoreError};

const STAGED: &str = "names that end in # and a number are those of unfinished writes";
const LEADS_OUT: &str = "a symbolic link leads out of the directory that is read";
const LEADS_NOWHERE: &str = "it is a symbolic link to nothing";
const NO_TEXT: &str = "its name is no Unicode";
const NO_FILE: &str = "it is neither a file nor a directory";

/// Directories and files directly at a place.
#[derive(Debug, Default)]
pub struct Level {
    /// Names of what has objects below it; in a local store also of empty directories.
    pub directories: Vec<String>,
    /// The files, or objects.
    pub files: Vec<LevelFile>,
    /// Names of what cannot be read as an object, or must not be, and why.
    pub passed_over: Vec<(String, &'static str)>,
}

/// A file, or an object, directly at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelFile {
    /// Its name.
    pub name: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// When it was last written, milliseconds since 1970; 0 if that is not known.
    pub modified_milliseconds: i64,
}

impl Store {
    /// Lists what is directly at `prefix`. Markers of folders are no files. In a local store
    /// symbolic links are followed: to directories, and to files that are below the place of this
    /// store. Of references only the directories are known.
    pub async fn list_level(&self, prefix: &str) -> Result<Level, StoreError> {
        let place = self.child(prefix)?;
        if matches!(place.kind, Kind::References(_)) {
            let directories = self.list_directories(prefix).await?;
            return Ok(Level { directories, ..Level::default() });
        }
        let mut level = if let (Some(root), Some(directory)) =
            (self.local_root().map(FilePath::to_owned), place.local_root().map(FilePath::to_owned))
        {
            self.meter().count_list();
            self.blocking(prefix, "list", move || local_level(&root, &directory)).await?
        } else {
            self.remote_level(&place, prefix).await?
        };
        level.pass_over_odd_names();
        Ok(level)
    }

    async fn remote_level(&self, place: &Self, prefix: &str) -> Result<Level, StoreError> {
        self.require_list()?;
        self.meter().count_list();
        let listed = self.persist(prefix, || async {
            let listed = place.inner.list_with_delimiter(place.view.list_prefix()).await;
            listed.map_err(|error| self.view.failed(prefix, "list", error))
        });
        let listed = listed.await?;
        let mut level = Level::default();
        let directories = listed.common_prefixes.iter().filter_map(Path::filename);
        level.directories.extend(directories.map(ToOwned::to_owned));
        for object in &listed.objects {
            let Some(mut names) = object.location.prefix_match(place.view.prefix()) else {
                continue;
            };
            // The marker of this folder itself has no name below it.
            let (Some(name), None) = (names.next(), names.next()) else { continue };
            let name = name.as_ref().to_owned();
            if object.size == 0 && level.directories.contains(&name) {
                continue; // the marker of a folder
            }
            let modified_milliseconds = object.last_modified.timestamp_millis();
            level.files.push(LevelFile { name, bytes: object.size, modified_milliseconds });
        }
        Ok(level)
    }
}

impl Level {
    /// Moves what has a name that no key has to what is passed over.
    fn pass_over_odd_names(&mut self) {
        let passed_over = &mut self.passed_over;
        let mut is_key = |name: &String, is_file: bool| {
            let reason = match check_below(name) {
                Ok(()) if is_file && staging_target(name).is_some() => STAGED,
                Ok(()) => return true,
                Err(reason) => reason,
            };
            passed_over.push((name.clone(), reason));
            false
        };
        self.directories.retain(|name| is_key(name, false));
        self.files.retain(|file| is_key(&file.name, true));
    }
}

/// [`Store::list_level`] of a local directory below `root`.
fn local_level(root: &FilePath, directory: &FilePath) -> io::Result<Level> {
    let mut level = Level::default();
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(level),
        entries => entries?,
    };
    let root = root.canonicalize()?;
    let is_inside = directory.canonicalize()?.starts_with(&root);
    for entry in entries {
        level.add_entry(&entry?, &root, is_inside)?;
    }
    Ok(level)
}

impl Level {
    fn add_entry(&mut self, entry: &DirEntry, root: &FilePath, is_inside: bool) -> io::Result<()> {
        let name = match entry.file_name().into_string() {
            Ok(name) => name,
            Err(name) => {
                self.passed_over.push((name.to_string_lossy().into_owned(), NO_TEXT));
                return Ok(());
            }
        };
        let kind = entry.file_type()?;
        let found = match fs::metadata(entry.path()) {
            Ok(found) => found,
            Err(_) if kind.is_symlink() => {
                self.passed_over.push((name, LEADS_NOWHERE));
                return Ok(());
            }
            // It is gone since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if found.is_dir() {
            self.directories.push(name);
            return Ok(());
        }
        let is_below =
            is_inside && (!kind.is_symlink() || entry.path().canonicalize()?.starts_with(root));
        if !is_below {
            self.passed_over.push((name, LEADS_OUT));
        } else if found.is_file() {
            let modified_milliseconds = found.modified().map_or(0, milliseconds);
            self.files.push(LevelFile { name, bytes: found.len(), modified_milliseconds });
        } else {
            self.passed_over.push((name, NO_FILE));
        }
        Ok(())
    }
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    i64::try_from(since).unwrap_or(i64::MAX)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use object_store::memory::InMemory;
    use std::sync::Arc;

    use super::*;

    fn names(level: &Level) -> (Vec<&str>, Vec<&str>, Vec<(&str, &str)>) {
        let mut directories: Vec<&str> = level.directories.iter().map(String::as_str).collect();
        let mut files: Vec<&str> = level.files.iter().map(|file| file.name.as_str()).collect();
        let passed_over = level.passed_over.iter();
        let mut passed_over: Vec<(&str, &str)> =
            passed_over.map(|(name, why)| (name.as_str(), *why)).collect();
        directories.sort_unstable();
        files.sort_unstable();
        passed_over.sort_unstable();
        (directories, files, passed_over)
    }

    #[tokio::test]
    async fn links_are_followed_inside_and_named_where_they_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("group");
        fs::create_dir_all(root.join("below/empty")).unwrap();
        fs::create_dir_all(folder.path().join("beside")).unwrap();
        for file in ["group/a", "group/below/b", "beside/secret", "group/note#2", "group/.hidden"] {
            fs::write(folder.path().join(file), file).unwrap();
        }
        for (from, to) in [
            ("below/b", "inside"),
            ("../beside/secret", "outside"),
            ("../beside", "linked"),
            ("nothing", "broken"),
            ("below", "again"),
        ] {
            symlink(from, root.join(to)).unwrap();
        }
        let store = Store::open(root.to_str().unwrap()).unwrap();
        let level = store.list_level("").await.unwrap();
        let (directories, files, passed_over) = names(&level);
        assert_eq!(directories, ["again", "below", "linked"]);
        assert_eq!(files, [".hidden", "a", "inside"]);
        let expected = [("broken", LEADS_NOWHERE), ("note#2", STAGED), ("outside", LEADS_OUT)];
        assert_eq!(passed_over, expected);
        let below = store.list_level("linked").await.unwrap();
        assert_eq!(names(&below), (vec![], vec![], vec![("secret", LEADS_OUT)]));
        assert_eq!(names(&store.list_level("below").await.unwrap()).1, ["b"]);
        assert_eq!(names(&store.list_level("not/there").await.unwrap()), (vec![], vec![], vec![]));
    }

    #[tokio::test]
    async fn objects_are_listed_and_folder_markers_are_not() {
        let store = Store::from_object_store(Arc::new(InMemory::new()), "objects");
        for (key, bytes) in
            [("g/a", "12"), ("g/d", ""), ("g/d/e", "1"), ("g/d/f/h", "1"), ("g", "")]
        {
            store.put(key, vec![bytes.into()]).await.unwrap();
        }
        let level = store.child("g").unwrap().list_level("").await.unwrap();
        assert_eq!(names(&level), (vec!["d"], vec!["a"], vec![]));
        assert_eq!(level.files[0].bytes, 2);
        let below = store.list_level("g/d").await.unwrap();
        assert_eq!(names(&below), (vec!["f"], vec!["e"], vec![]));
    }
}
