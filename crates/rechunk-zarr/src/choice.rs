//! The codecs a user asks for.

use rechunk_format::FormatError;
use serde_json::Value;

use crate::codec_json::{parse_v2_codec, parse_v3_codec, parse_v3_extension};
use crate::codec_spec::{BloscName, CodecSpec, Shuffle};
use crate::field::Field;
use crate::json::read_object;
use crate::metadata::ZarrVersion;

/// Codecs that are not yet bound to a data type or a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecChoice {
    codecs: Vec<CodecSpec>,
}

impl CodecChoice {
    pub(crate) fn of(codecs: Vec<CodecSpec>) -> Self {
        Self { codecs }
    }

    /// The codecs for elements of `item_bytes` bytes: Blosc learns its typesize, and what v3
    /// cannot leave open is decided.
    pub(crate) fn bound_to(&self, item_bytes: u8, version: ZarrVersion) -> Vec<CodecSpec> {
        let bind = |codec: &CodecSpec| {
            let mut codec = codec.clone();
            if let CodecSpec::Blosc { typesize, .. } = &mut codec
                // v2 metadata cannot say another typesize than that of the elements.
                && (*typesize == 0 || version == ZarrVersion::V2)
            {
                *typesize = item_bytes;
            }
            match (codec, version) {
                (codec @ (CodecSpec::Blosc { .. } | CodecSpec::Gzip { .. }), ZarrVersion::V3) => {
                    codec.resolved()
                }
                (codec, _) => codec,
            }
        };
        self.codecs.iter().map(bind).collect()
    }
}

/// Reads what `--codec` says: `zstd:3`, `gzip:5`, `zlib:5`, `blosc:lz4:5:shuffle` (each part may
/// be left out from the end), `crc32c`, `none`, or JSON: a v2 object `{"id": "zstd", "level": 3}`,
/// a v3 object `{"name": "zstd", "configuration": {…}}`, a list of those, or `null`.
pub fn parse_codec_choice(text: &str) -> Result<CodecChoice, FormatError> {
    let text = text.trim();
    let field = Field::new("--codec", text);
    if text.starts_with(['{', '[']) || text == "null" {
        return parse_json(text);
    }
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let codecs = match (name, rest.as_slice()) {
        ("none", []) => Vec::new(),
        ("crc32c", []) => vec![CodecSpec::Crc32c],
        ("zstd", _) if rest.len() < 2 => {
            let level = level(&field, rest.first(), 3, (-131_072, 22))?;
            vec![CodecSpec::Zstd { level, checksum: false }]
        }
        ("gzip", _) if rest.len() < 2 => {
            vec![CodecSpec::Gzip { level: level(&field, rest.first(), 5, (0, 9))? }]
        }
        ("zlib", _) if rest.len() < 2 => {
            vec![CodecSpec::Zlib { level: level(&field, rest.first(), 5, (-1, 9))? }]
        }
        ("blosc", _) if rest.len() < 4 => vec![parse_blosc(&field, &rest)?],
        ("none" | "crc32c" | "zstd" | "gzip" | "zlib" | "blosc", _) => {
            return Err(field.invalid(format!("{name} does not take so many parts")));
        }
        (other, _) => {
            let hint = "there are zstd, gzip, zlib, blosc, crc32c and none";
            return Err(field.unsupported(format!("codec {other:?}"), hint));
        }
    };
    Ok(CodecChoice { codecs })
}

fn level(
    field: &Field,
    text: Option<&&str>,
    default: i32,
    (low, high): (i32, i32),
) -> Result<i32, FormatError> {
    let Some(text) = text else {
        return Ok(default);
    };
    let level = text.parse().ok().filter(|level| (low..=high).contains(level));
    level.ok_or_else(|| field.invalid(format!("{text:?} is not a level from {low} to {high}")))
}

fn parse_blosc(field: &Field, parts: &[&str]) -> Result<CodecSpec, FormatError> {
    let cname = parts.first().copied().unwrap_or("lz4");
    let cname = BloscName::from_name(cname).ok_or_else(|| {
        let hint = "there are blosclz, lz4, lz4hc, snappy, zlib and zstd";
        field.unsupported(format!("blosc compressor {cname:?}"), hint)
    })?;
    let clevel = u8::try_from(level(field, parts.get(1), 5, (0, 9))?).unwrap_or(5);
    let shuffle = match parts.get(2).copied().unwrap_or("shuffle") {
        "none" => Shuffle::None,
        "byte" => Shuffle::Byte,
        "bit" => Shuffle::Bit,
        name => Shuffle::from_name(name).ok_or_else(|| {
            let wanted = "shuffle, bitshuffle, noshuffle or auto";
            field.invalid(format!("{name:?} is not a shuffle: {wanted}"))
        })?,
    };
    Ok(CodecSpec::Blosc { cname, clevel, shuffle, typesize: 0, blocksize: 0 })
}

fn parse_json(text: &str) -> Result<CodecChoice, FormatError> {
    // The same reader as for documents, which wants an object.
    let map = read_object("--codec", format!("{{\"codec\": {text}}}").as_bytes())?;
    let value = map.get("codec").unwrap_or(&Value::Null);
    let codecs = match value {
        Value::Null => Vec::new(),
        Value::Array(list) => list.iter().map(parse_object).collect::<Result<_, _>>()?,
        object => vec![parse_object(object)?],
    };
    Ok(CodecChoice { codecs })
}

fn parse_object(value: &Value) -> Result<CodecSpec, FormatError> {
    let field = Field::new("--codec", "codec");
    if value.get("id").is_some() {
        return parse_v2_codec(&field, value, 0);
    }
    let (name, configuration) = parse_v3_extension(&field, value)?;
    if matches!(name, "bytes" | "transpose") {
        let hint = "name only what compresses: order and byte order are kept from the source";
        return Err(field.unsupported(format!("codec {name:?} here"), hint));
    }
    if name == "zlib" {
        return Err(field.unsupported("codec \"zlib\" in Zarr v3", "use gzip, which Zarr v3 has"));
    }
    parse_v3_codec(&field, name, &configuration)
}

#[cfg(test)]
mod tests;
