//! The codecs a user asks for.

use rechunk_format::FormatError;
use rechunk_grid::Endian;
use serde_json::{Map, Value, json};

use crate::codec_json::{ZFP_NAMES, parse_v2_codec, parse_v3_codec, parse_v3_extension};
use crate::codec_spec::{BloscName, CodecSpec, Shuffle};
use crate::element_order::{parse_endian, parse_transpose};
use crate::element_type::ElementType;
use crate::field::Field;
use crate::json::read_object;
use crate::metadata::ZarrVersion;

/// Codecs that are not yet bound to a data type or a version.
#[derive(Debug, Clone, PartialEq)]
pub struct CodecChoice {
    codecs: Vec<Chosen>,
    endian: Option<Endian>,
    /// The configuration of `transpose`.
    transpose: Option<Map<String, Value>>,
    /// `bytes` was named.
    has_bytes: bool,
    /// The source's codecs stay, by whatever name there is for them.
    is_keep: bool,
}

/// A codec as it was named. What JSON means may depend on the elements.
#[derive(Debug, Clone, PartialEq)]
enum Chosen {
    Known(CodecSpec),
    V2(Value),
    V3(String, Map<String, Value>),
}

impl CodecChoice {
    /// True if the source's codecs stay, also those that few readers have.
    pub(crate) fn is_keep(&self) -> bool {
        self.is_keep
    }

    /// The byte order that was chosen with the codecs, if it was.
    pub(crate) fn endian(&self) -> Option<Endian> {
        self.endian
    }

    /// The order of the elements that was chosen with the codecs for chunks of `rank` axes, if it
    /// was: the slowest axis first.
    pub(crate) fn axes(&self, rank: usize) -> Result<Option<Vec<usize>>, FormatError> {
        let field = Field::new("--codec", "transpose").child("configuration");
        let as_they_are: Vec<usize> = (0..rank).collect();
        let axes = |configuration| parse_transpose(&field, configuration, &as_they_are);
        self.transpose.as_ref().map(axes).transpose()
    }

    /// The codecs for `element`s.
    pub(crate) fn bound_to(
        &self,
        element: ElementType,
        version: ZarrVersion,
    ) -> Result<Vec<CodecSpec>, FormatError> {
        let field = Field::new("--codec", "codec");
        let (mut codecs, mut input) = (Vec::with_capacity(self.codecs.len()), element);
        for chosen in &self.codecs {
            let mut codec = match chosen {
                Chosen::Known(codec) => codec.clone(),
                Chosen::V2(value) => parse_v2_codec(&field, value, input)?,
                Chosen::V3(name, map) => parse_v3_codec(&field, name, map, input, element.endian)?,
            };
            bind(&mut codec, input, element, version);
            input = codec.output(input);
            codecs.push(codec);
        }
        Ok(codecs)
    }
}

/// Blosc learns its typesize, and what v3 cannot leave open is decided. A codec of v3 is given
/// bytes; in v2 it may be given elements.
pub(crate) fn bind(
    codec: &mut CodecSpec,
    input: ElementType,
    element: ElementType,
    version: ZarrVersion,
) {
    let item_bytes = |element: ElementType| u8::try_from(element.item_bytes()).unwrap_or(1);
    if let CodecSpec::Blosc { typesize, .. } = codec {
        match version {
            // v2 metadata cannot say another typesize than that of the elements.
            ZarrVersion::V2 => *typesize = item_bytes(input),
            ZarrVersion::V3 if *typesize == 0 => *typesize = item_bytes(element),
            ZarrVersion::V3 => {}
        }
    }
    // What it worked on may have been left out.
    if let CodecSpec::Pcodec { element, .. } | CodecSpec::Zfp { element, .. } = codec {
        *element = input;
    }
    if version == ZarrVersion::V3
        && matches!(codec, CodecSpec::Blosc { .. } | CodecSpec::Gzip { .. })
    {
        *codec = codec.resolved();
    }
}

