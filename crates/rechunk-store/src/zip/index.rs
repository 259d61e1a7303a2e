//! Contents of a ZIP file, and their places: its directory, kept small.

use std::io::Read;
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::SystemTime;

use object_store::path::Path;
use object_store::{Error, ObjectMeta, Result};
use rawzip::{
    CompressionMethod, FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ZipArchive,
    ZipArchiveEntryWayfinder, ZipFileHeaderRecord, ZipLocator,
};

use super::fault::ZipFault;
use crate::error::NotAFile;
use crate::local::files::{self, open, special_kind};

/// Most entries of an archive that is read. Each takes some 64 bytes of memory, and its name.
pub(super) const ENTRIES_MAX: usize = 1 << 22;

/// Most bytes that all the names of an archive may have together.
pub(super) const NAMES_BYTES_MAX: usize = 512 << 20;

/// The entries of an archive, sorted by name. Directories are not among them.
#[derive(Debug)]
pub(super) struct Index {
    archive: ZipArchive<Arc<FileReader>>,
    file_bytes: u64,
    modified: SystemTime,
    /// Every name, one after the other.
    names: String,
    entries: Vec<Entry>,
}

/// One entry, as the directory says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    name_start: usize,
    name_bytes: u16,
    method: CompressionMethod,
    is_encrypted: bool,
    crc: u32,
    at: ZipArchiveEntryWayfinder,
}

/// Form in which the bytes of an entry are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
}

impl Entry {
    /// Size of the object, bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        self.at.uncompressed_size_hint()
    }
}

/// Place of the bytes of an entry.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) method: Method,
    /// In the file.
    pub(super) range: Range<u64>,
    /// CRC-32 of the object.
    pub(super) crc: u32,
    pub(super) file: Arc<FileReader>,
}

impl Index {
    /// Reads the directory of the file at `path`. Blocks.
    pub(super) fn read(path: &FilePath) -> Result<Self> {
        let generic = |source: Box<dyn std::error::Error + Send + Sync>| Error::Generic {
            store: "ZipFile",
            source,
        };
        let (file, metadata) = open(path).map_err(|error| generic(Box::new(error)))?;
        if let Some(what) = special_kind(&metadata) {
            return Err(generic(Box::new(NotAFile { what })));
        }
        let modified = files::modified(&metadata).map_err(|error| generic(Box::new(error)))?;
        Ok(Self::of(FileReader::from(file), metadata.len(), modified)?)
    }

    fn of(file: FileReader, file_bytes: u64, modified: SystemTime) -> Result<Self, ZipFault> {
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let archive = ZipLocator::new()
            .locate_in_reader(Arc::new(file), &mut buffer, file_bytes)
            .map_err(|(_, error)| ZipFault::Archive(error))?;
        let (mut names, mut entries) = (String::new(), Vec::new());
        let mut found = 0;
        let mut records = archive.entries(&mut buffer);
        while let Some(record) = records.next_entry().map_err(ZipFault::Archive)? {
            found += 1;
            if entries.len() == ENTRIES_MAX {
                return Err(ZipFault::TooLarge { limit: ENTRIES_MAX as u64, what: "entries" });
            }
            entries.extend(entry(&record, &mut names)?);
            if names.len() > NAMES_BYTES_MAX {
                let limit = NAMES_BYTES_MAX as u64;
                return Err(ZipFault::TooLarge { limit, what: "bytes of names" });
            }
        }
        // An entry that is lost would read as a missing chunk.
        let said = archive.entries_hint();
        if found != said {
            return Err(ZipFault::Count { said, found });
        }
        let mut index = Self { archive, file_bytes, modified, names, entries };
        index.sort();
        Ok(index)
    }

    /// Sorts by name; of entries with one name the last stays.
    fn sort(&mut self) {
        let names = &self.names;
        let name = |entry: &Entry| {
            &names[entry.name_start..entry.name_start + usize::from(entry.name_bytes)]
        };
        self.entries.reverse();
        self.entries.sort_by(|a, b| name(a).cmp(name(b))); // stable: the last one comes first
        self.entries.dedup_by(|next, kept| name(next) == name(kept));
        self.entries.shrink_to_fit();
    }

