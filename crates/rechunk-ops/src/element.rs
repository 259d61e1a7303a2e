//! Elements of all types that operations take.

use bytemuck::Pod;
use half::f16;
use rechunk_grid::{DataType, round_to_odd};

use crate::error::OpError;

/// A value of any type, exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wide {
    Int(i128),
    Float(f64),
}

impl Wide {
    /// The nearest float.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Unsigned integers of the width of an element.
pub(crate) trait Key: Pod + Ord + Send + Sync + std::fmt::Debug {
    const MIN: Self;
    const MAX: Self;

    /// The number, of 64 bits.
    fn to_u64(self) -> u64;

    /// The low bits of a number.
    fn from_u64(value: u64) -> Self;
}

macro_rules! keys {
    ($($key:ty),*) => {$(
        impl Key for $key {
            const MIN: Self = <$key>::MIN;
            const MAX: Self = <$key>::MAX;

            #[inline]
            fn to_u64(self) -> u64 {
                self.into()
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "one of four types is not truncated")]
            #[allow(clippy::cast_possible_truncation, reason = "the low bits are meant")]
            fn from_u64(value: u64) -> Self {
                value as $key
            }
        }
    )*};
}

keys!(u8, u16, u32, u64);

/// An element. `bool` is `u8` of 0 and 1.
pub(crate) trait Element: Pod + PartialOrd + std::fmt::Debug + Send + Sync {
    /// Unsigned integer of the same width.
    type Key: Key;
    const IS_FLOAT: bool;
    const ZERO: Self;
    const ONE: Self;
    const NAN: Option<Self>;

    /// The nearest 64-bit float: exact but for integers beyond 2^53.
    fn to_f64(self) -> f64;

    /// The nearest 32-bit float.
    fn to_f32(self) -> f32;

    /// The nearest element, ties to even. Integers saturate, and NaN becomes 0.
    fn from_f64(value: f64) -> Self;

    /// The nearest element, as [`Element::from_f64`].
    fn from_f32(value: f32) -> Self {
        Self::from_f64(value.into())
    }

    /// The value, exactly.
    fn to_wide(self) -> Wide;

    /// The element of this integer; for floats, the nearest. `None` if it is out of range.
    fn from_int(value: i128) -> Option<Self>;

    /// An integer that ascends as the elements do: -0 before 0, NaN last.
    fn to_key(self) -> Self::Key;

    /// The element of a key.
    fn from_key(key: Self::Key) -> Self;

    /// The element, or the one NaN for any NaN. Compares bits: a compiler may take a choice between
    /// floats for none, because it counts all NaN as equal.
    #[inline]
    fn with_one_nan(self) -> Self {
        self
    }

    /// Whether it is not a number.
    #[inline]
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }
}

/// Rounds to an integer, ties to even. Vectorises without instructions of SSE4.1.
#[inline]
pub(crate) fn round_even(value: f64) -> f64 {
    /// From here on a float has no fraction.
    const WHOLE_FROM: f64 = 4_503_599_627_370_496.0;
    if value.abs() < WHOLE_FROM {
        let shift = WHOLE_FROM.copysign(value);
        (value + shift) - shift
    } else {
        value
    }
}

macro_rules! integers {
    ($($integer:ty, $key:ty, $flip:expr);* $(;)?) => {$(
        impl Element for $integer {
            type Key = $key;
            const IS_FLOAT: bool = false;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const NAN: Option<Self> = None;

            #[inline]
            #[expect(clippy::allow_attributes, reason = "lossless for some of the types")]
            #[allow(clippy::cast_lossless, reason = "of one macro for all widths")]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "lossless for some of the types")]
            #[allow(clippy::cast_lossless, reason = "of one macro for all widths")]
            fn to_f32(self) -> f32 {
                self as f32
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "the sign is lost for some of the types")]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "casts of floats saturate, NaN becomes 0"
            )]
            fn from_f64(value: f64) -> Self {
                round_even(value) as $integer
            }

            #[inline]
            fn to_wide(self) -> Wide {
                Wide::Int(self.into())
            }

            #[inline]
            fn from_int(value: i128) -> Option<Self> {
                Self::try_from(value).ok()
            }

            #[inline]
            fn to_key(self) -> $key {
                <$key>::from_ne_bytes(self.to_ne_bytes()) ^ $flip
            }

            #[inline]
            fn from_key(key: $key) -> Self {
                Self::from_ne_bytes((key ^ $flip).to_ne_bytes())
            }

            #[inline]
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}

integers! {
    u8, u8, 0;
    u16, u16, 0;
    u32, u32, 0;
    u64, u64, 0;
    i8, u8, 1 << 7;
    i16, u16, 1 << 15;
    i32, u32, 1 << 31;
    i64, u64, 1 << 63;
}

