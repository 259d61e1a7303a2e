//! Reading the documents of groups.

use rechunk_format::FormatError;
use serde_json::{Map, Value};

use crate::field::Field;
use crate::json::{plain, read_object};
use crate::metadata::ZarrVersion;

/// Fields of a group's `zarr.json` beside its attributes. Consolidated metadata is made anew by
/// whoever writes a group.
const KNOWN_FIELDS: [&str; 3] = ["zarr_format", "node_type", "consolidated_metadata"];

/// What the document of a group says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupMetadata {
    /// The user's attributes, in their order; bare tokens such as `NaN` are kept as strings that
    /// only this crate's writer knows.
    pub attributes: Map<String, Value>,
    /// Fields of its `zarr.json` that are not known here.
    pub other_fields: Vec<String>,
}

impl GroupMetadata {
    /// Reads the `.zattrs` or the `zarr.json` of a group.
    pub fn parse(version: ZarrVersion, document: &[u8]) -> Result<Self, FormatError> {
        let key = match version {
            ZarrVersion::V2 => ".zattrs",
            ZarrVersion::V3 => "zarr.json",
        };
        let mut map = read_object(key, document)?;
        if version == ZarrVersion::V2 {
            return Ok(Self { attributes: map, other_fields: Vec::new() });
        }
        let attributes = match Field::take(&mut map, "attributes") {
            None => Map::new(),
            Some(value) => Field::new(key, "attributes").object(&value)?.clone(),
        };
        let is_other = |name: &&String| !KNOWN_FIELDS.contains(&name.as_str());
        Ok(Self { attributes, other_fields: map.keys().filter(is_other).cloned().collect() })
    }
}

/// The attributes of a group as plain JSON, from its `.zattrs` or its `zarr.json`: bare tokens such
/// as `NaN` become strings.
pub fn group_attributes(version: ZarrVersion, document: &[u8]) -> Result<Value, FormatError> {
    GroupMetadata::parse(version, document).map(|group| plain(&Value::Object(group.attributes)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn attributes_are_exact_and_other_fields_are_named() {
        let text = r#"{"zarr_format": 3, "node_type": "group", "storage": [1],
            "consolidated_metadata": null, "attributes": {"a": NaN, "b": 1.0}}"#;
        let group = GroupMetadata::parse(ZarrVersion::V3, text.as_bytes()).unwrap();
        assert_eq!(group.other_fields, ["storage"]);
        for (version, key) in [(ZarrVersion::V2, ".zattrs"), (ZarrVersion::V3, "zarr.json")] {
            let written = crate::group_documents_of(version, &group.attributes);
            let (_, bytes) = written.iter().find(|(name, _)| name == key).unwrap();
            assert!(String::from_utf8_lossy(bytes).contains(r#""a": NaN"#));
            let again = GroupMetadata::parse(version, bytes).unwrap();
            assert_eq!(again.attributes, group.attributes);
        }
    }

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
