//! One element as a number: what filters compute with, as NumPy does.

use half::{bf16, f16};
use rechunk_grid::{DataType, Endian, round_to_odd};

use crate::codec_spec::Scalar;
use crate::element_type::ElementType;

/// A number in the precision it is computed in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// Integers and bool: wide enough for every type.
    Integer(i128),
    Half(f16),
    Brain(bf16),
    Single(f32),
    Double(f64),
}

impl Value {
    /// The element in `bytes`, which has the size of one.
    pub(super) fn load(bytes: &[u8], element: ElementType) -> Self {
        let mut word = [0_u8; 8];
        for (slot, byte) in word.iter_mut().zip(bytes) {
            *slot = *byte;
        }
        if element.endian == Endian::Big {
            word[..element.item_bytes().min(8)].reverse();
        }
        let word = u64::from_le_bytes(word);
        Self::from_word(word, element.data_type)
    }

    /// The element whose bytes, the lowest first, are the low ones of `word`.
    pub(super) fn from_word(word: u64, data_type: DataType) -> Self {
        let [b0, b1, b2, b3, ..] = word.to_le_bytes();
        match data_type {
            DataType::Bool => Self::Integer(i128::from(b0 != 0)),
            DataType::Uint8 => Self::Integer(i128::from(b0)),
            DataType::Int8 => Self::Integer(i128::from(i8::from_le_bytes([b0]))),
            DataType::Uint16 => Self::Integer(i128::from(u16::from_le_bytes([b0, b1]))),
            DataType::Int16 => Self::Integer(i128::from(i16::from_le_bytes([b0, b1]))),
            DataType::Uint32 => Self::Integer(i128::from(u32::from_le_bytes([b0, b1, b2, b3]))),
            DataType::Int32 => Self::Integer(i128::from(i32::from_le_bytes([b0, b1, b2, b3]))),
            DataType::Int64 => Self::Integer(i128::from(i64::from_le_bytes(word.to_le_bytes()))),
            DataType::Int2 | DataType::Int4 | DataType::Uint2 | DataType::Uint4 => {
                Self::Integer(i128::from(small(b0, data_type)))
            }
            DataType::Float16 => Self::Half(f16::from_le_bytes([b0, b1])),
            DataType::Bfloat16 => Self::Brain(bf16::from_le_bytes([b0, b1])),
            DataType::Float32 => Self::Single(f32::from_le_bytes([b0, b1, b2, b3])),
            DataType::Float64 => Self::Double(f64::from_bits(word)),
            // Unsigned, 64 bits: no filter takes any other type (`ElementType::is_number`,
            // `is_counted`).
            _ => Self::Integer(i128::from(word)),
        }
    }

    /// This number as an element of the type, into `bytes`, which has the size of one. Integers
    /// wrap; a float loses its fraction on the way to an integer.
    pub(super) fn store(self, bytes: &mut [u8], element: ElementType) {
        let mut word = self.bits(element.data_type);
        if element.endian == Endian::Big {
            word[..element.item_bytes().min(8)].reverse();
        }
        for (byte, from) in bytes.iter_mut().zip(word) {
            *byte = from;
        }
    }

    /// The element in the low bytes of a word.
    pub(super) fn word(self, data_type: DataType) -> u64 {
        u64::from_le_bytes(self.bits(data_type))
    }

    /// The element, little-endian, in the first bytes.
    fn bits(self, data_type: DataType) -> [u8; 8] {
        let mut word = [0; 8];
        match data_type {
            DataType::Bool => word[0] = u8::from(!self.is_zero()),
            DataType::Int2 | DataType::Int4 | DataType::Uint2 | DataType::Uint4 => {
                let [low, ..] = self.to_integer().to_le_bytes();
                let [byte, _] = small(low, data_type).to_le_bytes();
                word[0] = byte;
            }
            DataType::Float16 => word[..2].copy_from_slice(&self.to_half().to_le_bytes()),
            DataType::Bfloat16 => word[..2].copy_from_slice(&self.to_brain().to_le_bytes()),
            DataType::Float32 => word[..4].copy_from_slice(&self.to_single().to_le_bytes()),
            DataType::Float64 => word = self.to_double().to_le_bytes(),
            _ => {
                let [low @ .., _, _, _, _, _, _, _, _] = self.to_integer().to_le_bytes();
                word = low;
            }
        }
        word
    }

    /// This number as an element of the type would hold it.
    pub(super) fn cast(self, data_type: DataType) -> Self {
        Self::from_word(self.word(data_type), data_type)
    }

    fn is_zero(self) -> bool {
        match self {
            Self::Integer(value) => value == 0,
            other => other.to_double() == 0.0,
        }
    }

    /// Not a number becomes 0; what an `i64` cannot hold, its nearest. NumPy leaves both open.
    fn to_integer(self) -> i128 {
        match self {
            Self::Integer(value) => value,
            other => whole(other.to_double()),
        }
    }

