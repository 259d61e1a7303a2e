//! Runs code for the Rust type of elements that are numbers.

/// Runs an expression with `$T` as the Rust type of numbers of a [`DataType`](crate::DataType), one
/// of [`DataType::NUMBERS`](crate::DataType::NUMBERS); `$Half` is that of 16-bit floats. `bool` is
/// `u8` of 0 and 1. Of other types the last expression is the value.
///
/// ```
/// use rechunk_grid::{DataType, with_number};
///
/// let bytes = |data_type| with_number!(data_type, [u8; 2], T => size_of::<T>(), _other => 0);
/// assert_eq!(bytes(DataType::Uint32), 4);
/// assert_eq!(bytes(DataType::Float16), 2);
/// assert_eq!(bytes(DataType::Complex64), 0);
/// ```
#[macro_export]
macro_rules! with_number {
    ($data_type:expr, $Half:ty, $T:ident => $run:expr, $other:pat => $refused:expr) => {
        match $data_type {
            $crate::DataType::Bool | $crate::DataType::Uint8 => {
                type $T = u8;
                $run
            }
            $crate::DataType::Uint16 => {
                type $T = u16;
                $run
            }
            $crate::DataType::Uint32 => {
                type $T = u32;
                $run
            }
            $crate::DataType::Uint64 => {
                type $T = u64;
                $run
            }
            $crate::DataType::Int8 => {
                type $T = i8;
                $run
            }
            $crate::DataType::Int16 => {
                type $T = i16;
                $run
            }
            $crate::DataType::Int32 => {
                type $T = i32;
                $run
            }
            $crate::DataType::Int64 => {
                type $T = i64;
                $run
            }
            $crate::DataType::Float16 => {
                type $T = $Half;
                $run
            }
            $crate::DataType::Float32 => {
                type $T = f32;
                $run
            }
            $crate::DataType::Float64 => {
                type $T = f64;
                $run
            }
            $other => $refused,
        }
    };
}
