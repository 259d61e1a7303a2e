//! What the pages of a column of a Parquet file say of themselves, before any is unpacked.
//!
//! The crate that reads them asks for as much memory as a page says. The headers are Thrift in its compact
//! protocol, of which sizes, encodings and the lengths of dictionaries are read here and the rest is passed
//! over. That crate does not look at the kinds of fields that it knows and takes the last of two: a header
//! that it would read otherwise than it is read here is refused.

use super::Fault;
use super::partition::ROWS_MAX;

/// Deepest nesting inside a header.
const DEPTH_MAX: usize = 16;

/// Fields of a page header: the sizes of the page, unpacked and as it is stored; then what pages of data,
/// dictionaries, and pages of data in their second version have.
const UNPACKED: i64 = 2;
const STORED: i64 = 3;
const DATA: i64 = 5;
const DICTIONARY: i64 = 7;
const DATA_V2: i64 = 8;

/// Kinds of fields.
const NUMBER: u8 = 5;
const STRUCT: u8 = 12;

/// Encodings of values: one after the other, and by numbers of those in a dictionary. Of those by
/// differences a few bytes say how many values there are, and how long.
const PLAIN: u64 = 0;
const PLAIN_DICTIONARY: u64 = 2;
const RLE_DICTIONARY: u64 = 8;

/// Bytes of all pages in `column` once they are unpacked.
pub(super) fn unpacked_bytes(column: &[u8]) -> Result<u64, Fault> {
    let mut sum = 0_u64;
    let mut rest = Bytes { bytes: column, at: 0 };
    while rest.at < column.len() {
        let header = rest.header().ok_or(Fault::Pages)?;
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

/// What is read of the header of a page.
#[derive(Default)]
struct Header {
    unpacked: Option<u64>,
    stored: Option<u64>,
    encoding: Option<u64>,
    dictionary_values: Option<u64>,
    encoding_v2: Option<u64>,
}

struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    /// A header, which is passed over.
    fn header(&mut self) -> Option<Header> {
        let mut header = Header::default();
        self.fields(|rest, id, kind| {
            match (id, kind) {
                (UNPACKED, NUMBER) => header.unpacked = Some(rest.size()?),
                (STORED, NUMBER) => header.stored = Some(rest.size()?),
                (DATA, STRUCT) => header.encoding = Some(rest.number_of(2, 4)?),
                (DICTIONARY, STRUCT) => header.dictionary_values = Some(rest.number_of(1, 2)?),
                (DATA_V2, STRUCT) => header.encoding_v2 = Some(rest.number_of(4, 6)?),
                (UNPACKED | STORED | DATA | DICTIONARY | DATA_V2, _) => return None,
                // The kind of page, and a checksum.
                (1 | 4, kind) if kind != NUMBER => return None,
                (_, kind) => rest.value(kind, DEPTH_MAX)?,
            }
            Some(())
        })?;
        Some(header)
    }

    /// The number in the field `wanted` of a struct, whose fields up to `numbers` are numbers.
    fn number_of(&mut self, wanted: i64, numbers: i64) -> Option<u64> {
        let mut found = None;
        self.fields(|rest, id, kind| {
            match kind {
                NUMBER if id == wanted => found = Some(rest.size()?),
                kind if kind != NUMBER && id <= numbers => return None,
                kind => rest.value(kind, DEPTH_MAX)?,
            }
            Some(())
        })?;
        found
    }

    /// The fields of a struct, each of them once: `take` is given their numbers and kinds, and reads them.
    fn fields(&mut self, mut take: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let (mut id, mut seen) = (0_i64, 0_u64);
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Some(());
            }
            id = match byte >> 4 {
                0 => self.number()?,
                delta => id + i64::from(delta),
            };
            // There are no more than a few of them.
            let bit = 1_u64.checked_shl(u32::try_from(id).ok()?)?;
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            take(self, id, byte & 0xf)?;
        }
    }

    /// Passes over a value. Lists and maps are in no header.
    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // A boolean is in its kind.
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.skip(length)
            }
            STRUCT => self.fields(|rest, _, kind| rest.value(kind, depth)),
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.at = self.at.checked_add(length).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A size or a count, 0 or more, in 32 bits with a sign.
    fn size(&mut self) -> Option<u64> {
        let number = i32::try_from(self.number()?).ok()?;
        u64::try_from(number).ok()
    }

    /// A number with a sign, which is in its lowest bit.
    fn number(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `number` as it is in a field.
    fn varint(number: u32) -> Vec<u8> {
        let mut rest = u64::from(number) << 1;
        let mut bytes = Vec::new();
        while rest >= 0x80 {
            bytes.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
            rest >>= 7;
        }
        bytes.push(u8::try_from(rest).unwrap());
        bytes
    }

    /// A page of 3 stored bytes that says it has `unpacked`, with `fields` behind those in its header.
    fn page(unpacked: u32, fields: &[u8]) -> Vec<u8> {
        let sizes = [&[0x15, 0, 0x15][..], &varint(unpacked), &[0x15, 6]].concat();
        [&sizes, fields, b"\0xyz"].concat()
    }

    /// What is known of a page of data in either version, and then statistics with a text.
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
            (&[0x05, 0x84, 0x80, 0x08, 2], "the number of a field that is 2 in 16 bits"),
            (&[0x6f, 0], "an unknown kind"),
        ] {
            assert!(unpacked_bytes(&page(1, fields)).is_err(), "{why}");
        }
        assert!(unpacked_bytes(&[0x15, 0, 0x11, 0x15, 6, 0]).is_err(), "a size without a number");
    }
}
