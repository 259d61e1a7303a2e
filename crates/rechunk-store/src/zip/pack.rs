//! Packs the objects of a directory into a new ZIP file, as they are.
//!
//! Metadata documents come first, breadth first, as RFC-9 of OME-Zarr has it: a reader finds the
//! whole hierarchy at the beginning of the file and of its directory. Entries are stored without
//! compression, one at a time in memory of a fixed size; only their names, and where they begin,
//! are held until the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::TryStreamExt;
use rawzip::{MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ZipArchive};
use tokio_util::sync::CancellationToken;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::index::{ENTRIES_MAX, NAMES_BYTES_MAX};
use crate::length::wide;
use crate::{Role, Store, StoreError};

/// Bytes that are moved at a time.
const WINDOW_BYTES: usize = 1 << 20;

/// Names of metadata documents of Zarr.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zmetadata", ".zgroup", ".zattrs", ".zarray"];

/// Size from which an entry has 64-bit sizes.
const LARGE_BYTES: u64 = u32::MAX as u64;

/// Options of packing a ZIP file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Packing {
    /// Comment of the file.
    pub comment: String,
    /// Read it back, and compare the checksum of every entry.
    pub verify: bool,
    /// Ends the packing early.
    pub cancel: CancellationToken,
}

/// Contents of a ZIP file that was packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packed {
    /// Number of its entries.
    pub entries: u64,
    /// Bytes of what is in them.
    pub content_bytes: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

impl Store {
    /// Most entries of a ZIP file that is packed, or read.
    pub const ZIP_ENTRIES_MAX: u64 = ENTRIES_MAX as u64;

    /// Packs all objects of this local store into the ZIP file `file`, in place of any file there.
    /// Under way it is `part`, on the same disk. A kill leaves `part` and the old file, or the new
    /// one. `may_replace` is asked before the new one takes its place.
    ///
    /// Nothing of it is counted in the meter but the listing.
    pub async fn pack_zip(
        &self,
        (part, file): (&FilePath, &FilePath),
        packing: &Packing,
        may_replace: impl AsyncFnOnce() -> Result<bool, StoreError>,
    ) -> Result<Option<Packed>, StoreError> {
        let root = self.require_local("be packed into a ZIP file")?;
        let failed = |error| self.view.failed_io("", "pack", error);
        let listed = self.with_role(Role::Control).list("").map_ok(|(key, _)| key);
        let mut keys: Vec<String> = Vec::new();
        let mut listed = std::pin::pin!(listed);
        let mut names_bytes = 0;
        while let Some(key) = listed.try_next().await? {
            names_bytes += key.len();
            keys.push(key);
            if keys.len() > ENTRIES_MAX || names_bytes > NAMES_BYTES_MAX {
                return Err(failed(too_many()));
            }
        }
        let work = {
            let (part, packing, fsyncs) = (part.to_owned(), packing.clone(), self.fsyncs());
            move || pack(&root, keys, &part, &packing, fsyncs)
        };
        let packed = self.blocking("", "pack", work).await?;
        if !may_replace().await? {
            return Ok(None);
        }
        let (part, file, fsyncs) = (part.to_owned(), file.to_owned(), self.fsyncs());
        self.blocking("", "pack", move || put_in_place(&part, &file, fsyncs)).await?;
        Ok(Some(packed))
    }
}

