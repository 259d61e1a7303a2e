//! The formats of files that are not read here, by their first bytes.

use super::{CONVERT, NotOurs, REFERENCES, UNPACK};

/// Number of first bytes of a file that are looked at.
pub(super) const LOOK_BYTES: u64 = 4096;

/// Sign of a format in the first bytes of a file.
#[derive(Debug, Clone, Copy)]
enum Sign {
    /// These bytes at this offset.
    At(usize, &'static [u8]),
    /// These bytes at offset 0 or at a power of two from 512 on, behind somebody else's block.
    AtBlock(&'static [u8]),
    /// A function of the first bytes says so.
    Told(fn(&[u8]) -> bool),
}

/// Every format, what shows it, and what to do. The first one that fits is taken.
const FILES: [(Sign, NotOurs); 41] = [
    (Sign::AtBlock(b"\x89HDF\r\n\x1a\n"), NotOurs::new("an HDF5 or NetCDF-4 file", REFERENCES)),
    (Sign::At(0, b"CDF\x01"), NotOurs::new("a NetCDF-3 file (classic)", REFERENCES)),
    (Sign::At(0, b"CDF\x02"), NotOurs::new("a NetCDF-3 file (64-bit offset)", REFERENCES)),
    (Sign::At(0, b"CDF\x05"), NotOurs::new("a NetCDF-3 file (CDF-5)", CONVERT)),
    (Sign::At(0, b"\x0e\x03\x13\x01"), NotOurs::new("an HDF4 file", REFERENCES)),
    (Sign::Told(is_grib), NotOurs::new("a GRIB file", REFERENCES)),
    (Sign::At(0, b"BUFR"), NotOurs::new("a BUFR file", CONVERT)),
    (Sign::At(0, b"II*\0"), NotOurs::new("a TIFF file", REFERENCES)),
    (Sign::At(0, b"MM\0*"), NotOurs::new("a TIFF file", REFERENCES)),
    (Sign::At(0, b"II+\0"), NotOurs::new("a BigTIFF file", REFERENCES)),
    (Sign::At(0, b"MM\0+"), NotOurs::new("a BigTIFF file", REFERENCES)),
    (Sign::At(0, b"SIMPLE  ="), NotOurs::new("a FITS file", REFERENCES)),
    (Sign::At(0, b"WKW\x01"), NotOurs::new("a WKW file (webknossos-wrap)", super::WEBKNOSSOS)),
    (
        Sign::At(0, "ICE🧊CHUNK".as_bytes()),
        NotOurs::new("a file of Icechunk", super::ICECHUNK_FILE),
    ),
    (Sign::At(0, b"PAR1"), NotOurs::new("a Parquet file", TABLE)),
    (Sign::At(0, b"ARROW1"), NotOurs::new("an Arrow file", TABLE)),
    (
        Sign::At(0, b"\x93NUMPY"),
        NotOurs::new("a file of NumPy", "give it a name that ends in .npy"),
    ),
    (Sign::Told(is_nifti), NotOurs::new("a NIfTI file", "give it a name that ends in .nii")),
    (Sign::At(0, b"NRRD000"), NotOurs::new("an NRRD file", CONVERT)),
    (Sign::At(208, b"MAP "), NotOurs::new("an MRC file", CONVERT)),
    (Sign::At(128, b"DICM"), NotOurs::new("a DICOM file", CONVERT)),
    (Sign::At(0, b"ZISRAWFILE"), NotOurs::new("a CZI file (Zeiss)", CONVERT)),
    (Sign::At(0, b"MATLAB 5.0"), NotOurs::new("a MATLAB file", CONVERT)),
    (Sign::At(0, b"#ASDF"), NotOurs::new("an ASDF file", CONVERT)),
    (Sign::At(0, b"\x89PNG\r\n\x1a\n"), NotOurs::new("a PNG image", CONVERT)),
    (Sign::At(0, b"\xff\xd8\xff"), NotOurs::new("a JPEG image", CONVERT)),
    (Sign::At(4, b"jP  \r\n\x87\n"), NotOurs::new("a JPEG 2000 image", CONVERT)),
    (Sign::At(0, b"PK\x03\x04"), NotOurs::new("a ZIP file", ZIP)),
    (Sign::At(0, b"PK\x05\x06"), NotOurs::new("a ZIP file with nothing in it", ZIP)),
    (Sign::At(0, b"\x1f\x8b"), NotOurs::new("a file compressed by gzip", UNPACK)),
    (Sign::At(0, b"BZh"), NotOurs::new("a file compressed by bzip2", UNPACK)),
    (Sign::At(0, b"\xfd7zXZ\0"), NotOurs::new("a file compressed by xz", UNPACK)),
    (Sign::At(0, b"\x28\xb5\x2f\xfd"), NotOurs::new("a file compressed by zstd", UNPACK)),
    (Sign::At(0, b"7z\xbc\xaf\x27\x1c"), NotOurs::new("a 7z archive", UNPACK)),
    (Sign::At(257, b"ustar"), NotOurs::new("a tar archive", UNPACK)),
    (Sign::At(0, b"SQLite format 3\0"), NotOurs::new("an SQLite database", CONVERT)),
    (Sign::Told(is_html), NotOurs::new("a page of HTML", PAGE)),
    (Sign::Told(is_xml), NotOurs::new("a document of XML", DOCUMENT)),
    (Sign::Told(is_json), NotOurs::new("a document of JSON", JSON)),
    (Sign::Told(is_table), NotOurs::new("a table of text (CSV)", TABLE)),
    (Sign::Told(is_text), NotOurs::new("a file of text", TEXT)),
];

const TABLE: &str = "rechunk reads arrays, not tables: write the columns that you need as arrays, e.g. with pandas and \
                     xarray (`to_zarr`)";
const ZIP: &str = "a ZIP file of a Zarr store is read if its name ends in .zip or .ozx";
const PAGE: &str = "name the place of the array itself, not of a page that shows it";
const DOCUMENT: &str = "name the place of the array itself: a directory, or a prefix of a bucket";
const TEXT: &str = "name the place of the array itself; of a file of elements alone say --raw-shape 100,200 and \
                    --raw-dtype uint16";
const JSON: &str = "of references (kerchunk, VirtualiZarr) the name ends in .json; else name the directory of the array";

/// The format of a file of which these are the first bytes.
pub(super) fn of_bytes(first: &[u8]) -> Option<NotOurs> {
    let is_it = |sign: &Sign| match *sign {
        Sign::At(offset, bytes) => has_at(first, offset, bytes),
        Sign::AtBlock(bytes) => {
            let blocks = std::iter::successors(Some(512_usize), |at| at.checked_mul(2));
            let blocks = blocks.take_while(|&at| at < first.len());
            has_at(first, 0, bytes) || blocks.into_iter().any(|at| has_at(first, at, bytes))
        }
        Sign::Told(told) => told(first),
    };
    FILES.iter().find(|(sign, _)| is_it(sign)).map(|&(_, format)| format)
}

fn has_at(first: &[u8], offset: usize, bytes: &[u8]) -> bool {
    first.get(offset..).is_some_and(|rest| rest.starts_with(bytes))
}

/// Finds a message of GRIB 1 or 2; a heading of a bulletin may stand before it.
fn is_grib(first: &[u8]) -> bool {
    const HEADING_BYTES: usize = 256;
    let looked = &first[..first.len().min(HEADING_BYTES)];
    looked.windows(8).any(|at| at.starts_with(b"GRIB") && matches!(at[7], 1 | 2))
}

/// Finds the magic of NIfTI-1 or NIfTI-2 in one file.
fn is_nifti(first: &[u8]) -> bool {
    has_at(first, 344, b"n+1\0") || has_at(first, 4, b"n+2\0")
}

/// The text that a file begins with, without a byte order mark; `None` where it is no text. What
/// was read may end inside of a character.
fn text(first: &[u8]) -> Option<&str> {
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    let text = match std::str::from_utf8(first) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&first[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}');
    (!text.trim().is_empty() && !text.contains(is_control)).then_some(text)
}

fn begins_like(first: &[u8], beginnings: &[&str]) -> bool {
    text(first).is_some_and(|text| {
        let text = text.trim_start().to_ascii_lowercase();
        beginnings.iter().any(|beginning| text.starts_with(beginning))
    })
}

fn is_html(first: &[u8]) -> bool {
    begins_like(first, &["<!doctype html", "<html", "<head", "<body"])
}

fn is_xml(first: &[u8]) -> bool {
    begins_like(first, &["<?xml", "<ome", "<spimdata", "<vrtdataset"])
}

fn is_json(first: &[u8]) -> bool {
    text(first).is_some_and(|text| {
        let rest = text.trim_start().strip_prefix(['{', '[']).map(str::trim_start);
        let begins = |rest: &str| rest.starts_with(['"', '{', '[', '}', ']', '-']);
        let is_number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        rest.is_some_and(|rest| begins(rest) || is_number(rest))
    })
}

/// Two lines at least, in which one separator stands equally often.
fn is_table(first: &[u8]) -> bool {
    let Some(text) = text(first) else { return false };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(4).collect();
    // The last line may have been cut off.
    let whole = if text.ends_with('\n') { &lines[..] } else { &lines[..lines.len().min(2)] };
    let count = |line: &str, separator: char| line.matches(separator).count();
    whole.len() > 1
        && [',', ';', '\t'].into_iter().any(|separator| {
            let columns = count(whole[0], separator);
            columns > 0 && whole.iter().all(|line| count(line, separator) == columns)
        })
}

fn is_text(first: &[u8]) -> bool {
    text(first).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(offset: usize, bytes: &[u8]) -> Vec<u8> {
        [&vec![0; offset][..], bytes, &[0; 64]].concat()
    }

    #[test]
    fn files_are_known_by_their_first_bytes() {
        let table: Vec<(Vec<u8>, &str)> = vec![
            (padded(0, b"\x89HDF\r\n\x1a\n"), "HDF5"),
            (padded(512, b"\x89HDF\r\n\x1a\n"), "HDF5"),
            (padded(2048, b"\x89HDF\r\n\x1a\n"), "HDF5"),
            (padded(0, b"CDF\x01"), "classic"),
            (padded(0, b"CDF\x05"), "CDF-5"),
            (padded(0, b"GRIB\0\0\0\x02"), "GRIB"),
            (padded(0, b"\x01\r\r\n123\r\r\nHTXX99 ECMF\r\r\nGRIB\0\0\x10\x01"), "GRIB"),
            (padded(0, b"II*\0"), "a TIFF"),
            (padded(0, b"MM\0+"), "BigTIFF"),
            (padded(0, b"WKW\x01\x55"), "WKW"),
            (padded(0, "ICE🧊CHUNK".as_bytes()), "Icechunk"),
            (padded(344, b"n+1\0"), "NIfTI"),
            (padded(257, b"ustar"), "tar"),
            (b"PAR1abc".to_vec(), "Parquet"),
            (b"<!DOCTYPE html><html>".to_vec(), "HTML"),
            (b"<?xml version=\"1.0\"?><SpimData>".to_vec(), "XML"),
            (b"{\"a\": 1}".to_vec(), "JSON"),
            (b"[1, 2]".to_vec(), "JSON"),
            (b"time,value\n1,2\n2,3\n".to_vec(), "CSV"),
            (b"a;b\r\n1;2".to_vec(), "CSV"),
            (b"Dear reader,\nthis is text\n".to_vec(), "a file of text"),
            ("gr\u{fc}n".as_bytes()[..3].to_vec(), "a file of text"),
        ];
        for (bytes, name) in table {
            let found = of_bytes(&bytes).map(|found| found.name);
            assert!(found.is_some_and(|found| found.contains(name)), "{name}: {found:?}");
        }
    }

    #[test]
    fn elements_alone_are_no_format() {
        let all_bytes: Vec<u8> = (0..=u8::MAX).cycle().take(1000).collect();
        for bytes in [&b""[..], &[0; 100], &all_bytes, b"\x89HDX", b"GRIB\0\0\0\x07", b"  \n"] {
            assert!(of_bytes(bytes).is_none(), "{bytes:?}");
        }
    }
}
