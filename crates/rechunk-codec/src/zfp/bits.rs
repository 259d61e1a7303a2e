//! Bits of a stream, the lowest of each byte first: zfp's words of 64 bits, little-endian.

/// Reads bits. Behind the end there are zeros; who reads compares the position with the end.
#[derive(Debug, Clone)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits from the beginning.
    pub position: u64,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8], position: u64) -> Self {
        Self { bytes, position }
    }

    /// The next 57 bits or more, without a step.
    fn peek(&self) -> u64 {
        let at = usize::try_from(self.position / 8).unwrap_or(usize::MAX);
        let rest = self.bytes.get(at..).unwrap_or_default();
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; 8];
            word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            word
        });
        u64::from_le_bytes(word) >> (self.position % 8)
    }

    /// The next bits, at most 57, as a number.
    pub(super) fn take(&mut self, count: u32) -> u64 {
        let value = self.peek() & ((1 << count) - 1);
        self.position += u64::from(count);
        value
    }

    pub(super) fn bit(&mut self) -> bool {
        self.take(1) == 1
    }

    /// Steps behind the next one, but over at most `most` bits. The zeros before it.
    pub(super) fn skip_zeros(&mut self, most: u32) -> u32 {
        let mut zeros = 0;
        while zeros < most {
            let ahead = self.peek().trailing_zeros().min(57).min(most - zeros);
            zeros += ahead;
            self.position += u64::from(ahead);
            if ahead < 57 && zeros < most {
                self.position += 1; // the one
                break;
            }
        }
        zeros
    }
}

/// Appends the lowest `count` bits of a value behind the first `position` bits.
pub(super) fn put(bytes: &mut Vec<u8>, position: &mut u64, value: u64, count: u32) {
    for at in 0..count {
        if position.is_multiple_of(8) {
            bytes.push(0);
        }
        if let Some(last) = bytes.last_mut() {
            *last |= u8::from(value >> at & 1 == 1) << (*position % 8);
        }
        *position += 1;
    }
}

/// The bytes of a stream from a bit on.
pub(super) fn shifted_down(bytes: &[u8], position: u64) -> impl Iterator<Item = u8> {
    let (at, shift) = (usize::try_from(position / 8).unwrap_or(usize::MAX), position % 8);
    let rest = bytes.get(at..).unwrap_or_default();
    let above = rest.iter().skip(1).copied().chain([0]);
    let join = move |(&low, high): (&u8, u8)| {
        let [joined, _] = ((u16::from(low) | u16::from(high) << 8) >> shift).to_le_bytes();
        joined
    };
    rest.iter().zip(above).map(join)
}

/// Appends a stream of `count` bits behind the first `position` bits.
pub(super) fn append(bytes: &mut Vec<u8>, position: u64, stream: &[u8], count: u64) {
    let shift = position % 8;
    let end = usize::try_from((position + count).div_ceil(8)).unwrap_or(usize::MAX);
    let mut carry = if shift == 0 { 0 } else { bytes.pop().unwrap_or(0) };
    for &byte in stream.iter().chain([&0]) {
        if bytes.len() >= end {
            break;
        }
        let [low, high] = (u16::from(byte) << shift).to_le_bytes();
        bytes.push(low | carry);
        carry = high;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back() {
        let (mut bytes, mut position) = (Vec::new(), 0);
        for (value, count) in [(1, 1), (0, 3), (0x1ff, 9), ((1 << 52) - 3, 52), (0, 64), (1, 1)] {
            put(&mut bytes, &mut position, value, count);
        }
        let mut bits = BitReader::new(&bytes, 0);
        let read: Vec<u64> = [1, 3, 9, 52].map(|count| bits.take(count)).to_vec();
        assert_eq!(read, [1, 0, 0x1ff, (1 << 52) - 3]);
        let mut limited = bits.clone();
        assert_eq!((limited.skip_zeros(64), limited.position), (64, bits.position + 64));
        assert_eq!((bits.skip_zeros(99), bits.position), (64, position));
        assert_eq!(bits.take(57), 0);
    }

    #[test]
    fn streams_move_by_any_number_of_bits() {
        let stream: Vec<u8> = (0..100_u8).map(|at| at.wrapping_mul(91)).collect();
        for head in 0..20 {
            let (mut bytes, mut position) = (Vec::new(), 0);
            put(&mut bytes, &mut position, 0x5_5555, head);
            append(&mut bytes, position, &stream, 800);
            assert_eq!(bytes.len() as u64, (position + 800).div_ceil(8));
            assert_eq!(BitReader::new(&bytes, 0).take(head), 0x5_5555 & ((1 << head) - 1));
            let back: Vec<u8> = shifted_down(&bytes, position).take(100).collect();
            assert_eq!(back, stream, "{head}");
        }
    }
}
