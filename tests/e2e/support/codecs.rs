//! The codecs, each in the words of a version: the rows of the tables.

use serde_json::{Value, json};

use super::types::Sample;

/// A codec, or something else that shapes the bytes of a chunk.
#[derive(Debug, Clone)]
pub(super) struct Codec {
    /// As metadata spells it, and as the table shows it.
    pub name: &'static str,
    pub kind: Kind,
}

/// Which types a codec is defined for, and how one asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any bytes.
    Bytes,
    /// Elements of these groups.
    Elements(&'static [&'static str]),
    /// Fortran order of the source, which is kept.
    Reversed,
    Shards,
}

const NUMBERS: &[&str] = &["int, uint", "float"];
const WITH_COMPLEX: &[&str] = &["int, uint", "float", "complex"];
const WITH_BOOL: &[&str] = &["bool", "int, uint", "float", "complex"];
const FLOAT: &[&str] = &["float"];
const BOOL: &[&str] = &["bool"];
/// Types that zarr-extensions allows for v3's `packbits` and `bitround`.
const BITS: &[&str] = &["bool", "int, uint", "float", "complex", "bfloat16", "small"];
/// And `scale_offset` and `cast_value`.
const COUNTED: &[&str] = &["int, uint", "float", "bfloat16", "small"];
const BITS_ROUNDED: &[&str] = &["int, uint", "float", "complex", "bfloat16"];

/// All but what differs in length.
const FIXED: &[&str] = &[
    "bool",
    "int, uint",
    "float",
    "complex",
    "bfloat16",
    "small",
    "date",
    "bytes",
    "text",
    "raw",
    "record",
];

/// The codecs of numcodecs, which v2 has as they are and v3 with a prefix.
const NUMCODECS: [(&str, &str, Kind); 17] = [
    ("zlib", "numcodecs.zlib", Kind::Bytes),
    ("lz4", "numcodecs.lz4", Kind::Bytes),
    ("bz2", "numcodecs.bz2", Kind::Bytes),
    ("lzma", "numcodecs.lzma", Kind::Bytes),
    ("shuffle", "numcodecs.shuffle", Kind::Bytes),
    ("crc32", "numcodecs.crc32", Kind::Bytes),
    ("adler32", "numcodecs.adler32", Kind::Bytes),
    ("fletcher32", "numcodecs.fletcher32", Kind::Bytes),
    ("jenkins_lookup3", "numcodecs.jenkins_lookup3", Kind::Bytes),
    ("delta", "numcodecs.delta", Kind::Elements(WITH_COMPLEX)),
    ("fixedscaleoffset", "numcodecs.fixedscaleoffset", Kind::Elements(NUMBERS)),
    ("quantize", "numcodecs.quantize", Kind::Elements(FLOAT)),
    ("astype", "numcodecs.astype", Kind::Elements(WITH_BOOL)),
    ("bitround", "numcodecs.bitround", Kind::Elements(FLOAT)),
    ("packbits", "numcodecs.packbits", Kind::Elements(BOOL)),
    ("pcodec", "numcodecs.pcodec", Kind::Elements(NUMBERS)),
    ("zfpy", "numcodecs.zfpy", Kind::Elements(NUMBERS)),
];

/// The rows of a version.
pub(super) fn codecs(version: u8) -> Vec<Codec> {
    let codec = |name, kind| Codec { name, kind };
    let reversed = if version == 2 { "order F" } else { "transpose" };
    let mut codecs = vec![
        codec("none", Kind::Bytes),
        codec(reversed, Kind::Reversed),
        codec("blosc", Kind::Bytes),
        codec("zstd", Kind::Bytes),
        codec("gzip", Kind::Bytes),
        codec("crc32c", Kind::Bytes),
    ];
    if version == 3 {
        codecs.push(codec("sharding_indexed", Kind::Shards));
        codecs.push(codec("packbits", Kind::Elements(BITS)));
        codecs.push(codec("bitround", Kind::Elements(BITS_ROUNDED)));
        codecs.push(codec("zfp", Kind::Elements(NUMBERS)));
        codecs.push(codec("scale_offset", Kind::Elements(COUNTED)));
        codecs.push(codec("cast_value", Kind::Elements(COUNTED)));
        codecs.push(codec("reshape", Kind::Elements(FIXED)));
    }
    let name = |row: &(&'static str, &'static str, Kind)| {
        codec(if version == 2 { row.0 } else { row.1 }, row.2)
    };
    codecs.extend(NUMCODECS.iter().map(name));
    codecs
}

impl Codec {
    /// Whether the codec is defined for the elements of a sample.
    pub(super) fn takes(&self, sample: &Sample) -> bool {
        match self.kind {
            Kind::Bytes => true,
            Kind::Elements(groups) => groups.contains(&sample.group),
            Kind::Reversed | Kind::Shards => !sample.is_variable(),
        }
    }

    /// Options that ask for it.
    pub(super) fn options(&self, version: u8, sample: &Sample) -> Vec<String> {
        let words: &[&str] = match self.kind {
            Kind::Reversed => &["--chunks", "4,3"],
            Kind::Shards => &["--chunks", "2,3", "--shards", "4,6", "--codec", "none"],
            _ if self.name == "none" => &["--chunks", "4,3", "--codec", "none"],
            _ => {
                let json = self.json(version, sample).to_string();
                return vec!["--chunks".into(), "4,3".into(), "--codec".into(), json];
            }
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn json(&self, version: u8, sample: &Sample) -> Value {
        let mut settings = self.settings(version, sample);
        if version == 3 {
            return json!({"name": self.name, "configuration": settings});
        }
        settings["id"] = json!(self.name);
        settings
    }

    fn settings(&self, version: u8, sample: &Sample) -> Value {
        let dtype = match version {
            2 => sample.numpy.to_owned(),
            // The codec "bytes" says the byte order.
            _ => sample.numpy.replace('>', "<"),
        };
        match self.name.trim_start_matches("numcodecs.") {
            "blosc" if version == 2 => {
                json!({"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0})
            }
            "blosc" => json!({
                "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0,
                "typesize": sample.item_bytes().max(1),
            }),
            "zstd" | "gzip" | "zlib" | "bz2" => json!({"level": 3}),
            "shuffle" => json!({"elementsize": sample.item_bytes().max(1)}),
            "delta" => json!({"dtype": dtype}),
            "fixedscaleoffset" => json!({"dtype": dtype, "offset": 100, "scale": 1}),
            "quantize" => json!({"dtype": dtype, "digits": 1}),
            "astype" => json!({"encode_dtype": dtype, "decode_dtype": dtype}),
            "bitround" => json!({"keepbits": 7}),
            "scale_offset" => json!({"offset": 0, "scale": 1}),
            "cast_value" => json!({"data_type": sample.v3_type()}),
            "reshape" => json!({"shape": [-1]}),
            _ => json!({}),
        }
    }

    /// The name we write it by: one that more readers know.
    pub(super) fn written_as(&self, version: u8) -> &'static str {
        match self.name {
            "bitround" if version == 3 => "numcodecs.bitround",
            name => name,
        }
    }

    /// Text of a document by which it has this codec.
    pub(super) fn mark(&self, version: u8) -> String {
        match self.written_as(version) {
            "none" => String::new(),
            "order F" => "\"order\":\"F\"".to_owned(),
            name if version == 2 => format!("\"id\":\"{name}\""),
            name => format!("\"name\":\"{name}\""),
        }
    }
}