    fn to_half(self) -> f16 {
        match self {
            Self::Half(value) => value,
            Self::Single(value) => f16::from_f32(value),
            other => f16::from_f32(round_to_odd(other.to_double())),
        }
    }

    fn to_brain(self) -> bf16 {
        match self {
            Self::Brain(value) => value,
            Self::Single(value) => bf16::from_f32(value),
            other => bf16::from_f64(other.to_double()),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounded, as a cast of floats is")]
    fn to_single(self) -> f32 {
        match self {
            Self::Integer(value) => value as f32,
            Self::Half(value) => value.to_f32(),
            Self::Brain(value) => value.to_f32(),
            Self::Single(value) => value,
            Self::Double(value) => value as f32,
        }
    }

    pub(super) fn to_double(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Half(value) => value.to_f64(),
            Self::Brain(value) => value.to_f64(),
            Self::Single(value) => f64::from(value),
            Self::Double(value) => value,
        }
    }

    /// The operation on two numbers of one type; a half is computed as a single and rounded.
    pub(super) fn combine(
        self,
        other: Self,
        integers: fn(i128, i128) -> i128,
        singles: fn(f32, f32) -> f32,
        doubles: fn(f64, f64) -> f64,
    ) -> Self {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Self::Integer(integers(a, b)),
            (Self::Half(a), Self::Half(b)) => {
                Self::Half(f16::from_f32(singles(a.to_f32(), b.to_f32())))
            }
            (Self::Brain(a), Self::Brain(b)) => {
                Self::Brain(bf16::from_f32(singles(a.to_f32(), b.to_f32())))
            }
            (Self::Single(a), Self::Single(b)) => Self::Single(singles(a, b)),
            (a, b) => Self::Double(doubles(a.to_double(), b.to_double())),
        }
    }

    pub(super) fn add(self, other: Self) -> Self {
        self.combine(other, i128::wrapping_add, |a, b| a + b, |a, b| a + b)
    }

    pub(super) fn subtract(self, other: Self) -> Self {
        self.combine(other, i128::wrapping_sub, |a, b| a - b, |a, b| a - b)
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        self.combine(other, i128::wrapping_mul, |a, b| a * b, |a, b| a * b)
    }

    /// Never of integers: NumPy's `/` makes them floats.
    pub(super) fn divide(self, other: Self) -> Self {
        let other = match self {
            Self::Integer(_) => return Self::Double(self.to_double() / other.to_double()),
            _ => other,
        };
        self.combine(other, |a, _| a, |a, b| a / b, |a, b| a / b)
    }

    /// The nearest whole number, halves to even.
    pub(super) fn round(self) -> Self {
        match self {
            Self::Integer(value) => Self::Integer(value),
            Self::Half(value) => Self::Half(f16::from_f32(value.to_f32().round_ties_even())),
            Self::Brain(value) => Self::Brain(bf16::from_f32(value.to_f32().round_ties_even())),
            Self::Single(value) => Self::Single(value.round_ties_even()),
            Self::Double(value) => Self::Double(value.round_ties_even()),
        }
    }

    /// A number from metadata in the precision of the elements it meets, as in NumPy. That gives a
    /// Python number the type of the array, but a float among integers makes doubles of both.
    pub(super) fn scalar(scalar: Scalar, beside: Self) -> Self {
        let exact = match scalar {
            Scalar::Integer(value) => Self::Integer(i128::from(value)),
            Scalar::Float(bits) => Self::Double(f64::from_bits(bits)),
        };
        match beside {
            Self::Integer(_) => exact,
            Self::Half(_) => Self::Half(exact.to_half()),
            Self::Brain(_) => Self::Brain(exact.to_brain()),
            Self::Single(_) => Self::Single(exact.to_single()),
            Self::Double(_) => Self::Double(exact.to_double()),
        }
    }
}

/// The number of an integer of fewer than 8 bits, which are the lowest of its byte: others are not
/// looked at.
fn small(byte: u8, data_type: DataType) -> i16 {
    let (bits, is_signed) = match data_type {
        DataType::Int2 => (2, true),
        DataType::Uint2 => (2, false),
        DataType::Int4 => (4, true),
        _ => (4, false),
    };
    let number = i16::from(byte & ((1 << bits) - 1));
    if is_signed && number >> (bits - 1) == 1 { number - (1 << bits) } else { number }
}

/// Without its fraction; a `u64` reaches further than an `i64`.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit becomes the nearest")]
#[expect(clippy::cast_sign_loss, reason = "positive in that branch")]
fn whole(value: f64) -> i128 {
    if value >= 9_223_372_036_854_775_808.0 {
        i128::from(value as u64)
    } else {
        i128::from(value as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() {
        // Just above the middle of 1 and the next half, which its nearest 32-bit float is.
        let above_the_middle = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-50);
        assert_eq!(Value::Double(above_the_middle).to_half().to_bits(), 0x3c01);
    }
}
