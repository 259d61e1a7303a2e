//! Elements that differ in length: strings, byte strings, lists, objects.
//!
//! Only their codec can tell one element from the next, so chunks are not decoded here: they are
//! copied as they are, and the metadata is carried as it stands. `vlen-utf8` and `vlen-bytes` have
//! the same bytes in v2 and v3, so that those arrays can change version on the way.

use rechunk_format::{CodecCost, FormatError};
use rechunk_grid::Endian;
use serde_json::{Map, Value, json};

use crate::choice::bind;
use crate::codec_json::{
    parse_v2_codec, parse_v3_codec, parse_v3_extension, write_v2_codec, write_v3_codec,
};
use crate::codec_names::SHARDING;
use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::field::Field;
use crate::json::text;
use crate::metadata::{ArrayMetadata, ZarrVersion};
use crate::target::TargetOptions;

/// Largest encoded chunk of such elements that is copied, bytes. Nothing in the metadata bounds
/// one, and memory for it has to be reserved before it is read.
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
    if let Some(strings) = Strings::of(metadata) {
        let resolved: Vec<_> = strings.codecs.iter().map(CodecSpec::resolved).collect();
        return format!("variable {} {axes:?} {resolved:?}", strings.codec);
    }
    let Some(codecs) = &metadata.verbatim.codecs else { return String::new() };
    format!("variable {:?} {axes:?} {codecs}", metadata.version)
}

