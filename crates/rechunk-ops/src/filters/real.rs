//! Floats that filters compute in.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

use bytemuck::Pod;
use rechunk_grid::DataType;

use crate::element::Element;

/// A float that a filter computes in.
pub(super) trait Real:
    Pod
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + PartialOrd
    + Send
    + Sync
{
    /// Rounds a 64-bit float.
    fn of(value: f64) -> Self;

    /// The nearest float of an element.
    fn load<T: Element>(element: T) -> Self;

    /// The nearest element, ties to even; integers saturate. There is one NaN: whose bits an
    /// addition passes on is up to the compiler.
    fn store<T: Element>(self) -> T;

    /// The square root.
    fn root(self) -> Self;

    /// The value without its sign.
    fn magnitude(self) -> Self;
}

impl Real for f32 {
    #[inline]
    fn of(value: f64) -> Self {
        value.to_f32()
    }

    #[inline]
    fn load<T: Element>(element: T) -> Self {
        element.to_f32()
    }

    #[inline]
    fn store<T: Element>(self) -> T {
        T::from_f32(self).with_one_nan()
    }

    #[inline]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline]
    fn magnitude(self) -> Self {
        self.abs()
    }
}

impl Real for f64 {
    #[inline]
    fn of(value: f64) -> Self {
        value
    }

    #[inline]
    fn load<T: Element>(element: T) -> Self {
        element.to_f64()
    }

    #[inline]
    fn store<T: Element>(self) -> T {
        T::from_f64(self).with_one_nan()
    }

    #[inline]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline]
    fn magnitude(self) -> Self {
        self.abs()
    }
}

/// Whether elements of a type are computed with in 32 bits: floats of 16 and 32 bits, and integers
/// of 8. Others need 64.
pub(super) fn is_single(data_type: DataType) -> bool {
    match data_type {
        DataType::Float16 | DataType::Float32 => true,
        other => other.item_bytes() == 1,
    }
}
