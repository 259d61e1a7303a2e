//! Blocks in the body of an answer: sizes along x, y and z, big-endian, then the elements.

use bytes::{BufMut, Bytes, BytesMut};

use super::fault::Fault;
use super::sizes::{Sizes, WIRE_HEADER_BYTES};

/// A part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The next block is not there.
    Absent,
    /// The next block begins, and has so many bytes of elements.
    Begins(Sizes, u64),
    /// Elements of the block that has begun.
    Elements(Bytes),
}

/// Takes an answer apart as it comes. Nothing is kept but a header that has not come whole.
#[derive(Debug)]
pub(super) struct AnswerReader {
    block: [u64; 3],
    item_bytes: u64,
    header: BytesMut,
    /// Bytes of elements that are still to come of the block that has begun.
    left: u64,
}

impl AnswerReader {
    /// For blocks of at most `block` elements of `item_bytes`.
    pub(super) fn new(block: [u64; 3], item_bytes: u64) -> Self {
        Self { block, item_bytes, header: BytesMut::with_capacity(WIRE_HEADER_BYTES), left: 0 }
    }

    /// True between two blocks.
    pub(super) fn is_between(&self) -> bool {
        self.left == 0 && self.header.is_empty()
    }

    /// True if all elements have come of the block that has begun.
    pub(super) fn is_whole(&self) -> bool {
        self.left == 0
    }

    /// The next piece in `input`; `None` if more has to come.
    pub(super) fn next(&mut self, input: &mut Bytes) -> Result<Option<Piece>, Fault> {
        if input.is_empty() {
            return Ok(None);
        }
        if self.left > 0 {
            let most = usize::try_from(self.left).unwrap_or(usize::MAX);
            let elements = input.split_to(input.len().min(most));
            self.left -= elements.len() as u64;
            return Ok(Some(Piece::Elements(elements)));
        }
        let missing = WIRE_HEADER_BYTES - self.header.len();
        self.header.put(input.split_to(input.len().min(missing)));
        if self.header.len() < WIRE_HEADER_BYTES {
            return Ok(None);
        }
        let header = self.header.split();
        let mut sizes = [0_i32; 3];
        for (size, word) in sizes.iter_mut().zip(header.chunks_exact(4)) {
            *size = word.iter().fold(0, |size, byte| size << 8 | i32::from(*byte));
        }
        if sizes == [-1; 3] {
            return Ok(Some(Piece::Absent));
        }
        let [x, y, z] = self.block;
        let wrong =
            || Fault::Answer(format!("a block of {sizes:?} elements, of at most {x}, {y} and {z}"));
        let mut checked = [0; 3];
        for ((checked, size), most) in checked.iter_mut().zip(sizes).zip(self.block) {
            *checked = u32::try_from(size)
                .ok()
                .filter(|size| u64::from(*size) <= most)
                .ok_or_else(wrong)?;
        }
        let sizes = Sizes(checked);
        self.left = sizes.bytes(self.item_bytes).ok_or_else(wrong)?;
        Ok(Some(Piece::Begins(sizes, self.left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8], step: usize) -> Result<Vec<Piece>, Fault> {
        let mut reader = AnswerReader::new([4, 3, 2], 2);
        let mut found: Vec<Piece> = Vec::new();
        for part in bytes.chunks(step) {
            let mut input = Bytes::copy_from_slice(part);
            while let Some(piece) = reader.next(&mut input)? {
                match (found.last_mut(), piece) {
                    (Some(Piece::Elements(before)), Piece::Elements(more)) => {
                        *before = [&before[..], &more[..]].concat().into();
                    }
                    (_, piece) => found.push(piece),
                }
            }
        }
        Ok(found)
    }

    #[test]
    fn an_answer_is_taken_apart_however_it_comes() {
        let header = |sizes: [i32; 3]| sizes.map(i32::to_be_bytes).concat();
        let elements: Vec<u8> = (0..12).collect();
        let body = [
            header([-1; 3]),
            header([2, 3, 1]),
            elements.clone(),
            header([0, 3, 1]),
            header([-1; 3]),
        ]
        .concat();
        let wanted = vec![
            Piece::Absent,
            Piece::Begins(Sizes([2, 3, 1]), 12),
            Piece::Elements(elements.into()),
            Piece::Begins(Sizes([0, 3, 1]), 0),
            Piece::Absent,
        ];
        for step in [1, 5, 12, 13, 1000] {
            assert_eq!(pieces(&body, step).unwrap(), wanted, "{step}");
        }
        for sizes in [[-1, -1, 1], [5, 1, 1], [i32::MAX; 3], [i32::MIN, 1, 1]] {
            assert!(pieces(&header(sizes), 7).is_err(), "{sizes:?}");
        }
    }
}
