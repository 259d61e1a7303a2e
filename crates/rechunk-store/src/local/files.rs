//! Local files as `object_store` has them, but strict about what a file is.

use std::fs::{File, Metadata, OpenOptions};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, io};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    RenameOptions, Result,
};

use super::habits::Habits;
use crate::error::NotAFile;
use crate::length::wide;

/// Files removed at once.
const DELETED_AT_ONCE: usize = 10;

/// [`LocalFileSystem`], except that reading a directory, a dangling link or a pipe is an error.
/// There it is "missing" (and a damaged array would read as fill values), and a pipe waits for
/// ever. New files are made without a name where that can be.
#[derive(Debug, Clone)]
pub(crate) struct LocalFiles {
    files: Arc<LocalFileSystem>,
    /// The directory that locations are in, as `files` writes it.
    root: Arc<FilePath>,
    pub(crate) habits: Arc<Habits>,
}

impl LocalFiles {
    pub(crate) fn new(files: LocalFileSystem) -> Result<Self> {
        // It does not say its root: that is what a name is in.
        let mut root = files.path_to_filesystem(&Path::from("file"))?;
        root.pop();
        Ok(Self { files: Arc::new(files), root: root.into(), habits: Arc::default() })
    }

    async fn remove(self, location: Path) -> Result<Path> {
        let path = self.path(&location)?;
        let removed = self.habits.moments.run(0, move || std::fs::remove_file(path)).await;
        match removed.flatten() {
            Ok(()) => Ok(location),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::NotFound { path: location.to_string(), source: Box::new(error) })
            }
            Err(error) => Err(generic(error)),
        }
    }

    /// The file of `location`. [`LocalFileSystem`] makes a URL of it, and a path of that, which
    /// counts where files are small. Where that changes nothing, the name is added to the root
    /// instead.
    fn path(&self, location: &Path) -> Result<PathBuf> {
        match plain_name(location) {
            Some(name) => Ok(self.root.join(name)),
            None => self.files.path_to_filesystem(location),
        }
    }
}

/// The name of the file of `location` below the root, where that is the location itself.
fn plain_name(location: &Path) -> Option<&str> {
    let name = location.as_ref();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    (cfg!(unix) && !name.is_empty() && name.bytes().all(is_plain)).then_some(name)
}

impl fmt::Display for LocalFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for LocalFiles {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let path = self.path(location)?;
        let location = location.clone();
        let (root, habits) = (Arc::clone(&self.root), Arc::clone(&self.habits));
        let get = move || {
            let name = plain_name(&location);
            let held = name.and_then(|name| habits.directory.open(&root, name));
            get(held, path, location, &options)
        };
        self.habits.moments.run(0, get).await.map_err(generic)?
    }

    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        if matches!(options.mode, PutMode::Overwrite) && self.habits.unnamed.may_be() {
            let (path, habits) = (self.path(location)?, Arc::clone(&self.habits));
            let bytes = payload.clone();
            let length = wide(bytes.content_length());
            let mut way = self.habits.writing.choose(length, 1, false);
            way.ready().await;
            let put = move || habits.unnamed.put(&path, &bytes, way);
            if self.habits.moments.run(length, put).await.map_err(generic)? {
                let extensions = object_store::Extensions::default();
                return Ok(PutResult { e_tag: None, version: None, extensions });
            }
        }
        self.files.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.files.put_multipart_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let files = self.clone();
        let removed = locations.map(move |location| {
            let files = files.clone();
            async { files.remove(location?).await }
        });
        removed.buffered(DELETED_AT_ONCE).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.files.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.files.rename_opts(from, to, options).await
    }
}

fn generic(source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Generic { store: "LocalFiles", source: Box::new(source) }
}

