//! Tables of FlatBuffers, read where they lie (<https://flatbuffers.dev/internals/>).
//!
//! Nothing is verified beforehand: every access checks that it stays inside the buffer, so that
//! the worst that a damaged one does is to have wrong values, or none.

use std::fmt;

/// A place in a buffer that leads out of it, or has no value where there has to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of it leads outside of it, or is missing")
    }
}

/// A table: fields by their numbers, each of which may be missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    /// Position of its first byte.
    at: usize,
    /// Offsets of its fields from there, two bytes each.
    fields: &'a [u8],
}

impl<'a> Table<'a> {
    /// Reads the table that a buffer is of.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self, Damaged> {
        Self::at(bytes, target(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], at: usize) -> Result<Self, Damaged> {
        let back = i64::from(i32::from_le_bytes(array(bytes, at)?));
        let start = i64::try_from(at).ok().and_then(|at| at.checked_sub(back)).ok_or(Damaged)?;
        let start = usize::try_from(start).map_err(|_| Damaged)?;
        let length = usize::from(u16::from_le_bytes(array(bytes, start)?));
        // Its own length and that of the table are before the offsets.
        let fields = bytes.get(start..).and_then(|bytes| bytes.get(4..length)).ok_or(Damaged)?;
        Ok(Self { bytes, at, fields })
    }

    /// Position of a field; `None` if it is missing.
    fn field(&self, number: usize) -> Result<Option<usize>, Damaged> {
        let Some(offset) = self.fields.get(2 * number..2 * number + 2) else { return Ok(None) };
        let offset = usize::from(u16::from_le_bytes(array(offset, 0)?));
        Ok(if offset == 0 { None } else { Some(self.at.checked_add(offset).ok_or(Damaged)?) })
    }

    /// Bytes of a field that has `N` of them, a number or a struct.
    pub(super) fn fixed<const N: usize>(&self, number: usize) -> Result<Option<[u8; N]>, Damaged> {
        self.field(number)?.map(|at| array(self.bytes, at)).transpose()
    }

    /// A byte; 0 if it is missing.
    pub(super) fn u8(&self, number: usize) -> Result<u8, Damaged> {
        Ok(self.fixed(number)?.map_or(0, u8::from_le_bytes))
    }

    /// A number of 32 bits; 0 if it is missing.
    pub(super) fn u32(&self, number: usize) -> Result<u32, Damaged> {
        Ok(self.fixed(number)?.map_or(0, u32::from_le_bytes))
    }

    /// A number of 64 bits; 0 if it is missing.
    pub(super) fn u64(&self, number: usize) -> Result<u64, Damaged> {
        Ok(self.fixed(number)?.map_or(0, u64::from_le_bytes))
    }

    /// Position of the elements of a vector, of `size_bytes` each, and their number.
    fn elements(
        &self,
        number: usize,
        size_bytes: usize,
    ) -> Result<Option<(usize, usize)>, Damaged> {
        let Some(field) = self.field(number)? else { return Ok(None) };
        let at = target(self.bytes, field)?;
        let count = size(u32::from_le_bytes(array(self.bytes, at)?))?;
        let room = self.bytes.len() - at - 4; // the count was there
        let length = count.checked_mul(size_bytes).filter(|&length| length <= room);
        length.map(|_| Some((at + 4, count))).ok_or(Damaged)
    }

    /// Elements of a vector, of `size_bytes` each, one behind the other.
    pub(super) fn vector(
        &self,
        number: usize,
        size_bytes: usize,
    ) -> Result<Option<&'a [u8]>, Damaged> {
        let Some((start, count)) = self.elements(number, size_bytes)? else { return Ok(None) };
        Ok(Some(&self.bytes[start..start + count * size_bytes]))
    }

    /// A text.
    pub(super) fn text(&self, number: usize) -> Result<Option<&'a str>, Damaged> {
        self.vector(number, 1)?.map(utf8).transpose()
    }

    /// A table.
    pub(super) fn table(&self, number: usize) -> Result<Option<Self>, Damaged> {
        let Some(field) = self.field(number)? else { return Ok(None) };
        Self::at(self.bytes, target(self.bytes, field)?).map(Some)
    }

    /// A vector of tables or of texts; without elements if it is missing.
    pub(super) fn list(&self, number: usize) -> Result<List<'a>, Damaged> {
        let (start, count) = self.elements(number, 4)?.unwrap_or_default();
        Ok(List { bytes: self.bytes, start, count })
    }
}

