//! What the pages of a column of a Parquet file say that they have unpacked, before any is unpacked.
//!
//! The crate that reads them asks for as much memory as a page says. The headers are Thrift in its compact
//! protocol, of which the two sizes are read here and the rest is passed over.

use super::Fault;

/// Deepest nesting inside a header.
const DEPTH_MAX: usize = 16;

/// Fields of a page header: the sizes of the page, unpacked and as it is stored.
const UNPACKED: i64 = 2;
const STORED: i64 = 3;

/// Bytes of all pages in `column` once they are unpacked.
pub(super) fn unpacked_bytes(column: &[u8]) -> Result<u64, Fault> {
    let mut sum = 0_u64;
    let mut rest = Bytes { bytes: column, at: 0 };
    while rest.at < column.len() {
        let (unpacked, stored) = rest.header().ok_or(Fault::Pages)?;
        sum = sum.saturating_add(unpacked);
        let stored = usize::try_from(stored).map_err(|_| Fault::Pages)?;
        rest.skip(stored).ok_or(Fault::Pages)?;
    }
    Ok(sum)
}

struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    /// The sizes in a header, which is passed over.
    fn header(&mut self) -> Option<(u64, u64)> {
        let (mut unpacked, mut stored) = (None::<u64>, None::<u64>);
        let mut id = 0;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return unpacked.zip(stored);
            }
            id = match byte >> 4 {
                0 => self.number()?,
                delta => id + i64::from(delta),
            };
            match (id, byte & 0xf) {
                (UNPACKED | STORED, 5) => {
                    let size = u64::try_from(self.number()?).ok()?;
                    // Of a size that is said twice, the larger.
                    let place = if id == UNPACKED { &mut unpacked } else { &mut stored };
                    *place = Some(place.map_or(size, |before| before.max(size)));
                }
                (_, kind) => self.value(kind, DEPTH_MAX, false)?,
            }
        }
    }

    /// Passes over a value; in a list a boolean is a byte, elsewhere it is in its kind.
    fn value(&mut self, kind: u8, depth: usize, is_listed: bool) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 if is_listed => self.skip(1),
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.skip(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let length = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                (0..length).try_for_each(|_| self.value(byte & 0xf, depth, true))
            }
            11 => {
                let length = self.varint()?;
                let kinds = if length == 0 { 0 } else { self.byte()? };
                (0..length).try_for_each(|_| {
                    self.value(kinds >> 4, depth, true)?;
                    self.value(kinds & 0xf, depth, true)
                })
            }
            12 => loop {
                let byte = self.byte()?;
                if byte == 0 {
                    return Some(());
                }
                if byte >> 4 == 0 {
                    self.varint()?;
                }
                self.value(byte & 0xf, depth, false)?;
            },
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

    /// A number with a sign, which is in its lowest bit.
    fn number(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of a page of 3 stored bytes that says it has `unpacked`.
    fn page(unpacked: u32) -> Vec<u8> {
        let mut bytes = vec![0x15, 0, 0x15];
        let mut number = u64::from(unpacked) << 1;
        while number >= 0x80 {
            bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
            number >>= 7;
        }
        bytes.push(u8::try_from(number).unwrap());
        // Its stored size; then a struct with a list of booleans, a text, a double and a map.
        bytes.extend([0x15, 6, 0x2c, 0x19, 0x21, 1, 2, 0x18, 2, b'a', b'b', 0x17]);
        bytes.extend([0; 8]);
        bytes.extend([0x1b, 1, 0x35, 7, 1, 0, 0, b'x', b'y', b'z']);
        bytes
    }

    #[test]
    fn sizes_are_added_up_and_headers_that_end_early_are_refused() {
        let column = [page(1000), page(5)].concat();
        assert_eq!(unpacked_bytes(&column).unwrap(), 1005);
        assert_eq!(unpacked_bytes(&page(u32::MAX / 2)).unwrap(), u64::from(u32::MAX / 2));
        for length in 1..column.len() {
            let is_whole = length == page(1000).len();
            assert_eq!(unpacked_bytes(&column[..length]).is_ok(), is_whole, "{length}");
        }
        assert!(unpacked_bytes(&[0x1c; 1000]).is_err(), "structs in structs");
        assert!(
            unpacked_bytes(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x0f]).is_err(),
            "a long list"
        );
    }
}
