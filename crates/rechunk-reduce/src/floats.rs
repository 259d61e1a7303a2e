//! Floats of 16, 32 and 64 bits.

use half::f16;
use rechunk_grid::round_to_odd;

use crate::item::{Item, items};

/// A 16-bit float.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Half(u16);

impl Half {
    pub(crate) fn to_bits(self) -> u16 {
        self.0
    }

    pub(crate) fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// An integer that ascends as the numbers do.
    fn order(self) -> i16 {
        let bits = self.0.cast_signed();
        if bits < 0 { bits ^ i16::MAX } else { bits }
    }

    fn from_ne_bytes(bytes: [u8; 2]) -> Self {
        Self(u16::from_ne_bytes(bytes))
    }

    fn to_ne_bytes(self) -> [u8; 2] {
        self.0.to_ne_bytes()
    }

    pub(crate) fn is_nan(self) -> bool {
        self.0 & 0x7fff > 0x7c00
    }
}

items! { Half, u16; }

impl From<Half> for f64 {
    /// Widens without branches, so that it vectorises: moves the exponent, and lets the processor
    /// normalise what has none.
    #[inline]
    fn from(half: Half) -> Self {
        /// Exponents of 32-bit floats are this much more than those of halves.
        const MORE: u32 = (127 - 15) << 23;
        const LEAST: u32 = MORE + (1 << 23);
        let magnitude = u32::from(half.0 & 0x7fff);
        let shifted = magnitude << 13;
        let subnormal = (f32::from_bits(shifted + LEAST) - f32::from_bits(LEAST)).to_bits();
        let normal = shifted + if magnitude < 0x7c00 { MORE } else { 2 * MORE };
        let widened = if magnitude < 0x400 { subnormal } else { normal };
        let sign = u32::from(half.0 & 0x8000) << 16;
        Self::from(f32::from_bits(widened | sign))
    }
}

/// A float that a 64-bit float is rounded to.
pub(crate) trait Nearest: Copy {
    /// The nearest float, ties to even.
    fn nearest(value: f64) -> Self;

    /// Whether a number is less than another.
    fn is_below(self, other: Self) -> bool;

    /// Whether numbers are equal: -0 is 0.
    fn is_equal(self, other: Self) -> bool;
}

impl Nearest for Half {
    #[inline]
    fn nearest(value: f64) -> Self {
        Self(f16::from_f32(round_to_odd(value)).to_bits())
    }

    #[inline]
    fn is_below(self, other: Self) -> bool {
        self.order() < other.order()
    }

    #[inline]
    fn is_equal(self, other: Self) -> bool {
        self.0 == other.0
    }
}

impl Nearest for f32 {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it is meant to round")]
    fn nearest(value: f64) -> Self {
        value as Self
    }

    #[inline]
    fn is_below(self, other: Self) -> bool {
        self < other
    }

    #[inline]
    #[expect(clippy::float_cmp, reason = "equal numbers are meant")]
    fn is_equal(self, other: Self) -> bool {
        self == other
    }
}

impl Nearest for f64 {
    #[inline]
    fn nearest(value: f64) -> Self {
        value
    }

    #[inline]
    fn is_below(self, other: Self) -> bool {
        self < other
    }

    #[inline]
    #[expect(clippy::float_cmp, reason = "equal numbers are meant")]
    fn is_equal(self, other: Self) -> bool {
        self == other
    }
}
