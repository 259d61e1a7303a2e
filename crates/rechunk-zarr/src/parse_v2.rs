//! Reading `.zarray` and `.zattrs`.

use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, DataType, Endian};
use serde_json::{Map, Value};

use crate::codec_json::parse_v2_codec;
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::{Field, shown};
use crate::fill_value::parse_fill_value;
use crate::json::{read_object, text};
use crate::metadata::{
    ArrayMetadata, CHAIN_LENGTH_MAX, KeyEncoding, KeyStyle, Verbatim, ZarrVersion,
};
use crate::record::Record;
use crate::{dimension_names, types_v2, variable};

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
    let mut verbatim = Verbatim::default();
    let (data_type, endian) = parse_dtype(require(&mut map, "dtype")?, &mut verbatim)?;
    let codecs = if data_type.is_variable() {
        verbatim.codecs = Some(variable::take_v2_codecs(&mut map)?);
        Vec::new()
    } else {
        parse_codecs(&mut map, ElementType::new(data_type, endian))?
    };
    let rank = shape.len();
    let axes = parse_order(&require(&mut map, "order")?, rank)?;
    let field = Field::new(KEY, "fill_value");
    // `null` means something here, so it must not count as absent.
    let fill_value = map.get("fill_value").ok_or_else(|| field.invalid("is missing"))?;
    // netCDF-C 4.8.0 writes a list of one.
    let fill_value = match fill_value.as_array().map(Vec::as_slice) {
        Some([single]) if !data_type.is_variable() => single,
        _ => fill_value,
    };
    let fill_value = if data_type.is_variable() {
        verbatim.fill_value = Some(fill_value.clone());
        None
    } else {
        parse_fill_value(&field, fill_value, data_type, ZarrVersion::V2)?
    };
    let separator = parse_separator(&mut map)?;
    let mut attributes = match zattrs {
        Some(document) => read_object(".zattrs", document)?,
        None => Map::new(),
    };
    let dimension_names = dimension_names::of_v2(&map, &mut attributes, rank);
    let metadata = ArrayMetadata {
        spec: ArraySpec { shape, data_type, chunk_shape, edges: None, fill_value, dimension_names },
        version: ZarrVersion::V2,
        order: ElementOrder { axes, endian },
        codecs,
        sharding: None,
        key_encoding: KeyEncoding { style: KeyStyle::V2, separator },
        attributes,
        verbatim,
    };
    metadata.check()?;
    Ok(metadata)
}

fn require(map: &mut Map<String, Value>, name: &str) -> Result<Value, FormatError> {
    Field::take(map, name).ok_or_else(|| Field::new(KEY, name).invalid("is missing"))
}

/// A NumPy type string, `<f4`, or the fields of a record.
fn parse_dtype(value: Value, verbatim: &mut Verbatim) -> Result<(DataType, Endian), FormatError> {
    let field = Field::new(KEY, "dtype");
    let data_type = if value.is_array() {
        Record::parse_v2(&field, &value)?.data_type()
    } else if value == "|O" {
        DataType::Variable
    } else {
        return types_v2::parse(&field, field.text(&value)?);
    };
    verbatim.data_type = Some(value);
    Ok((data_type, Endian::Little))
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
    match text(value) {
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
    match text(value) {
        Some(".") => Ok('.'),
        Some("/") => Ok('/'),
        _ => Err(field.invalid(format!("expected \".\" or \"/\", found {}", shown(value)))),
    }
}

#[cfg(test)]
pub(crate) mod tests;
