//! Shapes of shards that a volume can have.

use super::Morton;

/// Shards of a grid of chunks by the identity as hash: boxes whose sides are powers of two.
#[derive(Debug, Clone)]
pub(crate) struct Boxes {
    morton: Morton,
    /// Chunks of the grid along x, y and z.
    grid: [u64; 3],
}

/// A box that a shard can be, in place of another that it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// Bits of the numbers of its chunks.
    pub bits: u32,
    /// Chunks along x, y and z.
    pub chunks: [u64; 3],
}

impl Boxes {
    /// Those of a grid of so many chunks along x, y and z; `None` if it has too many.
    pub(crate) fn new(grid: [u64; 3]) -> Option<Self> {
        Some(Self { morton: Morton::new(grid)?, grid })
    }

    /// Bits of the numbers of all chunks.
    pub(crate) fn bits(&self) -> u32 {
        self.morton.bits()
    }

    /// Bits of the shards that hold so many chunks along x, y and z; more than there are count as
    /// all. An error has the shard nearest to that.
    pub(crate) fn of_chunks(&self, chunks: [u64; 3]) -> Result<u32, Nearest> {
        let wanted = self.clipped(chunks);
        let found = self.all().find(|found| self.clipped(found.chunks) == wanted);
        found.map(|found| found.bits).ok_or_else(|| self.nearest(chunks))
    }

    /// The shard that differs least, in factors along the axes, from one of so many chunks.
    pub(crate) fn nearest(&self, chunks: [u64; 3]) -> Nearest {
        let wanted = self.clipped(chunks);
        let distance = |found: &Nearest| {
            let own = self.clipped(found.chunks);
            let factors = own.iter().zip(wanted).map(|(own, wanted)| {
                let (less, more) = ((*own).min(wanted), (*own).max(wanted));
                // In sixteenths of a power of two.
                16 * u64::from((more / less.max(1)).ilog2())
                    + 16 * (more % less.max(1)) / less.max(1)
            });
            factors.sum::<u64>()
        };
        self.all().min_by_key(distance).unwrap_or(Nearest { bits: 0, chunks: [1; 3] })
    }

    /// Chunks along x, y and z of the shards whose chunks' numbers have so many bits.
    pub(crate) fn chunks_of(&self, bits: u32) -> [u64; 3] {
        self.morton.bits_by_axis(bits).map(|bits| 1 << bits)
    }

    /// All shards that can be, by size.
    fn all(&self) -> impl Iterator<Item = Nearest> {
        /// An index of no more than 2^22 chunks.
        const BITS_MAX: u32 = 22;
        (0..=self.bits().min(BITS_MAX)).map(|bits| Nearest { bits, chunks: self.chunks_of(bits) })
    }

    fn clipped(&self, chunks: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|axis| chunks[axis].min(self.grid[axis]).max(1))
    }
}
