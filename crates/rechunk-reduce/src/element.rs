//! Elements that are reduced by their values.

use crate::floats::{Half, Nearest};
use crate::item::Item;
use crate::method::Rounding;
use crate::quotient::Quotient;

/// An element. `bool` is `u8` of 0 and 1.
pub(crate) trait Element: Item {
    /// Signed or unsigned integer of the width of an element.
    type Key: Copy + Ord + Default;
    /// Sum of at most [`Element::NARROW_MAX`] elements.
    type Narrow: Quotient<Self>;
    /// Sum of at most [`Element::MIDDLE_MAX`] elements.
    type Middle: Quotient<Self>;
    /// Sum of at most [`Element::WIDE_MAX`] elements.
    type Wide: Quotient<Self> + From<Self::Narrow> + From<Self::Middle> + Item;
    /// Elements whose sum, rounded, surely fits the narrow type.
    const NARROW_MAX: u64;
    /// Elements whose sum, rounded, surely fits the middle type.
    const MIDDLE_MAX: u64;
    /// Elements whose sum surely fits the wide type.
    const WIDE_MAX: u64;
    /// Key of all NaN: the largest. `None` for integers.
    const NAN_KEY: Option<Self::Key>;

    /// An integer that ascends as the elements do: -0 before 0, NaN last.
    fn to_key(self) -> Self::Key;

    /// The element of a key.
    fn from_key(key: Self::Key) -> Self;

    /// The key of the element, or of 0 for -0.
    fn to_value_key(self) -> Self::Key {
        self.to_key()
    }

    /// The lesser of both. The first that is NaN, if any is.
    fn least(self, other: Self) -> Self;

    /// The larger of both. The first that is NaN, if any is.
    fn largest(self, other: Self) -> Self;

    /// The lesser of two neighbours.
    #[inline]
    fn least_of_pair(pair: [Self::Bytes; 2]) -> Self {
        let [first, second] = pair.map(Self::read);
        first.least(second)
    }

    /// The larger of two neighbours.
    #[inline]
    fn largest_of_pair(pair: [Self::Bytes; 2]) -> Self {
        let [first, second] = pair.map(Self::read);
        first.largest(second)
    }

    /// The nearest 64-bit float.
    fn to_real(self) -> f64;

    /// The element of a float, which is rounded and held in the range of integers.
    fn from_real(value: f64, rounding: Rounding) -> Self;
}

/// Most elements whose 64-bit sum is exact: those of 32 bits need as many bits more as their count.
pub(crate) const I64_ELEMENTS_MAX: u64 = 1 << 31;
/// Most elements whose 128-bit sum is exact.
pub(crate) const I128_ELEMENTS_MAX: u64 = 1 << 63;

macro_rules! integers {
    ($($integer:ty: $narrow:ty, $narrow_max:expr; $middle:ty, $middle_max:expr;
       $wide:ty, $wide_max:expr; $($pair:ident)?;)*) => {$(
        impl Element for $integer {
            type Key = Self;
            type Narrow = $narrow;
            type Middle = $middle;
            type Wide = $wide;
            const NARROW_MAX: u64 = $narrow_max;
            const MIDDLE_MAX: u64 = $middle_max;
            const WIDE_MAX: u64 = $wide_max;
            const NAN_KEY: Option<Self> = None;

            #[inline]
            fn to_key(self) -> Self {
                self
            }

            #[inline]
            fn from_key(key: Self) -> Self {
                key
            }

            #[inline]
            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            #[inline]
            fn largest(self, other: Self) -> Self {
                self.max(other)
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "lossless for some of the types")]
            #[allow(clippy::cast_lossless, reason = "of one macro for all widths")]
            fn to_real(self) -> f64 {
                self as f64
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "signed for some of the types")]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is meant to saturate"
            )]
            fn from_real(value: f64, rounding: Rounding) -> Self {
                rounding.round(value) as $integer
            }

            $($pair! { $integer })?
        }
    )*};
}

/// Extremes of pairs that are read as one 16-bit integer: a processor takes two neighbours of a
/// vector apart slowly.
macro_rules! byte_pairs {
    ($byte:ty) => {
        #[inline]
        fn least_of_pair(pair: [[u8; 1]; 2]) -> Self {
            let [first, second] = widened(<$byte>::MIN != 0, pair);
            narrowed!($byte, first.min(second))
        }

        #[inline]
        fn largest_of_pair(pair: [[u8; 1]; 2]) -> Self {
            let [first, second] = widened(<$byte>::MIN != 0, pair);
            narrowed!($byte, first.max(second))
        }
    };
}

