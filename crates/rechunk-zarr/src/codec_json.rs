//! Codecs as v2 and v3 metadata spell them.

use rechunk_format::FormatError;
use rechunk_grid::Endian;
use serde_json::{Map, Value};

use crate::codec_spec::{BloscName, ChecksumKind, CodecSpec, Shuffle};
use crate::element_type::ElementType;
use crate::field::{Field, shown};
use crate::json::text;
use crate::metadata::ZarrVersion;

mod extensions;
mod filters;
mod imagecodecs;
mod more;
mod write;
mod zfp;

pub(crate) use filters::refuse_little_endian;
pub(crate) use write::{write_v2_codec, write_v3_codec};
pub(crate) use zfp::{NAMES as ZFP_NAMES, zfp_element};

/// Prefix that v3 gives the names of numcodecs.
const NUMCODECS: &str = "numcodecs.";

/// A numcodecs object, `{"id": "zstd", "level": 3}`, for a buffer of `input` elements. Those are
/// what Blosc takes for its typesize where the object does not name one.
pub(crate) fn parse_v2_codec(
    field: &Field,
    value: &Value,
    input: ElementType,
) -> Result<CodecSpec, FormatError> {
    let map = field.object(value)?;
    let id = map.get("id").ok_or_else(|| field.child("id").invalid("is missing"))?;
    let order = Endian::Little;
    let settings = Settings { field, map, input, order, version: ZarrVersion::V2 };
    settings.numcodecs(field.child("id").text(id)?)
}

/// A v3 codec by its name and configuration, for elements of `input`: all but `bytes`, which says
/// the `order` of what filters leave, and `transpose`.
pub(crate) fn parse_v3_codec(
    field: &Field,
    name: &str,
    configuration: &Map<String, Value>,
    input: ElementType,
    order: Endian,
) -> Result<CodecSpec, FormatError> {
    let map = configuration;
    let settings = Settings { field, map, input, order, version: ZarrVersion::V3 };
    match name {
        "blosc" => settings.blosc_v3(),
        "zstd" => settings.zstd(None),
        "gzip" => Ok(CodecSpec::Gzip { level: settings.deflate_level(None)? }),
        "crc32c" => Ok(CodecSpec::CRC32C),
        "bitround" => settings.bit_round(),
        "packbits" => settings.pack_bits_v3(),
        "scale_offset" => settings.scale_offset(),
        "cast_value" => settings.cast_value(),
        "reshape" | "zarrs.reshape" => settings.reshape(),
        // Names without the prefix are in use, though nobody has registered them.
        "bz2" | "zlib" | "pcodec" => settings.numcodecs(name),
        name if zfp::NAMES.contains(&name) => settings.zfp(),
        other => match other.strip_prefix(NUMCODECS) {
            // It looks at bytes there, not at elements: so does its choice of a shuffle.
            Some(id @ "blosc") => {
                let settings = Settings { input: ElementType::BYTE, ..settings };
                settings.numcodecs(id).map(|codec| codec.resolved())
            }
            Some(id) => settings.numcodecs(id),
            None if imagecodecs::is_named(name) => settings.imagecodecs(name),
            None => Err(field.unsupported(format!("codec {other:?}"), "")),
        },
    }
}

/// Name and configuration of a v3 extension point: an object, or the name alone.
pub(crate) fn parse_v3_extension<'v>(
    field: &Field,
    value: &'v Value,
) -> Result<(&'v str, Map<String, Value>), FormatError> {
    if let Some(name) = text(value) {
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
    /// Type of the elements that the codec encodes.
    input: ElementType,
    /// Byte order of types that do not say theirs.
    order: Endian,
    /// Version of which this is the spelling.
    version: ZarrVersion,
}

impl Settings<'_> {
    /// A codec by its name in numcodecs.
    fn numcodecs(&self, id: &str) -> Result<CodecSpec, FormatError> {
        match id {
            "blosc" => self.blosc_v2(),
            "zstd" => self.zstd(Some(0)),
            "gzip" => Ok(CodecSpec::Gzip { level: self.deflate_level(Some(1))? }),
            "zlib" => Ok(CodecSpec::Zlib { level: self.deflate_level(Some(1))? }),
            "lz4" => self.lz4(),
            "bz2" => self.bz2(),
            "lzma" => self.lzma(),
            "pcodec" => self.pcodec(),
            "shuffle" => self.shuffle(),
            "delta" => self.delta(),
            "fixedscaleoffset" => self.fixed_scale_offset(),
            "quantize" => self.quantize(),
            "astype" => self.as_type(),
            "bitround" => self.bit_round(),
            "packbits" => self.pack_bits(),
            "zfpy" => self.zfpy(),
            "jenkins_lookup3" => {
                let hint = "nobody but its own tests is known to write it";
                Err(self.field.unsupported("codec \"jenkins_lookup3\"", hint))
            }
            other if imagecodecs::is_named(other) => self.imagecodecs(other),
            other => match ChecksumKind::from_name(other) {
                Some(kind) => self.checksum(kind),
                None => Err(self.field.unsupported(format!("codec {other:?}"), "")),
            },
        }
    }

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
        // GDAL writes its own words for it into v2. Frames say themselves whether they have one.
        let checksum = match (self.version, text(&checksum)) {
            (ZarrVersion::V2, Some("NO")) => false,
            (ZarrVersion::V2, Some("YES")) => true,
            _ => field.boolean(&checksum)?,
        };
        Ok(CodecSpec::Zstd { level, checksum })
    }

    fn blosc_v2(&self) -> Result<CodecSpec, FormatError> {
        let item_bytes = self.input.data_type.item_bytes();
        let number = self.integer("shuffle", Some(1), (-1, 2))?;
        let shuffle = Shuffle::from_number(number).unwrap_or(Shuffle::Auto);
        // As Blosc: elements of more bytes than it can count are bytes.
        let most = i64::from(i32::MAX);
        let typesize = self.integer("typesize", i64::try_from(item_bytes).ok(), (0, most))?;
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

#[cfg(test)]
mod tests;
