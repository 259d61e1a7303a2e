//! Codecs by which elements of variable length can be told apart.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rechunk_format::variable::{VariableKind, VariableLayout};
use rechunk_format::{CodecCost, FormatError};
use rechunk_kernel::wide;
use serde_json::{Value, json};

use crate::choice::parse_codec_choice;
use crate::codec_json::{
    parse_v2_codec, parse_v3_codec, parse_v3_extension, write_v2_codec, write_v3_codec,
};
use crate::codec_spec::CodecSpec;
use crate::codecs::Chain;
use crate::element_type::ElementType;
use crate::field::Field;
use crate::json::text;
use crate::metadata::{ArrayMetadata, BLOSC_CHUNK_BYTES_MAX, ZarrVersion};
use crate::types_v2;

/// A `vlen` codec and those of the bytes that it makes.
#[derive(Debug, Clone)]
pub(crate) struct VariableCodecs {
    pub kind: VariableKind,
    /// The first codec as the metadata has it: of `vlen-array` it names the type of the items.
    first: Value,
    /// Codecs of the stream.
    pub codecs: Vec<CodecSpec>,
    fill: Option<Vec<u8>>,
}

impl VariableCodecs {
    /// The codecs of an array; `None` where they are not among those that are decoded here.
    pub(crate) fn of(metadata: &ArrayMetadata) -> Option<Self> {
        if !metadata.spec.data_type.is_variable() {
            return None;
        }
        let codecs = metadata.verbatim.codecs.as_ref()?;
        let (kind, first, codecs) = match metadata.version {
            ZarrVersion::V2 => of_v2(codecs)?,
            ZarrVersion::V3 => of_v3(codecs.as_array()?)?,
        };
        let fill = fill_element(metadata.verbatim.fill_value.as_ref()?, kind)?;
        Some(Self { kind, first, codecs, fill })
    }

    /// Whether these codecs of a chunk inside a shard are decoded here.
    pub(crate) fn are_known(codecs: &Value) -> bool {
        codecs.as_array().is_some_and(|codecs| of_v3(codecs).is_some())
    }

    /// The codecs as the type and the codecs of a v3 array; `None` for lists of numbers.
    pub(crate) fn in_v3(&self, codecs: &[CodecSpec]) -> Option<(Value, Value)> {
        let data_type = match self.kind {
            VariableKind::Text => "string",
            VariableKind::Bytes => "bytes",
            VariableKind::Items(_) => return None,
        };
        let first = json!({"name": self.kind.codec()});
        let all = [first].into_iter().chain(codecs.iter().map(write_v3_codec)).collect();
        Some((json!(data_type), all))
    }

    /// The codecs as filters and compressor of a v2 array.
    pub(crate) fn in_v2(&self, codecs: &[CodecSpec]) -> Value {
        let (filters, compressor) = match codecs.split_last() {
            Some((last, filters)) if last.is_compressor() => (filters, write_v2_codec(last)),
            _ => (codecs, Value::Null),
        };
        // Of the other version it has a name, and no settings.
        let first = match self.first.get("id") {
            Some(_) => self.first.clone(),
            None => json!({"id": self.kind.codec()}),
        };
        let filters: Vec<Value> =
            [first].into_iter().chain(filters.iter().map(write_v2_codec)).collect();
        json!({"filters": filters, "compressor": compressor})
    }

