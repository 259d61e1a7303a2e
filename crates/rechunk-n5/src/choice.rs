//! The compression a user asks for.

use rechunk_codec::{BloscName, Shuffle};
use rechunk_format::FormatError;
use rechunk_format::field::Field;
use rechunk_format::json::read_object;
use serde_json::Value;

use crate::compression::Compression;

/// Reads the value of `--codec`. That is `gzip:5`, `zlib:5`, `zstd:3`, `bz2:9`, `xz:6`, `lz4:65536`
/// (bytes of a block), `blosc:lz4:5:shuffle` (each part may be left out from the end), `none`, or
/// N5's own JSON: `{"type": "gzip", "level": 5}`.
pub fn parse_compression(text: &str) -> Result<Compression, FormatError> {
    let text = text.trim();
    let field = Field::new("--codec", text);
    if text.starts_with('{') {
        let value = Value::Object(read_object("--codec", text.as_bytes())?);
        return Compression::parse(&Field::new("--codec", "codec"), &value);
    }
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let most = match name {
        "none" | "raw" => 0,
        "blosc" => 3,
        _ => 1,
    };
    if rest.len() > most {
        return Err(field.invalid(format!("{name} does not take so many parts")));
    }
    let number = |default: i64, low, high| match rest.first() {
        None => Ok(default),
        Some(part) => {
            field.integer(&part.parse::<i64>().map_or(Value::from(*part), Value::from), low, high)
        }
    };
    let narrow = |number: i64| i32::try_from(number).unwrap_or_default();
    let small = |number: i64| u8::try_from(number).unwrap_or_default();
    Ok(match name {
        "none" | "raw" => Compression::Raw,
        "gzip" => Compression::Gzip { level: narrow(number(5, 0, 9)?), use_zlib: false },
        "zlib" => Compression::Gzip { level: narrow(number(5, -1, 9)?), use_zlib: true },
        "zstd" => Compression::Zstd { level: narrow(number(3, -131_072, 22)?) },
        "bz2" | "bzip2" => Compression::Bzip2 { block_size: small(number(9, 1, 9)?) },
        "lzma" | "xz" => Compression::Xz { preset: small(number(6, 0, 9)?) },
        "lz4" => {
            let block_bytes = number(1 << 16, 64, 1 << 25)?;
            Compression::Lz4 { block_bytes: u32::try_from(block_bytes).unwrap_or_default() }
        }
        "blosc" => blosc(&field, &rest)?,
        other => {
            let hint = "N5 has gzip, zlib, zstd, bz2, xz, lz4, blosc and none";
            return Err(field.unsupported(format!("codec {other:?} in N5"), hint));
        }
    })
}

fn blosc(field: &Field, parts: &[&str]) -> Result<Compression, FormatError> {
    let part = |at: usize, default| parts.get(at).copied().unwrap_or(default);
    let cname = BloscName::from_name(part(0, "lz4")).ok_or_else(|| {
        let hint = "there are blosclz, lz4, lz4hc, snappy, zlib and zstd";
        field.unsupported(format!("blosc compressor {:?}", part(0, "lz4")), hint)
    })?;
    let clevel = part(1, "5").parse().ok().filter(|level| *level <= 9);
    let clevel = clevel
        .ok_or_else(|| field.invalid(format!("{:?} is not a level from 0 to 9", part(1, "5"))))?;
    let shuffle = match part(2, "shuffle") {
        "none" => Some(Shuffle::None),
        "byte" => Some(Shuffle::Byte),
        "bit" => Some(Shuffle::Bit),
        name => Shuffle::from_name(name),
    };
    let shuffle = shuffle.ok_or_else(|| {
        let wanted = "shuffle, bitshuffle, noshuffle or auto";
        field.invalid(format!("{:?} is not a shuffle: {wanted}", part(2, "shuffle")))
    })?;
    Ok(Compression::Blosc { cname, clevel, shuffle, blocksize: 0, typesize: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen() {
        for (text, shown) in [
            ("gzip", "gzip(level 5)"),
            ("zlib:1", "zlib(level 1)"),
            ("zstd:-4", "zstd(level -4)"),
            ("bz2:3", "bzip2(level 3)"),
            ("xz", "xz(preset 6)"),
            ("lz4:256", "lz4(blocks of 256 bytes)"),
            ("blosc:zstd:3:bit", "blosc(zstd, level 3, bitshuffle)"),
            ("none", "none"),
            (r#"{"type": "gzip", "useZlib": true}"#, "zlib(level -1)"),
        ] {
            assert_eq!(parse_compression(text).unwrap().to_string(), shown, "{text}");
        }
        for (text, reason) in [
            ("pcodec", "N5 has gzip"),
            ("gzip:10", "from 0 to 9"),
            ("gzip:x", "from 0 to 9"),
            ("gzip:1:2", "so many parts"),
            ("blosc:lz5", "blosclz"),
            ("blosc:lz4:12", "0 to 9"),
            ("blosc:lz4:1:x", "not a shuffle"),
            (r#"{"type": "lz5"}"#, "lz5"),
        ] {
            let error = parse_compression(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
