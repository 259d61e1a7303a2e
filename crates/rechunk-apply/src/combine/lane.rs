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
    ($type:ty) => {
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
                    // Such a fraction has more digits than matter.
                    || (rest / (divisor / times).max(1)).min(times),
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

whole!(i64);
whole!(i128);
