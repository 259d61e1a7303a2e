//! NIfTI's codes of data types.

use rechunk_format::FormatError;
use rechunk_grid::DataType;

use super::field;

const CODES: [(i64, DataType); 12] = [
    (2, DataType::Uint8),
    (4, DataType::Int16),
    (8, DataType::Int32),
    (16, DataType::Float32),
    (32, DataType::Complex64),
    (64, DataType::Float64),
    (256, DataType::Int8),
    (512, DataType::Uint16),
    (768, DataType::Uint32),
    (1024, DataType::Int64),
    (1280, DataType::Uint64),
    (1792, DataType::Complex128),
];

/// The type of a code.
pub(super) fn parse(code: i64) -> Result<DataType, FormatError> {
    if let Some((_, data_type)) = CODES.iter().find(|(known, _)| *known == code) {
        return Ok(*data_type);
    }
    let name = match code {
        0 => "unknown",
        1 => "BINARY",
        128 => "RGB24",
        1536 => "FLOAT128",
        2048 => "COMPLEX256",
        2304 => "RGBA32",
        _ => return Err(field("datatype").invalid(format!("{code} is no data type"))),
    };
    Err(field("datatype").unsupported(format!("data type {name} ({code})"), ""))
}

/// The code of a type, if NIfTI has it.
pub(super) fn code(data_type: DataType) -> Option<i64> {
    CODES.iter().find(|(_, known)| *known == data_type).map(|(code, _)| *code)
}
