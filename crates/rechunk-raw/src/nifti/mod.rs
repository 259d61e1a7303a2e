//! NIfTI-1 and NIfTI-2 in one file (`.nii`): a header, extensions, the elements.
//!
//! Elements are what is stored: `scl_slope` and `scl_inter` stand in the attributes, and are not
//! applied. The first axis of NIfTI is the fastest.

mod derived;
mod fields;
mod types;
mod write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rechunk_format::field::Field;
use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, Endian};
use serde_json::{Map, Value};

use self::fields::{Place, float, integer, place, to_json};
use crate::slab::slab_shape;
use crate::{Files, HEADER_BYTES_MAX, Header, RawMetadata};

pub use derived::{cast_nifti, select_nifti};
pub use write::has_nifti_header;
pub(crate) use write::header;

/// Name of the header in messages.
const KEY: &str = "NIfTI header";

/// The attribute that has the header, and the member that has it byte for byte.
pub(crate) const ATTRIBUTE: &str = "nifti";
pub(crate) const EXACT: &str = "header_base64";

/// Which axis of the array is which of the file. No element moves either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AxisOrder {
    /// Slowest first, as in C: `dim[1]` is the last axis.
    #[default]
    Reversed,
    /// As in the file: `dim[1]` is the first axis, the fastest.
    Kept,
}

impl AxisOrder {
    /// The array's axes, slowest in the file first.
    pub(crate) fn storage_axes(self, rank: usize) -> Vec<usize> {
        match self {
            Self::Reversed => (0..rank).collect(),
            Self::Kept => (0..rank).rev().collect(),
        }
    }

    /// The array's shape of the file's, or the other way round.
    pub(crate) fn shape(self, shape: &[u64]) -> Vec<u64> {
        match self {
            Self::Reversed => shape.iter().rev().copied().collect(),
            Self::Kept => shape.to_vec(),
        }
    }
}

fn field(name: &str) -> Field {
    Field::new(KEY, name)
}

/// One of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

impl Version {
    fn table(self) -> &'static [Place] {
        match self {
            Self::One => &fields::NIFTI_1,
            Self::Two => &fields::NIFTI_2,
        }
    }

    /// Bytes of the fixed part of the header, which its first number says.
    fn header_bytes(self) -> usize {
        match self {
            Self::One => 348,
            Self::Two => 540,
        }
    }

    /// The least offset of the elements: four bytes say whether extensions follow.
    fn data_offset_min(self) -> usize {
        self.header_bytes() + 4
    }

    fn magic(self) -> (usize, &'static [u8]) {
        match self {
            Self::One => (344, b"n+1\0"),
            Self::Two => (4, b"n+2\0\r\n\x1a\n"),
        }
    }
}

/// Reads the header of the `.nii` file `name` out of its first bytes, [`HEADER_BYTES_MAX`] of them
/// or all. The file may go on behind its elements: nibabel reads such files, and so do we.
pub fn parse_nifti(
    first_bytes: &[u8],
    name: &str,
    axes: AxisOrder,
) -> Result<RawMetadata, FormatError> {
    let (version, endian) = kind_of(first_bytes)?;
    let fixed = first_bytes.get(..version.header_bytes()).ok_or_else(|| ends_early(first_bytes))?;
    check_magic(version, fixed)?;
    let table = version.table();
    let number = |name: &str| integer(fixed, place(table, name), 0, endian);
    let file_shape = parse_dim(fixed, table, endian)?;
    let data_type = types::parse(number("datatype"))?;
    let bits = i64::try_from(8 * data_type.item_bytes()).unwrap_or(i64::MAX);
    if ![0, bits].contains(&number("bitpix")) {
        let reason = format!("{} bits are no {data_type}", number("bitpix"));
        return Err(field("bitpix").invalid(reason));
    }
    let offset = data_offset(version, fixed, endian)?;
    let header = first_bytes.get(..offset).ok_or_else(|| ends_early(first_bytes))?;
    let shape = axes.shape(&file_shape);
    let order = ElementOrder { axes: axes.storage_axes(shape.len()), endian };
    let chunk_shape = slab_shape(&shape, &order.axes, data_type.item_bytes());
    let metadata = RawMetadata {
        spec: ArraySpec {
            shape,
            data_type,
            chunk_shape,
            fill_value: None,
            dimension_names: None,
            edges: None,
        },
        order,
        files: Files::Single {
            name: name.to_owned(),
            offset_bytes: u64::try_from(offset).unwrap_or(u64::MAX),
            header: Header::Nifti(header.to_vec()),
        },
        record: None,
        attributes: attributes(version, header, endian),
    };
    metadata.check().map(|()| metadata)
}