    /// The fill value as the other version says it, which is the same element; a sentence where it
    /// was none.
    pub(crate) fn fill_value(
        &self,
        source: &ArrayMetadata,
        warnings: &mut Vec<String>,
    ) -> Option<Value> {
        let value = source.verbatim.fill_value.as_ref()?;
        match value {
            Value::String(_) => Some(value.clone()),
            Value::Array(_) => self.fill.as_ref().map(|fill| json!(STANDARD.encode(fill))),
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
            Value::Number(number) if self.kind == VariableKind::Text => {
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

    fn chain(&self, stream_bytes: u64) -> Result<Chain, FormatError> {
        Chain::within(&self.codecs, stream_bytes)
    }
}

impl VariableLayout for VariableCodecs {
    fn kind(&self) -> VariableKind {
        self.kind
    }

    fn fill(&self) -> Option<&[u8]> {
        self.fill.as_deref()
    }

    fn cost(&self, stream_bytes: u64) -> Result<CodecCost, FormatError> {
        Ok(self.chain(stream_bytes)?.cost())
    }

    fn decode(
        &self,
        encoded: &[u8],
        limit_bytes: usize,
        stream: &mut Vec<u8>,
    ) -> Result<bool, FormatError> {
        self.chain(wide(limit_bytes))?.decode_within(encoded, stream)
    }

    fn encode(&self, stream: &[u8], encoded: &mut Vec<u8>) -> Result<(), FormatError> {
        let bytes = wide(stream.len());
        let is_blosc = |codec: &CodecSpec| matches!(codec, CodecSpec::Blosc { .. });
        if bytes > BLOSC_CHUNK_BYTES_MAX && self.codecs.iter().any(is_blosc) {
            let reason = format!(
                "a chunk of {bytes} bytes, but it holds at most {BLOSC_CHUNK_BYTES_MAX}: use \
                 smaller chunks or zstd"
            );
            return Err(FormatError::Encode { codec: "blosc", reason });
        }
        self.chain(bytes)?.encode(stream, encoded)
    }
}

type Known = (VariableKind, Value, Vec<CodecSpec>);

fn of_v2(codecs: &Value) -> Option<Known> {
    let (first, filters) = codecs["filters"].as_array()?.split_first()?;
    let kind = match text(&first["id"])? {
        "vlen-utf8" => VariableKind::Text,
        "vlen-bytes" => VariableKind::Bytes,
        "vlen-array" => {
            let field = Field::new(".zarray", "filters");
            let (data_type, _) = types_v2::parse(&field, text(&first["dtype"])?).ok()?;
            VariableKind::Items(data_type.item_bytes())
        }
        _ => return None,
    };
    let compressor = Some(&codecs["compressor"]).filter(|codec| !codec.is_null());
    let parse = |(field, codec): (Field, &Value)| parse_v2_codec(&field, codec, ElementType::BYTE);
    let filters = filters.iter().map(|filter| (Field::new(".zarray", "filters"), filter));
    let compressor = compressor.map(|codec| (Field::new(".zarray", "compressor"), codec));
    let codecs = filters.chain(compressor).map(parse).collect::<Result<Vec<_>, _>>().ok()?;
    take_bytes(&codecs).then(|| (kind, first.clone(), codecs))
}

fn of_v3(codecs: &[Value]) -> Option<Known> {
    let field = Field::new("zarr.json", "codecs");
    let (first, rest) = codecs.split_first()?;
    let (name, _) = parse_v3_extension(&field, first).ok()?;
    let kind = match name {
        "vlen-utf8" => VariableKind::Text,
        "vlen-bytes" => VariableKind::Bytes,
        _ => return None,
    };
    let parse = |codec: &Value| {
        let (name, configuration) = parse_v3_extension(&field, codec).ok()?;
        let endian = rechunk_grid::Endian::Little;
        parse_v3_codec(&field, name, &configuration, ElementType::BYTE, endian).ok()
    };
    let codecs = rest.iter().map(parse).collect::<Option<Vec<_>>>()?;
    take_bytes(&codecs).then(|| (kind, first.clone(), codecs))
}

/// Whether the codecs that are chosen by `text` ([`parse_codec_choice`]) take chunks of elements
/// that differ in length, which are any number of bytes.
pub fn takes_streams(text: &str) -> bool {
    parse_codec_choice(text).is_ok_and(|choice| {
        let in_v3 = choice.bound_to(ElementType::BYTE, ZarrVersion::V3);
        choice.is_keep() || in_v3.is_ok_and(|codecs| take_bytes(&codecs))
    })
}

/// Whether these codecs take any number of bytes: none of them is of elements or chunks.
pub(super) fn take_bytes(codecs: &[CodecSpec]) -> bool {
    codecs.iter().all(|codec| {
        codec.is_compressor() && !codec.is_array_to_bytes() && !codec.is_of_tiff()
            || matches!(codec, CodecSpec::Checksum { .. })
    })
}

/// The element of a fill value, `Some(None)` for null; `None` for what is no element of the kind.
#[expect(clippy::option_option, reason = "no fill value is something else than one that is odd")]
fn fill_element(value: &Value, kind: VariableKind) -> Option<Option<Vec<u8>>> {
    match (value, kind) {
        (Value::Null, _) => Some(None),
        (Value::String(text), VariableKind::Text) => Some(Some(text.clone().into_bytes())),
        (Value::String(text), VariableKind::Bytes) => STANDARD.decode(text).ok().map(Some),
        (Value::String(text), VariableKind::Items(_)) => text.is_empty().then(|| Some(Vec::new())),
        // As text zarr-python 3 reads it so; of others it is what nothing was said of.
        (Value::Number(number), VariableKind::Text) => Some(Some(number.to_string().into_bytes())),
        (Value::Number(number), _) => (number.as_i64() == Some(0)).then(|| Some(Vec::new())),
        (Value::Array(bytes), VariableKind::Text | VariableKind::Bytes) => {
            let byte = |value: &Value| u8::try_from(value.as_u64()?).ok();
            let bytes = bytes.iter().map(byte).collect::<Option<Vec<u8>>>()?;
            (bytes.is_empty() || kind == VariableKind::Bytes).then_some(Some(bytes))
        }
        (Value::Array(items), VariableKind::Items(_)) => items.is_empty().then(|| Some(Vec::new())),
        (Value::Bool(_) | Value::Object(_), _) => None,
    }
}
