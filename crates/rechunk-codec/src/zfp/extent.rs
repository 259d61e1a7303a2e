//! Finds the end of a stream of blocks.
//!
//! zfp's decoder knows no end: from a stream that was cut off it reads whatever lies behind it, and
//! does not say so. Here the same bits are walked over, without the values, so that a chunk that is
//! too short is damage and not numbers.

use super::bits::BitReader;
use super::params::{Field, Params};

/// Bits of the blocks of a field that begin at bit `start` of `encoded`; an error if there are
/// fewer.
pub(super) fn stream_bits(
    encoded: &[u8],
    start: u64,
    field: &Field,
    params: &Params,
) -> Result<u64, String> {
    let end = 8 * encoded.len() as u64;
    let short = |at: u64, blocks: u64| {
        let all = field.blocks();
        Err(format!("the stream ends after {blocks} of {all} blocks: {at} of {end} bits"))
    };
    if let Some(bits) = params.stream_bits_fixed(field) {
        let held = end.saturating_sub(start) / u64::from(params.max_bits).max(1);
        return if start.saturating_add(bits) <= end { Ok(bits) } else { short(end, held) };
    }
    let mut walk = Walk { bits: BitReader::new(encoded, start), field, params };
    for block in 0..field.blocks() {
        walk.block();
        if walk.bits.position > end {
            return short(end, block);
        }
    }
    Ok(walk.bits.position - start)
}

struct Walk<'a> {
    bits: BitReader<'a>,
    field: &'a Field,
    params: &'a Params,
}

impl Walk<'_> {
    /// Steps over a block.
    fn block(&mut self) {
        let start = self.bits.position;
        if let Some(planes) = self.head() {
            // The parameters were checked: a head is never longer than a block may be.
            let used = self.bits.position - start;
            let left = u64::from(self.params.max_bits).saturating_sub(used);
            self.planes(planes.min(self.field.scalar.bits()), u32::try_from(left).unwrap_or(0));
        }
        let least = start + u64::from(self.params.min_bits);
        self.bits.position = self.bits.position.max(least);
    }

    /// Steps over what stands before the bit planes; says how many there are, if there are any.
    fn head(&mut self) -> Option<u32> {
        let scalar = self.field.scalar;
        let is_reversible = self.params.is_reversible();
        let Some((exponent_bits, bias)) = scalar.exponent() else {
            return Some(if is_reversible { self.plane_count() } else { self.params.max_planes });
        };
        let has_values = self.bits.bit();
        if !has_values {
            return None;
        }
        if is_reversible {
            let has_exponent = !self.bits.bit();
            if has_exponent {
                self.bits.take(exponent_bits);
            }
            return Some(self.plane_count());
        }
        let exponent = i32::try_from(self.bits.take(exponent_bits)).unwrap_or(0) - bias;
        let axes = i32::try_from(self.field.shape.len()).unwrap_or(4);
        let planes = exponent - self.params.min_exponent + 2 * axes + 2;
        Some(u32::try_from(planes).unwrap_or(0).min(self.params.max_planes))
    }

    fn plane_count(&mut self) -> u32 {
        let bits = self.field.scalar.plane_count_bits();
        u32::try_from(self.bits.take(bits)).unwrap_or(0) + 1
    }

    /// Steps over bit planes: of each the bits of the values that are significant already, then
    /// the places of those that become so. At most `left` bits.
    fn planes(&mut self, planes: u32, mut left: u32) {
        let values = self.field.block_values();
        let mut significant = 0_u32;
        for _ in 0..planes {
            let known = significant.min(left);
            self.bits.position += u64::from(known);
            left -= known;
            while left > 0 && significant < values {
                left -= 1;
                let is_more = self.bits.bit();
                if !is_more {
                    break;
                }
                // The last value needs no bit: where none before it is meant, it is.
                let most = left.min(values - 1 - significant);
                let before = self.bits.position;
                significant += self.bits.skip_zeros(most) + 1;
                left -= u32::try_from(self.bits.position - before).unwrap_or(left);
            }
            if left == 0 {
                break;
            }
        }
    }
}