fn ends_early(bytes: &[u8]) -> FormatError {
    let reason = format!("the file ends in it, after {} bytes", bytes.len());
    FormatError::Metadata { key: KEY.to_owned(), reason }
}

/// Version and byte order, by the first number.
fn kind_of(bytes: &[u8]) -> Result<(Version, Endian), FormatError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let hint = "a range of a compressed file cannot be read; decompress it first";
        return Err(field("file").unsupported("a compressed file (.nii.gz)", hint));
    }
    let first = *bytes.first_chunk().ok_or_else(|| ends_early(bytes))?;
    for version in [Version::One, Version::Two] {
        let wanted = u32::try_from(version.header_bytes()).unwrap_or(0);
        if u32::from_le_bytes(first) == wanted {
            return Ok((version, Endian::Little));
        }
        if u32::from_be_bytes(first) == wanted {
            return Ok((version, Endian::Big));
        }
    }
    Err(field("sizeof_hdr").invalid("it is neither 348 nor 540: this is no NIfTI file"))
}

fn check_magic(version: Version, fixed: &[u8]) -> Result<(), FormatError> {
    let (start, magic) = version.magic();
    let found = fixed.get(start..start + magic.len()).unwrap_or_default();
    if found == magic {
        return Ok(());
    }
    let hint = "convert it to one .nii file first";
    if found.starts_with(b"ni1\0") || found.starts_with(b"ni2\0") {
        return Err(field("magic").unsupported("a pair of files (.hdr and .img)", hint));
    }
    if version == Version::One && !found.starts_with(b"n") {
        return Err(field("magic").unsupported("a header of ANALYZE 7.5", hint));
    }
    let found: String = found.escape_ascii().to_string();
    Err(field("magic").invalid(format!("it is \"{found}\"")))
}

/// Extents of the axes, fastest first.
fn parse_dim(fixed: &[u8], table: &[Place], endian: Endian) -> Result<Vec<u64>, FormatError> {
    let dim = place(table, "dim");
    let rank = integer(fixed, dim, 0, endian);
    let rank = usize::try_from(rank)
        .ok()
        .filter(|rank| (1..=7).contains(rank))
        .ok_or_else(|| field("dim[0]").invalid(format!("{rank} axes are not 1 to 7")))?;
    let extent = |at| {
        let extent = integer(fixed, dim, at, endian);
        u64::try_from(extent).ok().filter(|&extent| extent > 0).ok_or_else(|| {
            field(&format!("dim[{at}]")).invalid(format!("an axis of extent {extent}"))
        })
    };
    (1..=rank).map(extent).collect()
}

/// Offset of the elements, bytes.
fn data_offset(version: Version, fixed: &[u8], endian: Endian) -> Result<usize, FormatError> {
    let place = place(version.table(), "vox_offset");
    let least = version.data_offset_min();
    let most = usize::try_from(HEADER_BYTES_MAX).unwrap_or(usize::MAX);
    let wanted = match version {
        Version::One => {
            let offset = float(fixed, place, 0, endian);
            // A float has no more digits than this; what is no integer is found nowhere below.
            let whole = offset >= 0.0 && offset.fract() == 0.0 && offset <= 16_777_216.0;
            whole.then(|| format!("{offset}").parse::<usize>().ok()).flatten()
        }
        Version::Two => usize::try_from(integer(fixed, place, 0, endian)).ok(),
    };
    match wanted {
        Some(offset) if offset > most => {
            let hint = format!("at most {most} bytes are");
            Err(field("vox_offset").unsupported(format!("a header of {offset} bytes"), &hint))
        }
        Some(offset) if offset >= least => Ok(offset),
        _ => {
            let reason = format!("it is no offset of {least} or more");
            Err(field("vox_offset").invalid(reason))
        }
    }
}

/// Attributes of the header, under [`ATTRIBUTE`]: its fields for people, and all of it byte for
/// byte, from which it is written again.
fn attributes(version: Version, header: &[u8], endian: Endian) -> Map<String, Value> {
    let mut fields = Map::new();
    let number = if version == Version::One { 1 } else { 2 };
    fields.insert("version".to_owned(), Value::from(number));
    fields.extend(to_json(header, version.table(), endian));
    fields.insert(EXACT.to_owned(), Value::from(BASE64_STANDARD.encode(header)));
    Map::from_iter([(ATTRIBUTE.to_owned(), Value::Object(fields))])
}

#[cfg(test)]
mod tests;
