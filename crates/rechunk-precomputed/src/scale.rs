//! One scale of a volume: an array.

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use serde_json::{Map, Value};

use crate::names::KEY;

/// A scale as the document has it, and its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Path of its chunks, relative to the volume; empty: they lie in the volume's own directory.
    pub key: String,
    /// All fields, in their order.
    pub(crate) map: Map<String, Value>,
}

impl Scale {
    pub(crate) fn read(at: &Field, value: &Value) -> Result<Self, FormatError> {
        let map = at.object(value)?.clone();
        let at = at.child(KEY);
        let key = at.text(map.get(KEY).ok_or_else(|| at.invalid("is missing"))?)?;
        // `./8_8_8/` is `8_8_8`.
        let names: Vec<&str> =
            key.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        Ok(Self { key: names.join("/"), map })
    }
}

impl Scale {
    /// True for a path of a directory below the volume's.
    pub fn is_below(&self) -> bool {
        !self.key.is_empty() && check_key(&self.key).is_ok()
    }
}

/// Refuses a path of chunks that leads out of the volume.
pub(crate) fn check_key(key: &str) -> Result<(), FormatError> {
    let field = crate::field::field(KEY);
    if key.split('/').any(|name| name == "..") {
        let hint = "copy the chunks into the volume, or give the scale a key below it";
        return Err(
            field.unsupported(format!("the key {key:?}, which leads out of the volume"), hint)
        );
    }
    if key.chars().any(char::is_control) {
        return Err(field.invalid(format!("{key:?} has control characters")));
    }
    Ok(())
}
