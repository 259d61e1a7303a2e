//! Buffers of one type into buffers of another.

use std::fmt;

use half::{bf16, f16};
use rechunk_grid::{DataType, Endian};

use super::number::{Number, Wide};

/// Converts elements from the `from`-th on, until one does not fit: its position.
type Run = fn(&[u8], bool, &mut [u8], usize) -> Option<usize>;

/// What casts elements of one type into another.
#[derive(Clone, Copy)]
pub struct Convert {
    run: Run,
    read: fn(&[u8], bool) -> Wide,
}

impl fmt::Debug for Convert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Convert")
    }
}

impl Convert {
    /// Casts the elements of `source`, in `endian`, from position `from` on, into as many of `target`,
    /// little-endian. The position of the first that does not fit, if one does not; those behind it
    /// are not touched.
    pub fn run(
        &self,
        source: &[u8],
        endian: Endian,
        target: &mut [u8],
        from: usize,
    ) -> Option<usize> {
        (self.run)(source, endian == Endian::Big, target, from)
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

/// What casts `from` into `to`; `None` if one of them is not [`super::is_number`].
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
    let run: Run = match to {
        DataType::Bool => run::<S, bool>,
        DataType::Int8 => run::<S, i8>,
        DataType::Int16 => run::<S, i16>,
        DataType::Int32 => run::<S, i32>,
        DataType::Int64 => run::<S, i64>,
        DataType::Uint8 => run::<S, u8>,
        DataType::Uint16 => run::<S, u16>,
        DataType::Uint32 => run::<S, u32>,
        DataType::Uint64 => run::<S, u64>,
        DataType::Float16 => run::<S, f16>,
        DataType::Bfloat16 => run::<S, bf16>,
        DataType::Float32 => run::<S, f32>,
        DataType::Float64 => run::<S, f64>,
        _ => return None,
    };
    Some(Convert { run, read: S::read })
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
