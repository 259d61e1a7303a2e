//! TIFF files: a stack of grey pages.

use std::borrow::Cow;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use bytemuck::Pod;
use rechunk_grid::DataType;
use tiff::decoder::{Decoder, Limits};
use tiff::encoder::colortype::{
    ColorType, Gray8, Gray16, Gray32, Gray32Float, Gray64, Gray64Float, GrayI8, GrayI16, GrayI32,
    GrayI64,
};
use tiff::encoder::{TiffEncoder, TiffKind, TiffValue};
use tiff::tags::{PhotometricInterpretation, Tag};
use tiff::{ColorType as Colors, TiffError};

use super::output::Expected;
use crate::error::CommandError;
use crate::format::{Pages, pages};
use crate::task::BoxView;

/// Largest classic file, bytes: offsets have 32 bits.
const CLASSIC_BYTES_MAX: u64 = u32::MAX as u64;
/// Bytes that a directory takes without the places of its strips. Rather more than less.
const DIRECTORY_BYTES: u64 = 1024;
/// Bytes that a strip takes in a directory.
const STRIP_BYTES: u64 = 8;
/// Bytes of a strip or tile beyond those of its page: compression may make it larger.
const MORE_CHUNK_BYTES: usize = 1 << 20;

/// Writes a box as pages without compression. Files that may have more than 4 GB are `BigTIFF`.
pub(super) fn write(
    file: impl Write + Seek,
    view: &BoxView<'_>,
    scratch: impl FnOnce(io::Error) -> CommandError,
) -> Result<(), CommandError> {
    let pages = pages(view.shape)?;
    let is_big = needs_big(pages, u64::try_from(view.bytes.len()).unwrap_or(u64::MAX));
    let mut file = BufWriter::new(file);
    let written = write_file(&mut file, view, pages, is_big);
    let flushed = written.map_err(system_error).and_then(|()| file.flush());
    flushed.map_err(scratch)
}

fn write_file(
    file: impl Write + Seek,
    view: &BoxView<'_>,
    pages: Pages,
    is_big: bool,
) -> Result<(), TiffError> {
    if is_big {
        write_pages(TiffEncoder::new_big(file)?, view, pages)
    } else {
        write_pages(TiffEncoder::new(file)?, view, pages)
    }
}

fn needs_big(pages: Pages, bytes: u64) -> bool {
    let directory = DIRECTORY_BYTES + STRIP_BYTES * u64::from(pages.height);
    pages.count.saturating_mul(directory).saturating_add(bytes) > CLASSIC_BYTES_MAX
}

fn write_pages<W: Write + Seek, K: TiffKind>(
    encoder: TiffEncoder<W, K>,
    view: &BoxView<'_>,
    pages: Pages,
) -> Result<(), TiffError> {
    match view.data_type {
        DataType::Uint8 => write_as::<Gray8, _, _>(encoder, view, pages),
        DataType::Uint16 => write_as::<Gray16, _, _>(encoder, view, pages),
        DataType::Uint32 => write_as::<Gray32, _, _>(encoder, view, pages),
        DataType::Uint64 => write_as::<Gray64, _, _>(encoder, view, pages),
        DataType::Int8 => write_as::<GrayI8, _, _>(encoder, view, pages),
        DataType::Int16 => write_as::<GrayI16, _, _>(encoder, view, pages),
        DataType::Int32 => write_as::<GrayI32, _, _>(encoder, view, pages),
        DataType::Int64 => write_as::<GrayI64, _, _>(encoder, view, pages),
        DataType::Float32 => write_as::<Gray32Float, _, _>(encoder, view, pages),
        DataType::Float64 => write_as::<Gray64Float, _, _>(encoder, view, pages),
        _ => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
    }
}

fn write_as<C, W, K>(
    mut encoder: TiffEncoder<W, K>,
    view: &BoxView<'_>,
    pages: Pages,
) -> Result<(), TiffError>
where
    C: ColorType<Inner: Pod>,
    [C::Inner]: TiffValue,
    W: Write + Seek,
    K: TiffKind,
{
    for page in view.bytes.chunks_exact(page_bytes(view.data_type, pages)) {
        let in_place = bytemuck::try_cast_slice(page).map(Cow::Borrowed);
        let elements: Cow<'_, [C::Inner]> = in_place.unwrap_or_else(|_| {
            let elements = page.chunks_exact(size_of::<C::Inner>());
            Cow::Owned(elements.map(bytemuck::pod_read_unaligned).collect())
        });
        encoder.new_image::<C>(pages.width, pages.height)?.write_data(&elements)?;
    }
    Ok(())
}

/// Bytes of a page; those of a box that is in memory fit.
fn page_bytes(data_type: DataType, pages: Pages) -> usize {
    let elements = u64::from(pages.height) * u64::from(pages.width);
    usize::try_from(elements.saturating_mul(data_type.item_bytes())).unwrap_or(usize::MAX)
}

