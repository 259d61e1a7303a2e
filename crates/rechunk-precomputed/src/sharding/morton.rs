//! Compressed Morton codes.

/// The compressed Morton code of a grid of chunks: the bits of x, y and z by turns, low ones first,
/// without those that are 0 for all chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Morton {
    /// Axis of each bit of a code, 0 for x.
    axes: Vec<u8>,
}

impl Morton {
    /// That of a grid of so many chunks along x, y and z. `None` if codes have over 64 bits.
    pub(crate) fn new(chunks: [u64; 3]) -> Option<Self> {
        let mut axes = Vec::new();
        for bit in 0..u64::BITS {
            for (axis, count) in (0_u8..).zip(chunks) {
                if count > 1_u64 << bit {
                    axes.push(axis);
                }
            }
        }
        (axes.len() <= 64).then_some(Self { axes })
    }

    /// Bits of a code.
    pub(crate) fn bits(&self) -> u32 {
        u32::try_from(self.axes.len()).unwrap_or(u32::MAX)
    }

    /// Bits of each axis among the lowest `bits` of a code.
    pub(crate) fn bits_by_axis(&self, bits: u32) -> [u32; 3] {
        let mut by_axis = [0; 3];
        for axis in self.axes.iter().take(usize::try_from(bits).unwrap_or(usize::MAX)) {
            by_axis[usize::from(*axis)] += 1;
        }
        by_axis
    }

    /// The code of the chunk at a position along x, y and z.
    pub(crate) fn code(&self, position: [u64; 3]) -> u64 {
        let mut rest = position;
        let mut code = 0;
        for (bit, axis) in self.axes.iter().enumerate() {
            let left = &mut rest[usize::from(*axis)];
            code |= (*left & 1) << bit;
            *left >>= 1;
        }
        code
    }

    /// The position along x, y and z of a code.
    pub(crate) fn position(&self, code: u64) -> [u64; 3] {
        let (mut position, mut bits) = ([0; 3], [0_u32; 3]);
        for (bit, axis) in self.axes.iter().enumerate() {
            let axis = usize::from(*axis);
            position[axis] |= (code >> bit & 1) << bits[axis];
            bits[axis] += 1;
        }
        position
    }
}
