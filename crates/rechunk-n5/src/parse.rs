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
use crate::version::{N5Version, VERSION_KEY};

/// Attribute of datasets whose elements are sets of labels.
pub(crate) const LABEL_MULTISET: &str = "isLabelMultiset";

/// Field of datasets that keep blocks in shards, which no released library writes.
pub(crate) const SHARD_SIZE: &str = "shardSize";

/// Reads the `attributes.json` of a dataset; `None` if it is that of a group.
///
/// As in N5's Java library, a dataset has both `dimensions` and `dataType`. One of them alone is an
/// attribute of a group: `BigDataViewer` keeps a `dataType` in those of its `setupN`.
pub fn parse_dataset(document: &[u8]) -> Result<Option<N5Metadata>, FormatError> {
    let mut map = read_attributes(document)?;
    let version = take_version(&mut map)?;
    if !is_dataset(&map) {
        return Ok(None);
    }
    let mut needed =
        |name: &str| Field::take(&mut map, name).ok_or_else(|| field(name).invalid("is missing"));
    let (dimensions, data_type) = (needed(DIMENSIONS)?, needed(DATA_TYPE)?);
    let block_size = needed(BLOCK_SIZE)?;
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

/// True for attributes that make a place a dataset.
fn is_dataset(attributes: &Map<String, Value>) -> bool {
    let has = |name| attributes.get(name).is_some_and(|value: &Value| !value.is_null());
    has(DIMENSIONS) && has(DATA_TYPE)
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

/// Attributes of a group.
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

/// Names of a group's attributes that would mean something else in N5. They are the version of a
/// container, and the two that would make the group a dataset.
pub fn reserved_names(attributes: &Map<String, Value>) -> Vec<&'static str> {
    let version = attributes.contains_key(VERSION_KEY).then_some(VERSION_KEY);
    let dataset = is_dataset(attributes).then_some([DIMENSIONS, DATA_TYPE]);
    version.into_iter().chain(dataset.into_iter().flatten()).collect()
}

/// The `attributes.json` of a group with these attributes, but for [`reserved_names`]; that of a
/// root says a version.
pub fn group_document(attributes: &Map<String, Value>, version: Option<N5Version>) -> Vec<u8> {
    let mut map = Map::new();
    if let Some(version) = version {
        map.insert(VERSION_KEY.to_owned(), version.to_string().into());
    }
    let reserved = reserved_names(attributes);
    let is_free = |(key, _): &(&String, &Value)| !reserved.contains(&key.as_str());
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
