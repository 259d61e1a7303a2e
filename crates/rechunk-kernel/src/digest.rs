//! A digest of an array that does not depend on how the array is cut, stored or walked.
//!
//! Elements are taken as 64-bit words of their canonical little-endian bytes: elements of 1, 2 and
//! 4 bytes share words with their neighbours on the last axis, larger ones have several words, as
//! if on one more axis. The digest is the sum of all words, each times a weight that depends on its
//! position alone, modulo the prime 2^127 − 1. The weight is a product with one factor per axis,
//! and a factor is a 64-bit key of the position within a block of 256, times a key of the block in
//! the whole field. So a row is an inner product with 64-bit keys in a table, along whichever axis
//! is fastest in memory, and everything else is done once per row.
//!
//! This is multilinear hashing (Carter and Wegman, "Universal classes of hash functions", 1979;
//! Halevi and Krawczyk, "MMH: software message authentication in the Gbit/second rates", 1997) with
//! keys that factor by axis. Keys are never zero, so a single changed word always changes the
//! digest. Any other fixed change (words swapped, chunks swapped) is missed for at most `axes + 1`
//! in 2^64 choices of the keys (Schwartz and Zippel, axis by axis). The keys are fixed and public:
//! this detects accidents, not attacks.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use crate::axes::{Loops, Side};
use crate::copy::check_swap;
use crate::field::{add, mul, mul_word, residue};
use crate::words::{self, BLOCK_WORDS, Block, Packing, Word};
use crate::{Buffer, KernelError};

/// Name of the method of [`DigestKeys`], for whoever compares digests of different programs.
pub const DIGEST_METHOD: &str = "rechunk-multilinear-127";

/// The digest of some elements of an array. Those of disjoint sets add up to that of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Digest(u128);

impl Add for Digest {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(add(self.0, other.0))
    }
}

impl AddAssign for Digest {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Digest {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text that is no digest: not 32 hexadecimal digits, or too large a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a digest: 32 hexadecimal digits below 7fff…f")]
pub struct NotADigest(String);

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let wrong = || NotADigest(text.to_owned());
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u128::from_str_radix(text, 16).ok().filter(|_| is_hex).ok_or_else(wrong)?;
        if residue(value) == value { Ok(Self(value)) } else { Err(wrong()) }
    }
}

/// The weights of the elements of arrays of one rank and item size.
#[derive(Debug, Clone)]
pub struct DigestKeys {
    item_bytes: usize,
    /// Packing of elements into words on the last axis.
    packing: Packing,
    axes: Vec<AxisKeys>,
    /// The axis of the words of an element, where it has several.
    of_words: AxisKeys,
}

/// The factors of one axis.
#[derive(Debug, Clone)]
struct AxisKeys {
    seed: u64,
    table: Box<[u64; BLOCK_WORDS]>,
}

/// A box in a buffer.
#[derive(Clone, Copy)]
struct Walk<'a> {
    bytes: &'a [u8],
    start: &'a [u64],
    shape: &'a [u64],
    strides: &'a [u64],
    /// All axes but the fastest in memory, the slowest first.
    outer: &'a [usize],
    /// The words of an element and their weights.
    words: &'a [(Word, u128)],
    /// The part of the fastest axis that is summed up, all in one block.
    block: Block<'a>,
}

impl Walk<'_> {
    /// The words of the part of the innermost axis at byte `at`, without the key of its block.
    #[inline]
    fn row(&self, at: usize) -> u128 {
        match self.words {
            [(word, _)] => self.block.sum(*word, self.bytes, at), // its weight is 1
            words => words.iter().fold(0, |sum, (word, weight)| {
                add(sum, mul(*weight, self.block.sum(*word, self.bytes, at)))
            }),
        }
    }
}

impl DigestKeys {
    /// The keys for arrays with `rank` axes of elements of `item_bytes` bytes.
    pub fn new(rank: usize, item_bytes: usize) -> Self {
        Self {
            item_bytes,
            packing: Packing::of(item_bytes),
            of_words: AxisKeys::new(0),
            axes: (1..=rank).map(AxisKeys::new).collect(),
        }
    }

