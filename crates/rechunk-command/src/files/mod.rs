//! Files of elements: written for a program, read from it without trust.

mod npy;
mod npy_header;
mod output;
mod raw;
mod tiff;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use rechunk_grid::DataType;

use crate::error::CommandError;
use crate::format::FileFormat;
use crate::geometry::box_bytes;
use crate::task::BoxView;
pub(crate) use output::Expected;

/// Bytes that are swapped at once where the processor is big-endian.
const SWAP_BYTES: usize = 1 << 20;

/// Writes a box into a new file.
pub(crate) fn write(
    path: &Path,
    format: FileFormat,
    view: &BoxView<'_>,
) -> Result<(), CommandError> {
    let scratch = |source| CommandError::Scratch { path: path.to_owned(), source };
    #[expect(clippy::disallowed_methods, reason = "a program reads a file, no store")]
    let file = File::create_new(path).map_err(scratch)?;
    if format == FileFormat::Tiff {
        return tiff::write(file, view, scratch);
    }
    let mut file = BufWriter::new(file);
    if format == FileFormat::Npy {
        file.write_all(&npy_header::encode(view.data_type, view.shape)?).map_err(scratch)?;
    }
    write_little(&mut file, view).and_then(|()| file.flush()).map_err(scratch)
}

/// Reads the box that a program wrote, as elements in native byte order. Returns what is wrong
/// with the file as the inner error.
pub(crate) fn read(
    path: &Path,
    format: FileFormat,
    expected: &Expected<'_>,
) -> Result<Result<Vec<u8>, String>, CommandError> {
    let bytes = box_bytes(expected.data_type, expected.shape)?;
    let opened = output::open(path);
    let read = opened.and_then(|file| match format {
        FileFormat::Npy => npy::read(file, expected, bytes),
        FileFormat::Tiff => tiff::read(file, expected, bytes),
        FileFormat::Raw => raw::read(file, expected, bytes),
    });
    Ok(read.and_then(|elements| check_bools(elements, expected.data_type)))
}

/// Writes elements little-endian.
fn write_little(file: &mut impl Write, view: &BoxView<'_>) -> io::Result<()> {
    let item_bytes = usize::try_from(view.data_type.item_bytes()).unwrap_or(1);
    if cfg!(target_endian = "little") || view.data_type.swap_bytes() == 1 {
        return file.write_all(view.bytes);
    }
    for part in view.bytes.chunks(item_bytes * (SWAP_BYTES / item_bytes).max(1)) {
        let mut part = part.to_vec();
        view.data_type.swap(&mut part);
        file.write_all(&part)?;
    }
    Ok(())
}

/// Refuses bytes that are no bool.
fn check_bools(elements: Vec<u8>, data_type: DataType) -> Result<Vec<u8>, String> {
    if data_type == DataType::Bool
        && let Some(at) = elements.iter().position(|&byte| byte > 1)
    {
        return Err(format!("element {at} of bools is {}, not 0 or 1", elements[at]));
    }
    Ok(elements)
}
