//! Reading `zarr.json`.

use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, DataType, Endian, FillValue};
use serde_json::{Map, Value};

use crate::chunk_grid::{parse_chunk_grid, parse_key_encoding};
use crate::codec_json::{parse_v3_codec, parse_v3_extension, refuse_little_endian};
use crate::codec_names::{N5_BLOCK, SHARDING};
use crate::codec_spec::CodecSpec;
use crate::element_order::{parse_endian, parse_transpose};
use crate::element_type::ElementType;
use crate::extension::{may_ignore, refuse_unknown_members, refuse_unknown_settings};
use crate::field::{Field, shown};
use crate::fill_value::parse_fill_value;
use crate::json::{read_object, text};
use crate::metadata::{ArrayMetadata, CHAIN_LENGTH_MAX, Verbatim, ZarrVersion};
use crate::n5_block::N5BlockCodec;
use crate::record::{self, Record};
use crate::shard_codec::ShardCodec;
use crate::sharding::Sharding;
use crate::{dimension_names, sharding, types_v3, variable};

const KEY: &str = "zarr.json";

/// Most shards inside each other, below the one that is an object.
const SHARD_DEPTH_MAX: usize = 4;

/// Kind of the node that a `zarr.json` describes.
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

/// Refuses the documents of the drafts before version 3: their entry point names the specification
/// by its URL.
fn check_no_draft(map: &Map<String, Value>) -> Result<(), FormatError> {
    let named_by_url =
        map.get("zarr_format").and_then(text).is_some_and(|format| format.contains("://"));
    if !named_by_url && !map.contains_key("metadata_encoding") {
        return Ok(());
    }
    let what = "a draft of Zarr version 3, from before it was settled";
    let hint = "read it with the library that wrote it, and write it again as Zarr v2, or as v3 with zarr-python 3";
    Err(Field::new(KEY, "zarr_format").unsupported(what, hint))
}