    /// Computes the digest of the box of `shape` elements from position `start` of the array on. It
    /// begins in `bytes` at an offset, neighbours along an axis a stride apart, in bytes. Every
    /// group of `swap_bytes` bytes of an element is reversed on the way to its canonical form, as
    /// [`crate::copy_region`] does.
    pub fn region(
        &self,
        start: &[u64],
        shape: &[u64],
        bytes: &[u8],
        offset_bytes: u64,
        strides_bytes: &[u64],
        swap_bytes: usize,
    ) -> Result<Digest, KernelError> {
        check_swap(self.item_bytes, swap_bytes)?;
        self.check_rank(start, shape)?;
        let length_bytes = bytes.len();
        let side = Side { buffer: Buffer::Source, length_bytes, offset_bytes, strides_bytes };
        let Some(loops) = Loops::new(self.item_bytes, shape, side, side)? else {
            return Ok(Digest::default());
        };
        let mut order: Vec<usize> = (0..shape.len()).collect();
        // An axis of one element goes outside, wherever it would be in memory.
        order.sort_by_key(|&axis| (shape[axis] > 1, std::cmp::Reverse(strides_bytes[axis])));
        self.avoid_short_rows(&mut order, shape);
        let strides = strides_bytes;
        let (inner, outer) = order.split_last().map_or((None, &[][..]), |(i, o)| (Some(*i), o));
        let words: Vec<(Word, u128)> = (0..self.item_bytes.div_ceil(8))
            .map(|n| (Word::new(self.item_bytes, swap_bytes, n), self.word_weight(n)))
            .collect();
        let mut at = loops.source_start;
        let Some(inner) = inner else {
            let weighted = words.iter().map(|(word, key)| mul_word(*key, word.load(bytes, at)));
            return Ok(Digest(weighted.fold(0, add)));
        };
        let (packing, keys) = (self.packing(inner), &self.axes[inner]);
        let stride = words::narrow(strides[inner]);
        let (mut sum, mut position, end) = (0, start[inner], start[inner] + shape[inner]);
        while position < end {
            let (block, next) = keys.block(packing, position, end, stride);
            let key = keys.of_block(packing.slot(position));
            let walk = Walk { bytes, start, shape, strides, outer, words: &words, block };
            sum = add(sum, mul(key, self.sum_of_box(&walk, 0, at)));
            at = at.wrapping_add(words::narrow(next - position).wrapping_mul(stride));
            position = next;
        }
        Ok(Digest(sum))
    }

    /// The digest of a box of elements that are all `item`, canonical bytes.
    pub fn filled(&self, item: &[u8], start: &[u64], shape: &[u64]) -> Result<Digest, KernelError> {
        self.check_rank(start, shape)?;
        if item.len() != self.item_bytes {
            let (item_bytes, swap_bytes) = (self.item_bytes, item.len());
            return Err(KernelError::UnevenSwap { item_bytes, swap_bytes });
        }
        let numbers = 0..self.item_bytes.div_ceil(8);
        let value = numbers.fold(0, |sum, number| {
            let word = Word::new(item.len(), 1, number).load(item, 0);
            add(sum, mul_word(self.word_weight(number), word))
        });
        Ok(Digest((0..shape.len()).fold(value, |product, axis| {
            mul(product, self.sum_of_weights(axis, start[axis], shape[axis]))
        })))
    }

    /// Where rows are a few words, as of colours, the next axis is better walked along first.
    fn avoid_short_rows(&self, order: &mut [usize], shape: &[u64]) {
        const SHORT_BYTES: u64 = 64;
        if let [.., next, fastest] = order {
            let (short, long) = (shape[*fastest], shape[*next]);
            let row_bytes = short.saturating_mul(words::wide(self.item_bytes));
            if row_bytes < SHORT_BYTES && long >= short.saturating_mul(4) {
                std::mem::swap(next, fastest);
            }
        }
    }