macro_rules! narrowed {
    ($byte:ty, $wide:expr) => {{
        #[expect(clippy::allow_attributes, reason = "signed for one of the types")]
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a byte")]
        let byte = $wide as $byte;
        byte
    }};
}

/// Both bytes of a pair as numbers of 16 bits.
#[inline]
fn widened(is_signed: bool, pair: [[u8; 1]; 2]) -> [i16; 2] {
    let [[first], [second]] = pair;
    let pair = i16::from_ne_bytes([first, second]);
    if is_signed { [(pair << 8) >> 8, pair >> 8] } else { [pair & 0xff, (pair >> 8) & 0xff] }
}

integers! {
    u8: u16, 256; u32, 1 << 16; i64, I64_ELEMENTS_MAX; byte_pairs;
    i8: i16, 256; i32, 1 << 16; i64, I64_ELEMENTS_MAX; byte_pairs;
    u16: u32, 1 << 16; u32, 1 << 16; i64, I64_ELEMENTS_MAX;;
    i16: i32, 1 << 16; i32, 1 << 16; i64, I64_ELEMENTS_MAX;;
    u32: i64, I64_ELEMENTS_MAX; i64, I64_ELEMENTS_MAX; i64, I64_ELEMENTS_MAX;;
    i32: i64, I64_ELEMENTS_MAX; i64, I64_ELEMENTS_MAX; i64, I64_ELEMENTS_MAX;;
    u64: i128, I128_ELEMENTS_MAX; i128, I128_ELEMENTS_MAX; i128, I128_ELEMENTS_MAX;;
    i64: i128, I128_ELEMENTS_MAX; i128, I128_ELEMENTS_MAX; i128, I128_ELEMENTS_MAX;;
}

macro_rules! floats {
    ($($float:ty, $key:ty, $unsigned:ty, $bits:expr, $from_bits:expr, $infinity:expr;)*) => {$(
        impl Element for $float {
            type Key = $key;
            type Narrow = f64;
            type Middle = f64;
            type Wide = f64;
            const NARROW_MAX: u64 = u64::MAX;
            const MIDDLE_MAX: u64 = u64::MAX;
            const WIDE_MAX: u64 = u64::MAX;
            const NAN_KEY: Option<$key> = Some(<$key>::MAX);

            #[inline]
            fn to_key(self) -> $key {
                if self.is_nan() {
                    return <$key>::MAX;
                }
                let bits = $bits(self).cast_signed();
                // A negative float descends as its other bits ascend.
                if bits < 0 { bits ^ <$key>::MAX } else { bits }
            }

            #[inline]
            fn from_key(key: $key) -> Self {
                if key == <$key>::MAX {
                    let quiet = $infinity | ($infinity >> 1);
                    return $from_bits(quiet);
                }
                $from_bits(if key < 0 { key ^ <$key>::MAX } else { key }.cast_unsigned())
            }

            #[inline]
            fn to_value_key(self) -> $key {
                // The key of -0 is -1, that of 0 is 0.
                match self.to_key() {
                    -1 => 0,
                    key => key,
                }
            }

            #[inline]
            fn least(self, other: Self) -> Self {
                if self.is_nan() || (!other.is_nan() && self.is_below(other)) {
                    return self;
                }
                // Of two zeros, that with the sign.
                let same = if self.is_equal(other) { $bits(self) } else { 0 };
                $from_bits($bits(other) | same)
            }

            #[inline]
            fn largest(self, other: Self) -> Self {
                if self.is_nan() || (!other.is_nan() && other.is_below(self)) {
                    return self;
                }
                // Of two zeros, that without the sign.
                let same = if self.is_equal(other) { $bits(self) } else { <$unsigned>::MAX };
                $from_bits($bits(other) & same)
            }

            #[inline]
            fn to_real(self) -> f64 {
                self.into()
            }

            #[inline]
            fn from_real(value: f64, _: Rounding) -> Self {
                Self::nearest(value)
            }
        }
    )*};
}

floats! {
    Half, i16, u16, Half::to_bits, Half::from_bits, 0x7c00;
    f32, i32, u32, f32::to_bits, f32::from_bits, 0x7f80_0000;
    f64, i64, u64, f64::to_bits, f64::from_bits, 0x7ff0_0000_0000_0000;
}

/// Runs an expression with `$T` as the Rust type of elements; returns the refusal of other types
/// from the function around it.
macro_rules! for_elements {
    ($method:expr, $data_type:expr, $T:ident => $run:expr) => {
        ::rechunk_grid::with_number!(
            $data_type,
            $crate::floats::Half,
            $T => $run,
            other => return Err($crate::method::Method::refuses($method, other))
        )
    };
}
pub(crate) use for_elements;
