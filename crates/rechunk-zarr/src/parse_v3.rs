//! Reading `zarr.json`.

use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, DataType, Endian};
use serde_json::{Map, Value};

use crate::codec_json::{parse_v3_codec, parse_v3_extension};
use crate::codec_spec::CodecSpec;
use crate::field::{Field, shown};
use crate::fill_value::parse_fill_value;
use crate::json::read_object;
use crate::metadata::{ArrayMetadata, KeyEncoding, KeyStyle, ZarrVersion};
use crate::parse_v2::separator;
use crate::sharding;

const KEY: &str = "zarr.json";

/// Longest chain of codecs: each has buffers of its own, and all are named in messages.
const CODECS_MAX: usize = 64;

/// What a `zarr.json` describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group of arrays and groups.
    Group,
}

/// Says whether a `zarr.json` is an array's or a group's.
pub fn node_kind(zarr_json: &[u8]) -> Result<NodeKind, FormatError> {
    kind_of(&mut read_object(KEY, zarr_json)?)
}

fn kind_of(map: &mut Map<String, Value>) -> Result<NodeKind, FormatError> {
    Field::new(KEY, "zarr_format").integer(&require(map, "zarr_format")?, 3, 3)?;
    let value = require(map, "node_type")?;
    match value.as_str() {
        Some("array") => Ok(NodeKind::Array),
        Some("group") => Ok(NodeKind::Group),
        _ => {
            let reason = format!("expected \"array\" or \"group\", found {}", shown(&value));
            Err(Field::new(KEY, "node_type").invalid(reason))
        }
    }
}

/// Reads a Zarr v3 array from its `zarr.json`.
pub fn parse_v3(zarr_json: &[u8]) -> Result<ArrayMetadata, FormatError> {
    let mut map = read_object(KEY, zarr_json)?;
    if kind_of(&mut map)? == NodeKind::Group {
        return Err(Field::new(KEY, "node_type").invalid("this is a group, not an array"));
    }
    let shape = Field::new(KEY, "shape").shape(&require(&mut map, "shape")?)?;
    let rank = shape.len();
    let data_type = parse_data_type(&require(&mut map, "data_type")?)?;
    let chunk_shape = parse_chunk_grid(&require(&mut map, "chunk_grid")?)?;
    let key_encoding = parse_key_encoding(&require(&mut map, "chunk_key_encoding")?)?;
    let fill_value = require(&mut map, "fill_value")?;
    let field = Field::new(KEY, "fill_value");
    let fill_value = parse_fill_value(&field, &fill_value, data_type, ZarrVersion::V3)?;
    let codecs = require(&mut map, "codecs")?;
    let sharding = sharding::parse_alone(&Field::new(KEY, "codecs"), &codecs, &chunk_shape)?;
    let (chunk_shape, codecs, sharding) = match sharding {
        Some(found) => (found.chunk_shape, found.codecs, Some(found.format)),
        None => (chunk_shape, codecs, None),
    };
    let (order, codecs) = parse_codecs(&codecs, rank, data_type)?;
    let attributes = match Field::take(&mut map, "attributes") {
        Some(Value::Object(attributes)) => attributes,
        Some(other) => Field::new(KEY, "attributes").object(&other)?.clone(),
        None => Map::new(),
    };
    let dimension_names = parse_dimension_names(&mut map)?;
    refuse_transformers(&mut map)?;
    refuse_unknown(&map)?;
    let metadata = ArrayMetadata {
        spec: ArraySpec { shape, data_type, chunk_shape, fill_value, dimension_names },
        version: ZarrVersion::V3,
        order,
        codecs,
        sharding,
        key_encoding,
        attributes,
    };
    metadata.check()?;
    Ok(metadata)
}

fn require(map: &mut Map<String, Value>, name: &str) -> Result<Value, FormatError> {
    Field::take(map, name).ok_or_else(|| Field::new(KEY, name).invalid("is missing"))
}

fn parse_data_type(value: &Value) -> Result<DataType, FormatError> {
    let field = Field::new(KEY, "data_type");
    let (name, configuration) = parse_v3_extension(&field, value)?;
    DataType::from_name(name)
        .filter(|_| configuration.is_empty())
        .ok_or_else(|| field.unsupported(format!("data type {name:?}"), ""))
}

fn parse_chunk_grid(value: &Value) -> Result<Vec<u64>, FormatError> {
    let field = Field::new(KEY, "chunk_grid");
    let (name, configuration) = parse_v3_extension(&field, value)?;
    if name != "regular" {
        return Err(field.unsupported(format!("chunk grid {name:?}"), ""));
    }
    let field = ZarrVersion::V3.chunk_field();
    let shape = configuration.get("chunk_shape").ok_or_else(|| field.invalid("is missing"))?;
    field.shape(shape)
}

fn parse_key_encoding(value: &Value) -> Result<KeyEncoding, FormatError> {
    let field = Field::new(KEY, "chunk_key_encoding");
    let (name, configuration) = parse_v3_extension(&field, value)?;
    let (style, default) = match name {
        "default" => (KeyStyle::Default, '/'),
        "v2" => (KeyStyle::V2, '.'),
        other => return Err(field.unsupported(format!("chunk key encoding {other:?}"), "")),
    };
    let separator = match configuration.get("separator") {
        None => default,
        Some(value) => separator(&field.child("configuration.separator"), value)?,
    };
    Ok(KeyEncoding { style, separator })
}