    pub(super) fn name(&self, position: usize) -> &str {
        self.name_of(&self.entries[position])
    }

    fn name_of(&self, entry: &Entry) -> &str {
        &self.names[entry.name_start..entry.name_start + usize::from(entry.name_bytes)]
    }

    /// The entry of that name.
    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        let found = self.entries.binary_search_by(|entry| self.name_of(entry).cmp(name));
        found.ok().map(|position| &self.entries[position])
    }

    /// Positions of the entries whose names start with `prefix`.
    pub(super) fn below(&self, prefix: &str) -> Range<usize> {
        let start = self.entries.partition_point(|entry| self.name_of(entry) < prefix);
        let length =
            self.entries[start..].partition_point(|entry| self.name_of(entry).starts_with(prefix));
        start..start + length
    }

    /// Metadata of an entry, as a list has it.
    pub(super) fn meta(&self, position: usize) -> Result<ObjectMeta> {
        let entry = &self.entries[position];
        Ok(self.meta_of(entry, Path::parse(self.name_of(entry))?))
    }

    /// Metadata of `entry`, which is at `location`.
    pub(super) fn meta_of(&self, entry: &Entry, location: Path) -> ObjectMeta {
        ObjectMeta {
            location,
            last_modified: self.modified(),
            size: entry.size_bytes(),
            e_tag: None,
            version: None,
        }
    }

    /// When the file was last changed.
    fn modified<T: From<SystemTime>>(&self) -> T {
        self.modified.into()
    }

    /// The comment of the file, as far as it is text; empty where there is none. Blocks.
    pub(super) fn comment(&self) -> String {
        let mut bytes = Vec::new();
        // Its length is a number of 16 bits.
        let read = self.archive.comment().take(u64::from(u16::MAX)).read_to_end(&mut bytes);
        read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Finds the bytes of an entry, which lie behind a header of their own. Blocks.
    pub(super) fn data(&self, entry: &Entry) -> Result<Data, ZipFault> {
        if entry.is_encrypted {
            return Err(ZipFault::Encrypted);
        }
        let method = match entry.method {
            CompressionMethod::STORE => Method::Stored,
            CompressionMethod::DEFLATE => Method::Deflated,
            method => return Err(ZipFault::Method { method }),
        };
        let found = self.archive.get_entry(entry.at).map_err(ZipFault::Entry)?;
        let (start, end) = found.compressed_data_range();
        if end > self.file_bytes {
            return Err(ZipFault::Outside);
        }
        if method == Method::Stored && end - start != entry.size_bytes() {
            return Err(ZipFault::Content("it has two sizes, but is not compressed"));
        }
        let file = Arc::clone(self.archive.get_ref());
        Ok(Data { method, range: start..end, crc: entry.crc, file })
    }
}

/// The entry of a record, its name put behind the others; `None` for what is no object.
fn entry(record: &ZipFileHeaderRecord<'_>, names: &mut String) -> Result<Option<Entry>, ZipFault> {
    let raw = record.file_path();
    // Keys of Zarr are UTF-8: under no other name is an entry ever asked for.
    let Ok(name) = std::str::from_utf8(raw.as_bytes()) else { return Ok(None) };
    let refuse = || ZipFault::Name { name: name.to_owned() };
    let leads_out = || name.starts_with('/') || name.split('/').any(|part| part == "..");
    // An object without a name would be the place itself.
    if name.is_empty() || leads_out() {
        return Err(refuse());
    }
    if name.ends_with('/') {
        return Ok(None);
    }
    Path::parse(name).ok().filter(|path| path.as_ref() == name).ok_or_else(refuse)?;
    let entry = Entry {
        name_start: names.len(),
        name_bytes: u16::try_from(name.len()).map_err(|_| refuse())?,
        method: record.compression_method(),
        is_encrypted: record.flags().is_encrypted(),
        crc: record.crc32(),
        at: record.wayfinder(),
    };
    names.push_str(name);
    Ok(Some(entry))
}
