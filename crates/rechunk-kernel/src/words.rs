//! 64-bit words of elements, and their inner product with the keys of a block.

use crate::field::{add, residue};

/// Words whose keys are in a table; a power of 2.
pub(crate) const BLOCK_WORDS: usize = 256;

/// Converts a length to a count. (No machine has a `usize` above 64 bits.)
#[inline]
pub fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Converts a count, known to be that of bytes in a buffer or less, to a length.
#[inline]
pub fn narrow(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Packing of the elements of an axis into words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packing {
    /// Binary logarithm of the elements in a word; 0 if they have one or more to themselves.
    log2: u32,
    item_bits: u64,
}

impl Packing {
    /// Elements do not share words.
    pub(crate) const NONE: Self = Self { log2: 0, item_bits: 0 };

    /// Elements of 1, 2 and 4 bytes do.
    pub(crate) fn of(item_bytes: usize) -> Self {
        match item_bytes {
            1 | 2 | 4 => Self { log2: (8 / item_bytes).ilog2(), item_bits: wide(8 * item_bytes) },
            _ => Self::NONE,
        }
    }

    /// True if elements share words.
    #[inline]
    pub(crate) fn is_shared(self) -> bool {
        self.log2 > 0
    }

    /// The word of an element.
    #[inline]
    pub(crate) fn slot(self, position: u64) -> u64 {
        position >> self.log2
    }

    /// Place of that word in its block.
    #[inline]
    pub(crate) fn within(self, position: u64) -> usize {
        narrow(self.slot(position)) % BLOCK_WORDS
    }

    /// Bits that an element is shifted by in its word.
    #[inline]
    pub(crate) fn shift(self, position: u64) -> u64 {
        (position & ((1 << self.log2) - 1)) * self.item_bits
    }

    /// The first element behind the block that one is in.
    pub(crate) fn block_end(self, position: u64) -> u64 {
        let block = wide(BLOCK_WORDS) << self.log2;
        (position / block + 1).saturating_mul(block)
    }
}

/// Which word of an element, and how its bytes become canonical.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    item_bytes: usize,
    /// First byte of the word in its element.
    from: usize,
    /// Its bytes: 8 but for the last one.
    length: usize,
    swap_bytes: usize,
}

impl Word {
    /// Word `number` of elements of `item_bytes`, groups of `swap_bytes` of which are reversed.
    pub(crate) fn new(item_bytes: usize, swap_bytes: usize, number: usize) -> Self {
        let from = 8 * number;
        Self { item_bytes, from, length: item_bytes.saturating_sub(from).min(8), swap_bytes }
    }

    /// The word of the element that begins at `at`.
    pub(crate) fn load(self, bytes: &[u8], at: usize) -> u64 {
        (self.from..self.from + self.length).rev().fold(0, |word, byte| {
            let group = byte / self.swap_bytes * self.swap_bytes;
            let source = group + self.swap_bytes - 1 - byte % self.swap_bytes;
            word << 8 | u64::from(bytes[at + source])
        })
    }
}

/// Elements along one axis whose words are in one block.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The keys of the block's words.
    pub table: &'a [u64; BLOCK_WORDS],
    pub packing: Packing,
    /// The first element.
    pub position: u64,
    pub elements: usize,
    /// From one to the next, bytes.
    pub stride: usize,
}

