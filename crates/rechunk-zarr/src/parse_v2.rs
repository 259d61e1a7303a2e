//! Reading `.zarray` and `.zattrs`.

use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, Endian};
use serde_json::{Map, Value};

use crate::codec_json::parse_v2_codec;
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::{Field, shown};
use crate::fill_value::parse_fill_value;
use crate::json::read_object;
use crate::metadata::{
    ArrayMetadata, CHAIN_LENGTH_MAX, KeyEncoding, KeyStyle, V2_DIMENSIONS, ZarrVersion,
};

const KEY: &str = ".zarray";

/// Reads a Zarr v2 array from its `.zarray` and, where there is one, its `.zattrs`.
///
/// Unknown keys are ignored, as the specification asks.
pub fn parse_v2(zarray: &[u8], zattrs: Option<&[u8]>) -> Result<ArrayMetadata, FormatError> {
    let mut map = read_object(KEY, zarray)?;
    let field = Field::new(KEY, "zarr_format");
    field.integer(&require(&mut map, "zarr_format")?, 2, 2)?;
    let shape = Field::new(KEY, "shape").shape(&require(&mut map, "shape")?)?;
    let chunk_shape = Field::new(KEY, "chunks").shape(&require(&mut map, "chunks")?)?;
    let element = parse_dtype(&require(&mut map, "dtype")?)?;
    let ElementType { data_type, endian } = element;
    let codecs = parse_codecs(&mut map, element)?;
    let rank = shape.len();
    let axes = parse_order(&require(&mut map, "order")?, rank)?;
    let field = Field::new(KEY, "fill_value");
    // `null` means something here, so it must not count as absent.
    let fill_value = map.get("fill_value").ok_or_else(|| field.invalid("is missing"))?;
    let fill_value = parse_fill_value(&field, fill_value, data_type, ZarrVersion::V2)?;
    let separator = parse_separator(&mut map)?;
    let mut attributes = match zattrs {
        Some(document) => read_object(".zattrs", document)?,
        None => Map::new(),
    };
    let dimension_names = take_dimension_names(&mut attributes, rank);
    let metadata = ArrayMetadata {
        spec: ArraySpec { shape, data_type, chunk_shape, fill_value, dimension_names },
        version: ZarrVersion::V2,
        order: ElementOrder { axes, endian },
        codecs,
        sharding: None,
        key_encoding: KeyEncoding { style: KeyStyle::V2, separator },
        attributes,
    };
    metadata.check()?;
    Ok(metadata)
}

fn require(map: &mut Map<String, Value>, name: &str) -> Result<Value, FormatError> {
    Field::take(map, name).ok_or_else(|| Field::new(KEY, name).invalid("is missing"))
}

/// A NumPy type string, `<f4`.
fn parse_dtype(value: &Value) -> Result<ElementType, FormatError> {
    let field = Field::new(KEY, "dtype");
    let unsupported = || field.unsupported(format!("data type {}", shown(value)), "");
    if value.is_array() {
        return Err(field.unsupported(format!("structured data type {}", shown(value)), ""));
    }
    let text = field.text(value)?;
    let has_order = text.starts_with(['<', '>', '|']);
    let parsed = ElementType::parse(text).filter(|_| has_order).ok_or_else(unsupported)?;
    let (data_type, endian) = parsed;
    if endian.is_none() && data_type.item_bytes() > 1 {
        return Err(field.invalid(format!("{text:?} does not say its byte order (< or >)")));
    }
    Ok(ElementType::new(data_type, endian.unwrap_or(Endian::Little)))
}

/// The filters, in their order, and the compressor.
fn parse_codecs(
    map: &mut Map<String, Value>,
    mut element: ElementType,
) -> Result<Vec<CodecSpec>, FormatError> {
    let mut codecs = Vec::new();
    let mut add = |field: &Field, value: &Value| {
        let codec = parse_v2_codec(field, value, element)?;
        element = codec.output(element);
        codecs.push(codec);
        Ok::<_, FormatError>(())
    };
    if let Some(value) = Field::take(map, "filters") {
        let filters = Field::new(KEY, "filters");
        let list = filters.list(&value)?;
        if list.len() > CHAIN_LENGTH_MAX {
            return Err(filters.unsupported(format!("a chain of {} filters", list.len()), ""));
        }
        for (position, filter) in list.iter().enumerate() {
            add(&Field::new(KEY, &format!("filters[{position}]")), filter)?;
        }
    }
    if let Some(value) = Field::take(map, "compressor") {
        add(&Field::new(KEY, "compressor"), &value)?;
    }
    Ok(codecs)
}

/// The axes, slowest in storage first.
fn parse_order(value: &Value, rank: usize) -> Result<Vec<usize>, FormatError> {
    match value.as_str() {
        Some("C") => Ok((0..rank).collect()),
        Some("F") => Ok((0..rank).rev().collect()),
        _ => {
            let reason = format!("expected \"C\" or \"F\", found {}", shown(value));
            Err(Field::new(KEY, "order").invalid(reason))
        }
    }
}

fn parse_separator(map: &mut Map<String, Value>) -> Result<char, FormatError> {
    let field = Field::new(KEY, "dimension_separator");
    match Field::take(map, "dimension_separator") {
        None => Ok('.'),
        Some(value) => separator(&field, &value),
    }
}

/// A separator of chunk keys.
pub(crate) fn separator(field: &Field, value: &Value) -> Result<char, FormatError> {
    match value.as_str() {
        Some(".") => Ok('.'),
        Some("/") => Ok('/'),
        _ => Err(field.invalid(format!("expected \".\" or \"/\", found {}", shown(value)))),
    }
}

/// The names xarray keeps among the attributes. What does not fit the array stays an attribute.
fn take_dimension_names(
    attributes: &mut Map<String, Value>,
    rank: usize,
) -> Option<Vec<Option<String>>> {
    let list = attributes.get(V2_DIMENSIONS)?.as_array()?;
    let names: Option<Vec<_>> =
        list.iter().map(|name| name.as_str().map(|name| Some(name.to_owned()))).collect();
    let names = names.filter(|names| names.len() == rank)?;
    attributes.shift_remove(V2_DIMENSIONS);
    Some(names)
}

#[cfg(test)]
pub(crate) mod tests;
