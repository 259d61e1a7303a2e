//! Reading an `attributes.json`.

use rechunk_format::FormatError;
use rechunk_format::json::{DOCUMENT_BYTES_MAX, read_object};
use serde_json::{Map, Value};

use crate::ATTRIBUTES_KEY;
use crate::lenient::to_json;

/// The object in a document: JSON, or what N5's Java library takes for it. Bare tokens such as
/// `NaN` are kept as [`rechunk_format::json`] keeps them.
pub(crate) fn read_attributes(document: &[u8]) -> Result<Map<String, Value>, FormatError> {
    let strict = read_object(ATTRIBUTES_KEY, document);
    let text = match (&strict, std::str::from_utf8(document)) {
        (Err(_), Ok(text)) if document.len() <= DOCUMENT_BYTES_MAX => text,
        _ => return strict,
    };
    // What is wrong in both readings is told of the lenient one: it has passed what Java allows.
    let json = to_json(text).map_err(|reason| FormatError::Metadata {
        key: ATTRIBUTES_KEY.to_owned(),
        reason: format!("not valid JSON: {reason}"),
    })?;
    read_object(ATTRIBUTES_KEY, json.as_bytes())
}