/// `transpose` any number of times, then `bytes`, then bytes→bytes codecs.
fn parse_codecs(
    value: &Value,
    rank: usize,
    data_type: DataType,
) -> Result<(ElementOrder, Vec<CodecSpec>), FormatError> {
    let list_field = Field::new(KEY, "codecs");
    let count = list_field.list(value)?.len();
    if count > CODECS_MAX {
        return Err(list_field.unsupported(format!("a chain of {count} codecs"), ""));
    }
    let mut axes: Vec<usize> = (0..rank).collect();
    let mut endian = None;
    let mut codecs = Vec::new();
    for (position, item) in list_field.list(value)?.iter().enumerate() {
        let field = Field::new(KEY, &format!("codecs[{position}]"));
        let (name, configuration) = parse_v3_extension(&field, item)?;
        let settings = field.child("configuration");
        match (name, endian) {
            ("transpose", None) => axes = transpose(&settings, &configuration, &axes)?,
            // `endian` is what a draft of the specification called `bytes`.
            ("bytes" | "endian", None) => {
                endian = Some(parse_endian(&settings, &configuration, data_type)?);
            }
            ("transpose" | "bytes" | "endian", Some(_)) => {
                return Err(field.invalid(format!("codec {name:?} must come before it is bytes")));
            }
            ("crc32c" | "blosc" | "zstd" | "gzip", None) => {
                return Err(field.invalid(format!("codec {name:?} without \"bytes\" before it")));
            }
            _ => codecs.push(parse_v3_codec(&field, name, &configuration)?),
        }
    }
    let endian = endian.ok_or_else(|| list_field.invalid("there is no codec \"bytes\""))?;
    Ok((ElementOrder { axes, endian }, codecs))
}

/// The axes after one more transposition.
fn transpose(
    field: &Field,
    configuration: &Map<String, Value>,
    axes: &[usize],
) -> Result<Vec<usize>, FormatError> {
    let field = field.child("order");
    let value = configuration.get("order").ok_or_else(|| field.invalid("is missing"))?;
    let order = field.shape(value)?;
    let moved: Option<Vec<usize>> = order
        .iter()
        .map(|&axis| usize::try_from(axis).ok().and_then(|axis| axes.get(axis).copied()))
        .collect();
    let is_permutation = |moved: &Vec<usize>| {
        let mut sorted = moved.clone();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..axes.len())
    };
    moved.filter(is_permutation).ok_or_else(|| {
        field.invalid(format!("{} does not order {} axes", shown(value), axes.len()))
    })
}

fn parse_endian(
    field: &Field,
    configuration: &Map<String, Value>,
    data_type: DataType,
) -> Result<Endian, FormatError> {
    let field = field.child("endian");
    let is_byte = data_type.item_bytes() == 1;
    match configuration.get("endian").filter(|value| !value.is_null()) {
        None if is_byte => Ok(Endian::Little),
        None => Err(field.invalid(format!("is missing, and {} needs it", data_type.name()))),
        Some(value) => match value.as_str() {
            Some("little") => Ok(Endian::Little),
            Some("big") if is_byte => Ok(Endian::Little),
            Some("big") => Ok(Endian::Big),
            _ => {
                let reason = format!("expected \"little\" or \"big\", found {}", shown(value));
                Err(field.invalid(reason))
            }
        },
    }
}

fn parse_dimension_names(
    map: &mut Map<String, Value>,
) -> Result<Option<Vec<Option<String>>>, FormatError> {
    let Some(value) = Field::take(map, "dimension_names") else {
        return Ok(None);
    };
    let field = Field::new(KEY, "dimension_names");
    let name = |item: &Value| match item {
        Value::Null => Ok(None),
        other => field.text(other).map(|name| Some(name.to_owned())),
    };
    field.list(&value)?.iter().map(name).collect::<Result<_, _>>().map(Some)
}

fn refuse_transformers(map: &mut Map<String, Value>) -> Result<(), FormatError> {
    let Some(value) = Field::take(map, "storage_transformers") else {
        return Ok(());
    };
    let field = Field::new(KEY, "storage_transformers");
    match field.list(&value)?.first() {
        None => Ok(()),
        Some(transformer) => {
            let name = transformer.get("name").map_or_else(|| shown(transformer), shown);
            Err(field.unsupported(format!("storage transformer {name}"), ""))
        }
    }
}

/// What is left must be understood, unless it says that it need not be.
fn refuse_unknown(map: &Map<String, Value>) -> Result<(), FormatError> {
    let may_ignore = |value: &Value| value.get("must_understand") == Some(&Value::Bool(false));
    match map.iter().find(|(_, value)| !may_ignore(value)) {
        None => Ok(()),
        Some((name, _)) => {
            let hint = "the specification asks to refuse a field that is not understood";
            Err(Field::new(KEY, name).unsupported("this field", hint))
        }
    }
}

#[cfg(test)]
mod tests;