macro_rules! float_keys {
    ($key:ty, $float:ty) => {
        #[inline]
        fn with_one_nan(self) -> Self {
            const SIGN: $key = 1 << (<$key>::BITS - 1);
            let bits = self.to_bits();
            let is_nan = bits & !SIGN > <$float>::INFINITY.to_bits();
            Self::from_bits(if is_nan { <$float>::NAN.to_bits() } else { bits })
        }

        #[inline]
        fn to_key(self) -> $key {
            const SIGN: $key = 1 << (<$key>::BITS - 1);
            let bits = self.to_bits();
            let key = if bits & SIGN == 0 { bits | SIGN } else { !bits };
            if self.is_nan() { <$key>::MAX } else { key }
        }

        #[inline]
        fn from_key(key: $key) -> Self {
            const SIGN: $key = 1 << (<$key>::BITS - 1);
            let bits = if key & SIGN == 0 { !key } else { key ^ SIGN };
            if key == <$key>::MAX { <$float>::NAN } else { Self::from_bits(bits) }
        }
    };
}

impl Element for f64 {
    type Key = u64;
    const IS_FLOAT: bool = true;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const NAN: Option<Self> = Some(Self::NAN);

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it is meant to round")]
    fn to_f32(self) -> f32 {
        self as f32
    }

    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline]
    fn to_wide(self) -> Wide {
        Wide::Float(self)
    }

    #[inline]
    fn from_int(value: i128) -> Option<Self> {
        Some(value as Self)
    }

    float_keys!(u64, f64);
}

impl Element for f32 {
    type Key = u32;
    const IS_FLOAT: bool = true;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const NAN: Option<Self> = Some(Self::NAN);

    #[inline]
    fn to_f64(self) -> f64 {
        self.into()
    }

    #[inline]
    fn to_f32(self) -> f32 {
        self
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it is meant to round")]
    fn from_f64(value: f64) -> Self {
        value as Self
    }

    #[inline]
    fn from_f32(value: f32) -> Self {
        value
    }

    #[inline]
    fn to_wide(self) -> Wide {
        Wide::Float(self.into())
    }

    #[inline]
    fn from_int(value: i128) -> Option<Self> {
        Some(value as Self)
    }

    float_keys!(u32, f32);
}

impl Element for f16 {
    type Key = u16;
    const IS_FLOAT: bool = true;
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
    const NAN: Option<Self> = Some(Self::NAN);

    #[inline]
    fn to_f64(self) -> f64 {
        self.to_f64()
    }

    #[inline]
    fn to_f32(self) -> f32 {
        self.to_f32()
    }

    #[inline]
    fn from_f64(value: f64) -> Self {
        Self::from_f32(round_to_odd(value))
    }

    #[inline]
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }

    #[inline]
    fn to_wide(self) -> Wide {
        Wide::Float(self.to_f64())
    }

    #[inline]
    fn from_int(value: i128) -> Option<Self> {
        // From 65520 on, integers round to an infinity: those below are exact as 64-bit floats.
        (value.unsigned_abs() < 65_520).then(|| Element::from_f64(value as f64))
    }

    float_keys!(u16, f16);
}

/// Returns the type, if operations take elements of it.
pub(crate) fn supported(operation: &str, data_type: DataType) -> Result<DataType, OpError> {
    if DataType::NUMBERS.contains(&data_type) {
        Ok(data_type)
    } else {
        Err(unsupported(operation, data_type))
    }
}

/// Type of floats for amounts of a type: floats stay, integers of at most 16 bits become float32,
/// others float64.
pub(crate) fn float_for(data_type: DataType) -> DataType {
    match data_type {
        float if float.is_ieee_float() => float,
        small if small.item_bytes() <= 2 => DataType::Float32,
        _ => DataType::Float64,
    }
}

/// Refusal of a type that no operation takes.
pub(crate) fn unsupported(operation: &str, data_type: DataType) -> OpError {
    let names: Vec<_> = DataType::NUMBERS.iter().map(|data_type| data_type.name()).collect();
    let reason = format!("it takes {}", names.join(", "));
    OpError::DataType { operation: operation.to_owned(), data_type, reason }
}

/// Runs an expression with `$T` as the Rust type of elements; returns the refusal of other types
/// from the function around it.
macro_rules! for_elements {
    ($operation:expr, $data_type:expr, $T:ident => $run:expr) => {
        ::rechunk_grid::with_number!(
            $data_type,
            ::half::f16,
            $T => $run,
            other => return Err($crate::element::unsupported($operation, other))
        )
    };
}
pub(crate) use for_elements;

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "results are exact")]
mod tests;
