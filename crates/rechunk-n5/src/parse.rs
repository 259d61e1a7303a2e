//! Reading the documents of datasets and groups.

use rechunk_format::FormatError;
use rechunk_format::field::Field;
use rechunk_format::json::{plain, write_pretty};
use serde_json::{Map, Value};

use crate::attributes::read_attributes;
use crate::compression::Compression;
use crate::data_type::N5Type;
use crate::metadata::{
    BLOCK_SIZE, COMPRESSION, COMPRESSION_TYPE, DATA_TYPE, DIMENSIONS, N5Metadata, field,
};
use crate::target::RESERVED;
use crate::version::{N5Version, VERSION_KEY};

/// Attribute of datasets whose elements are sets of labels.
const LABEL_MULTISET: &str = "isLabelMultiset";

/// Field of datasets that keep blocks in shards, which no released library writes.
const SHARD_SIZE: &str = "shardSize";

/// Reads the `attributes.json` of a dataset; `None` if it is that of a group.
pub fn parse_dataset(document: &[u8]) -> Result<Option<N5Metadata>, FormatError> {
    let mut map = read_attributes(document)?;
    let version = take_version(&mut map)?;
    let Some(dimensions) = Field::take(&mut map, DIMENSIONS) else { return Ok(None) };
    let mut needed =
        |name: &str| Field::take(&mut map, name).ok_or_else(|| field(name).invalid("is missing"));
    let (block_size, data_type) = (needed(BLOCK_SIZE)?, needed(DATA_TYPE)?);
    let (compression, old) =
        (Field::take(&mut map, COMPRESSION), Field::take(&mut map, COMPRESSION_TYPE));
    if map.get(SHARD_SIZE).is_some_and(|value| !value.is_null()) {
        return Err(field(SHARD_SIZE).unsupported("a shard in N5", ""));
    }
    let is_multiset = map.get(LABEL_MULTISET) == Some(&Value::Bool(true));
    let metadata = N5Metadata {
        dimensions: field(DIMENSIONS).shape(&dimensions)?,
        block_size: field(BLOCK_SIZE).shape(&block_size)?,
        data_type: parse_type(&data_type, is_multiset)?,
        compression: parse_compression(compression.as_ref(), old.as_ref())?,
        version,
        attributes: map,
    };
    metadata.check()?;
    Ok(Some(metadata))
}

fn parse_type(value: &Value, is_multiset: bool) -> Result<N5Type, FormatError> {
    let field = field(DATA_TYPE);
    let name = field.text(value)?;
    let data_type = N5Type::from_name(name)
        .ok_or_else(|| field.unsupported(format!("data type {name:?}"), ""))?;
    let is_byte = data_type.name() == N5Type::LabelMultiset.name();
    Ok(if is_multiset && is_byte { N5Type::LabelMultiset } else { data_type })
}

/// The compression, which version 1 said by its name alone.
fn parse_compression(
    value: Option<&Value>,
    old: Option<&Value>,
) -> Result<Compression, FormatError> {
    let old_field = field(COMPRESSION_TYPE);
    let old_name = old.map(|value| old_field.text(value)).transpose()?;
    let Some(value) = value else {
        let name = old_name.ok_or_else(|| field(COMPRESSION).invalid("is missing"))?;
        return Compression::with_defaults(name)
            .ok_or_else(|| old_field.unsupported(format!("compression {name:?}"), ""));
    };
    let compression = Compression::parse(&field(COMPRESSION), value)?;
    match old_name {
        Some(name) if name != compression.name() => {
            let reason =
                format!("says {name:?}, but \"compression\" says {:?}", compression.name());
            Err(old_field.invalid(reason))
        }
        _ => Ok(compression),
    }
}

/// What a group says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct N5Group {
    /// The version, which the root of a container says.
    pub version: Option<N5Version>,
    /// The other attributes, in their order.
    pub attributes: Map<String, Value>,
}

impl N5Group {
    /// The attributes as plain JSON: bare tokens such as `NaN` become strings.
    pub fn plain_attributes(&self) -> Value {
        plain(&Value::Object(self.attributes.clone()))
    }
}

/// Reads the `attributes.json` of a group, or what a dataset says as a group.
pub fn parse_group(document: &[u8]) -> Result<N5Group, FormatError> {
    let mut attributes = read_attributes(document)?;
    Ok(N5Group { version: take_version(&mut attributes)?, attributes })
}

/// Attributes of a group that N5 has no place for: their names are those of a dataset's fields.
pub fn reserved_names(attributes: &Map<String, Value>) -> Vec<&String> {
    attributes.keys().filter(|key| RESERVED.contains(&key.as_str())).collect()
}

/// The `attributes.json` of a group with these attributes, but for [`reserved_names`]; that of a
/// root says a version.
pub fn group_document(attributes: &Map<String, Value>, version: Option<N5Version>) -> Vec<u8> {
    let mut map = Map::new();
    if let Some(version) = version {
        map.insert(VERSION_KEY.to_owned(), version.to_string().into());
    }
    // Any of these would make it a dataset.
    let is_free = |(key, _): &(&String, &Value)| !RESERVED.contains(&key.as_str());
    for (key, value) in attributes.iter().filter(is_free) {
        map.insert(key.clone(), value.clone());
    }
    write_pretty(&Value::Object(map))
}

fn take_version(map: &mut Map<String, Value>) -> Result<Option<N5Version>, FormatError> {
    Field::take(map, VERSION_KEY).as_ref().map(N5Version::parse).transpose()
}

#[cfg(test)]
mod tests;
