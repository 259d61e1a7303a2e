//! Codecs under the names of the package imagecodecs, which references to TIFF files have.

use rechunk_format::FormatError;
use serde_json::Value;

use super::Settings;
use crate::codec_spec::{CodecSpec, LzmaCheck, LzmaFormat, LzmaSpec, Predictor, TiffCompressor};
use crate::metadata::ZarrVersion;

/// Prefix of their names.
const PREFIX: &str = "imagecodecs_";

/// Levels that zlib's stream says nothing of to a reader: what is written again has this one.
const DEFLATE_LEVEL: i32 = 6;

/// True for a name of imagecodecs.
pub(super) fn is_named(name: &str) -> bool {
    name.starts_with(PREFIX)
}

impl Settings<'_> {
    pub(super) fn imagecodecs(&self, name: &str) -> Result<CodecSpec, FormatError> {
        match name.strip_prefix(PREFIX).unwrap_or_default() {
            "zstd" => Ok(CodecSpec::Zstd { level: self.level(3, 22)?, checksum: false }),
            "zlib" | "zlibng" => self.zlib_stream(),
            "deflate" if !self.flag("raw")? => self.zlib_stream(),
            "gzip" => Ok(CodecSpec::Gzip { level: self.level(DEFLATE_LEVEL, 9)? }),
            "bz2" => {
                let level = u8::try_from(self.level(9, 9)?.max(1)).unwrap_or(9);
                Ok(CodecSpec::Bz2 { level })
            }
            "lzma" => {
                let preset = u32::try_from(self.level(6, 9)?).ok();
                let (format, check) = (LzmaFormat::Xz, LzmaCheck::Crc64);
                Ok(CodecSpec::Lzma(LzmaSpec { format, check, preset, filters: None }))
            }
            "lz4" if self.flag("header")? => Ok(CodecSpec::Lz4 { acceleration: 1 }),
            "lzw" => Ok(CodecSpec::Tiff(TiffCompressor::Lzw)),
            "packbits" => Ok(CodecSpec::Tiff(TiffCompressor::PackBits)),
            "delta" => self.predictor(false),
            "floatpred" => self.predictor(true),
            _ => Err(self.field.unsupported(format!("codec {name:?}"), "")),
        }
    }

    fn zlib_stream(&self) -> Result<CodecSpec, FormatError> {
        Ok(CodecSpec::Zlib { level: self.level(DEFLATE_LEVEL, 9)? })
    }

    /// The level, or `default`: no decoder needs it. imagecodecs takes the nearest that there is.
    fn level(&self, default: i32, highest: i64) -> Result<i32, FormatError> {
        let (field, value) = self.get("level", Some(Value::from(default)))?;
        Ok(i32::try_from(field.clamped(&value, 0, highest)?).unwrap_or(default))
    }

    fn flag(&self, name: &str) -> Result<bool, FormatError> {
        let (field, value) = self.get(name, Some(Value::Bool(false)))?;
        field.boolean(&value)
    }

    fn predictor(&self, is_float: bool) -> Result<CodecSpec, FormatError> {
        let axis = self.integer("axis", Some(-1), (-64, 63))?;
        // Others are of digital negatives, and imagecodecs does not read them either.
        let dist = self.integer("dist", Some(1), (1, 4))?;
        if dist != 1 {
            let field = self.field.child("dist");
            return Err(field.unsupported(format!("a predictor over {dist} elements"), ""));
        }
        let (element, shape) = match self.version {
            ZarrVersion::V3 => (self.input, Vec::new()),
            ZarrVersion::V2 => {
                let (field, value) = self.get("shape", None)?;
                (self.element("dtype", None)?, field.shape(&value)?)
            }
        };
        let is_odd = is_float && !matches!(element.item_bytes(), 2 | 4 | 8);
        if is_odd || !(element.is_integer() || element.is_float()) {
            let what = format!("this predictor on {}", element.data_type.name());
            return Err(self.field.unsupported(what, ""));
        }
        Ok(CodecSpec::Predictor(Box::new(Predictor { is_float, element, shape, axis })))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::codec_json::{parse_v2_codec, parse_v3_codec};
    use crate::element_type::ElementType;
    use crate::field::Field;
    use rechunk_grid::{DataType, Endian};

    #[test]
    fn names_of_imagecodecs_are_those_of_numcodecs_or_of_tiff() {
        let field = Field::new("test", "codec");
        let uint16 = ElementType::new(DataType::Uint16, Endian::Little);
        for (codec, name) in [
            (json!({"id": "imagecodecs_zstd"}), "zstd(level 3)"),
            (json!({"id": "imagecodecs_zstd", "level": null}), "zstd(level 3)"),
            (json!({"id": "imagecodecs_zstd", "level": 99}), "zstd(level 22)"),
            (json!({"id": "imagecodecs_zlib", "level": 4}), "zlib(level 4)"),
            (json!({"id": "imagecodecs_deflate"}), "zlib(level 6)"),
            (json!({"id": "imagecodecs_deflate", "raw": false}), "zlib(level 6)"),
            (json!({"id": "imagecodecs_gzip"}), "gzip(level 6)"),
            (json!({"id": "imagecodecs_bz2"}), "bz2(level 9)"),
            (json!({"id": "imagecodecs_lz4", "header": true}), "lz4"),
            (json!({"id": "imagecodecs_lzw"}), "imagecodecs_lzw"),
            (json!({"id": "imagecodecs_packbits"}), "imagecodecs_packbits"),
            (
                json!({"id": "imagecodecs_delta", "axis": -1, "dist": 1, "shape": [2, 3], "dtype": "<u2"}),
                "imagecodecs_delta",
            ),
            (
                json!({"id": "imagecodecs_floatpred", "shape": [2, 3], "dtype": ">f4"}),
                "imagecodecs_floatpred",
            ),
        ] {
            assert_eq!(parse_v2_codec(&field, &codec, uint16).unwrap().to_string(), name);
        }
        for (codec, words) in [
            (json!({"id": "imagecodecs_deflate", "raw": true}), "imagecodecs_deflate"),
            (json!({"id": "imagecodecs_lz4"}), "imagecodecs_lz4"),
            (json!({"id": "imagecodecs_jpeg"}), "imagecodecs_jpeg"),
            (json!({"id": "imagecodecs_"}), "imagecodecs_"),
            (json!({"id": "imagecodecs_delta", "shape": [6], "dtype": "<u2", "dist": 2}), "over 2"),
            (json!({"id": "imagecodecs_delta", "shape": [6]}), "dtype"),
            (json!({"id": "imagecodecs_delta", "dtype": "<u2"}), "shape"),
            (json!({"id": "imagecodecs_delta", "shape": [6], "dtype": "<c8"}), "dtype"),
            (json!({"id": "imagecodecs_floatpred", "shape": [6], "dtype": "|u1"}), "uint8"),
        ] {
            let error = parse_v2_codec(&field, &codec, uint16).unwrap_err().to_string();
            assert!(error.contains(words), "{codec}: {error}");
        }
        let map = serde_json::Map::new();
        let parse = |name| parse_v3_codec(&field, name, &map, uint16, Endian::Little);
        let delta = parse("imagecodecs_delta").unwrap();
        assert!(delta.is_array_to_array() && delta.output(uint16) == uint16);
        assert!(parse("imagecodecs_floatpred").unwrap().is_array_to_bytes());
        assert!(parse("imagecodecs_lzw").unwrap().is_compressor());
    }
}
