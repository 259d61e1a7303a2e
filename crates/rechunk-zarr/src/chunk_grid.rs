//! The grid of an array, and the keys of its chunks, as v3 metadata has them.

use rechunk_format::FormatError;
use rechunk_grid::Edges;
use serde_json::{Map, Value};

use crate::chunk_lengths;
use crate::codec_json::parse_v3_extension;
use crate::extension::refuse_unknown_members;
use crate::field::Field;
use crate::metadata::{KeyEncoding, KeyStyle, ZarrVersion};
use crate::parse_v2::separator;

const KEY: &str = "zarr.json";

/// A proposed setting of grids. (zarr-extensions discusses it for `rectilinear`.)
const ENCODED_SHAPES: &str = "encoded_chunk_shapes";

/// The chunk shape, and where chunks differ in length the edges; `chunk_shape` is then the largest.
pub(crate) fn parse_chunk_grid(
    value: &Value,
    shape: &[u64],
) -> Result<(Vec<u64>, Option<Edges>), FormatError> {
    let field = Field::new(KEY, "chunk_grid");
    let (name, configuration) = parse_v3_extension(&field, value)?;
    let settings = field.child("configuration");
    refuse_encoded_shapes(&settings, &configuration)?;
    let known: &[&str] = match name {
        "regular" => &["chunk_shape"],
        chunk_lengths::NAME => &["kind", "chunk_shapes"],
        other => return Err(field.unsupported(format!("chunk grid {other:?}"), "")),
    };
    refuse_unknown_members(&field, value, &configuration, known)?;
    if name == chunk_lengths::NAME {
        return chunk_lengths::parse(&settings, &configuration, shape);
    }
    let field = ZarrVersion::V3.chunk_field();
    let chunk = configuration.get("chunk_shape").ok_or_else(|| field.invalid("is missing"))?;
    Ok((field.shape(chunk)?, None))
}

/// Refuses chunks that decode to more elements than they add to the array, whatever else the grid
/// says of them.
fn refuse_encoded_shapes(
    field: &Field,
    configuration: &Map<String, Value>,
) -> Result<(), FormatError> {
    if !configuration.contains_key(ENCODED_SHAPES) {
        return Ok(());
    }
    let what = "a grid whose chunks decode to other shapes than they have in the array";
    let hint = "chunks of such a grid would be taken for damaged ones: write the array with a grid of its own";
    Err(field.child(ENCODED_SHAPES).unsupported(what, hint))
}

/// Reads the encoding of the chunks' keys.
pub(crate) fn parse_key_encoding(value: &Value) -> Result<KeyEncoding, FormatError> {
    let field = Field::new(KEY, "chunk_key_encoding");
    let (name, configuration) = parse_v3_extension(&field, value)?;
    let (style, default) = match name {
        "default" => (KeyStyle::Default, '/'),
        "v2" => (KeyStyle::V2, '.'),
        other => return Err(field.unsupported(format!("chunk key encoding {other:?}"), "")),
    };
    refuse_unknown_members(&field, value, &configuration, &["separator"])?;
    let separator = match configuration.get("separator") {
        None => default,
        Some(value) => separator(&field.child("configuration.separator"), value)?,
    };
    Ok(KeyEncoding { style, separator })
}
