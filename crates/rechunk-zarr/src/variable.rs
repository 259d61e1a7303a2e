//! Elements that differ in length: strings, byte strings, lists, objects.
//!
//! Only their codec can tell one element from the next. Those of numcodecs (`vlen-utf8`,
//! `vlen-bytes`, `vlen-array`) are decoded ([`codecs`]); behind any other, chunks are copied as
//! they are, and the metadata is carried as it stands. `vlen-utf8` and `vlen-bytes` make the same
//! bytes in v2 and v3, so that chunks of those arrays may change version as they are.

use rechunk_format::{CodecCost, FormatError};
use serde_json::{Map, Value, json};

use crate::codec_names::SHARDING;
use crate::codec_spec::CodecSpec;
use crate::codecs::Chain;
use crate::field::Field;
use crate::json::text;
use crate::metadata::{ArrayMetadata, ZarrVersion};
use crate::sharding::{self, Sharding};

pub(crate) use codecs::VariableCodecs;
pub use codecs::takes_streams;
pub(crate) use target::target;

mod codecs;
mod target;

/// Largest encoded chunk of such elements that is copied as it is, bytes. Nothing in the metadata
/// bounds one, and memory for it has to be reserved before it is read.
pub const VARIABLE_CHUNK_BYTES_MAX: u64 = 16 << 20;

const ADVICE: &str =
    "keep the same chunks (--chunks keep), format and codec: then chunks are copied as they are";

/// True for the v3 names of types of variable length.
pub(crate) fn is_variable(name: &str) -> bool {
    matches!(name, "string" | "bytes" | "binary" | "variable_length_bytes" | "variable_length_utf8")
}

/// Filters and compressor of a v2 array of objects, taken out of its document as they stand.
pub(crate) fn take_v2_codecs(map: &mut Map<String, Value>) -> Result<Value, FormatError> {
    let field = Field::new(".zarray", "filters");
    let mut take = |name| Field::take(map, name).unwrap_or(Value::Null);
    let (filters, compressor) = (take("filters"), take("compressor"));
    let has_filter = !filters.is_null() && !field.list(&filters)?.is_empty();
    if !has_filter {
        return Err(field.invalid("no filter says how elements of data type \"|O\" are stored"));
    }
    Ok(json!({"filters": filters, "compressor": compressor}))
}

/// The shards that chunks lie in, where the elements inside can be told apart.
pub(crate) fn parse_shards(
    codecs: &Value,
    shard_shape: &[u64],
) -> Result<Option<Sharding>, FormatError> {
    let found = sharding::parse_alone(&Field::new("zarr.json", "codecs"), codecs, shard_shape)?;
    Ok(found.filter(|found| VariableCodecs::are_known(&found.codecs)))
}

/// The codecs of a v3 array as they stand.
pub(crate) fn check_v3_codecs(codecs: Value) -> Result<Value, FormatError> {
    let field = Field::new("zarr.json", "codecs");
    if field.list(&codecs)?.is_empty() {
        return Err(field.invalid("no codec says how elements of variable length are stored"));
    }
    Ok(codecs)
}

/// The type for people: `string`, `|O (json2)`.
pub(crate) fn type_name(data_type: &Value, metadata: &ArrayMetadata) -> String {
    match metadata.version {
        ZarrVersion::V3 => text(data_type).or(text(&data_type["name"])).unwrap_or_default(),
        ZarrVersion::V2 => return format!("|O ({})", names(metadata).join(", ")),
    }
    .to_owned()
}

/// Names of the codecs, in the order of encoding; of v2 the filters only.
fn names(metadata: &ArrayMetadata) -> Vec<String> {
    let codecs = metadata.verbatim.codecs.as_ref();
    let list = codecs.and_then(|codecs| codecs.as_array().or(codecs["filters"].as_array()));
    let name = |codec: &Value| {
        let name = text(codec).or(text(&codec["id"])).or(text(&codec["name"]));
        name.unwrap_or("?").escape_debug().to_string()
    };
    list.into_iter().flatten().map(name).collect()
}

/// Its chunks are shards.
pub(crate) fn has_shards(metadata: &ArrayMetadata) -> bool {
    names(metadata).iter().any(|name| name == SHARDING)
}

/// The codecs in a few words.
pub(crate) fn summary(metadata: &ArrayMetadata) -> String {
    let mut names = names(metadata);
    let compressor = metadata.verbatim.codecs.as_ref().and_then(|codecs| codecs.get("compressor"));
    if let Some(name) = compressor.and_then(|compressor| text(&compressor["id"])) {
        names.push(name.escape_debug().to_string());
    }
    names.join(" + ")
}

/// Equal for two arrays exactly if equal chunks have interchangeable bytes, in either version.
pub(crate) fn identity(metadata: &ArrayMetadata) -> String {
    let axes = &metadata.order.axes;
    if let Some(known) = VariableCodecs::of(metadata) {
        let resolved: Vec<_> = known.codecs.iter().map(CodecSpec::resolved).collect();
        return format!("variable {:?} {axes:?} {resolved:?}", known.kind);
    }
    let Some(codecs) = &metadata.verbatim.codecs else { return String::new() };
    format!("variable {:?} {axes:?} {codecs}", metadata.version)
}

/// Cost of chunks that are copied as they are.
pub(crate) fn cost(known: Option<&VariableCodecs>) -> CodecCost {
    let chain = known.and_then(|known| Chain::within(&known.codecs, 0).ok());
    CodecCost {
        name: chain.map_or_else(|| "none".to_owned(), |chain| chain.cost().name),
        is_raw: false,
        encoded_bytes_max: VARIABLE_CHUNK_BYTES_MAX,
        decode_workspace_bytes: 0,
        encode_workspace_bytes: 0,
    }
}

/// That elements of `metadata` are not looked at.
pub(crate) fn not_decoded(metadata: &ArrayMetadata) -> FormatError {
    refusal(metadata, "decoding elements of variable length")
}

/// That `what` is not done, and what is.
pub(crate) fn refusal(metadata: &ArrayMetadata, what: &str) -> FormatError {
    let name = match metadata.version {
        ZarrVersion::V2 => "dtype",
        ZarrVersion::V3 => "data_type",
    };
    let field = Field::new(metadata.version.document_key(), name);
    field.unsupported(format!("{what} ({})", metadata.data_type_name()), ADVICE)
}

#[cfg(test)]
mod tests;