fn kind_of(map: &mut Map<String, Value>) -> Result<NodeKind, FormatError> {
    check_no_draft(map)?;
    Field::new(KEY, "zarr_format").integer(&require(map, "zarr_format")?, 3, 3)?;
    let value = require(map, "node_type")?;
    match text(&value) {
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
    let mut verbatim = Verbatim::default();
    let data_type = parse_data_type(require(&mut map, "data_type")?, &mut verbatim)?;
    let (chunk_shape, edges) = parse_chunk_grid(&require(&mut map, "chunk_grid")?, &shape)?;
    let key_encoding = parse_key_encoding(&require(&mut map, "chunk_key_encoding")?)?;
    // `null`, which GDAL writes, is none; but nothing at all is a damaged document.
    let fill_value = map.shift_remove("fill_value");
    let fill_value =
        fill_value.ok_or_else(|| Field::new(KEY, "fill_value").invalid("is missing"))?;
    let codecs = require(&mut map, "codecs")?;
    let (order, codecs, chunk_shape, sharding) = if data_type.is_variable() {
        // A shard whose chunks cannot be told apart stays one object.
        let found = match edges {
            Some(_) => None,
            None => variable::parse_shards(&codecs, &chunk_shape)?,
        };
        let (chunk_shape, codecs, sharding) = match found {
            Some(found) => (found.chunk_shape, found.codecs, Some(found.format)),
            None => (chunk_shape, codecs, None),
        };
        verbatim.codecs = Some(variable::check_v3_codecs(codecs)?);
        (ElementOrder::c_little(rank), Vec::new(), chunk_shape, sharding)
    } else {
        // Shards of different shapes are chunks: each is read as a whole, by a codec.
        let found = match edges {
            Some(_) => None,
            None => sharding::parse_alone(&Field::new(KEY, "codecs"), &codecs, &chunk_shape)?,
        };
        let (chunk_shape, codecs, sharding) = match found {
            Some(found) => (found.chunk_shape, found.codecs, Some(found.format)),
            None => (chunk_shape, codecs, None),
        };
        let (order, codecs) = parse_codecs(&codecs, &chunk_shape, data_type, 0)?;
        (order, codecs, chunk_shape, sharding)
    };
    let fill_value = parse_fill(fill_value, data_type, order.endian, &mut verbatim)?;
    let mut codecs = codecs;
    let zero = FillValue::zero(data_type.item_bytes());
    let fill = fill_value.as_ref().unwrap_or(&zero).stored(data_type, order.endian);
    ShardCodec::set_fill(&mut codecs, &fill)
        .map_err(|reason| Field::new(KEY, "fill_value").invalid(reason))?;
    let mut attributes = match Field::take(&mut map, "attributes") {
        Some(Value::Object(attributes)) => attributes,
        Some(other) => Field::new(KEY, "attributes").object(&other)?.clone(),
        None => Map::new(),
    };
    let names = parse_dimension_names(&mut map)?;
    let dimension_names = dimension_names::of_v3(names, &mut attributes, rank);
    refuse_transformers(&mut map)?;
    refuse_unknown(&map)?;
    verbatim.fields = map;
    let metadata = ArrayMetadata {
        spec: ArraySpec { shape, data_type, chunk_shape, edges, fill_value, dimension_names },
        version: ZarrVersion::V3,
        order,
        codecs,
        sharding,
        key_encoding,
        attributes,
        verbatim,
    };
    metadata.check()?;
    Ok(metadata)
}

fn require(map: &mut Map<String, Value>, name: &str) -> Result<Value, FormatError> {
    Field::take(map, name).ok_or_else(|| Field::new(KEY, name).invalid("is missing"))
}

/// The data type; its JSON is kept where the type alone does not say how it was spelled.
fn parse_data_type(value: Value, verbatim: &mut Verbatim) -> Result<DataType, FormatError> {
    let field = Field::new(KEY, "data_type");
    let (name, mut configuration) = parse_v3_extension(&field, &value)?;
    if record::is_record(name) {
        refuse_unknown_members(&field, &value, &configuration, &["fields"])?;
        let data_type = Record::parse_v3(&field, &configuration)?.data_type();
        verbatim.data_type = Some(value);
        return Ok(data_type);
    }
    if variable::is_variable(name) {
        verbatim.data_type = Some(value);
        return Ok(DataType::Variable);
    }
    if let Some(known) = types_v3::settings(name) {
        refuse_unknown_members(&field, &value, &configuration, known)?;
        // Whatever else there is may be ignored.
        configuration.retain(|name, _| known.contains(&name.as_str()));
    }
    let data_type = types_v3::parse(&field, name, &configuration)?
        .ok_or_else(|| field.unsupported(format!("data type {name:?}"), ""))?;
    if types_v3::is_raw_bits(&value) {
        verbatim.data_type = Some(value);
    }
    Ok(data_type)
}

/// The fill value, `None` for `null`; its JSON is kept where its bytes alone do not say how it was
/// spelled.
fn parse_fill(
    value: Value,
    data_type: DataType,
    endian: Endian,
    verbatim: &mut Verbatim,
) -> Result<Option<FillValue>, FormatError> {
    let field = Field::new(KEY, "fill_value");
    if data_type.is_variable() {
        verbatim.fill_value = Some(value);
        return Ok(None);
    }
    if value.is_null() {
        return Ok(None);
    }
    let record = verbatim.data_type.as_ref().and_then(|kind| record::of(kind, ZarrVersion::V3));
    match record {
        Some(record) if value.is_object() => {
            let fill_value = record.parse_fill_value(&field, &value, endian)?;
            verbatim.fill_value = Some(value);
            Ok(Some(fill_value))
        }
        _ => parse_fill_value(&field, &value, data_type, ZarrVersion::V3),
    }
}

/// Array→array codecs, `transpose` among them, any number of times; then `bytes`, or a codec that
/// makes bytes of elements itself; then bytes→bytes codecs.
fn parse_codecs(
    value: &Value,
    chunk_shape: &[u64],
    data_type: DataType,
    depth: usize,
) -> Result<(ElementOrder, Vec<CodecSpec>), FormatError> {
    let list_field = Field::new(KEY, "codecs");
    let rank = chunk_shape.len();
    if depth > SHARD_DEPTH_MAX {
        return Err(list_field.unsupported("\"sharding_indexed\" so many times inside itself", ""));
    }
    let list = list_field.list(value)?;
    if list.len() > CHAIN_LENGTH_MAX {
        return Err(list_field.unsupported(format!("a chain of {} codecs", list.len()), ""));
    }
    let mut axes: Vec<usize> = (0..rank).collect();
    let endian = stored_endian(list)?;
    let order = endian.unwrap_or(Endian::Little);
    let mut element = ElementType::new(data_type, order);
    let (mut codecs, mut is_bytes) = (Vec::<CodecSpec>::new(), false);
    for (position, item) in list.iter().enumerate() {
        let field = Field::new(KEY, &format!("codecs[{position}]"));
        let (name, configuration) = parse_v3_extension(&field, item)?;
        let settings = field.child("configuration");
        refuse_unknown_settings(&field, item, name, &configuration)?;
        match (name, is_bytes) {
            ("transpose", false) => {
                let before = axes.clone();
                axes = parse_transpose(&settings, &configuration, &axes)?;
                // Others do to each element the same wherever it lies.
                let minds = |codec: &&CodecSpec| {
                    matches!(
                        codec,
                        CodecSpec::Delta(_)
                            | CodecSpec::PackBits(_)
                            | CodecSpec::Predictor(_)
                            | CodecSpec::Reshape(_)
                    )
                };
                if let Some(codec) = codecs.iter().find(minds).filter(|_| axes != before) {
                    let what = format!("codec \"transpose\" after {}", codec.name());
                    return Err(field.unsupported(what, ""));
                }
            }
            ("bytes" | "endian", false) => {
                is_bytes = true;
                if endian.is_none() && element.data_type.swap_bytes() > 1 {
                    let what = element.data_type.name();
                    let field = settings.child("endian");
                    return Err(field.invalid(format!("is missing, and {what} needs it")));
                }
                element = ElementType::BYTE;
            }
            // Its missing chunks have the fill value as the filter leaves it.
            (SHARDING, false) if codecs.iter().any(|codec| !keeps_fill(codec)) => {
                return Err(field.unsupported("\"sharding_indexed\" behind a filter", ""));
            }
            (SHARDING, false) => {
                let shape: Vec<u64> =
                    axes.iter().filter_map(|&a| chunk_shape.get(a)).copied().collect();
                let found = sharding::parse(&settings, &configuration, &shape)?;
                codecs.push(inner_shards(found, element, depth)?);
                (is_bytes, element) = (true, ElementType::BYTE);
            }
            (N5_BLOCK, false) if !codecs.is_empty() || depth > 0 => {
                let what = "codec \"n5_default\" behind a filter, or inside another codec";
                return Err(field.unsupported(what, ""));
            }
            (N5_BLOCK, false) => {
                let inner = (&settings.child("codecs"), configuration.get("codecs"));
                let (turned, block) = block_of_n5(inner, (chunk_shape, &axes), data_type, depth)?;
                axes = turned;
                codecs.push(CodecSpec::N5Block(Box::new(block)));
                (is_bytes, element) = (true, ElementType::BYTE);
            }
            ("transpose" | "bytes" | "endian" | SHARDING | N5_BLOCK, true) => {
                return Err(field.invalid(format!("codec {name:?} must come before it is bytes")));
            }
            ("crc32c" | "blosc" | "zstd" | "gzip", false) => {
                return Err(field.invalid(format!("codec {name:?} without \"bytes\" before it")));
            }
            _ => {
                if order == Endian::Big && !is_bytes {
                    refuse_little_endian(&settings, &configuration)?;
                }
                let codec = parse_v3_codec(&field, name, &configuration, element, order)?;
                check_place(&field, name, &codec, is_bytes)?;
                is_bytes |= codec.is_array_to_bytes();
                element = codec.output(element);
                codecs.push(codec);
            }
        }
    }
    if !is_bytes {
        return Err(list_field.invalid("there is no codec \"bytes\""));
    }
    let endian = ElementType::new(data_type, order).endian;
    Ok((ElementOrder { axes, endian }, codecs))
}

/// True for filters behind which it is known what a missing chunk of a shard holds. (Rounded bits
/// stay as they are.)
fn keeps_fill(codec: &CodecSpec) -> bool {
    codec.is_of_each_number() || matches!(codec, CodecSpec::BitRound { .. })
}

/// A shard that is no object of its own.
fn inner_shards(
    found: Sharding,
    element: ElementType,
    depth: usize,
) -> Result<CodecSpec, FormatError> {
    let Sharding { format, chunk_shape, codecs } = found;
    let (order, codecs) = parse_codecs(&codecs, &chunk_shape, element.data_type, depth + 1)?;
    let (data_type, fill) = (element.data_type, Vec::new());
    let shards = ShardCodec { format, chunk_shape, order, codecs, data_type, fill };
    Ok(CodecSpec::Shards(Box::new(shards)))
}

/// A block of N5, of a chunk whose axes are in this order; and their order behind it.
fn block_of_n5(
    (field, codecs): (&Field, Option<&Value>),
    (chunk_shape, axes): (&[u64], &[usize]),
    data_type: DataType,
    depth: usize,
) -> Result<(Vec<usize>, N5BlockCodec), FormatError> {
    let codecs = codecs.ok_or_else(|| field.invalid("is missing"))?;
    let shape: Vec<u64> = axes.iter().filter_map(|&a| chunk_shape.get(a)).copied().collect();
    let (order, codecs) = parse_codecs(codecs, &shape, data_type, depth + 1)?;
    let is_big_endian = order.endian == Endian::Big;
    let block = N5BlockCodec::new(field, (&order.axes, codecs), data_type, is_big_endian)?;
    let turned = order.axes.iter().filter_map(|&a| axes.get(a)).copied().collect();
    Ok((turned, block))
}

/// Elements cannot be compressed as bytes, nor bytes filtered as elements.
fn check_place(
    field: &Field,
    name: &str,
    codec: &CodecSpec,
    is_bytes: bool,
) -> Result<(), FormatError> {
    let takes_elements = codec.is_array_to_array() || codec.is_array_to_bytes();
    match (takes_elements, is_bytes) {
        (true, true) => Err(field.invalid(format!("codec {name:?} must come before it is bytes"))),
        (false, false) => Err(field.invalid(format!("codec {name:?} without \"bytes\" before it"))),
        _ => Ok(()),
    }
}

/// Byte order in the configuration of the codec `bytes`. `endian` is what a draft of the
/// specification called it.
fn stored_endian(list: &[Value]) -> Result<Option<Endian>, FormatError> {
    for (position, item) in list.iter().enumerate() {
        let field = Field::new(KEY, &format!("codecs[{position}]"));
        match parse_v3_extension(&field, item)? {
            ("bytes" | "endian", configuration) => {
                return parse_endian(&field.child("configuration"), &configuration);
            }
            // A shard's elements have the byte order of its chunks, and a block's that of what is
            // in it.
            (SHARDING | N5_BLOCK, configuration) => {
                let inner = configuration.get("codecs").and_then(Value::as_array);
                return inner.map_or(Ok(None), |list| stored_endian(list));
            }
            _ => {}
        }
    }
    Ok(None)
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
    match field.list(&value)?.iter().find(|transformer| !may_ignore(transformer)) {
        None => Ok(()),
        Some(transformer) => {
            let name = transformer.get("name").map_or_else(|| shown(transformer), shown);
            Err(field.unsupported(format!("storage transformer {name}"), ""))
        }
    }
}

/// Refuses members that are left, unless they say that they need not be understood.
pub(crate) fn refuse_unknown(map: &Map<String, Value>) -> Result<(), FormatError> {
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
