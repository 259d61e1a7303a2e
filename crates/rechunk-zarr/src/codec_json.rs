//! Codecs as v2 and v3 metadata spell them.

use rechunk_format::FormatError;
use serde_json::{Map, Value, json};

use crate::codec_spec::{BloscName, CodecSpec, Shuffle};
use crate::field::{Field, shown};

/// A numcodecs object, `{"id": "zstd", "level": 3}`. `item_bytes` is what Blosc takes for its
/// typesize where the object does not name one.
pub(crate) fn parse_v2_codec(
    field: &Field,
    value: &Value,
    item_bytes: u8,
) -> Result<CodecSpec, FormatError> {
    let map = field.object(value)?;
    let id = map.get("id").ok_or_else(|| field.child("id").invalid("is missing"))?;
    let settings = Settings { field, map };
    match field.child("id").text(id)? {
        "blosc" => settings.blosc_v2(item_bytes),
        "zstd" => settings.zstd(Some(0)),
        "gzip" => Ok(CodecSpec::Gzip { level: settings.deflate_level(Some(1))? }),
        "zlib" => Ok(CodecSpec::Zlib { level: settings.deflate_level(Some(1))? }),
        other => Err(field.unsupported(format!("codec {other:?}"), "")),
    }
}

/// A v3 bytes→bytes codec by its name and configuration.
pub(crate) fn parse_v3_codec(
    field: &Field,
    name: &str,
    configuration: &Map<String, Value>,
) -> Result<CodecSpec, FormatError> {
    let settings = Settings { field, map: configuration };
    match name {
        "blosc" => settings.blosc_v3(),
        "zstd" => settings.zstd(None),
        "gzip" => Ok(CodecSpec::Gzip { level: settings.deflate_level(None)? }),
        "crc32c" => Ok(CodecSpec::Crc32c),
        other => Err(field.unsupported(format!("codec {other:?}"), "")),
    }
}

/// Name and configuration of a v3 extension point: an object, or the name alone.
pub(crate) fn parse_v3_extension<'v>(
    field: &Field,
    value: &'v Value,
) -> Result<(&'v str, Map<String, Value>), FormatError> {
    if let Value::String(name) = value {
        return Ok((name, Map::new()));
    }
    let map = field.object(value)?;
    let name = map.get("name").ok_or_else(|| field.child("name").invalid("is missing"))?;
    let configuration = match map.get("configuration") {
        None | Some(Value::Null) => Map::new(),
        Some(value) => field.child("configuration").object(value)?.clone(),
    };
    Ok((field.child("name").text(name)?, configuration))
}

/// The settings of one codec. Unknown ones are ignored: no codec here needs one to decode.
struct Settings<'a> {
    field: &'a Field,
    map: &'a Map<String, Value>,
}

