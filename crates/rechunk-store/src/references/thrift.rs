//! Thrift in its compact protocol, as far as the headers and footers of Parquet files have it.
//!
//! What is read twice, here and by the crate `parquet`, has to mean the same to both: what could be
//! read in two ways is nothing here.

/// Deepest nesting inside what is passed over.
const DEPTH_MAX: usize = 16;

/// Kinds of fields. A number has 32 bits, another 16 or 64; booleans are a kind for each value.
pub(super) const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
pub(super) const SHORT: u8 = 4;
pub(super) const NUMBER: u8 = 5;
pub(super) const LONG: u8 = 6;
pub(super) const DOUBLE: u8 = 7;
pub(super) const TEXT: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Bytes, and how far they have been read.
pub(super) struct Thrift<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Thrift<'a> {
    /// The fields of a struct, each of them once: `take` is given their numbers and kinds, and
    /// reads them.
    pub(super) fn fields(
        &mut self,
        mut take: impl FnMut(&mut Self, i64, u8) -> Option<()>,
    ) -> Option<()> {
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
            // Numbers have 16 bits. Those that are known to anybody are small.
            let id_bits = u32::from(u16::try_from(id).ok().filter(|&id| id < 1 << 15)?);
            let bit = 1_u64.checked_shl(id_bits).unwrap_or(0);
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            take(self, id, byte & 0xf)?;
        }
    }

    /// Passes over a value. There are no lists and maps in what is passed over.
    pub(super) fn value(&mut self, kind: u8) -> Option<()> {
        self.nested(kind, DEPTH_MAX)
    }

    fn nested(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // A boolean is in its kind.
            TRUE | FALSE => Some(()),
            3 => self.skip(1),
            SHORT..=LONG => self.varint().map(drop),
            DOUBLE => self.skip(8),
            TEXT => self.text().map(drop),
            STRUCT => self.fields(|rest, _, kind| rest.nested(kind, depth)),
            _ => None,
        }
    }

    /// Reads a text behind its length.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let start = self.at;
        self.skip(length)?;
        self.bytes.get(start..self.at)
    }

    /// Of which kind the values are in a list that begins here, and how many there are.
    pub(super) fn list(&mut self) -> Option<(u8, u64)> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            0xf => self.varint()?,
            count => u64::from(count),
        };
        Some((byte & 0xf, count))
    }

    /// Number of structs in a list of them that begins here. (Of none, fastparquet does not say
    /// what they are.)
    pub(super) fn structs(&mut self) -> Option<u64> {
        let (kind, count) = self.list()?;
        (kind == STRUCT || count == 0).then_some(count)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn skip(&mut self, length: usize) -> Option<()> {
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
    pub(super) fn size(&mut self) -> Option<u64> {
        let number = i32::try_from(self.number()?).ok()?;
        u64::try_from(number).ok()
    }

    /// A number with a sign, which is in its lowest bit.
    pub(super) fn number(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

/// `number` without a sign, for tests.
#[cfg(test)]
pub(super) fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}
