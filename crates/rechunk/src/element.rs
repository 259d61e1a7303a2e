//! Types of this language that stand for types of elements.

use rechunk_grid::{DataType, Endian};

/// Returns NumPy's type string of elements in native byte order, as its array interface has it;
/// `None` if NumPy has no such type.
///
/// ```
/// use rechunk::{DataType, numpy_type};
///
/// assert_eq!(numpy_type(DataType::Uint8).as_deref(), Some("|u1"));
/// assert_eq!(numpy_type(DataType::Bfloat16), None);
/// ```
pub fn numpy_type(data_type: DataType) -> Option<String> {
    rechunk_format::numpy::write(data_type, Endian::NATIVE)
}

/// A type that elements are read and written as: numbers of the same size and meaning.
///
/// `bool`, and integers of 2 and 4 bits, are bytes (`u8`, `i8`); times are their counts (`i64`);
/// complex numbers are pairs. Types without a counterpart are read and written as bytes.
pub trait Element: sealed::Plain {
    /// Name for messages.
    const NAME: &'static str;

    /// Whether elements of `data_type` are values of this type.
    fn holds(data_type: DataType) -> bool;
}

mod sealed {
    /// Any bytes are a value, and values are their bytes.
    pub trait Plain: bytemuck::Pod + Send + Sync {}
}

macro_rules! element {
    ($($rust:ty, $name:literal = $types:pat,)*) => {
        $(
            impl sealed::Plain for $rust {}

            impl Element for $rust {
                const NAME: &'static str = $name;

                fn holds(data_type: DataType) -> bool {
                    matches!(data_type, $types)
                }
            }
        )*
    };
}

element! {
    u8, "u8" = DataType::Uint8 | DataType::Uint4 | DataType::Uint2 | DataType::Bool,
    i8, "i8" = DataType::Int8 | DataType::Int4 | DataType::Int2,
    u16, "u16" = DataType::Uint16,
    i16, "i16" = DataType::Int16,
    u32, "u32" = DataType::Uint32,
    i32, "i32" = DataType::Int32,
    u64, "u64" = DataType::Uint64,
    i64, "i64" = DataType::Int64 | DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. },
    f32, "f32" = DataType::Float32,
    f64, "f64" = DataType::Float64,
    [f32; 2], "[f32; 2]" = DataType::Complex64,
    [f64; 2], "[f64; 2]" = DataType::Complex128,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_holds_elements_of_its_size() {
        fn check<T: Element>() -> usize {
            let held = DataType::ALL.iter().filter(|&&data_type| T::holds(data_type));
            let mut count = 0;
            for data_type in held {
                assert_eq!(data_type.item_bytes(), size_of::<T>() as u64, "{data_type}");
                count += 1;
            }
            count
        }
        let integers = check::<u8>() + check::<i8>() + check::<u16>() + check::<i16>();
        let wide = check::<u32>() + check::<i32>() + check::<u64>() + check::<i64>();
        let floats = check::<f32>() + check::<f64>() + check::<[f32; 2]>() + check::<[f64; 2]>();
        assert_eq!((integers, wide, floats), (9, 4, 4));
    }
}