/// A vector of tables or of texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct List<'a> {
    bytes: &'a [u8],
    /// Position of the first offset.
    start: usize,
    count: usize,
}

impl<'a> List<'a> {
    /// Continues a list that [`List::place`] is of, in the same buffer.
    pub(super) fn in_buffer(bytes: &'a [u8], (start, count): (usize, usize)) -> Self {
        Self { bytes, start, count }
    }

    /// Place of it in its buffer, and number of its elements.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.start, self.count)
    }

    /// Number of its elements.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    fn element(&self, number: usize) -> Result<usize, Damaged> {
        if number >= self.count {
            return Err(Damaged);
        }
        let field = number.checked_mul(4).and_then(|offset| offset.checked_add(self.start));
        target(self.bytes, field.ok_or(Damaged)?)
    }

    /// The table of a number.
    pub(super) fn table(&self, number: usize) -> Result<Table<'a>, Damaged> {
        Table::at(self.bytes, self.element(number)?)
    }

    /// The text of a number.
    pub(super) fn text(&self, number: usize) -> Result<&'a str, Damaged> {
        let at = self.element(number)?;
        let length = size(u32::from_le_bytes(array(self.bytes, at)?))?;
        let rest = &self.bytes[at + 4..]; // the length was there
        rest.get(..length).ok_or(Damaged).and_then(utf8)
    }

    /// The tables, one after the other.
    pub(super) fn tables(self) -> impl Iterator<Item = Result<Table<'a>, Damaged>> {
        (0..self.count).map(move |number| self.table(number))
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Damaged> {
    std::str::from_utf8(bytes).map_err(|_| Damaged)
}

/// Position to which the offset at `at` leads.
fn target(bytes: &[u8], at: usize) -> Result<usize, Damaged> {
    let offset = size(u32::from_le_bytes(array(bytes, at)?))?;
    at.checked_add(offset).ok_or(Damaged)
}

fn size(number: u32) -> Result<usize, Damaged> {
    usize::try_from(number).map_err(|_| Damaged)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Damaged> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.copied().ok_or(Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with a number of 32 bits, a text, and a list of two tables that are itself.
    fn buffer() -> Vec<u8> {
        let mut bytes = vec![16, 0, 0, 0]; // the root is at 16
        bytes.extend([12, 0, 16, 0]); // 4: fields of 12 bytes, the table has 16
        bytes.extend([4, 0, 8, 0, 0, 0, 12, 0]); // field 2 is missing
        bytes.extend(12_i32.to_le_bytes()); // 16: the fields are 12 before
        bytes.extend(7_u32.to_le_bytes());
        bytes.extend(8_u32.to_le_bytes()); // 24: the text is at 32
        bytes.extend(12_u32.to_le_bytes()); // 28: the list is at 40
        bytes.extend([3, 0, 0, 0, b'a', b'b', b'c', 0]);
        bytes.extend(2_u32.to_le_bytes()); // 40
        bytes.extend([0xff; 8]); // no offset goes back that far
        bytes
    }

    #[test]
    fn fields_are_found_by_number() {
        let bytes = buffer();
        let table = Table::root(&bytes).unwrap();
        assert_eq!((table.u32(0), table.text(1)), (Ok(7), Ok(Some("abc"))));
        assert_eq!((table.u64(2), table.text(2), table.u8(9)), (Ok(0), Ok(None), Ok(0)));
        let list = table.list(3).unwrap();
        assert_eq!((list.len(), list.place()), (2, (44, 2)));
        assert_eq!(list.table(0).err(), Some(Damaged));
        assert_eq!(list.table(2).err(), Some(Damaged));
        assert_eq!(table.list(2).unwrap().len(), 0);
    }

    #[test]
    fn no_byte_leads_outside() {
        let whole = buffer();
        for end in 0..whole.len() {
            read_all(&whole[..end]);
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                read_all(&bytes);
            }
        }
    }

    fn read_all(bytes: &[u8]) {
        let Ok(table) = Table::root(bytes) else { return };
        let _ = (table.u32(0), table.text(1), table.u64(2), table.table(1));
        let Ok(list) = table.list(3) else { return };
        let _ = (list.text(0), list.tables().take(4).count());
    }
}