impl Block<'_> {
    /// The sum of their words, the first element at byte `at`, times their keys, modulo 2^127 − 1.
    #[inline]
    pub(crate) fn sum(&self, word: Word, bytes: &[u8], at: usize) -> u128 {
        let fills_words = self.packing.is_shared() || word.item_bytes == 8;
        if fills_words && self.stride == word.item_bytes {
            let run = &bytes[at..at + self.elements * word.item_bytes];
            match word.swap_bytes {
                1 => return self.sum_of_run(run, |word| word),
                2 => return self.sum_of_run(run, swap_pairs),
                4 => return self.sum_of_run(run, |word| word.swap_bytes().rotate_left(32)),
                8 => return self.sum_of_run(run, u64::swap_bytes),
                _ => {}
            }
        }
        self.sum_of_each(word, bytes, at)
    }

    /// The sum of [`Block::sum`] for elements that are all 1.
    pub(crate) fn sum_of_ones(&self) -> u128 {
        self.sum_each(|_| 1)
    }

    /// Elements without gaps between them; `canonical` puts the bytes of a word in order.
    #[inline]
    fn sum_of_run(&self, mut run: &[u8], canonical: impl Fn(u64) -> u64) -> u128 {
        let mut sum = InnerProduct::default();
        let mut at = self.packing.within(self.position);
        let before = narrow(self.packing.shift(self.position) / 8);
        if before > 0 {
            let (first, others) = run.split_at(run.len().min(8 - before));
            sum.add(self.table[at], canonical(partial(first) << (8 * before)));
            (run, at) = (others, at + 1);
        }
        let (words, rest) = run.as_chunks::<8>();
        for (&key, &word) in self.table[at..].iter().zip(words) {
            sum.add(key, canonical(u64::from_le_bytes(word)));
        }
        if !rest.is_empty() {
            sum.add(self.table[at + words.len()], canonical(partial(rest)));
        }
        sum.residue()
    }

    /// Elements a stride apart.
    fn sum_of_each(&self, word: Word, bytes: &[u8], at: usize) -> u128 {
        let from = at + word.from;
        let stride = self.stride;
        /// The loop with the bytes of a word known to the compiler.
        macro_rules! sized {
            ($sum:ident, $integer:ty, $from_bytes:ident) => {
                self.$sum(|n| {
                    let mut own = [0; size_of::<$integer>()];
                    let start = from + n * stride;
                    own.copy_from_slice(&bytes[start..start + size_of::<$integer>()]);
                    u64::from(<$integer>::$from_bytes(own))
                })
            };
        }
        let is_plain = word.swap_bytes == 1;
        let is_reversed =
            word.swap_bytes == word.length && word.from.is_multiple_of(word.swap_bytes);
        match (word.length, is_plain, is_reversed) {
            (1, true, _) => sized!(sum_small, u8, from_le_bytes),
            (2, true, _) => sized!(sum_small, u16, from_le_bytes),
            (2, _, true) => sized!(sum_small, u16, from_be_bytes),
            (4, true, _) => sized!(sum_small, u32, from_le_bytes),
            (4, _, true) => sized!(sum_small, u32, from_be_bytes),
            (8, true, _) => sized!(sum_each, u64, from_le_bytes),
            (8, _, true) => sized!(sum_each, u64, from_be_bytes),
            _ => self.sum_each(|n| word.load(bytes, at + n * stride)),
        }
    }

    /// The keys of the elements, where each has a word to itself.
    fn own_keys(&self) -> &[u64] {
        let first = self.packing.within(self.position);
        &self.table[first..first + self.elements]
    }

    /// Elements below 2^32 that `load` gives by their number.
    #[inline]
    fn sum_small(&self, load: impl Fn(usize) -> u64) -> u128 {
        if self.packing.is_shared() {
            return self.sum_each(load);
        }
        // 256 products below 2^96.
        let products = self.own_keys().iter().enumerate();
        residue(products.map(|(n, &key)| u128::from(key) * u128::from(load(n))).sum())
    }

    /// Elements that `load` gives by their number.
    #[inline]
    fn sum_each(&self, load: impl Fn(usize) -> u64) -> u128 {
        let mut sum = InnerProduct::default();
        if self.packing.is_shared() {
            for (n, position) in (self.position..).enumerate().take(self.elements) {
                let key = self.table[self.packing.within(position)];
                sum.add(key, load(n) << self.packing.shift(position));
            }
        } else {
            for (n, &key) in self.own_keys().iter().enumerate() {
                sum.add(key, load(n));
            }
        }
        sum.residue()
    }
}

/// At most 8 bytes as a little-endian word.
#[inline]
fn partial(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The bytes of each quarter of a word change places.
#[inline]
fn swap_pairs(word: u64) -> u64 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    (word & EVEN) << 8 | (word >> 8 & EVEN)
}

/// A sum of products of 64-bit numbers, exact for 2^64 of them.
#[derive(Debug, Clone, Copy, Default)]
struct InnerProduct {
    low: u128,
    /// Multiples of 2^128.
    high: u64,
}

impl InnerProduct {
    #[inline]
    fn add(&mut self, key: u64, word: u64) {
        let (low, carry) = self.low.overflowing_add(u128::from(key) * u128::from(word));
        self.low = low;
        self.high += u64::from(carry);
    }

    /// The sum modulo 2^127 − 1.
    #[inline]
    fn residue(self) -> u128 {
        add(residue(self.low), residue(u128::from(self.high) << 1)) // 2^128 is 2
    }
}