    fn check_rank(&self, start: &[u64], shape: &[u64]) -> Result<(), KernelError> {
        let rank = self.axes.len();
        for found in [start.len(), shape.len()] {
            if found != rank {
                let (shape, strides, buffer) = (found, rank, Buffer::Source);
                return Err(KernelError::RankMismatch { shape, strides, buffer });
            }
        }
        Ok(())
    }

    fn word_weight(&self, number: usize) -> u128 {
        if self.item_bytes <= 8 { 1 } else { self.of_words.weight(words::wide(number)) }
    }

    fn packing(&self, axis: usize) -> Packing {
        if axis + 1 == self.axes.len() { self.packing } else { Packing::NONE }
    }

    /// The sum of the weights of `extent` elements from `start` on along an axis.
    fn sum_of_weights(&self, axis: usize, start: u64, extent: u64) -> u128 {
        let (packing, keys) = (self.packing(axis), &self.axes[axis]);
        let (mut sum, mut position, end) = (0, start, start + extent);
        while position < end {
            let (of_block, next) = keys.block(packing, position, end, 0);
            let key = keys.of_block(packing.slot(position));
            sum = add(sum, mul(key, of_block.sum_of_ones()));
            position = next;
        }
        sum
    }

    /// Sums the words of a part of a box from byte `at` on, each times its weight. The part has all
    /// of the outer axes from `level` on, and the part of the innermost that the walk is in,
    /// without the key of that block.
    fn sum_of_box(&self, walk: &Walk<'_>, level: usize, at: usize) -> u128 {
        let Some(&axis) = walk.outer.get(level) else {
            return walk.row(at);
        };
        let is_last = level + 1 == walk.outer.len();
        let (packing, keys) = (self.packing(axis), &self.axes[axis]);
        let stride = words::narrow(walk.strides[axis]);
        let (mut position, end) = (walk.start[axis], walk.start[axis] + walk.shape[axis]);
        let (mut sum, mut at) = (0, at);
        while position < end {
            let next = packing.block_end(position).min(end);
            let mut of_block = 0;
            for position in position..next {
                let part =
                    if is_last { walk.row(at) } else { self.sum_of_box(walk, level + 1, at) };
                let mut part = mul_word(part, keys.table[packing.within(position)]);
                if packing.is_shared() {
                    part = mul_word(part, 1 << packing.shift(position));
                }
                of_block = add(of_block, part);
                at = at.wrapping_add(stride); // not used after the last
            }
            sum = add(sum, mul(keys.of_block(packing.slot(position)), of_block));
            position = next;
        }
        sum
    }
}

impl AxisKeys {
    fn new(number: usize) -> Self {
        let seed = mixed(words::wide(number).wrapping_add(0x7265_6368_756e_6b31));
        let key = |at: usize| mixed(seed ^ words::wide(at).wrapping_add(1)).max(1);
        Self { seed: mixed(!seed), table: Box::new(std::array::from_fn(key)) }
    }

    /// The key of the block that a word is in: any number of the field but zero.
    fn of_block(&self, slot: u64) -> u128 {
        let block = slot / words::wide(BLOCK_WORDS);
        let high = mixed(self.seed.wrapping_add(block.wrapping_mul(2)));
        let low = mixed(self.seed.wrapping_add(block.wrapping_mul(2)).wrapping_add(1));
        residue(u128::from(high) << 64 | u128::from(low)).max(1)
    }

    /// The elements from `position` on that are in one block with it, at most those before `end`;
    /// and where they end.
    fn block(&self, packing: Packing, position: u64, end: u64, stride: usize) -> (Block<'_>, u64) {
        let next = packing.block_end(position).min(end);
        let elements = words::narrow(next - position);
        (Block { table: &self.table, packing, position, elements, stride }, next)
    }

    fn weight(&self, slot: u64) -> u128 {
        let within = words::narrow(slot % words::wide(BLOCK_WORDS));
        mul_word(self.of_block(slot), self.table[within])
    }
}

/// The finalizer of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014), of the `n`-th state.
fn mixed(n: u64) -> u64 {
    let z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
