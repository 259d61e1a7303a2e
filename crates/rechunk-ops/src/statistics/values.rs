//! Elements in JSON, and what all statistics have in common.

use rechunk_grid::DataType;
use serde_json::Value;

use crate::element::{Element, Key, Wide, for_elements};
use crate::error::OpError;
use crate::view::{BoxView, TaskContext};

/// Refuses parts that do not belong together.
pub(super) fn stranger(operation: &str, reason: impl Into<String>) -> OpError {
    OpError::Partial { operation: operation.to_owned(), reason: reason.into() }
}

/// Refuses parts of elements of two types.
pub(super) fn same_type(operation: &str, a: DataType, b: DataType) -> Result<(), OpError> {
    if a == b {
        return Ok(());
    }
    Err(stranger(operation, format!("one is of {a} elements, another of {b}")))
}

/// Refuses an input and a context that do not fit.
pub(super) fn check_input(
    operation: &str,
    input: &BoxView<'_>,
    context: &TaskContext,
) -> Result<(), OpError> {
    input.check(operation)?;
    context.check(operation, input.shape)
}

/// A float in JSON, which has no infinities: those are strings, as is `"nan"`.
pub(super) fn float(value: f64) -> Value {
    let text = || match value {
        nan if nan.is_nan() => "nan",
        positive if positive > 0.0 => "inf",
        _ => "-inf",
    };
    serde_json::Number::from_f64(value).map_or_else(|| text().into(), Value::Number)
}

/// An integer in JSON; a string beyond 64 bits.
pub(super) fn integer(value: i128) -> Value {
    match (u64::try_from(value), i64::try_from(value)) {
        (Ok(value), _) => value.into(),
        (_, Ok(value)) => value.into(),
        _ => value.to_string().into(),
    }
}

/// The element of an order key, in JSON.
pub(super) fn element(operation: &str, data_type: DataType, key: u64) -> Result<Value, OpError> {
    Ok(for_elements!(operation, data_type, T => {
        match T::from_key(<T as Element>::Key::from_u64(key)).to_wide() {
            Wide::Int(value) if data_type == DataType::Bool => (value != 0).into(),
            Wide::Int(value) => integer(value),
            Wide::Float(value) => float(value),
        }
    }))
}
