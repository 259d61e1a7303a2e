//! Formats of the files that programs read and write, and what each can hold.

use rechunk_grid::{DataType, format_shape};
use serde::{Deserialize, Serialize};

use crate::error::CommandError;

/// Format of the files that a program reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// NumPy's file of one array, version 1 or 2, C order.
    #[default]
    Npy,
    /// A stack of grey pages: axes z, y, x. Leading axes of extent 1 are dropped.
    Tiff,
    /// Elements without a header: little-endian, C order.
    Raw,
}

impl FileFormat {
    /// Returns the name that people write: `npy`, `tiff` or `raw`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Tiff => "tiff",
            Self::Raw => "raw",
        }
    }

    /// Refuses a type of elements that the format lacks.
    pub(crate) fn check_type(self, data_type: DataType) -> Result<(), CommandError> {
        let (can, supported) = match self {
            Self::Npy => (
                npy_name(data_type).is_some(),
                "bool, integers of 8 to 64 bits, floats of 16 to 64 and complex numbers",
            ),
            Self::Tiff => {
                (is_tiff_type(data_type), "integers of 8 to 64 bits, float32 and float64")
            }
            Self::Raw => {
                (!data_type.is_variable() && data_type.item_bytes() > 0, "elements of one length")
            }
        };
        if can {
            return Ok(());
        }
        Err(CommandError::DataType { format: self.name(), data_type, supported })
    }

    /// Refuses a shape that the format cannot hold.
    pub(crate) fn check_shape(self, shape: &[u64]) -> Result<(), CommandError> {
        match self {
            Self::Npy | Self::Raw => Ok(()),
            Self::Tiff => pages(shape).map(|_| ()),
        }
    }
}

#[cfg(unix)]
impl FileFormat {
    /// Returns the ending of file names, without the dot.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Tiff => "tif",
            Self::Raw => "raw",
        }
    }
}

/// Returns NumPy's name of a type without its byte order: `u2`.
pub(crate) fn npy_name(data_type: DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Bool => "b1",
        DataType::Int8 => "i1",
        DataType::Int16 => "i2",
        DataType::Int32 => "i4",
        DataType::Int64 => "i8",
        DataType::Uint8 => "u1",
        DataType::Uint16 => "u2",
        DataType::Uint32 => "u4",
        DataType::Uint64 => "u8",
        DataType::Float16 => "f2",
        DataType::Float32 => "f4",
        DataType::Float64 => "f8",
        DataType::Complex64 => "c8",
        DataType::Complex128 => "c16",
        _ => return None,
    })
}

fn is_tiff_type(data_type: DataType) -> bool {
    data_type != DataType::Bool && data_type.integer_range().is_some()
        || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Pages of a TIFF file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pages {
    pub count: u64,
    pub height: u32,
    pub width: u32,
}

/// Returns the pages that hold a box: its last three axes. Axes that it lacks have extent 1.
pub(crate) fn pages(shape: &[u64]) -> Result<Pages, CommandError> {
    let refuse = |reason: &str| CommandError::Shape {
        format: FileFormat::Tiff.name(),
        shape: format_shape(shape),
        reason: reason.to_owned(),
    };
    let (leading, last) = shape.split_at(shape.len().saturating_sub(3));
    if leading.iter().any(|&extent| extent != 1) {
        let reason = "axes before the last three have to have extent 1; use work chunks of 1 there";
        return Err(refuse(reason));
    }
    if last.contains(&0) {
        return Err(refuse("a page has at least one element"));
    }
    let extent = |from_end: usize| last.len().checked_sub(from_end).map_or(1, |at| last[at]);
    let side = |from_end: usize| {
        u32::try_from(extent(from_end)).map_err(|_| refuse("a side of a page has 32 bits"))
    };
    Ok(Pages { count: extent(3), height: side(2)?, width: side(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_the_last_three_axes() {
        let is = |shape: &[u64]| {
            let pages = pages(shape).unwrap();
            (pages.count, pages.height, pages.width)
        };
        assert_eq!(is(&[]), (1, 1, 1));
        assert_eq!(is(&[7]), (1, 1, 7));
        assert_eq!(is(&[5, 7]), (1, 5, 7));
        assert_eq!(is(&[3, 5, 7]), (3, 5, 7));
        assert_eq!(is(&[1, 1, 3, 5, 7]), (3, 5, 7));
        for (shape, why) in [
            (&[2, 3, 5, 7][..], "before the last three"),
            (&[3, 0, 7], "at least one"),
            (&[1 << 32, 7], "32 bits"),
        ] {
            let error = pages(shape).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn types_that_a_format_lacks_are_refused_by_name() {
        for (format, data_type) in [
            (FileFormat::Tiff, DataType::Bool),
            (FileFormat::Tiff, DataType::Float16),
            (FileFormat::Tiff, DataType::Int4),
            (FileFormat::Npy, DataType::Bfloat16),
            (FileFormat::Npy, DataType::Int4),
            (FileFormat::Raw, DataType::Variable),
        ] {
            let error = format.check_type(data_type).unwrap_err().to_string();
            assert!(error.contains(format.name()) && error.contains(&data_type.name()), "{error}");
        }
        assert!(FileFormat::Raw.check_type(DataType::Bfloat16).is_ok());
    }
}
