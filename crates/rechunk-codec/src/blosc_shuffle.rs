//! Rearranges the bytes, or the bits, of a block's elements as Blosc 1 does: like ones lie
//! together. See c-blosc 1.21, `shuffle.c`; for bits Masui et al. 2015, "A compression scheme for
//! radio data in high performance computing".

use std::cell::RefCell;
use std::ops::Range;

use crate::Shuffle;
use crate::byte_shuffle::{self, LANES, unshuffle_8, unshuffle_planes};

/// Elements of which the bits are rearranged at a time.
const TILE_ELEMENTS: usize = 8 * LANES;

thread_local! {
    /// Elements of a tile, of which bytes are rearranged and bits are not.
    static TILE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Shuffle {
    /// Resolves this, which is not `Auto`, for a block of `bytes`: bits are rearranged only where
    /// there are whole bytes of them.
    pub(crate) fn of_block(self, typesize: usize, bytes: usize) -> Self {
        match self {
            Self::Byte if typesize > 1 => Self::Byte,
            Self::Bit if (bytes / typesize).is_multiple_of(8) => Self::Bit,
            _ => Self::None,
        }
    }
}

/// Rearranges `elements` of `typesize` bytes into `shuffled`, which is as long, as
/// [`Shuffle::of_block`] says. What is no whole element is at the end, as it is.
pub(crate) fn shuffle(kind: Shuffle, typesize: usize, elements: &[u8], shuffled: &mut [u8]) {
    let count = elements.len() / typesize;
    let (whole, rest) = elements.split_at(count * typesize);
    let (shuffled, shuffled_rest) = shuffled.split_at_mut(whole.len());
    shuffled_rest.copy_from_slice(rest);
    if kind != Shuffle::Bit {
        return byte_shuffle::shuffle(typesize, whole, shuffled);
    }
    let row_bytes = count / 8;
    TILE.with_borrow_mut(|tile| {
        for (number, elements) in whole.chunks(TILE_ELEMENTS * typesize).enumerate() {
            tile.resize(elements.len(), 0);
            byte_shuffle::shuffle(typesize, elements, tile);
            let at = number * LANES..number * LANES + elements.len() / typesize / 8;
            let planes = tile.chunks_exact(8 * at.len());
            for (plane, rows) in planes.zip(shuffled.chunks_exact_mut(8 * row_bytes)) {
                let mut words = [0; LANES];
                for (word, bytes) in words.iter_mut().zip(plane.as_chunks().0) {
                    *word = transposed(u64::from_le_bytes(*bytes));
                }
                for (row, shift) in rows.chunks_exact_mut(row_bytes).zip((0..).step_by(8)) {
                    for (byte, word) in row[at.clone()].iter_mut().zip(&words) {
                        *byte = (word >> shift).to_le_bytes()[0];
                    }
                }
            }
        }
    });
}

/// Puts together what [`shuffle`] has rearranged: those elements that have bytes that are `wanted`,
/// and perhaps others.
pub(crate) fn unshuffle(
    kind: Shuffle,
    typesize: usize,
    shuffled: &[u8],
    elements: &mut [u8],
    wanted: &Range<usize>,
) {
    let count = elements.len() / typesize;
    let (whole, rest) = elements.split_at_mut(count * typesize);
    let (shuffled, shuffled_rest) = shuffled.split_at(whole.len());
    rest.copy_from_slice(shuffled_rest);
    let some = wanted.start / typesize..wanted.end.div_ceil(typesize).min(count);
    if kind != Shuffle::Bit {
        let plane = |byte: usize| &shuffled[byte * count..][some.clone()];
        let whole = &mut whole[some.start * typesize..some.end * typesize];
        return unshuffle_planes(typesize, plane, whole);
    }
    let row_bytes = count / 8;
    let (first, end) = (some.start / 8, some.end.div_ceil(8));
    TILE.with_borrow_mut(|tile| {
        let whole = whole[..end * 8 * typesize].chunks_mut(TILE_ELEMENTS * typesize);
        for (number, elements) in whole.enumerate().skip(first / LANES) {
            tile.resize(elements.len(), 0);
            let at = number * LANES..number * LANES + elements.len() / typesize / 8;
            for (byte, plane) in tile.chunks_exact_mut(8 * at.len()).enumerate() {
                let row = |bit: usize| {
                    shuffled[(8 * byte + bit) * row_bytes..][at.clone()].as_chunks::<1>().0
                };
                let words = plane.as_chunks_mut().0;
                unshuffle_8(row, words);
                for word in words {
                    *word = transposed(u64::from_le_bytes(*word)).to_le_bytes();
                }
            }
            let plane = |byte: usize| &tile[byte * 8 * at.len()..][..8 * at.len()];
            unshuffle_planes(typesize, plane, elements);
        }
    });
}

/// Bit `i` of byte `j` becomes bit `j` of byte `i` (Warren, "Hacker's Delight", 7-3).
#[inline]
fn transposed(word: u64) -> u64 {
    let swapped = |word: u64, by: u32, mask: u64| {
        let differs = (word ^ (word >> by)) & mask;
        word ^ differs ^ (differs << by)
    };
    let word = swapped(word, 7, 0x00aa_00aa_00aa_00aa);
    let word = swapped(word, 14, 0x0000_cccc_0000_cccc);
    swapped(word, 28, 0x0000_0000_f0f0_f0f0)
}
