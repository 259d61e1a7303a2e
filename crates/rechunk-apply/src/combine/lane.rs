//! Integers in which sums are made.

use rechunk_grid::DataType;

use super::element::{Element, Narrow, Truth};

/// An integer lane.
pub(super) trait Whole: Element + PartialEq {
    /// 0.
    const ZERO: Self;
    /// A weight's numerator or a denominator, which the plan holds below the lane's largest number.
    fn of(number: u128) -> Self;
    /// `self + a * b`.
    fn plus(self, a: Self, b: Self) -> Self;
    /// `self * a`.
    fn times(self, a: Self) -> Self {
        Self::ZERO.plus(self, a)
    }
    /// `self / divisor`, rounded half to even; the divisor is positive.
    fn rounded(self, divisor: Self) -> Self;
    /// `self * times / divisor`, rounded; the factors are positive.
    fn scaled(self, times: Self, divisor: Self) -> Self;
    /// Writes numbers as plain elements of an integer type; false if it is none.
    fn store(data_type: DataType, numbers: impl Iterator<Item = Self>, to: &mut [u8]) -> bool;
}

fn write<L, T: Narrow<L>>(numbers: impl Iterator<Item = L>, to: &mut [u8]) {
    T::write(to, numbers.map(T::narrow));
}

macro_rules! whole {
    ($type:ty, $long:ident) => {
        /// `rest * times / divisor`, rounded, where the product does not fit: bit by bit. The rest
        /// is below the divisor, which has room for three of it.
        fn $long(rest: $type, times: $type, divisor: $type) -> $type {
            let (mut quotient, mut left): ($type, $type) = (0, 0);
            for bit in (0..<$type>::BITS - 1).rev() {
                let more = if times >> bit & 1 == 1 { rest } else { 0 };
                left = left.wrapping_mul(2).wrapping_add(more);
                quotient = quotient.wrapping_mul(2).wrapping_add(left / divisor);
                left %= divisor;
            }
            quotient.wrapping_add(<$type>::from(left > divisor - left))
        }

        impl Whole for $type {
            const ZERO: Self = 0;

            fn of(number: u128) -> Self {
                Self::try_from(number).unwrap_or(Self::MAX)
            }

            fn plus(self, a: Self, b: Self) -> Self {
                // Blocks from elsewhere may hold any number: no plan lets an honest one overflow.
                self.wrapping_add(a.wrapping_mul(b))
            }

            fn rounded(self, divisor: Self) -> Self {
                let (quotient, rest) = (self.div_euclid(divisor), self.rem_euclid(divisor));
                let other = divisor - rest;
                let is_up = rest > other || rest == other && quotient % 2 != 0;
                quotient.wrapping_add(Self::from(is_up))
            }

            fn scaled(self, times: Self, divisor: Self) -> Self {
                let (quotient, rest) = (self.div_euclid(divisor), self.rem_euclid(divisor));
                let rest = rest.checked_mul(times).map_or_else(
                    || $long(rest, times, divisor),
                    |product| product.rounded(divisor),
                );
                quotient.wrapping_mul(times).wrapping_add(rest)
            }

            fn store(
                data_type: DataType,
                numbers: impl Iterator<Item = Self>,
                to: &mut [u8],
            ) -> bool {
                match data_type {
                    DataType::Bool => write::<Self, Truth>(numbers, to),
                    DataType::Uint8 => write::<Self, u8>(numbers, to),
                    DataType::Uint16 => write::<Self, u16>(numbers, to),
                    DataType::Uint32 => write::<Self, u32>(numbers, to),
                    DataType::Uint64 => write::<Self, u64>(numbers, to),
                    DataType::Int8 => write::<Self, i8>(numbers, to),
                    DataType::Int16 => write::<Self, i16>(numbers, to),
                    DataType::Int32 => write::<Self, i32>(numbers, to),
                    DataType::Int64 => write::<Self, i64>(numbers, to),
                    _ => return false,
                }
                true
            }
        }
    };
}

whole!(i64, long_64);
whole!(i128, long_128);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_go_to_the_even_side() {
        let rounded = [-5_i64, -3, -1, 1, 3, 5].map(|halves| halves.rounded(2));
        assert_eq!(rounded, [-2, -2, 0, 0, 2, 2]);
        assert_eq!([-7_i128, 7, 8].map(|thirds| thirds.rounded(3)), [-2, 2, 3]);
    }

    #[test]
    fn values_beyond_a_type_are_its_limits() {
        let mut out = [0; 3];
        assert!(i64::store(DataType::Uint8, [-1, 7, 256].into_iter(), &mut out));
        assert_eq!(out, [0, 7, 255]);
        assert!(!i64::store(DataType::Float32, [0].into_iter(), &mut out));
    }

    proptest! {
        #[test]
        fn a_scaled_number_is_the_nearest(
            number in -1_000_000_i64..1_000_000, times in 1_i64..1000, left in 1_i64..1000,
        ) {
            let left = left.min(times);
            let found = number.scaled(times, left);
            prop_assert!((2 * (found * left - number * times)).abs() <= left);
            prop_assert_eq!(i128::from(number).scaled(times.into(), left.into()), found.into());
        }

        /// Bit by bit as at once.
        #[test]
        fn products_that_do_not_fit_are_no_other(
            rest in 0_i64..1000, times in 1_i64..1_000_000, divisor in 1_i64..1000,
        ) {
            let rest = rest % divisor;
            let (product, found) = (rest * times, long_64(rest, times, divisor));
            prop_assert!((2 * (found * divisor - product)).abs() <= divisor);
        }

        /// Numbers whose products do not fit: within the precision of floats.
        #[test]
        fn large_numbers_are_scaled_too(number in any::<i64>(), part in 1_i128..1_000_000) {
            let times = 1_i128 << 90;
            let left = times / 1_000_000 * part;
            let found = i128::from(number >> 40).scaled(times, left);
            let expected = (number >> 40) as f64 * times as f64 / left as f64;
            prop_assert!((found as f64 - expected).abs() <= expected.abs() * 1e-12 + 1.0);
        }
    }
}
