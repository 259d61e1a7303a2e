//! Arrays that are one file: of NumPy, of NIfTI, or elements alone.

use std::path::{Path, PathBuf};

use rechunk_format::FormatError;
use rechunk_grid::{ArraySpec, Endian};
use rechunk_raw::{HEADER_BYTES_MAX, RawMetadata, parse_nifti, parse_npy};
use rechunk_store::{End, Role, Store};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::formats::{Metadata, has_ending};
use crate::gzip_file::{first_bytes, unpacked_bytes_max, unpacked_name};
use crate::not_ours;
use crate::open::OpenOptions;

/// Description of a file that has no header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RawFile {
    /// Extent of each axis, elements, slowest first.
    pub shape: Vec<u64>,
    /// Name of the data type.
    pub data_type: String,
    /// The last axis is the slowest in the file: F order.
    pub is_fortran: bool,
    /// Elements are big-endian.
    pub is_big_endian: bool,
    /// Bytes before the first element.
    pub offset_bytes: u64,
}

impl RawFile {
    /// A file of little-endian elements in C order, from its first byte.
    pub fn new(shape: Vec<u64>, data_type: &str) -> Self {
        let data_type = data_type.to_owned();
        Self { shape, data_type, is_fortran: false, is_big_endian: false, offset_bytes: 0 }
    }
}

/// An array that is one file, and where the file is.
#[derive(Debug)]
pub(crate) struct SingleFile {
    /// The place it is in.
    pub folder: Store,
    pub metadata: Metadata,
    /// The bytes its metadata was made from.
    pub header: Vec<u8>,
    /// The file itself, if it is compressed.
    pub packed: Option<PathBuf>,
}

/// The array in the file at `store`; `None` if there is no such file, or it may be something else.
pub(crate) async fn open_file(
    location: &str,
    options: &OpenOptions,
    store: &Store,
) -> Result<Option<SingleFile>, Error> {
    let failed = |source| Error::source_store(location, source);
    let inner = unpacked_name(location).unwrap_or(location);
    let is_named = has_ending(location, "npy") || has_ending(inner, "nii");
    let is_file = match store.local_root() {
        Some(path) => match path.metadata() {
            Ok(found) if !found.is_file() && !found.is_dir() => return Err(special(location)),
            Ok(found) => found.is_file(),
            // Whoever lists the place says why it cannot be looked at.
            Err(_) => false,
        },
        None => options.raw.is_some() || is_named,
    };
    if !is_file {
        return Ok(None);
    }
    let Some((folder, name)) = store.parent().map_err(failed)? else { return Ok(None) };
    let control = folder.with_role(Role::Control);
    let found = control.get_end(&name, End::First, HEADER_BYTES_MAX).await.map_err(failed)?;
    let Some((header, size_bytes)) = found else { return Ok(None) };
    if let Some(inner) = unpacked_name(&name).filter(|inner| has_ending(inner, "nii")) {
        return packed_nifti(location, options, store, &header, inner).map(Some);
    }
    let metadata = match &options.raw {
        Some(raw) => headerless(raw, &name),
        None if header.starts_with(b"\x93NUMPY") => parse_npy(&header, &name),
        None if has_ending(&name, "nii") => {
            parse_nifti(&header, &name, options.axes.unwrap_or_default().of_nifti())
        }
        None => return Err(unknown(location, &header)),
    };
    let metadata = metadata.map_err(|source| Error::source_metadata(location, source))?;
    check_size(location, &metadata, size_bytes)?;
    let metadata = Metadata::Raw(Box::new(metadata));
    Ok(Some(SingleFile { folder, metadata, header: header.to_vec(), packed: None }))
}

/// True if there is a file of elements alone, of which it has to be said what is in it.
pub(crate) async fn is_headerless(location: &str, store: &Store) -> Result<bool, Error> {
    let failed = |source| Error::source_store(location, source);
    let is_file = store.local_root().is_none_or(Path::is_file);
    let inner = unpacked_name(location).unwrap_or(location);
    let Some((folder, name)) = store.parent().map_err(failed)?.filter(|_| is_file) else {
        return Ok(false);
    };
    if has_ending(inner, "nii") {
        return Ok(false);
    }
    let found = folder.with_role(Role::Control).get_end(&name, End::First, 6).await;
    Ok(found.map_err(failed)?.is_some_and(|(header, _)| !header.starts_with(b"\x93NUMPY")))
}

