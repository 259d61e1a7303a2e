//! Reading the documents of groups.

use rechunk_format::FormatError;
use serde_json::{Value, json};

use crate::field::Field;
use crate::json::{plain, read_object};
use crate::metadata::ZarrVersion;

/// The attributes of a group as plain JSON, from its `.zattrs` or its `zarr.json`: bare tokens such
/// as `NaN` become strings.
pub fn group_attributes(version: ZarrVersion, document: &[u8]) -> Result<Value, FormatError> {
    let key = match version {
        ZarrVersion::V2 => ".zattrs",
        ZarrVersion::V3 => "zarr.json",
    };
    let mut map = read_object(key, document)?;
    match version {
        ZarrVersion::V2 => Ok(plain(&Value::Object(map))),
        ZarrVersion::V3 => match Field::take(&mut map, "attributes") {
            None => Ok(json!({})),
            Some(value) => {
                Field::new(key, "attributes").object(&value)?;
                Ok(plain(&value))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_both_versions() {
        let of = |version, text: &str| group_attributes(version, text.as_bytes());
        let found = of(ZarrVersion::V2, r#"{"a": NaN, "b": [1]}"#).unwrap();
        assert_eq!(found, json!({"a": "NaN", "b": [1]}));
        let group = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}}"#;
        assert_eq!(of(ZarrVersion::V3, group).unwrap(), json!({"a": 1}));
        assert_eq!(of(ZarrVersion::V3, r#"{"attributes": null}"#).unwrap(), json!({}));
        assert!(of(ZarrVersion::V3, r#"{"attributes": 1}"#).is_err());
    }
}