/// Reads the value of `--codec`. It is `zstd:3`, `gzip:5`, `zlib:5`, `blosc:lz4:5:shuffle` (each
/// part may be left out from the end), `lz4`, `bz2:9`, `lzma:6`, `pcodec:8`, `crc32c`, `none`,
/// `keep`, or JSON: a v2 object `{"id": "zstd", "level": 3}`, a v3 object `{"name": "zstd",
/// "configuration": {…}}`, a list of those in the order of encoding, `{"filters": […],
/// "compressor": {…}}`, or `null`.
pub fn parse_codec_choice(text: &str) -> Result<CodecChoice, FormatError> {
    let text = text.trim();
    let field = Field::new("--codec", text);
    if text.starts_with(['{', '[']) || text == "null" {
        return parse_json(text);
    }
    if text == "keep" {
        return Ok(CodecChoice { is_keep: true, ..CodecChoice::of(Vec::new()) });
    }
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    if rest.len() > parts_max(name) {
        return Err(field.invalid(format!("{name} does not take so many parts")));
    }
    let level = |default, range| level(&field, rest.first(), default, range);
    let codec = match name {
        "none" => None,
        "crc32c" => Some(Chosen::Known(CodecSpec::CRC32C)),
        "zstd" => {
            let level = level(3, (-131_072, 22))?;
            Some(Chosen::Known(CodecSpec::Zstd { level, checksum: false }))
        }
        "gzip" => Some(Chosen::Known(CodecSpec::Gzip { level: level(5, (0, 9))? })),
        "zlib" => Some(Chosen::Known(CodecSpec::Zlib { level: level(5, (-1, 9))? })),
        "lz4" => Some(Chosen::Known(CodecSpec::Lz4 { acceleration: 1 })),
        "bz2" => Some(Chosen::V2(json!({"id": "bz2", "level": level(9, (1, 9))?}))),
        "lzma" => Some(Chosen::V2(json!({"id": "lzma", "preset": level(6, (0, 9))?}))),
        "pcodec" => Some(Chosen::V2(json!({"id": "pcodec", "level": level(8, (0, 12))?}))),
        "blosc" => Some(Chosen::Known(parse_blosc(&field, &rest)?)),
        other => {
            let hint = "there are zstd, gzip, zlib, lz4, bz2, lzma, pcodec, blosc, crc32c, \
                        none and keep, and JSON for the others";
            return Err(field.unsupported(format!("codec {other:?}"), hint));
        }
    };
    Ok(CodecChoice::of(codec.into_iter().collect()))
}

/// Most parts that may follow a name.
fn parts_max(name: &str) -> usize {
    match name {
        "none" | "crc32c" | "lz4" => 0,
        "zstd" | "gzip" | "zlib" | "bz2" | "lzma" | "pcodec" => 1,
        "blosc" => 3,
        _ => usize::MAX,
    }
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

/// True for filters and a compressor. (LZMA of numcodecs has filters of its own.)
fn is_pair(map: &Map<String, Value>) -> bool {
    let has = |name| map.contains_key(name);
    (has("filters") || has("compressor")) && !has("id") && !has("name")
}

fn parse_json(text: &str) -> Result<CodecChoice, FormatError> {
    // The same reader as for documents, which wants an object.
    let map = read_object("--codec", format!("{{\"codec\": {text}}}").as_bytes())?;
    let value = map.get("codec").unwrap_or(&Value::Null);
    let list = match value {
        Value::Null => Vec::new(),
        Value::Array(list) => list.iter().collect(),
        // As `.zarray` has them.
        Value::Object(map) if is_pair(map) => {
            let field = Field::new("--codec", "filters");
            let filters = map.get("filters").filter(|value| !value.is_null());
            let filters = filters.map(|list| field.list(list)).transpose()?.unwrap_or_default();
            let compressor = map.get("compressor").filter(|value| !value.is_null());
            filters.iter().chain(compressor).collect()
        }
        object => vec![object],
    };
    let mut choice = CodecChoice::of(Vec::new());
    for value in list {
        choice.add(value)?;
    }
    Ok(choice)
}

impl CodecChoice {
    fn of(codecs: Vec<Chosen>) -> Self {
        let is_pcodec = |chosen: &Chosen| match chosen {
            Chosen::V2(value) => value.get("id").is_some_and(|id| id == "pcodec"),
            _ => false,
        };
        // It has no other byte order.
        let endian = codecs.iter().any(is_pcodec).then_some(Endian::Little);
        Self { codecs, endian, transpose: None, has_bytes: false, is_keep: false }
    }

    fn add(&mut self, value: &Value) -> Result<(), FormatError> {
        let field = Field::new("--codec", "codec");
        let (name, chosen) = if let Some(id) = value.get("id") {
            (field.child("id").text(id)?, Chosen::V2(value.clone()))
        } else {
            let (name, configuration) = parse_v3_extension(&field, value)?;
            (name, Chosen::V3(name.to_owned(), configuration))
        };
        match (name, &chosen) {
            ("transpose", Chosen::V3(_, configuration)) => {
                if self.transpose.is_some() || self.has_bytes || !self.codecs.is_empty() {
                    let hint = "it goes once, before all others";
                    return Err(field.unsupported("codec \"transpose\" here", hint));
                }
                self.transpose = Some(configuration.clone());
                return Ok(());
            }
            ("bytes", Chosen::V3(_, configuration)) => {
                let settings = field.child("configuration");
                self.endian = parse_endian(&settings, configuration)?.or(self.endian);
                self.has_bytes = true;
                return Ok(());
            }
            ("pcodec" | "numcodecs.pcodec" | "packbits" | "zfpy" | "numcodecs.zfpy", _) => {
                self.endian = Some(Endian::Little);
            }
            (name, Chosen::V3(..)) if ZFP_NAMES.contains(&name) => {
                self.endian = Some(Endian::Little);
            }
            _ => {}
        }
        self.codecs.push(chosen);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