fn too_many() -> io::Error {
    let reason = format!(
        "it has more than {ENTRIES_MAX} objects, or {NAMES_BYTES_MAX} bytes of names: more than a \
         ZIP file is read with; have larger chunks, or shards"
    );
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

fn pack(
    root: &FilePath,
    mut keys: Vec<String>,
    part: &FilePath,
    packing: &Packing,
    fsyncs: bool,
) -> io::Result<Packed> {
    in_order(&mut keys);
    if let Some(folder) = part.parent() {
        fs::create_dir_all(folder)?;
    }
    let writer = BufWriter::with_capacity(WINDOW_BYTES, create(part)?);
    let mut zip = Zip::new(writer);
    let added = keys.iter().try_for_each(|key| {
        let mut object = File::open(root.join(key))?;
        let bytes = object.metadata()?.len();
        zip.add(key, bytes, &mut object, &packing.cancel)
    });
    if let Err(error) = added {
        zip.give_up();
        return Err(error);
    }
    let content_bytes = zip.content_bytes;
    let file =
        zip.finish(&packing.comment)?.into_inner().map_err(io::IntoInnerError::into_error)?;
    if fsyncs {
        file.sync_all()?;
    }
    let entries = wide(keys.len());
    if packing.verify {
        check(File::open(part)?, entries, &packing.cancel)?;
    }
    Ok(Packed { entries, content_bytes, bytes: file.metadata()?.len() })
}

/// Metadata documents first, those of the root before all others; each name once.
fn in_order(keys: &mut Vec<String>) {
    let place = |key: &str| {
        let name = key.rsplit('/').next().unwrap_or(key);
        let document = DOCUMENTS.iter().position(|document| *document == name);
        // One kind after the other within a level; behind them all else.
        document.map_or((1, 0, 0), |document| (0, key.matches('/').count(), document))
    };
    keys.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    keys.dedup();
}

/// A new file in place of what an earlier run has left; no link is followed.
fn create(part: &FilePath) -> io::Result<File> {
    match fs::remove_file(part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(part),
    }
}

fn put_in_place(part: &FilePath, file: &FilePath, fsyncs: bool) -> io::Result<()> {
    fs::rename(part, file)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if fsyncs {
        File::open(folder.unwrap_or(FilePath::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// A ZIP file that is being written.
struct Zip<W: Write + Seek> {
    writer: ZipWriter<UntilGivenUp<W>>,
    given_up: Arc<AtomicBool>,
    window: Vec<u8>,
    content_bytes: u64,
    /// Size from which an entry has 64-bit sizes.
    large_bytes: u64,
}

impl<W: Write + Seek> Zip<W> {
    fn new(inner: W) -> Self {
        let given_up = Arc::<AtomicBool>::default();
        let inner = UntilGivenUp { inner, given_up: Arc::clone(&given_up), at: 0 };
        let writer = ZipWriter::new(inner);
        let window = vec![0; WINDOW_BYTES];
        Self { writer, given_up, window, content_bytes: 0, large_bytes: LARGE_BYTES }
    }

    /// Adds an entry of so many bytes.
    fn add(
        &mut self,
        name: &str,
        bytes: u64,
        content: &mut impl Read,
        cancel: &CancellationToken,
    ) -> io::Result<()> {
        // Of the same objects the same file is made, byte for byte.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(0o644)
            .large_file(bytes >= self.large_bytes);
        self.writer.start_file(name, options)?;
        let mut copied = 0;
        loop {
            if cancel.is_cancelled() {
                return Err(stopped());
            }
            let read = match content.read(&mut self.window) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.writer.write_all(&self.window[..read])?;
            copied += wide(read);
        }
        if copied != bytes {
            let reason = format!("{name} had {bytes} bytes, and {copied} were read");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        self.content_bytes += copied;
        Ok(())
    }

    /// Writes the directory of the file.
    fn finish(mut self, comment: &str) -> io::Result<W> {
        self.writer.set_comment(comment)?;
        Ok(self.writer.finish()?.inner)
    }

    /// Ends a file that is not whole. Without it the library would write the directory of what
    /// is there, and tell people by itself where that fails.
    fn give_up(self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

/// A writer that takes nothing any more once it is given up, and goes on as if it did.
struct UntilGivenUp<W> {
    inner: W,
    given_up: Arc<AtomicBool>,
    /// Position, bytes.
    at: u64,
}

impl<W: Write> Write for UntilGivenUp<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.given_up.load(Ordering::Relaxed) {
            bytes.len()
        } else {
            self.inner.write(bytes)?
        };
        self.at += wide(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.given_up.load(Ordering::Relaxed) { Ok(()) } else { self.inner.flush() }
    }
}

impl<W: Seek> Seek for UntilGivenUp<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            _ if !self.given_up.load(Ordering::Relaxed) => self.inner.seek(to)?,
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(_) => self.at,
        };
        Ok(self.at)
    }
}

fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "it was stopped")
}

/// Reads all entries, and compares their checksums.
fn check(file: File, entries: u64, cancel: &CancellationToken) -> io::Result<()> {
    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let archive = ZipArchive::from_file(file, &mut buffer).map_err(of_zip)?;
    let mut window = vec![0; WINDOW_BYTES];
    let mut found = 0;
    let mut records = archive.entries(&mut buffer);
    while let Some(record) = records.next_entry().map_err(of_zip)? {
        let entry = archive.get_entry(record.wayfinder()).map_err(of_zip)?;
        let mut content = entry.verifying_reader(entry.reader());
        while content.read(&mut window)? > 0 {
            if cancel.is_cancelled() {
                return Err(stopped());
            }
        }
        found += 1;
    }
    if found != entries {
        let reason = format!("{found} entries are in it, and {entries} were put into it");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(())
}

/// The error of the system, where reading has met one.
fn of_zip(error: rawzip::Error) -> io::Error {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => error,
        kind => io::Error::other(rawzip::Error::from(kind)),
    }
}

#[cfg(test)]
mod tests;
