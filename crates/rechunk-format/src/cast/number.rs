//! Numbers as they are stored, and what of one type fits another.

use half::{bf16, f16};
use rechunk_grid::{DataType, round_to_odd};

/// A value of any type, exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wide {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// A type that can be cast, and be cast to.
pub(super) trait Number: Copy {
    /// Bytes of an element.
    const BYTES: usize;

    /// The element in these bytes, exactly.
    fn read(bytes: &[u8], is_big: bool) -> Wide;

    /// The element that stands for `wide`, little-endian, into `bytes`; `None` if none does.
    fn write(wide: Wide, bytes: &mut [u8]) -> Option<()>;
}

/// Whether a type can be cast: bool, and real numbers of 8 to 64 bits.
pub fn is_number(data_type: DataType) -> bool {
    significant_bits(data_type).is_some()
}

/// Bits that tell the values of a type apart, without sign and exponent.
pub(super) fn significant_bits(data_type: DataType) -> Option<u32> {
    Some(match data_type {
        DataType::Bool => 1,
        DataType::Int8 => 7,
        DataType::Int16 => 15,
        DataType::Int32 => 31,
        DataType::Int64 => 63,
        DataType::Uint8 => 8,
        DataType::Uint16 => 16,
        DataType::Uint32 => 32,
        DataType::Uint64 => 64,
        _ => return float_bits(data_type),
    })
}

/// Significant bits of a float; `None` for other types.
pub(super) fn float_bits(data_type: DataType) -> Option<u32> {
    Some(match data_type {
        DataType::Bfloat16 => 8,
        DataType::Float16 => 11,
        DataType::Float32 => 24,
        DataType::Float64 => 53,
        _ => return None,
    })
}

/// The array of the first bytes, in little-endian order.
fn stored<const N: usize>(bytes: &[u8], is_big: bool) -> [u8; N] {
    let mut own = [0; N];
    own.copy_from_slice(bytes);
    if is_big {
        own.reverse();
    }
    own
}

/// The whole number that a float is, if it is one. 2^63 and 2^64 are exact as floats.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole(value: f64) -> Option<Wide> {
    const SIGNED_END: f64 = 9_223_372_036_854_775_808.0;
    const UNSIGNED_END: f64 = 18_446_744_073_709_551_616.0;
    if value.fract().abs() > 0.0 || value.is_nan() {
        return None;
    }
    if (-SIGNED_END..SIGNED_END).contains(&value) {
        Some(Wide::Signed(value as i64))
    } else if (0.0..UNSIGNED_END).contains(&value) {
        Some(Wide::Unsigned(value as u64))
    } else {
        None
    }
}

macro_rules! integers {
    ($($integer:ty => $wide:ident),*) => {$(
        impl Number for $integer {
            const BYTES: usize = size_of::<$integer>();

            #[inline]
            fn read(bytes: &[u8], is_big: bool) -> Wide {
                Wide::$wide(Self::from_le_bytes(stored(bytes, is_big)).into())
            }

            #[inline]
            fn write(wide: Wide, bytes: &mut [u8]) -> Option<()> {
                let wide = if let Wide::Float(value) = wide { whole(value)? } else { wide };
                let value = match wide {
                    Wide::Signed(value) => Self::try_from(value).ok()?,
                    Wide::Unsigned(value) => Self::try_from(value).ok()?,
                    Wide::Float(_) => return None,
                };
                bytes.copy_from_slice(&value.to_le_bytes());
                Some(())
            }
        }
    )*};
}

integers!(i8 => Signed, i16 => Signed, i32 => Signed, i64 => Signed);
integers!(u8 => Unsigned, u16 => Unsigned, u32 => Unsigned, u64 => Unsigned);

impl Number for bool {
    const BYTES: usize = 1;

    #[inline]
    fn read(bytes: &[u8], is_big: bool) -> Wide {
        let [byte] = stored(bytes, is_big);
        Wide::Unsigned(u64::from(byte != 0))
    }

    #[inline]
    fn write(wide: Wide, bytes: &mut [u8]) -> Option<()> {
        let mut value = [0];
        u8::write(wide, &mut value)?;
        if value[0] > 1 {
            return None;
        }
        bytes.copy_from_slice(&value);
        Some(())
    }
}

impl Number for f64 {
    const BYTES: usize = 8;

    #[inline]
    fn read(bytes: &[u8], is_big: bool) -> Wide {
        Wide::Float(Self::from_le_bytes(stored(bytes, is_big)))
    }

    #[inline]
    fn write(wide: Wide, bytes: &mut [u8]) -> Option<()> {
        let value = match wide {
            Wide::Signed(value) => value as Self,
            Wide::Unsigned(value) => value as Self,
            Wide::Float(value) => value,
        };
        bytes.copy_from_slice(&value.to_le_bytes());
        Some(())
    }
}

impl Number for f32 {
    const BYTES: usize = 4;

    #[inline]
    fn read(bytes: &[u8], is_big: bool) -> Wide {
        Wide::Float(Self::from_le_bytes(stored(bytes, is_big)).into())
    }

    #[inline]
    fn write(wide: Wide, bytes: &mut [u8]) -> Option<()> {
        let value = match wide {
            Wide::Signed(value) => value as Self,
            Wide::Unsigned(value) => value as Self,
            Wide::Float(value) => nearest(value)?,
        };
        bytes.copy_from_slice(&value.to_le_bytes());
        Some(())
    }
}

/// The nearest 32-bit float; `None` if that is infinite and the value is not.
#[expect(clippy::cast_possible_truncation, reason = "it is meant to round")]
fn nearest(value: f64) -> Option<f32> {
    let near = value as f32;
    (near.is_finite() || !value.is_finite()).then_some(near)
}

/// Returns a 32-bit float that rounds to the same float of 16 bits as `wide` does. If it does not
/// fit, it is rounded to the neighbour whose last bit is set, so that it is not taken for the
/// middle of two.
fn to_odd(wide: Wide) -> Option<f32> {
    let value = match wide {
        Wide::Float(value) => value,
        Wide::Signed(value) => {
            let magnitude = odd_magnitude(value.unsigned_abs());
            if value < 0 { -magnitude } else { magnitude }
        }
        Wide::Unsigned(value) => odd_magnitude(value),
    };
    nearest(value)?;
    Some(round_to_odd(value))
}

/// Rounds an integer to a 64-bit float, to the neighbour whose last bit is set.
fn odd_magnitude(value: u64) -> f64 {
    const DROPPED_BITS: u64 = 0x7ff;
    if value >> 53 == 0 || value & DROPPED_BITS == 0 {
        return value as f64;
    }
    ((value & !DROPPED_BITS) | (DROPPED_BITS + 1)) as f64
}

macro_rules! halves {
    ($($half:ty),*) => {$(
        impl Number for $half {
            const BYTES: usize = 2;

            #[inline]
            fn read(bytes: &[u8], is_big: bool) -> Wide {
                Wide::Float(Self::from_le_bytes(stored(bytes, is_big)).to_f64())
            }

            #[inline]
            fn write(wide: Wide, bytes: &mut [u8]) -> Option<()> {
                let odd = to_odd(wide)?;
                let value = Self::from_f32(odd);
                if value.is_infinite() && odd.is_finite() {
                    return None;
                }
                bytes.copy_from_slice(&value.to_le_bytes());
                Some(())
            }
        }
    )*};
}

halves!(f16, bf16);