/// A compressed file of NIfTI, of which `beginning` are the first bytes.
fn packed_nifti(
    location: &str,
    options: &OpenOptions,
    store: &Store,
    beginning: &[u8],
    name: &str,
) -> Result<SingleFile, Error> {
    let refuse = |reason: String, hint: &str| Error::NotAnArray {
        location: location.to_owned(),
        reason,
        hint: Some(hint.into()),
    };
    let packed = store.local_root().map(Path::to_owned).ok_or_else(|| {
        refuse("a compressed file has to be a local one".to_owned(), "download it first")
    })?;
    let header = first_bytes(beginning, HEADER_BYTES_MAX);
    let header = header.map_err(|error| {
        refuse(format!("it does not unpack: {error}"), "is it really compressed by gzip?")
    })?;
    let axes = options.axes.unwrap_or_default().of_nifti();
    let metadata = parse_nifti(&header, name, axes);
    let metadata = metadata.map_err(|source| Error::source_metadata(location, source))?;
    let packed_bytes = packed.metadata().map_or(0, |found| found.len());
    let wanted = wanted_bytes(location, &metadata)?;
    if wanted > unpacked_bytes_max(packed_bytes) {
        let reason = format!(
            "its elements need {wanted} bytes, which {packed_bytes} compressed ones cannot hold"
        );
        return Err(refuse(reason, "it is cut off, or its header is damaged"));
    }
    let folder = store.parent().map_err(|source| Error::source_store(location, source))?;
    let folder = folder.map_or_else(|| store.clone(), |(folder, _)| folder);
    let metadata = Metadata::Raw(Box::new(metadata));
    Ok(SingleFile { folder, metadata, header, packed: Some(packed) })
}

/// Something that a read would wait for, or never end.
fn special(location: &str) -> Error {
    Error::NotAnArray {
        location: location.to_owned(),
        reason: "it is a pipe or a device, not a file".to_owned(),
        hint: Some("write what comes out of it to a file first".into()),
    }
}

/// A file that is neither.
fn unknown(location: &str, header: &[u8]) -> Error {
    if let Some(format) = not_ours::of_bytes(header) {
        let is_named = has_ending(location, "npy");
        return format.error(location, if is_named { "it is no file of NumPy: it" } else { "it" });
    }
    Error::NotAnArray {
        location: location.to_owned(),
        reason: "it is a file, but neither of NumPy (.npy) nor of NIfTI (.nii, .nii.gz)".to_owned(),
        hint: Some(
            "of a file of elements alone say --raw-shape 100,200 and --raw-dtype uint16".into(),
        ),
    }
}

fn headerless(raw: &RawFile, name: &str) -> Result<RawMetadata, FormatError> {
    let rank = raw.shape.len();
    let axes = if raw.is_fortran { (0..rank).rev().collect() } else { (0..rank).collect() };
    let endian = if raw.is_big_endian { Endian::Big } else { Endian::Little };
    let spec = ArraySpec {
        shape: raw.shape.clone(),
        data_type: RawMetadata::data_type_of(&raw.data_type)?,
        chunk_shape: vec![1; rank],
        fill_value: None,
        dimension_names: None,
        edges: None,
    };
    let order = rechunk_format::ElementOrder { axes, endian };
    RawMetadata::headerless(spec, order, None, raw.offset_bytes, name)
}

/// Bytes of the file, with its header.
fn wanted_bytes(location: &str, metadata: &RawMetadata) -> Result<u64, Error> {
    let first = vec![0; metadata.spec.shape.len()];
    metadata.file_bytes(&first).map_err(|error| Error::source_grid(location, &error))
}

/// Refuses a file that has more or fewer bytes than the array.
fn check_size(location: &str, metadata: &RawMetadata, size_bytes: u64) -> Result<(), Error> {
    let wanted = wanted_bytes(location, metadata)?;
    let has_tail = metadata.runs().has_tail;
    if size_bytes == wanted || (has_tail && size_bytes > wanted) {
        return Ok(());
    }
    Err(wrong_size(location, location, size_bytes, wanted))
}

/// A file of another size than the array's.
pub(crate) fn wrong_size(location: &str, file: &str, found: u64, wanted: u64) -> Error {
    Error::NotAnArray {
        location: location.to_owned(),
        reason: format!("{file} has {found} bytes, but its elements need {wanted}"),
        hint: Some("it is cut off, or shape and data type are not those of the file".into()),
    }
}
