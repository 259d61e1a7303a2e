//! A local file that is written in parts before it gets its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file_runs::{OpenSlot, OpenSlots, write_all_at};
use super::habits::Habits;
use crate::key;

/// Most of them that are open from their first part to their last, in the whole process. Any number
/// can be under way.
const OPEN_MAX: usize = 64;
static OPEN: OpenSlots = OpenSlots::new(OPEN_MAX);

/// The file that parts are written to, and its name to be.
#[derive(Debug)]
pub(crate) struct StagedFile {
    path: PathBuf,
    /// `None` before the first part.
    made: Mutex<Option<Made>>,
    habits: Arc<Habits>,
}

#[derive(Debug, Clone)]
enum Made {
    /// Without a name, and open until it has one.
    Unnamed(Arc<(File, OpenSlot)>),
    /// Beside its name to be, and opened for every part.
    Beside,
}

impl StagedFile {
    /// Of the file at `path`. Nothing is made yet.
    pub(crate) fn of(path: PathBuf, habits: &Arc<Habits>) -> Self {
        Self { path, made: Mutex::default(), habits: Arc::clone(habits) }
    }

    /// Through the cache: one job passes on all parts of a shard, and is not to be left for each.
    /// The file is made once: if somebody removes it meanwhile, parts of it are lost.
    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.made()? {
            Made::Unnamed(open) => write_all_at(&open.0, bytes, offset),
            Made::Beside => write_all_at(&self.open_beside()?, bytes, offset),
        }
    }

    /// Gives it its name, in place of any file there, if it has that many bytes.
    pub(crate) fn finish(&self, bytes: u64, syncs: bool) -> io::Result<()> {
        // A part that comes later finds nothing.
        if let Some(Made::Unnamed(open)) = self.lock().replace(Made::Beside) {
            check(&open.0, bytes, syncs)?;
            if matches!(self.habits.unnamed.name(&open.0, &self.path), Ok(true)) {
                return Ok(());
            }
            self.copy_beside(&open.0)?;
        }
        check(&self.open_beside()?, bytes, syncs)?;
        fs::rename(self.beside(), &self.path)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file, which is made if it is not yet.
    fn made(&self) -> io::Result<Made> {
        let mut made = self.lock();
        let made = match &*made {
            Some(made) => made,
            None => made.insert(self.make()?),
        };
        Ok(made.clone())
    }

    fn make(&self) -> io::Result<Made> {
        let unnamed = &self.habits.unnamed;
        if unnamed.may_be()
            && let Some(slot) = OPEN.take()
            // Whatever is wrong, the other way says it.
            && let Ok(Some(file)) = unnamed.make(&self.path)
        {
            return Ok(Made::Unnamed(Arc::new((file, slot))));
        }
        self.make_beside()?;
        Ok(Made::Beside)
    }

    /// Its name until it is whole, if it has one.
    fn beside(&self) -> PathBuf {
        key::staged_here(&self.path)
    }

    /// In place of what a killed run has left under this name.
    fn make_beside(&self) -> io::Result<File> {
        let beside = self.beside();
        match File::create(&beside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(parent) = beside.parent() {
                    fs::create_dir_all(parent)?;
                }
                File::create(&beside)
            }
            file => file,
        }
    }

    fn open_beside(&self) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.beside())
    }

    /// Copies a file without a name that cannot be given one.
    fn copy_beside(&self, mut file: &File) -> io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut file, &mut self.make_beside()?).map(drop)
    }
}

/// Whether all of it is there.
fn check(file: &File, bytes: u64, syncs: bool) -> io::Result<()> {
    let found = file.metadata()?.len();
    if found != bytes {
        return Err(io::Error::other(format!("{found} of {bytes} bytes were written")));
    }
    if syncs { file.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: &[u8] = b"0123456789";

    /// In parts, the last one first.
    fn write(staged: &StagedFile) {
        staged.write_at(4, &BYTES[4..]).unwrap();
        staged.write_at(0, &BYTES[..4]).unwrap();
    }

    fn names(folder: &std::path::Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn nothing_is_there_before_it_is_whole_whichever_way_it_goes() {
        for is_possible in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("c/0");
            let habits =
                if is_possible { Habits::default() } else { Habits::without_unnamed_files() };
            let habits = Arc::new(habits);
            for _ in ["made", "replaced"] {
                let staged = StagedFile::of(path.clone(), &habits);
                write(&staged);
                assert!(staged.finish(9, false).is_err());
                let staged = StagedFile::of(path.clone(), &habits);
                write(&staged);
                staged.finish(10, true).unwrap();
                assert_eq!(fs::read(&path).unwrap(), BYTES);
                fs::write(&path, "other").unwrap();
            }
            let left = names(&folder.path().join("c"));
            assert!(left.iter().all(|name| name == "0" || name.starts_with("0#")), "{left:?}");
            assert!(left.len() == 1 || !is_possible || !habits.unnamed.may_be(), "{left:?}");
        }
    }

    #[test]
    fn one_that_cannot_be_given_its_name_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0");
        let staged = StagedFile::of(path.clone(), &Arc::default());
        write(&staged);
        if let Made::Unnamed(open) = staged.made().unwrap() {
            staged.copy_beside(&open.0).unwrap();
            assert_eq!(fs::read(staged.beside()).unwrap(), BYTES);
        }
        staged.finish(10, false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), BYTES);
    }

    #[test]
    fn any_number_can_be_under_way() {
        let folder = tempfile::tempdir().unwrap();
        let habits = Arc::default();
        let of = |index: usize| StagedFile::of(folder.path().join(index.to_string()), &habits);
        let staged: Vec<_> = (0..2 * OPEN_MAX).map(of).collect();
        for file in &staged {
            write(file);
        }
        // Others may be open in other tests.
        assert!(names(folder.path()).len() >= OPEN_MAX);
        for file in staged {
            file.finish(10, false).unwrap();
        }
        for index in 0..2 * OPEN_MAX {
            assert_eq!(fs::read(folder.path().join(index.to_string())).unwrap(), BYTES);
        }
    }
}
