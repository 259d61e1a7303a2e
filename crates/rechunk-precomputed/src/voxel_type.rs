use rechunk_format::FormatError;
use rechunk_grid::DataType;

use crate::field::field;
use crate::names::DATA_TYPE;

/// The types that a volume can have.
const TYPES: [DataType; 8] = [
    DataType::Uint8,
    DataType::Uint16,
    DataType::Uint32,
    DataType::Uint64,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Float32,
];

/// Reads the name of a type, in whatever case.
pub(crate) fn parse(name: &str) -> Result<DataType, FormatError> {
    let found = DataType::from_name(&name.to_ascii_lowercase()).map(check);
    found.unwrap_or_else(|| Err(field(DATA_TYPE).unsupported(format!("data type {name:?}"), "")))
}

/// Refuses a type that no volume has.
pub(crate) fn check(data_type: DataType) -> Result<DataType, FormatError> {
    if TYPES.contains(&data_type) {
        return Ok(data_type);
    }
    let hint = "volumes have unsigned integers of 8 to 64 bits, signed ones of 8 to 32, and float32: cast the elements, or take another format";
    Err(field(DATA_TYPE).unsupported(format!("data type {:?}", data_type.name()), hint))
}