/// Cost as far as it is known: nothing is decoded.
pub(crate) fn cost() -> CodecCost {
    CodecCost {
        name: "none".to_owned(),
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
fn refusal(metadata: &ArrayMetadata, what: &str) -> FormatError {
    let name = match metadata.version {
        ZarrVersion::V2 => "dtype",
        ZarrVersion::V3 => "data_type",
    };
    let field = Field::new(metadata.version.document_key(), name);
    field.unsupported(format!("{what} ({})", metadata.data_type_name()), ADVICE)
}

/// The metadata of a target that takes the chunks over as they are; the reason where it cannot.
pub(crate) fn target(
    source: &ArrayMetadata,
    options: &TargetOptions,
) -> Result<(ArrayMetadata, Vec<String>), FormatError> {
    let spec = &source.spec;
    // A chunk larger than the array is cut to its size by whoever asks for the same chunks.
    let clipped = spec.chunk_shape.iter().zip(&spec.shape).map(|(c, n)| *c.min(n.max(&1)));
    let is_kept =
        options.chunk_shape == spec.chunk_shape || options.chunk_shape.iter().copied().eq(clipped);
    if spec.edges.is_some() {
        return Err(refusal(source, "writing chunks of different lengths"));
    }
    if !is_kept {
        return Err(refusal(source, "re-cutting elements of variable length"));
    }
    if options.shard_shape.is_some() {
        return Err(refusal(source, "shards of elements of variable length"));
    }
    if options.chosen().is_some() {
        return Err(refusal(source, "another codec for elements of variable length"));
    }
    if options.version == source.version {
        let mut target = source.clone();
        let odd = crate::target::odd_null(source);
        if odd.is_some() {
            target.verbatim.fill_value = Some(json!(""));
        }
        return Ok((target, odd.into_iter().collect()));
    }
    let unlike = || refusal(source, "elements of variable length in another version of Zarr");
    let strings = Strings::of(source).ok_or_else(unlike)?;
    let mut warnings = Vec::new();
    let mut target = source.clone();
    target.version = options.version;
    target.key_encoding = crate::target::key_encoding(source, options.version);
    target.verbatim.fill_value =
        Some(strings.fill_value(source, &mut warnings).ok_or_else(unlike)?);
    let (data_type, codecs) = match options.version {
        ZarrVersion::V2 => (json!("|O"), strings.v2_codecs()),
        ZarrVersion::V3 => (json!(strings.v3_type()), strings.v3_codecs(source)),
    };
    target.verbatim.data_type = Some(data_type);
    target.verbatim.codecs = Some(codecs.ok_or_else(unlike)?);
    if options.version == ZarrVersion::V2 {
        crate::target::drop_v3_only(&mut target, &mut warnings);
        crate::target::name_scalar(source, &mut target);
    }
    target.check()?;
    Ok((target, warnings))
}

/// Strings or byte strings whose chunks are the same in v2 and v3.
#[derive(Debug)]
struct Strings {
    /// `vlen-utf8` or `vlen-bytes`.
    codec: &'static str,
    /// Codecs of their bytes.
    codecs: Vec<CodecSpec>,
}

impl Strings {
    fn of(metadata: &ArrayMetadata) -> Option<Self> {
        let codecs = metadata.verbatim.codecs.as_ref()?;
        match metadata.version {
            ZarrVersion::V2 => Self::of_v2(codecs),
            ZarrVersion::V3 => Self::of_v3(codecs.as_array()?),
        }
    }

    fn of_v2(codecs: &Value) -> Option<Self> {
        let [filter] = codecs["filters"].as_array()?.as_slice() else { return None };
        let field = Field::new(".zarray", "compressor");
        let compressor = Some(&codecs["compressor"]).filter(|codec| !codec.is_null());
        let codecs =
            compressor.map(|codec| parse_v2_codec(&field, codec, ElementType::BYTE)).into_iter();
        Some(Self {
            codec: known(text(&filter["id"])?)?,
            codecs: codecs.collect::<Result<_, _>>().ok()?,
        })
    }

    fn of_v3(codecs: &[Value]) -> Option<Self> {
        let field = Field::new("zarr.json", "codecs");
        let (first, rest) = codecs.split_first()?;
        let (name, _) = parse_v3_extension(&field, first).ok()?;
        let parse = |codec: &Value| {
            let (name, configuration) = parse_v3_extension(&field, codec).ok()?;
            parse_v3_codec(&field, name, &configuration, ElementType::BYTE, Endian::Little).ok()
        };
        Some(Self { codec: known(name)?, codecs: rest.iter().map(parse).collect::<Option<_>>()? })
    }

    fn v3_type(&self) -> &'static str {
        if self.codec == "vlen-utf8" { "string" } else { "bytes" }
    }

    /// `None` where v2 has no such codecs.
    fn v2_codecs(&self) -> Option<Value> {
        let compressor = match self.codecs.as_slice() {
            [] => Value::Null,
            [codec] => {
                codec.check_version(ZarrVersion::V2).ok()?;
                write_v2_codec(codec)
            }
            _ => return None,
        };
        let same =
            Self::of_v2(&json!({"filters": [{"id": self.codec}], "compressor": compressor}))?;
        // v2 cannot say every setting: the typesize of Blosc is always that of a byte.
        (same
            .codecs
            .iter()
            .map(CodecSpec::resolved)
            .eq(self.codecs.iter().map(CodecSpec::resolved)))
        .then(|| json!({"filters": [{"id": self.codec}], "compressor": compressor}))
    }

    /// `None` where v3 has no such codecs.
    fn v3_codecs(&self, source: &ArrayMetadata) -> Option<Value> {
        let axes = &source.order.axes;
        if !axes.iter().copied().eq(0..axes.len()) {
            return None;
        }
        let mut codecs = self.codecs.clone();
        for codec in &mut codecs {
            bind(codec, ElementType::BYTE, ElementType::BYTE, ZarrVersion::V3);
            codec.check_version(ZarrVersion::V3).ok()?;
        }
        let first = json!({"name": self.codec});
        Some([first].into_iter().chain(codecs.iter().map(write_v3_codec)).collect())
    }

    /// The fill value in the other version.
    fn fill_value(&self, source: &ArrayMetadata, warnings: &mut Vec<String>) -> Option<Value> {
        let value = source.verbatim.fill_value.as_ref()?;
        match value {
            Value::String(_) => Some(value.clone()),
            Value::Array(list) if list.is_empty() => Some(json!("")),
            Value::Null if source.version == ZarrVersion::V3 => {
                warnings.extend(crate::target::odd_null(source));
                Some(Value::Null)
            }
            Value::Null => {
                let reason = "Zarr v3 needs a fill value: null becomes an empty element";
                warnings.push(reason.to_owned());
                Some(json!(""))
            }
            // zarr-python 2 takes 0 for the fill value of everything unless it is told; as text,
            // zarr-python 3 reads it so.
            Value::Number(number) if self.codec == "vlen-utf8" => {
                warnings.push(format!("the fill value {number} becomes the text \"{number}\""));
                Some(Value::from(number.to_string()))
            }
            Value::Number(number) => {
                warnings.push(format!("the fill value {number} becomes an empty element"));
                Some(json!(""))
            }
            _ => None,
        }
    }
}

fn known(name: &str) -> Option<&'static str> {
    ["vlen-utf8", "vlen-bytes"].into_iter().find(|known| *known == name)
}

#[cfg(test)]
mod tests;
