//! Members of a v3 document that nobody here knows.
//!
//! The specification asks to refuse them, because they may change the meaning of what is known,
//! unless they say themselves that they need not be understood.

use rechunk_format::FormatError;
use serde_json::{Map, Value};

use crate::codec_names::SHARDING;
use crate::field::Field;

/// Hint beside a member that is refused.
const HINT: &str = "the specification asks to refuse what is not understood, unless it says \
                    \"must_understand\": false";

/// Members of the object of an extension point.
const OBJECT: [&str; 3] = ["name", "configuration", "must_understand"];

/// True if a value says of itself that it need not be understood.
pub(crate) fn may_ignore(value: &Value) -> bool {
    value.get("must_understand") == Some(&Value::Bool(false))
}

/// Refuses members of an extension that are not `known` in its configuration, or have no place
/// beside it. `value` is the extension as it stands in the document: an object, or a name alone.
pub(crate) fn refuse_unknown_members(
    field: &Field,
    value: &Value,
    configuration: &Map<String, Value>,
    known: &[&str],
) -> Result<(), FormatError> {
    if may_ignore(value) {
        return Ok(());
    }
    if let Some(object) = value.as_object() {
        refuse_others(field, object, &OBJECT)?;
    }
    refuse_others(&field.child("configuration"), configuration, known)
}

fn refuse_others(
    field: &Field,
    map: &Map<String, Value>,
    known: &[&str],
) -> Result<(), FormatError> {
    let is_unknown =
        |(name, value): &(&String, &Value)| !known.contains(&name.as_str()) && !may_ignore(value);
    match map.iter().find(is_unknown) {
        None => Ok(()),
        Some((name, _)) => Err(field.child(name).unsupported("this setting", HINT)),
    }
}

/// [`refuse_unknown_members`] for codec `name` of the core specification. Others read what they
/// know: of numcodecs' no setting that came later changes how a chunk is decoded.
pub(crate) fn refuse_unknown_settings(
    field: &Field,
    value: &Value,
    name: &str,
    configuration: &Map<String, Value>,
) -> Result<(), FormatError> {
    let known: &[&str] = match name {
        "blosc" => &["cname", "clevel", "shuffle", "typesize", "blocksize"],
        "bytes" | "endian" => &["endian"],
        "crc32c" => &[],
        "gzip" => &["level"],
        SHARDING => &["chunk_shape", "codecs", "index_codecs", "index_location"],
        "transpose" => &["order"],
        "zstd" => &["level", "checksum"],
        _ => return Ok(()),
    };
    refuse_unknown_members(field, value, configuration, known)
}

#[cfg(test)]
mod tests;
