//! How Blosc 1 rearranges the bytes, or the bits, of a block's elements, so that what is alike lies together (c-blosc 1.21,
//! `shuffle.c`; for bits Masui et al. 2015, "A compression scheme for radio data in high performance computing"). Loops over a
//! few elements at a time, which the compiler makes vectors of.

use std::cell::RefCell;
use std::ops::Range;

use crate::Shuffle;

/// Words that are put together at a time: what they go through stays in the first-level cache.
const LANES: usize = 256;

/// Elements of which the bits are rearranged at a time.
const TILE_ELEMENTS: usize = 8 * LANES;

thread_local! {
    /// Elements of a tile, of which bytes are rearranged and bits are not.
    static TILE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Shuffle {
    /// Whether this, which is not `Auto`, rearranges a block of `bytes`: bits only where there are whole bytes of them.
    pub(crate) fn rearranges(self, typesize: usize, bytes: usize) -> bool {
        match self {
            Self::None | Self::Auto => false,
            Self::Byte => typesize > 1,
            Self::Bit => (bytes / typesize).is_multiple_of(8),
        }
    }
}

/// Rearranges `elements` of `typesize` bytes into `shuffled`, which is as long, where [`Shuffle::rearranges`]. What is no whole element is at the end, as it is.
pub(crate) fn shuffle(kind: Shuffle, typesize: usize, elements: &[u8], shuffled: &mut [u8]) {
    let count = elements.len() / typesize;
    let (whole, rest) = elements.split_at(count * typesize);
    let (shuffled, shuffled_rest) = shuffled.split_at_mut(whole.len());
    shuffled_rest.copy_from_slice(rest);
    if kind != Shuffle::Bit {
        return shuffle_bytes(typesize, whole, shuffled);
    }
    let row_bytes = count / 8;
    TILE.with_borrow_mut(|tile| {
        for (number, elements) in whole.chunks(TILE_ELEMENTS * typesize).enumerate() {
            tile.resize(elements.len(), 0);
            shuffle_bytes(typesize, elements, tile);
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

/// Puts together what [`shuffle`] has rearranged: those elements that have bytes that are `wanted`, and perhaps others.
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
        return unshuffle_bytes(typesize, plane, whole);
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
            unshuffle_bytes(typesize, plane, elements);
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

/// The first bytes of all elements of `typesize` bytes, then the second ones, and so on.
fn shuffle_bytes(typesize: usize, whole: &[u8], planes: &mut [u8]) {
    match typesize {
        1 => planes.copy_from_slice(whole),
        2 => shuffle_words(whole.as_chunks().0, planes, |word, shift| {
            (u16::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        4 => shuffle_words(whole.as_chunks().0, planes, |word, shift| {
            (u32::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        8 => shuffle_words(whole.as_chunks().0, planes, |word, shift| {
            (u64::from_le_bytes(word) >> shift).to_le_bytes()[0]
        }),
        _ => {
            let count = whole.len() / typesize;
            for (byte, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
                for (value, element) in plane.iter_mut().zip(whole.chunks_exact(typesize)) {
                    *value = element[byte];
                }
            }
        }
    }
}

/// [`shuffle_bytes`] with shifts, a few elements at a time: loops that the compiler makes vectors of.
fn shuffle_words<const N: usize>(
    words: &[[u8; N]],
    planes: &mut [u8],
    byte_of: impl Fn([u8; N], u32) -> u8,
) {
    let count = words.len();
    for (some, words) in words.chunks(LANES).enumerate() {
        for (plane, shift) in planes.chunks_exact_mut(count).zip((0..).step_by(8)) {
            let plane = &mut plane[some * LANES..][..words.len()];
            for (value, word) in plane.iter_mut().zip(words) {
                *value = byte_of(*word, shift);
            }
        }
    }
}

/// Puts elements of `typesize` bytes together, of whose bytes each has a plane.
fn unshuffle_bytes<'a>(typesize: usize, plane: impl Fn(usize) -> &'a [u8], whole: &mut [u8]) {
    let byte_plane = |byte: usize| plane(byte).as_chunks::<1>().0;
    match typesize {
        1 => whole.copy_from_slice(plane(0)),
        2 => interleave(byte_plane(0), byte_plane(1), whole.as_chunks_mut::<2>().0),
        4 => unshuffle_4(byte_plane, whole.as_chunks_mut().0),
        8 => unshuffle_8(byte_plane, whole.as_chunks_mut().0),
        _ => {
            for byte in 0..typesize {
                for (element, value) in whole.chunks_exact_mut(typesize).zip(plane(byte)) {
                    element[byte] = *value;
                }
            }
        }
    }
}

fn unshuffle_4<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 4]]) {
    let mut halves = [[[0; 2]; LANES]; 2];
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, half) in halves.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

fn unshuffle_8<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 8]]) {
    let (mut quarters, mut halves) = ([[[0; 2]; LANES]; 4], [[[0; 4]; LANES]; 2]);
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, quarter) in quarters.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], quarter);
        }
        for (half, quarters) in halves.iter_mut().zip(quarters.chunks_exact(2)) {
            interleave(&quarters[0], &quarters[1], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

/// Puts the two halves of elements together: a loop that the compiler makes vectors of, at 10 to
/// 35 GB/s; byte by byte, elements of 4 bytes take four times as long.
#[inline]
fn interleave<const H: usize, const N: usize>(
    low: &[[u8; H]],
    high: &[[u8; H]],
    elements: &mut [[u8; N]],
) {
    for ((element, low), high) in elements.iter_mut().zip(low).zip(high) {
        element[..H].copy_from_slice(low);
        element[H..].copy_from_slice(high);
    }
}