impl Settings<'_> {
    /// The setting `name`, or `default`; an error where there is neither.
    fn get(&self, name: &str, default: Option<Value>) -> Result<(Field, Value), FormatError> {
        let field = self.field.child(name);
        let value = self.map.get(name).filter(|value| !value.is_null()).cloned().or(default);
        value.map(|value| (field.clone(), value)).ok_or_else(|| field.invalid("is missing"))
    }

    fn integer(
        &self,
        name: &str,
        default: Option<i64>,
        (low, high): (i64, i64),
    ) -> Result<i64, FormatError> {
        let (field, value) = self.get(name, default.map(Value::from))?;
        field.integer(&value, low, high)
    }

    fn deflate_level(&self, default: Option<i64>) -> Result<i32, FormatError> {
        let level = self.integer("level", default, (-1, 9))?;
        Ok(i32::try_from(level).unwrap_or(-1))
    }

    fn zstd(&self, default_level: Option<i64>) -> Result<CodecSpec, FormatError> {
        let (field, level) = self.get("level", default_level.map(Value::from))?;
        // As numcodecs: a level beyond zstd's own limits is the nearest within them.
        let level = i32::try_from(field.clamped(&level, -131_072, 22)?).unwrap_or(0);
        let (field, checksum) = self.get("checksum", Some(Value::Bool(false)))?;
        Ok(CodecSpec::Zstd { level, checksum: field.boolean(&checksum)? })
    }

    fn blosc_v2(&self, item_bytes: u8) -> Result<CodecSpec, FormatError> {
        let number = self.integer("shuffle", Some(1), (-1, 2))?;
        let shuffle = Shuffle::from_number(number).unwrap_or(Shuffle::Auto);
        let typesize = self.integer("typesize", Some(i64::from(item_bytes)), (0, 255))?;
        self.blosc("lz4", shuffle, typesize)
    }

    fn blosc_v3(&self) -> Result<CodecSpec, FormatError> {
        let (field, value) = self.get("shuffle", None)?;
        let shuffle = Shuffle::from_name(field.text(&value)?)
            .filter(|&shuffle| shuffle != Shuffle::Auto)
            .ok_or_else(|| {
                let wanted = "noshuffle, shuffle or bitshuffle";
                field.invalid(format!("expected {wanted}, found {}", shown(&value)))
            })?;
        // The specification asks for a typesize only where there is a shuffle.
        let is_plain = shuffle == Shuffle::None;
        // Of elements larger than 255 bytes Blosc takes single bytes, whatever the metadata says.
        let most = i64::from(i32::MAX);
        let typesize = self.integer("typesize", is_plain.then_some(1), (0, most))?;
        if typesize == 0 && !is_plain {
            return Err(self.field.child("typesize").invalid("is 0, but there is a shuffle"));
        }
        self.blosc("", shuffle, typesize.max(1))
    }

    /// The settings v2 and v3 share; an empty `default_cname` is none.
    fn blosc(
        &self,
        default_cname: &str,
        shuffle: Shuffle,
        typesize: i64,
    ) -> Result<CodecSpec, FormatError> {
        let default = (!default_cname.is_empty()).then(|| Value::from(default_cname));
        let has_defaults = default.is_some();
        let (field, value) = self.get("cname", default)?;
        let name = field.text(&value)?;
        let cname = BloscName::from_name(name)
            .ok_or_else(|| field.unsupported(format!("blosc compressor {name:?}"), ""))?;
        let clevel = self.integer("clevel", has_defaults.then_some(5), (0, 9))?;
        let blocksize = self.integer("blocksize", Some(0), (0, i64::from(i32::MAX)))?;
        Ok(CodecSpec::Blosc {
            cname,
            clevel: u8::try_from(clevel).unwrap_or(5),
            shuffle,
            typesize: u8::try_from(typesize).unwrap_or(1),
            blocksize: u32::try_from(blocksize).unwrap_or(0),
        })
    }
}

/// As numcodecs writes it. `checksum` is left out when false: tensorstore refuses it.
pub(crate) fn write_v2_codec(codec: &CodecSpec) -> Value {
    match codec {
        CodecSpec::Blosc { cname, clevel, shuffle, typesize: _, blocksize } => json!({
            "id": "blosc", "cname": cname.name(), "clevel": clevel,
            "shuffle": shuffle.number(), "blocksize": blocksize,
        }),
        CodecSpec::Zstd { level, checksum: false } => json!({"id": "zstd", "level": level}),
        CodecSpec::Zstd { level, checksum: true } => {
            json!({"id": "zstd", "level": level, "checksum": true})
        }
        CodecSpec::Gzip { level } => json!({"id": "gzip", "level": level}),
        CodecSpec::Zlib { level } => json!({"id": "zlib", "level": level}),
        CodecSpec::Crc32c => json!({"id": "crc32c"}),
    }
}

/// As the v3 specification spells it.
pub(crate) fn write_v3_codec(codec: &CodecSpec) -> Value {
    let configuration = match codec {
        CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize } => json!({
            "cname": cname.name(), "clevel": clevel, "shuffle": shuffle.name(),
            "typesize": typesize, "blocksize": blocksize,
        }),
        CodecSpec::Zstd { level, checksum } => json!({"level": level, "checksum": checksum}),
        CodecSpec::Gzip { level } | CodecSpec::Zlib { level } => json!({"level": level}),
        CodecSpec::Crc32c => return json!({"name": "crc32c"}),
    };
    json!({"name": codec.name(), "configuration": configuration})
}
