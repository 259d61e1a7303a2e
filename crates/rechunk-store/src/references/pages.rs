//! Reads the page headers of a column of a Parquet file, before any page is unpacked.
//!
//! The crate that reads them asks for as much memory as a page says. Of the headers, which are
//! Thrift, sizes, encodings and the lengths of dictionaries are read here and the rest is passed
//! over. That crate does not look at the kinds of fields that it knows and takes the last of two: a
//! header that it would read otherwise than it is read here is refused.

use super::fault::Fault;
use super::limits::ROWS_MAX;
use super::thrift::{NUMBER, STRUCT, Thrift};

/// Fields of a page header: the sizes of the page, unpacked and as it is stored, then the headers
/// of each kind. The kinds are pages of data, indexes, dictionaries, and pages of data in their
/// second version.
const UNPACKED: i64 = 2;
const STORED: i64 = 3;
const DATA: i64 = 5;
const INDEX: i64 = 6;
const DICTIONARY: i64 = 7;
const DATA_V2: i64 = 8;

/// Encodings of values: one after the other, and by numbers of those in a dictionary. Of those by
/// differences a few bytes say how many values there are, and how long.
const PLAIN: u64 = 0;
const PLAIN_DICTIONARY: u64 = 2;
const RLE_DICTIONARY: u64 = 8;

/// Bytes of all pages in `column` once they are unpacked.
pub(super) fn unpacked_bytes(column: &[u8]) -> Result<u64, Fault> {
    let mut sum = 0_u64;
    let mut rest = Thrift { bytes: column, at: 0 };
    while rest.at < column.len() {
        let header = Header::read(&mut rest).ok_or(Fault::Pages)?;
        let (unpacked, stored) = header.unpacked.zip(header.stored).ok_or(Fault::Pages)?;
        for encoding in [header.encoding, header.encoding_v2].into_iter().flatten() {
            if !matches!(encoding, PLAIN | PLAIN_DICTIONARY | RLE_DICTIONARY) {
                return Err(Fault::Encoding);
            }
        }
        if header.dictionary_values.is_some_and(|values| values > ROWS_MAX) {
            return Err(Fault::Rows { limit: ROWS_MAX });
        }
        sum = sum.saturating_add(unpacked);
        let stored = usize::try_from(stored).map_err(|_| Fault::Pages)?;
        rest.skip(stored).ok_or(Fault::Pages)?;
    }
    Ok(sum)
}

/// Fields that are read of the header of a page.
#[derive(Default)]
struct Header {
    unpacked: Option<u64>,
    stored: Option<u64>,
    encoding: Option<u64>,
    dictionary_values: Option<u64>,
    encoding_v2: Option<u64>,
}

impl Header {
    /// A header, which is passed over.
    fn read(bytes: &mut Thrift<'_>) -> Option<Self> {
        let mut header = Self::default();
        bytes.fields(|rest, id, kind| {
            match (id, kind) {
                (UNPACKED, NUMBER) => header.unpacked = Some(rest.size()?),
                (STORED, NUMBER) => header.stored = Some(rest.size()?),
                (DATA, STRUCT) => header.encoding = Some(number_of(rest, 2, 4)?),
                (DICTIONARY, STRUCT) => header.dictionary_values = Some(number_of(rest, 1, 2)?),
                (DATA_V2, STRUCT) => header.encoding_v2 = Some(number_of(rest, 4, 6)?),
                (UNPACKED | STORED | DATA | DICTIONARY | DATA_V2, _) => return None,
                // The kind of page, a checksum, and pages that are passed over.
                (1 | 4, kind) if kind != NUMBER => return None,
                (INDEX, kind) if kind != STRUCT => return None,
                (_, kind) => rest.value(kind)?,
            }
            Some(())
        })?;
        Some(header)
    }
}

/// The number in the field `wanted` of a struct, whose fields up to `numbers` are numbers.
fn number_of(bytes: &mut Thrift<'_>, wanted: i64, numbers: i64) -> Option<u64> {
    let mut found = None;
    bytes.fields(|rest, id, kind| {
        match kind {
            NUMBER if id == wanted => found = Some(rest.size()?),
            kind if kind != NUMBER && id <= numbers => return None,
            kind => rest.value(kind)?,
        }
        Some(())
    })?;
    found
}

#[cfg(test)]
mod tests {
    use super::super::thrift;
    use super::*;

    /// `number` as it is in a field.
    fn varint(number: u32) -> Vec<u8> {
        thrift::varint(u64::from(number) << 1)
    }

    /// A page of 3 stored bytes that says it has `unpacked`, with `fields` behind those in its
    /// header.
    fn page(unpacked: u32, fields: &[u8]) -> Vec<u8> {
        let sizes = [&[0x15, 0, 0x15][..], &varint(unpacked), &[0x15, 6]].concat();
        [&sizes, fields, b"\0xyz"].concat()
    }

    /// Fields of a page of data in either version, and then statistics with a text.
    fn data(encoding: u8) -> [Vec<u8>; 2] {
        let numbers = |count: usize| [0x15, encoding << 1].repeat(count);
        let statistics = [0x18, 2, b'a', b'b', 0x16, 0, 0, 0];
        [
            [&[0x2c][..], &numbers(4), &[0x1c], &statistics].concat(),
            [&[0x5c][..], &numbers(6), &[0x11, 0x1c], &statistics].concat(),
        ]
    }

    #[test]
    fn sizes_are_added_up_and_headers_that_end_early_are_refused() {
        let [v1, v2] = data(0);
        let column = [page(1000, &v1), page(5, &v2)].concat();
        assert_eq!(unpacked_bytes(&column).unwrap(), 1005);
        let most = u32::MAX / 2;
        assert_eq!(unpacked_bytes(&page(most, &[])).unwrap(), u64::from(most));
        for length in 1..column.len() {
            let is_whole = length == page(1000, &v1).len();
            assert_eq!(unpacked_bytes(&column[..length]).is_ok(), is_whole, "{length}");
        }
        assert!(unpacked_bytes(&[0x9c; 1000]).is_err(), "structs in structs");
    }

    #[test]
    fn what_takes_more_than_it_says_is_refused() {
        for encoding in 0..10 {
            let is_read = matches!(encoding, 0 | 2 | 8);
            for fields in data(encoding) {
                let found = unpacked_bytes(&page(1, &fields));
                assert!(found.is_ok() == is_read, "{encoding}: {found:?}");
            }
        }
        let dictionary = |values| [&[0x4c, 0x15][..], &varint(values), &[0x15, 0, 0]].concat();
        unpacked_bytes(&page(1, &dictionary(1 << 20))).unwrap();
        assert!(unpacked_bytes(&page(1, &dictionary((1 << 20) + 1))).is_err());
    }

    #[test]
    fn headers_that_could_be_read_in_two_ways_are_refused() {
        for (fields, why) in [
            (&[0x05, 4, 2][..], "a size that is there twice"),
            (&[0x25, 0], "a number that is in the place of a struct"),
            (&[0x69, 0x21, 1, 2], "a list"),
            (&[0x38, 2, 0x99, 1], "a text in the place of a struct that is passed over"),
            (&[0x05, 0x84, 0x80, 0x08, 2], "the number of a field that is 2 in 16 bits"),
            (&[0x6f, 0], "an unknown kind"),
        ] {
            assert!(unpacked_bytes(&page(1, fields)).is_err(), "{why}");
        }
        assert!(unpacked_bytes(&[0x15, 0, 0x11, 0x15, 6, 0]).is_err(), "a size without a number");
    }
}
