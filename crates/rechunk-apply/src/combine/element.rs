//! Elements of buffers in the byte order of the machine, wherever these begin in memory.

use half::f16;
use rechunk_grid::round_to_odd;

/// An element type: read from and written to rows of bytes.
pub(super) trait Element: Copy {
    /// Elements of a row; bytes that are no whole element are left out.
    fn read(row: &[u8]) -> impl Iterator<Item = Self>;
    /// Gives each element of a row a value.
    fn write(row: &mut [u8], values: impl Iterator<Item = Self>);
    /// Changes each element of a row.
    fn update(row: &mut [u8], change: impl FnMut(Self) -> Self);
}

/// Value as a number of a lane.
pub(super) trait Widen<L>: Element {
    /// The number; exact.
    fn widen(self) -> L;
}

/// Number of a lane as the nearest value.
pub(super) trait Narrow<L>: Element {
    /// The value: integers saturate, floats are rounded half to even.
    fn narrow(number: L) -> Self;
}

macro_rules! elements {
    ($($type:ty),*) => {$(
        impl Element for $type {
            fn read(row: &[u8]) -> impl Iterator<Item = Self> {
                row.as_chunks().0.iter().map(|bytes| Self::from_ne_bytes(*bytes))
            }

            fn write(row: &mut [u8], values: impl Iterator<Item = Self>) {
                for (bytes, value) in row.as_chunks_mut().0.iter_mut().zip(values) {
                    *bytes = value.to_ne_bytes();
                }
            }

            fn update(row: &mut [u8], mut change: impl FnMut(Self) -> Self) {
                for bytes in row.as_chunks_mut().0 {
                    *bytes = change(Self::from_ne_bytes(*bytes)).to_ne_bytes();
                }
            }
        }
    )*};
}

elements!(u8, u16, u32, u64, i8, i16, i32, i64, i128, f16, f32, f64);

/// A truth value in one byte: 0 is false, all else true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) struct Truth(pub(super) bool);

impl Element for Truth {
    fn read(row: &[u8]) -> impl Iterator<Item = Self> {
        row.iter().map(|&byte| Self(byte != 0))
    }

    fn write(row: &mut [u8], values: impl Iterator<Item = Self>) {
        for (byte, value) in row.iter_mut().zip(values) {
            *byte = u8::from(value.0);
        }
    }

    fn update(row: &mut [u8], mut change: impl FnMut(Self) -> Self) {
        for byte in row {
            *byte = u8::from(change(Self(*byte != 0)).0);
        }
    }
}

macro_rules! widen {
    ($lane:ty: $($type:ty),*) => {$(
        impl Widen<$lane> for $type {
            fn widen(self) -> $lane {
                <$lane>::from(self)
            }
        }
    )*};
}

widen!(i64: u8, u16, u32, i8, i16, i32, i64);
widen!(i128: u8, u16, u32, u64, i8, i16, i32, i64, i128);
widen!(f64: f16, f32, f64);

impl Widen<i64> for Truth {
    fn widen(self) -> i64 {
        i64::from(self.0)
    }
}

impl Widen<i128> for Truth {
    fn widen(self) -> i128 {
        i128::from(self.0)
    }
}

macro_rules! narrow {
    ($($type:ty),*) => {$(
        impl Narrow<i64> for $type {
            fn narrow(number: i64) -> Self {
                let limit = if number < 0 { Self::MIN } else { Self::MAX };
                Self::try_from(number).unwrap_or(limit)
            }
        }

        impl Narrow<i128> for $type {
            fn narrow(number: i128) -> Self {
                let limit = if number < 0 { Self::MIN } else { Self::MAX };
                Self::try_from(number).unwrap_or(limit)
            }
        }
    )*};
}

narrow!(u8, u16, u32, u64, i8, i16, i32, i64, i128);

impl Narrow<i64> for Truth {
    fn narrow(number: i64) -> Self {
        Self(number != 0)
    }
}

impl Narrow<i128> for Truth {
    fn narrow(number: i128) -> Self {
        Self(number != 0)
    }
}

impl Narrow<f64> for f16 {
    fn narrow(number: f64) -> Self {
        if number.is_nan() { Self::NAN } else { Self::from_f32(round_to_odd(number)) }
    }
}

impl Narrow<f64> for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest, as is wanted")]
    fn narrow(number: f64) -> Self {
        if number.is_nan() { Self::NAN } else { number as Self }
    }
}

impl Narrow<f64> for f64 {
    fn narrow(number: f64) -> Self {
        if number.is_nan() { Self::NAN } else { number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() {
        // Just above the middle of 1 and the next half, which its nearest 32-bit float is.
        let above_the_middle = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-50);
        assert_eq!(f16::narrow(above_the_middle).to_bits(), 0x3c01);
    }
}
