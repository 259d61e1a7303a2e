//! Buffers of one type into buffers of another.

use std::fmt;

use half::{bf16, f16};
use rechunk_grid::{DataType, Endian};

use super::number::{Number, Wide};

/// Converts elements from the `from`-th on, until one does not fit: its position.
type Run = fn(&[u8], bool, &mut [u8], usize) -> Option<usize>;
/// Writes one value, little-endian; `None` if the type does not hold it.
type Write = fn(Wide, &mut [u8]) -> Option<()>;

/// Converter of elements of one type into another.
#[derive(Clone, Copy)]
pub struct Convert {
    run: Run,
    read: fn(&[u8], bool) -> Wide,
    write: Write,
}

impl fmt::Debug for Convert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Convert")
    }
}

impl Convert {
    /// Casts the elements of `source`, in `endian`, from position `from` on, into as many of
    /// `target`, little-endian. The position of the first that does not fit, if one does not; those
    /// behind it are not touched.
    pub fn run(
        &self,
        source: &[u8],
        endian: Endian,
        target: &mut [u8],
        from: usize,
    ) -> Option<usize> {
        (self.run)(source, endian == Endian::Big, target, from)
    }

    /// The value of one element.
    pub(super) fn read(&self, element: &[u8], endian: Endian) -> Wide {
        (self.read)(element, endian == Endian::Big)
    }

    /// Writes one value of the type that is cast to, little-endian; `None` if it does not hold it.
    pub(super) fn write(&self, value: Wide, element: &mut [u8]) -> Option<()> {
        (self.write)(value, element)
    }

    /// The value of one element, for people.
    pub fn shown(&self, element: &[u8], endian: Endian) -> String {
        match (self.read)(element, endian == Endian::Big) {
            Wide::Signed(value) => value.to_string(),
            Wide::Unsigned(value) => value.to_string(),
            Wide::Float(value) if value.abs() >= 1e16 || (value != 0.0 && value.abs() < 1e-4) => {
                format!("{value:e}")
            }
            Wide::Float(value) => value.to_string(),
        }
    }
}

/// Returns the converter of `from` into `to`; `None` if one of them is not [`super::is_number`].
pub fn converter(from: DataType, to: DataType) -> Option<Convert> {
    match from {
        DataType::Bool => from_type::<bool>(to),
        DataType::Int8 => from_type::<i8>(to),
        DataType::Int16 => from_type::<i16>(to),
        DataType::Int32 => from_type::<i32>(to),
        DataType::Int64 => from_type::<i64>(to),
        DataType::Uint8 => from_type::<u8>(to),
        DataType::Uint16 => from_type::<u16>(to),
        DataType::Uint32 => from_type::<u32>(to),
        DataType::Uint64 => from_type::<u64>(to),
        DataType::Float16 => from_type::<f16>(to),
        DataType::Bfloat16 => from_type::<bf16>(to),
        DataType::Float32 => from_type::<f32>(to),
        DataType::Float64 => from_type::<f64>(to),
        _ => None,
    }
}

fn from_type<S: Number>(to: DataType) -> Option<Convert> {
    let (run, write): (Run, Write) = match to {
        DataType::Bool => (run::<S, bool>, bool::write),
        DataType::Int8 => (run::<S, i8>, i8::write),
        DataType::Int16 => (run::<S, i16>, i16::write),
        DataType::Int32 => (run::<S, i32>, i32::write),
        DataType::Int64 => (run::<S, i64>, i64::write),
        DataType::Uint8 => (run::<S, u8>, u8::write),
        DataType::Uint16 => (run::<S, u16>, u16::write),
        DataType::Uint32 => (run::<S, u32>, u32::write),
        DataType::Uint64 => (run::<S, u64>, u64::write),
        DataType::Float16 => (run::<S, f16>, f16::write),
        DataType::Bfloat16 => (run::<S, bf16>, bf16::write),
        DataType::Float32 => (run::<S, f32>, f32::write),
        DataType::Float64 => (run::<S, f64>, f64::write),
        _ => return None,
    };
    Some(Convert { run, read: S::read, write })
}

fn run<S: Number, T: Number>(
    source: &[u8],
    is_big: bool,
    target: &mut [u8],
    from: usize,
) -> Option<usize> {
    let elements = source.chunks_exact(S::BYTES).zip(target.chunks_exact_mut(T::BYTES));
    for (at, (stored, cast)) in elements.enumerate().skip(from) {
        if T::write(S::read(stored, is_big), cast).is_none() {
            return Some(at);
        }
    }
    None
}
