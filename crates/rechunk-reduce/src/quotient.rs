//! Sums of elements, and their division by a count.

use std::ops::{Add, BitAnd, Shr};

use crate::floats::{Half, Nearest};
use crate::fold::Fold;
use crate::item::Item;
use crate::method::Rounding;

/// A sum.
pub(crate) trait Total: Copy + Default {
    /// The sum of no elements: neutral. -0 for floats, because 0 and -0 are 0.
    const NONE: Self;

    /// The sum of both. Integers wrap around: callers bound the count of elements.
    fn plus(self, other: Self) -> Self;
}

macro_rules! integer_totals {
    ($($integer:ty),*) => {$(
        impl Total for $integer {
            const NONE: Self = 0;

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}

integer_totals!(u16, i16, u32, i32, i64, i128);

impl Total for f64 {
    const NONE: Self = -0.0;

    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

/// A sum of elements of type `T`.
pub(crate) trait SumOf<T: Item>: Total + From<T> {
    /// The sum of two elements.
    #[inline]
    fn of_pair(pair: [T::Bytes; 2]) -> Self {
        let [first, second] = pair.map(T::read);
        Self::from(first).plus(second.into())
    }

    /// The sum with two elements more.
    #[inline]
    fn plus_pair(self, pair: [T::Bytes; 2]) -> Self {
        self.plus(Self::of_pair(pair))
    }
}

/// Sums of pairs that are read as one integer of twice the width: a processor takes two neighbours
/// of a vector apart slowly.
macro_rules! pairs {
    ($($element:ty: $pair:ty, $halve:expr => $($sum:ty),*;)*) => {$($(
        impl SumOf<$element> for $sum {
            #[inline]
            fn of_pair(pair: [<$element as Item>::Bytes; 2]) -> Self {
                let mut bytes = [0; size_of::<$pair>()];
                bytes.copy_from_slice(pair.as_flattened());
                let (low, high) = $halve(<$pair>::from_ne_bytes(bytes));
                Self::from(low + high)
            }
        }
    )*)*};
}

pairs! {
    u8: u16, |pair| (pair & 0xff, pair >> 8) => u16, u32, i64;
    i8: i16, |pair| ((pair << 8) >> 8, pair >> 8) => i16, i32, i64;
    u16: u32, |pair| (pair & 0xffff, pair >> 16) => u32, i64;
    i16: i32, |pair| ((pair << 16) >> 16, pair >> 16) => i32, i64;
}

impl SumOf<u32> for i64 {}
impl SumOf<i32> for i64 {}
impl SumOf<Self> for i64 {}
impl SumOf<u64> for i128 {}
impl SumOf<i64> for i128 {}
impl SumOf<Self> for i128 {}

macro_rules! float_sums {
    ($($float:ty),*) => {$(
        impl SumOf<$float> for f64 {
            /// Adds one after the other: sums of floats depend on the order.
            #[inline]
            fn plus_pair(self, pair: [<$float as Item>::Bytes; 2]) -> Self {
                let [first, second] = pair.map(<$float as Item>::read);
                self + Self::from(first) + Self::from(second)
            }
        }
    )*};
}

float_sums!(Half, f32, f64);

/// Adds elements.
#[derive(Debug)]
pub(crate) struct Sum;

impl<T: Item, V: SumOf<T>> Fold<T, V> for Sum {
    #[inline]
    fn start(item: T) -> V {
        item.into()
    }

    #[inline]
    fn step(value: V, item: T) -> V {
        value.plus(item.into())
    }

    #[inline]
    fn start_pair(pair: [T::Bytes; 2]) -> V {
        V::of_pair(pair)
    }

    #[inline]
    fn step_pair(value: V, pair: [T::Bytes; 2]) -> V {
        value.plus_pair(pair)
    }
}

/// A sum that becomes the mean of elements of type `T`.
pub(crate) trait Quotient<T: Item>: SumOf<T> {
    /// Divides sums of `count` elements each, which is at least 1, into as many outputs.
    fn divide(sums: &[Self], count: u64, rounding: Rounding, output: &mut [T::Bytes]);
}

macro_rules! float_quotients {
    ($($float:ty),*) => {$(
        impl Quotient<$float> for f64 {
            fn divide(
                sums: &[Self],
                count: u64,
                _: Rounding,
                output: &mut [<$float as Item>::Bytes],
            ) {
                let count = count as f64;
                for (output, sum) in output.iter_mut().zip(sums) {
                    *output = <$float as Nearest>::nearest(sum / count).write();
                }
            }
        }
    )*};
}

float_quotients!(Half, f32, f64);

/// Magnitude of an integer sum.
trait Magnitude: Copy + Add<Output = Self> + BitAnd<Output = Self> + Shr<u32, Output = Self> {
    const ONE: Self;
    /// Divides by a count that is no power of two.
    type Divider: Copy;

    /// The low bits of a number, which fits.
    fn of(value: u64) -> Self;

    fn divider(count: u64) -> Self::Divider;

    fn over(self, divider: Self::Divider) -> Self;
}

macro_rules! short_magnitudes {
    ($($magnitude:ty),*) => {$(
        impl Magnitude for $magnitude {
            const ONE: Self = 1;
            /// 2⁶⁴ / count, rounded up: exact for 32-bit numbers (Lemire, Kaser and Kurz, "Faster
            /// remainder by direct computation", 2019).
            type Divider = u64;

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "it fits")]
            fn of(value: u64) -> Self {
                value as $magnitude
            }

            #[inline]
            fn divider(count: u64) -> u64 {
                (u64::MAX / count.max(1)).wrapping_add(1)
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "a quotient is not larger")]
            fn over(self, divider: u64) -> Self {
                ((u128::from(self) * u128::from(divider)) >> 64) as $magnitude
            }
        }
    )*};
}

short_magnitudes!(u16, u32);

impl Magnitude for u64 {
    const ONE: Self = 1;
    type Divider = u64;

    #[inline]
    fn of(value: u64) -> Self {
        value
    }

    #[inline]
    fn divider(count: u64) -> u64 {
        count.max(1)
    }

    #[inline]
    fn over(self, divider: u64) -> Self {
        self / divider
    }
}

impl Magnitude for u128 {
    const ONE: Self = 1;
    type Divider = u64;

    #[inline]
    fn of(value: u64) -> Self {
        value.into()
    }

    #[inline]
    fn divider(count: u64) -> u64 {
        count.max(1)
    }

    #[inline]
    fn over(self, divider: u64) -> Self {
        // The processor divides 64 bits.
        match u64::try_from(self) {
            Ok(short) => (short / divider).into(),
            Err(_) => self / Self::from(divider),
        }
    }
}

/// An integer sum, whose sign rounding does not see.
trait Signed: Copy {
    type Magnitude: Magnitude;

    /// Changes the magnitude and keeps the sign.
    fn with_magnitude(self, change: impl Fn(Self::Magnitude) -> Self::Magnitude) -> Self;
}

macro_rules! unsigned {
    ($($sum:ty),*) => {$(
        impl Signed for $sum {
            type Magnitude = Self;

            #[inline]
            fn with_magnitude(self, change: impl Fn(Self) -> Self) -> Self {
                change(self)
            }
        }
    )*};
}

macro_rules! signed {
    ($($sum:ty, $magnitude:ty;)*) => {$(
        impl Signed for $sum {
            type Magnitude = $magnitude;

            #[inline]
            fn with_magnitude(self, change: impl Fn($magnitude) -> $magnitude) -> Self {
                let changed = change(self.unsigned_abs()).cast_signed();
                if self < 0 { changed.wrapping_neg() } else { changed }
            }
        }
    )*};
}

unsigned!(u16, u32);
signed! {
    i16, u16;
    i32, u32;
    i64, u64;
    i128, u128;
}

type M<S> = <S as Signed>::Magnitude;

/// Changes the magnitudes of sums into as many outputs.
#[inline]
fn change_each<S: Signed, B>(
    sums: &[S],
    output: &mut [B],
    write: impl Fn(S) -> B,
    change: impl Fn(M<S>) -> M<S>,
) {
    for (output, sum) in output.iter_mut().zip(sums) {
        *output = write(sum.with_magnitude(&change));
    }
}

/// Divides integer sums of `count` elements each into as many outputs.
#[inline]
fn divide_integers<S: Signed, B>(
    sums: &[S],
    count: u64,
    rounding: Rounding,
    output: &mut [B],
    write: impl Fn(S) -> B,
) {
    let (half, one) = (M::<S>::of(count / 2), M::<S>::ONE);
    let under_half = M::<S>::of(count.saturating_sub(1) / 2);
    if count.is_power_of_two() {
        let shift = count.trailing_zeros();
        match rounding {
            _ if shift == 0 => change_each(sums, output, write, |sum| sum),
            Rounding::HalfAway => change_each(sums, output, write, |sum| (sum + half) >> shift),
            Rounding::HalfEven => change_each(sums, output, write, |sum| {
                (sum + under_half + ((sum >> shift) & one)) >> shift
            }),
            Rounding::Down => change_each(sums, output, write, |sum| sum >> shift),
        }
        return;
    }
    let divider = M::<S>::divider(count);
    match rounding {
        Rounding::HalfAway => change_each(sums, output, write, |sum| (sum + half).over(divider)),
        Rounding::HalfEven if count.is_multiple_of(2) => change_each(sums, output, write, |sum| {
            (sum + under_half + (sum.over(divider) & one)).over(divider)
        }),
        // An odd count has no halves.
        Rounding::HalfEven => {
            change_each(sums, output, write, |sum| (sum + under_half).over(divider));
        }
        Rounding::Down => change_each(sums, output, write, |sum| sum.over(divider)),
    }
}

macro_rules! integer_quotients {
    ($($integer:ty: $($sum:ty),*;)*) => {$($(
        impl Quotient<$integer> for $sum {
            #[expect(clippy::allow_attributes, reason = "some sums are of another sign")]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a mean is in the range of its elements"
            )]
            fn divide(
                sums: &[Self],
                count: u64,
                rounding: Rounding,
                output: &mut [<$integer as Item>::Bytes],
            ) {
                let write = |mean: Self| (mean as $integer).write();
                divide_integers(sums, count, rounding, output, write);
            }
        }
    )*)*};
}

integer_quotients! {
    u8: u16, u32, i64;
    i8: i16, i32, i64;
    u16: u32, i64;
    i16: i32, i64;
    u32: i64;
    i32: i64;
    u64: i128;
    i64: i128;
}