/// Reads exactly the expected pages, in whatever order of bytes and compression they are.
pub(super) fn read(
    file: impl Read + Seek,
    expected: &Expected<'_>,
    bytes: usize,
) -> Result<Vec<u8>, String> {
    let pages = pages(expected.shape).map_err(|error| error.to_string())?;
    let page_bytes = page_bytes(expected.data_type, pages);
    let mut limits = Limits::default();
    limits.intermediate_buffer_size = page_bytes.saturating_mul(2).saturating_add(MORE_CHUNK_BYTES);
    let decoder = Decoder::new(BufReader::new(file)).map_err(|error| invalid(0, &error))?;
    let mut decoder = decoder.with_limits(limits);
    let mut elements = vec![0; bytes];
    for (number, page) in elements.chunks_exact_mut(page_bytes).enumerate() {
        if number > 0 {
            if !decoder.more_images() {
                let count = pages.count;
                return Err(format!("it has {number} pages, it should have {count}"));
            }
            decoder.next_image().map_err(|error| invalid(number, &error))?;
        }
        check_page(&mut decoder, expected.data_type, pages, number)?;
        decoder.read_image_bytes(page).map_err(|error| invalid(number, &error))?;
    }
    if decoder.more_images() {
        return Err(format!("it has more than the {} pages that it should have", pages.count));
    }
    Ok(elements)
}

/// Refuses a page of another size or type.
fn check_page(
    decoder: &mut Decoder<impl Read + Seek>,
    data_type: DataType,
    pages: Pages,
    number: usize,
) -> Result<(), String> {
    let (width, height) = decoder.dimensions().map_err(|error| invalid(number, &error))?;
    if (width, height) != (pages.width, pages.height) {
        return Err(format!(
            "page {number} has {height} × {width} elements, it should have {} × {}",
            pages.height, pages.width
        ));
    }
    let colors = decoder.colortype().map_err(|error| invalid(number, &error))?;
    let Colors::Gray(bits) = colors else {
        return Err(format!("page {number} has colours ({colors:?}), it should be grey"));
    };
    let kinds = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat);
    let kinds = kinds.map_err(|error| invalid(number, &error))?.unwrap_or_default();
    let kind = match kinds.first() {
        None | Some(1) => "uint",
        Some(2) => "int",
        Some(3) => "float",
        Some(_) => "unknown",
    };
    let found = format!("{kind}{bits}");
    if found != data_type.plain_name() {
        return Err(format!("page {number} has {found} elements, it should have {data_type}"));
    }
    let meaning = decoder.find_tag_unsigned::<u16>(Tag::PhotometricInterpretation);
    let meaning = meaning.map_err(|error| invalid(number, &error))?;
    if meaning != Some(PhotometricInterpretation::BlackIsZero.to_u16()) {
        return Err(format!("page {number} is inverted (0 is white), 0 should be black"));
    }
    Ok(())
}

fn invalid(number: usize, error: &TiffError) -> String {
    match error {
        TiffError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            format!("it ends in page {number}; it is not whole")
        }
        _ => format!("page {number} cannot be read: {error}"),
    }
}

fn system_error(error: TiffError) -> io::Error {
    match error {
        TiffError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn files_that_may_pass_4_gb_are_big() {
        let pages = |count| Pages { count, height: 1 << 10, width: 1 << 10 };
        assert!(!needs_big(pages(3000), 3000 << 20));
        assert!(needs_big(pages(4090), 4090 << 20));
        assert!(needs_big(pages(4096), 4096 << 20));
    }

    #[test]
    fn both_kinds_of_files_are_read() {
        let (data_type, shape) = (DataType::Float64, [3, 2, 5]);
        let bytes: Vec<u8> = (0..240).collect();
        let view = BoxView { data_type, shape: &shape, bytes: &bytes };
        let expected = Expected { data_type, shape: &shape, other_shape: &[], other: "" };
        for (is_big, version) in [(false, 42), (true, 43)] {
            let mut file = Cursor::new(Vec::new());
            write_file(&mut file, &view, pages(&shape).unwrap(), is_big).unwrap();
            let file = file.into_inner();
            assert!(file[2..4].contains(&version));
            assert_eq!(read(Cursor::new(&file), &expected, 240).unwrap(), bytes);
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused() {
        let (data_type, shape) = (DataType::Uint16, [2, 2, 3]);
        let bytes: Vec<u8> = (0..24).collect();
        let view = BoxView { data_type, shape: &shape, bytes: &bytes };
        let mut whole = Vec::new();
        write(Cursor::new(&mut whole), &view, |error| panic!("{error}")).unwrap();
        let expected = Expected { data_type, shape: &shape, other_shape: &[], other: "" };
        let read = |bytes: &[u8]| read(Cursor::new(bytes), &expected, 24);
        assert_eq!(read(&whole).unwrap(), bytes);
        let mut refused = 0;
        for at in 0..whole.len() {
            for value in [0, 1, 2, 4, 13, 16, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                refused += usize::from(read(&damaged).is_err());
            }
        }
        assert!(refused > whole.len(), "{refused}");
    }
}