/// Opens and describes a file in one go, if it is not open.
fn get(
    file: Option<File>,
    path: PathBuf,
    location: Path,
    options: &GetOptions,
) -> Result<GetResult> {
    let not_found_or = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound
            if path.symlink_metadata().is_ok_and(|there| there.is_symlink()) =>
        {
            generic(NotAFile { what: "a symbolic link to something that is missing" })
        }
        io::ErrorKind::NotFound => {
            Error::NotFound { path: location.to_string(), source: Box::new(error) }
        }
        _ if is_socket(&path) => generic(NotAFile { what: "a socket" }),
        _ => generic(error),
    };
    let described = |file: File| file.metadata().map(|metadata| (file, metadata));
    let opened = file.map_or_else(|| open(&path), described);
    let (file, metadata) = opened.map_err(not_found_or)?;
    if let Some(what) = special_kind(&metadata) {
        return Err(generic(NotAFile { what }));
    }
    let modified = modified(&metadata).map_err(generic)?;
    let meta = ObjectMeta {
        location,
        last_modified: modified.into(),
        size: metadata.len(),
        e_tag: None,
        version: None,
    };
    options.check_preconditions(&meta)?;
    let range = match &options.range {
        Some(range) => range.as_range(meta.size).map_err(generic)?,
        None => 0..meta.size,
    };
    Ok(GetResult {
        payload: GetResultPayload::File(file, path),
        meta,
        range,
        attributes: object_store::Attributes::default(),
        extensions: object_store::Extensions::default(),
    })
}

/// Opens for reading without waiting, whatever it is, and says what it is. The kind is asked of
/// the open file, so that nothing can be put in its place between the two.
pub(crate) fn open(path: &FilePath) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true);
    set_nonblocking(&mut options);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Makes opening a pipe return at once; for a file it changes nothing.
#[cfg(unix)]
pub(crate) fn set_nonblocking(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
}

#[cfg(not(unix))]
pub(crate) fn set_nonblocking(_: &mut OpenOptions) {}

/// Whether there is a socket, which does not let itself be opened.
#[cfg(unix)]
fn is_socket(path: &FilePath) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_socket(_: &FilePath) -> bool {
    false
}

/// Kind of the thing that `metadata` describes, unless it is a file.
pub(crate) fn special_kind(metadata: &Metadata) -> Option<&'static str> {
    if metadata.is_file() {
        None
    } else if metadata.is_dir() {
        Some("a directory")
    } else {
        Some("a pipe or a device")
    }
}

/// Whether both are of one file or directory.
#[cfg(unix)]
pub(crate) fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// The standard library does not say it; what is open cannot be removed there.
#[cfg(not(unix))]
pub(crate) fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Time when a file was last written, put into the years 1970 to 9999. File systems have any, of
/// which those beyond the year 262142 cannot be said, and panic where they are converted.
pub(crate) fn modified(metadata: &Metadata) -> io::Result<SystemTime> {
    Ok(within_reason(metadata.modified()?))
}

fn within_reason(time: SystemTime) -> SystemTime {
    /// The end of the year 9999.
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    time.clamp(UNIX_EPOCH, UNIX_EPOCH.checked_add(LAST).unwrap_or(UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_path_is_what_the_file_system_makes_of_it(name in "[a-c0-9._/# %?:\\\\é-]{0,9}") {
            let folder = tempfile::tempdir().unwrap();
            let below = folder.path().join("a b%20é");
            std::fs::create_dir(&below).unwrap();
            let files = LocalFileSystem::new_with_prefix(&below).unwrap();
            let files = LocalFiles::new(files).unwrap();
            let Ok(location) = Path::parse(&name) else { return Ok(()) };
            let bytes = |path: Result<PathBuf>| path.ok().map(PathBuf::into_os_string);
            let expected = bytes(files.files.path_to_filesystem(&location));
            prop_assert_eq!(bytes(files.path(&location)), expected);
        }
    }

    #[test]
    fn no_time_of_a_file_is_beyond_what_can_be_said() {
        let now = SystemTime::now();
        assert_eq!(within_reason(now), now);
        let late = UNIX_EPOCH + Duration::from_hours(2_500_000_000);
        let early = UNIX_EPOCH - Duration::from_secs(1);
        let file = std::env::current_exe().unwrap();
        let mut meta = ObjectMeta {
            location: Path::from("a"),
            last_modified: modified(&file.metadata().unwrap()).unwrap().into(),
            size: 0,
            e_tag: None,
            version: None,
        };
        for (time, seconds) in [(late, 253_402_300_799), (early, 0)] {
            meta.last_modified = within_reason(time).into();
            assert_eq!(meta.last_modified.timestamp(), seconds);
        }
    }
}
