//! Types as NumPy spells them: `<f4`. Filters name the types they read and write this way.

use rechunk_format::numpy;
use rechunk_grid::{DataType, Endian, FillValue};

use crate::types_v2;

/// The type of the elements in a buffer, and the order of their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType {
    /// The type.
    pub data_type: DataType,
    /// Little for types of one byte.
    pub endian: Endian,
}

impl ElementType {
    /// Bytes without a meaning.
    pub const BYTE: Self = Self { data_type: DataType::Uint8, endian: Endian::Little };

    /// `data_type` in `endian`; little where there is nothing to order.
    pub fn new(data_type: DataType, endian: Endian) -> Self {
        // The fields of a record may have an order of their own.
        let is_record = matches!(data_type, DataType::Structured { .. });
        let is_plain = data_type.swap_bytes() == 1 && !is_record;
        Self { data_type, endian: if is_plain { Endian::Little } else { endian } }
    }

    /// The type of a NumPy type string; its byte order is `None` where the string leaves it to the
    /// machine (`=f4`, `f4`, `float32`).
    pub(crate) fn parse(text: &str) -> Option<(DataType, Option<Endian>)> {
        if let Some(data_type) = DataType::from_name(text) {
            return Some((data_type, None));
        }
        let (kind, endian) = match text.split_at_checked(1) {
            Some(("<", kind)) => (kind, Some(Endian::Little)),
            Some((">", kind)) => (kind, Some(Endian::Big)),
            Some(("|" | "=", kind)) => (kind, None),
            _ => (text, None),
        };
        let data_type = numpy::parse_kind(kind)?;
        Self::new(data_type, Endian::Little).is_number().then_some((data_type, endian))
    }

    /// Returns this type, little-endian.
    #[must_use]
    pub(crate) fn little_endian(self) -> Self {
        Self::new(self.data_type, Endian::Little)
    }

    /// NumPy's type string.
    pub(crate) fn numpy(self) -> String {
        let name = types_v2::write(self.data_type, self.endian);
        name.unwrap_or_else(|| self.data_type.name())
    }

    /// Bytes of one element.
    pub fn item_bytes(self) -> usize {
        usize::try_from(self.data_type.item_bytes()).unwrap_or(usize::MAX)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self.data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
    }

    pub(crate) fn is_integer(self) -> bool {
        self.is_signed() && !self.is_float()
            || matches!(
                self.data_type,
                DataType::Uint8 | DataType::Uint16 | DataType::Uint32 | DataType::Uint64
            )
    }

    /// True for types that filters can count with: booleans, integers of 8 to 64 bits, floats of 16
    /// to 64.
    pub(crate) fn is_number(self) -> bool {
        self.data_type == DataType::Bool || self.is_integer() || self.is_float()
    }

    /// True for types that `scale_offset` and `cast_value` count with: also integers of 2 and 4
    /// bits, and bfloat16.
    pub(crate) fn is_counted(self) -> bool {
        let is_small = matches!(
            self.data_type,
            DataType::Int2 | DataType::Int4 | DataType::Uint2 | DataType::Uint4
        );
        self.is_integer() || self.is_float() || is_small || self.data_type == DataType::Bfloat16
    }

    /// An element in a chunk as a fill value.
    pub(crate) fn fill_value(self, mut bytes: Vec<u8>) -> FillValue {
        if self.endian == Endian::Big {
            self.data_type.swap(&mut bytes);
        }
        FillValue { bytes }
    }

    /// Signed integers and floats.
    pub(crate) fn is_signed(self) -> bool {
        self.is_float()
            || matches!(
                self.data_type,
                DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let numbers = DataType::ALL
            .into_iter()
            .filter(|&data_type| ElementType::new(data_type, Endian::Little).is_number());
        for data_type in numbers {
            for endian in [Endian::Little, Endian::Big] {
                let element = ElementType::new(data_type, endian);
                let (parsed, order) = ElementType::parse(&element.numpy()).unwrap();
                assert_eq!(ElementType::new(parsed, order.unwrap_or(Endian::Little)), element);
                assert_eq!(element.item_bytes() as u64, data_type.item_bytes());
            }
            assert_eq!(ElementType::parse(&data_type.name()), Some((data_type, None)));
        }
        for text in ["", "<", "<U7", "<M8[ns]", "|V4", "é", "i16", "<c8"] {
            assert_eq!(ElementType::parse(text), None, "{text}");
        }
    }
}
