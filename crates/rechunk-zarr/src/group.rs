//! Reading the documents of groups.

use rechunk_format::FormatError;
use serde_json::{Map, Value};

use crate::field::Field;
use crate::json::{plain, read_object};
use crate::metadata::ZarrVersion;
use crate::parse_v3::refuse_unknown;

/// Fields of a group's `zarr.json` that are no extensions. Consolidated metadata is made anew by
/// whoever writes a group.
const KNOWN_FIELDS: [&str; 3] = ["zarr_format", "node_type", "consolidated_metadata"];

/// Contents of the document of a group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupMetadata {
    /// The user's attributes, in their order; bare tokens such as `NaN` are kept as strings that
    /// only this crate's writer knows.
    pub attributes: Map<String, Value>,
    /// Fields of its `zarr.json` that need not be understood.
    pub extensions: Map<String, Value>,
}

impl GroupMetadata {
    /// A group with these attributes.
    pub fn with_attributes(attributes: Map<String, Value>) -> Self {
        Self { attributes, extensions: Map::new() }
    }

    /// Reads the `.zattrs` or the `zarr.json` of a group. Fields that are not known have to say
    /// that they need not be understood.
    pub fn parse(version: ZarrVersion, document: &[u8]) -> Result<Self, FormatError> {
        let key = match version {
            ZarrVersion::V2 => ".zattrs",
            ZarrVersion::V3 => "zarr.json",
        };
        let mut map = read_object(key, document)?;
        if version == ZarrVersion::V2 {
            return Ok(Self::with_attributes(map));
        }
        let attributes = match Field::take(&mut map, "attributes") {
            None => Map::new(),
            Some(value) => Field::new(key, "attributes").object(&value)?.clone(),
        };
        map.retain(|name, _| !KNOWN_FIELDS.contains(&name.as_str()));
        refuse_unknown(&map)?;
        Ok(Self { attributes, extensions: map })
    }
}

/// An error if `document`, the `.zgroup` of a directory, makes it no group.
pub fn check_zgroup(document: &[u8]) -> Result<(), FormatError> {
    let mut map = read_object(".zgroup", document)?;
    let field = Field::new(".zgroup", "zarr_format");
    let version = Field::take(&mut map, "zarr_format");
    field.integer(&version.ok_or_else(|| field.invalid("is missing"))?, 2, 2)?;
    Ok(())
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
    fn attributes_are_exact_and_extensions_stay() {
        let text = r#"{"zarr_format": 3, "node_type": "group", "storage": {"must_understand": false, "a": [1]},
            "consolidated_metadata": null, "attributes": {"a": NaN, "b": 1.0}}"#;
        let group = GroupMetadata::parse(ZarrVersion::V3, text.as_bytes()).unwrap();
        assert!(group.extensions.contains_key("storage"));
        for (version, key) in [(ZarrVersion::V2, ".zattrs"), (ZarrVersion::V3, "zarr.json")] {
            let written = crate::group_documents_of(version, &group);
            let (_, bytes) = written.iter().find(|(name, _)| name == key).unwrap();
            assert!(String::from_utf8_lossy(bytes).contains(r#""a": NaN"#));
            let again = GroupMetadata::parse(version, bytes).unwrap();
            assert_eq!(again.attributes, group.attributes);
            assert!(version == ZarrVersion::V2 || again == group);
        }
    }

    #[test]
    fn what_must_be_understood_is_refused() {
        for field in [r#"{"must_understand": true}"#, r#"{"name": "a"}"#, "1", "[]"] {
            let text = format!(r#"{{"zarr_format": 3, "node_type": "group", "storage": {field}}}"#);
            let error = GroupMetadata::parse(ZarrVersion::V3, text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains("storage"), "{error}");
        }
    }

    #[test]
    fn a_zgroup_says_its_version() {
        check_zgroup(br#"{"zarr_format": 2}"#).unwrap();
        for text in ["", "2", "[2]", "{}", r#"{"zarr_format": 3}"#, r#"{"zarr_format": "2"}"#] {
            let error = check_zgroup(text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(".zgroup"), "{error}");
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
