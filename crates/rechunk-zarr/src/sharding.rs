//! The codec `sharding_indexed` (version 1.0) in metadata: chunks inside the chunks of the grid.

use rechunk_format::{FormatError, IndexLocation, ShardFormat};
use rechunk_grid::Endian;
use serde_json::{Map, Value, json};

use crate::codec_json::parse_v3_extension;
use crate::codec_names::SHARDING;
use crate::extension::refuse_unknown_settings;
use crate::field::{Field, shown};
use crate::json::text;

/// Configuration of the codec.
#[derive(Debug)]
pub(crate) struct Sharding {
    pub format: ShardFormat,
    /// Shape of the chunks inside, elements.
    pub chunk_shape: Vec<u64>,
    /// Codecs of those chunks, as they stand in the metadata.
    pub codecs: Value,
}

/// Reads a list of codecs that consists of this one; `None` if it does not. The chunks of the
/// grid, of `shard_shape`, are the shards.
pub(crate) fn parse_alone(
    list_field: &Field,
    codecs: &Value,
    shard_shape: &[u64],
) -> Result<Option<Sharding>, FormatError> {
    let [codec] = list_field.list(codecs)? else { return Ok(None) };
    let (name, configuration) = parse_v3_extension(list_field, codec)?;
    if name != SHARDING {
        return Ok(None);
    }
    refuse_unknown_settings(list_field, codec, name, &configuration)?;
    parse(&list_field.child("configuration"), &configuration, shard_shape).map(Some)
}

/// Reads the codec's configuration.
pub(crate) fn parse(
    field: &Field,
    configuration: &Map<String, Value>,
    shard_shape: &[u64],
) -> Result<Sharding, FormatError> {
    let get = |name: &str| {
        let field = field.child(name);
        let value = configuration.get(name).ok_or_else(|| field.invalid("is missing"))?;
        Ok::<_, FormatError>((field, value))
    };
    let (chunk_field, value) = get("chunk_shape")?;
    let chunk_shape = chunk_field.shape(value)?;
    let (_, codecs) = get("codecs")?;
    let (index_field, value) = get("index_codecs")?;
    let (endian, has_checksum) = parse_index_codecs(&index_field, value)?;
    let location = match configuration.get("index_location") {
        None => IndexLocation::End,
        Some(value) => parse_location(&field.child("index_location"), value)?,
    };
    let format = ShardFormat::new(shard_shape, &chunk_shape, location, endian, has_checksum)
        .map_err(|reason| chunk_field.invalid(reason))?;
    Ok(Sharding { format, chunk_shape, codecs: codecs.clone() })
}

fn parse_location(field: &Field, value: &Value) -> Result<IndexLocation, FormatError> {
    match text(value) {
        Some("start") => Ok(IndexLocation::Start),
        Some("end") => Ok(IndexLocation::End),
        _ => {
            let reason = format!("expected \"start\" or \"end\", found {}", shown(value));
            Err(field.invalid(reason))
        }
    }
}

/// The size of an index has to be known before it is read: so it is not compressed.
fn parse_index_codecs(field: &Field, value: &Value) -> Result<(Endian, bool), FormatError> {
    let mut endian = None;
    let mut has_checksum = false;
    for codec in field.list(value)? {
        let (name, configuration) = parse_v3_extension(field, codec)?;
        refuse_unknown_settings(field, codec, name, &configuration)?;
        match (name, endian) {
            ("bytes" | "endian", None) => {
                let big = Some(&Value::from("big"));
                let is_big = configuration.get("endian") == big;
                endian = Some(if is_big { Endian::Big } else { Endian::Little });
            }
            ("crc32c", Some(_)) if !has_checksum => has_checksum = true,
            (other, _) => {
                let hint = "an index is stored by \"bytes\" and at most one \"crc32c\" after it";
                return Err(field.unsupported(format!("codec {other:?} for an index"), hint));
            }
        }
    }
    let endian = endian.ok_or_else(|| field.invalid("there is no codec \"bytes\""))?;
    Ok((endian, has_checksum))
}

/// The codec as the specification spells it; `codecs` are those of the chunks inside.
pub(crate) fn write(format: &ShardFormat, chunk_shape: &[u64], codecs: &[Value]) -> Value {
    let mut index_codecs =
        vec![json!({"name": "bytes", "configuration": {"endian": format.endian()}})];
    if format.has_checksum() {
        index_codecs.push(json!({"name": "crc32c"}));
    }
    json!({
        "name": SHARDING,
        "configuration": {
            "chunk_shape": chunk_shape,
            "codecs": codecs,
            "index_codecs": index_codecs,
            "index_location": format.location(),
        },
    })
}

#[cfg(test)]
mod tests;
