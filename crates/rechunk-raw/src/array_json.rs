//! `array.json`: an array with a file per block.

use rechunk_format::field::{Field, shown};
use rechunk_format::json::{read_object, write_pretty};
use rechunk_format::{ElementOrder, FormatError};
use rechunk_grid::{ArraySpec, Endian, RANK_MAX};
use serde_json::{Map, Value, json};

use crate::{Files, KeyTemplate, RawMetadata, element_name};

/// Key of the document.
pub const ARRAY_JSON: &str = "array.json";

fn field(name: &str) -> Field {
    Field::new(ARRAY_JSON, name)
}

/// Reads `array.json`. Every member is checked, and one that is not known is refused.
pub fn parse_array_json(document: &[u8]) -> Result<RawMetadata, FormatError> {
    let mut map = read_object(ARRAY_JSON, document)?;
    let mut take = |name: &str| Field::take(&mut map, name);
    let required =
        |name: &str, value: Option<Value>| value.ok_or_else(|| field(name).invalid("is missing"));
    let shape = parse_shape("shape", &required("shape", take("shape"))?)?;
    let chunk_shape = parse_shape("chunk_shape", &required("chunk_shape", take("chunk_shape"))?)?;
    let data_type = required("data_type", take("data_type"))?;
    let (data_type, record) = element_name::parse(&field("data_type"), &data_type)?;
    let endian = match take("endian") {
        Some(value) => parse_endian(&value)?,
        None if data_type.swap_bytes() == 1 => Endian::Little,
        None => return Err(field("endian").invalid("is missing")),
    };
    let rank = shape.len();
    if chunk_shape.len() != rank {
        let reason = format!("{} axes, but the shape has {rank}", chunk_shape.len());
        return Err(field("chunk_shape").invalid(reason));
    }
    let axes = take("order").map_or_else(|| Ok((0..rank).collect()), |v| parse_order(&v, rank))?;
    let key = required("key", take("key"))?;
    let key = KeyTemplate::parse(&field("key"), field("key").text(&key)?, rank)?;
    let offset_bytes = take("offset_bytes").map_or(Ok(0), |value| parse_offset(&value))?;
    let dimension_names = take("dimension_names").map(|v| parse_names(&v)).transpose()?;
    let attributes = match take("attributes") {
        Some(value) => field("attributes").object(&value)?.clone(),
        None => Map::new(),
    };
    // A `null` that was not asked for says nothing.
    if let Some((name, value)) = map.iter().find(|(_, value)| !value.is_null()) {
        let what = format!("this member ({})", shown(value));
        return Err(field(name).unsupported(what, "it may change what the elements mean"));
    }
    let spec =
        ArraySpec { shape, data_type, chunk_shape, fill_value: None, dimension_names, edges: None };
    let order = ElementOrder { axes, endian };
    let files = Files::Blocks { key, offset_bytes };
    let metadata = RawMetadata { spec, order, files, record, attributes };
    metadata.check().map(|()| metadata)
}

fn parse_shape(name: &str, value: &Value) -> Result<Vec<u64>, FormatError> {
    let shape = field(name).shape(value)?;
    if shape.len() > RANK_MAX {
        return Err(field(name).unsupported(format!("{} axes", shape.len()), ""));
    }
    Ok(shape)
}

fn parse_endian(value: &Value) -> Result<Endian, FormatError> {
    match field("endian").text(value)? {
        "little" => Ok(Endian::Little),
        "big" => Ok(Endian::Big),
        _ => Err(field("endian").invalid(format!("{} is not little or big", shown(value)))),
    }
}

fn parse_order(value: &Value, rank: usize) -> Result<Vec<usize>, FormatError> {
    match field("order").text(value)? {
        "C" => Ok((0..rank).collect()),
        "F" => Ok((0..rank).rev().collect()),
        _ => Err(field("order").invalid(format!("{} is not C or F", shown(value)))),
    }
}

fn parse_offset(value: &Value) -> Result<u64, FormatError> {
    let most = i64::MAX;
    let offset = field("offset_bytes").integer(value, 0, most)?;
    u64::try_from(offset).map_err(|error| field("offset_bytes").invalid(error.to_string()))
}

fn parse_names(value: &Value) -> Result<Vec<Option<String>>, FormatError> {
    let name = |value: &Value| match value {
        Value::Null => Ok(None),
        other => field("dimension_names").text(other).map(|name| Some(name.to_owned())),
    };
    field("dimension_names").list(value)?.iter().map(name).collect()
}

impl RawMetadata {
    /// The document of an array with a file per block; an array that is one file has none.
    pub fn array_json(&self) -> Result<Option<Vec<u8>>, FormatError> {
        let Files::Blocks { key, offset_bytes } = &self.files else { return Ok(None) };
        let rank = self.spec.shape.len();
        let is_c = self.order.axes.iter().copied().eq(0..rank);
        if !is_c && !self.order.axes.iter().copied().eq((0..rank).rev()) {
            let what = format!("order {:?} of the axes", self.order.axes);
            return Err(field("order").unsupported(what, "only C and F are"));
        }
        let data_type = match (&self.record, element_name::write(self.spec.data_type)) {
            (Some(record), _) => record.clone(),
            (None, Some(name)) => Value::from(name),
            (None, None) => {
                let what = format!("data type {}", self.spec.data_type);
                return Err(field("data_type").unsupported(what, ""));
            }
        };
        let mut document = json!({
            "shape": self.spec.shape,
            "data_type": data_type,
            "endian": match self.order.endian { Endian::Little => "little", Endian::Big => "big" },
            "order": if is_c { "C" } else { "F" },
            "chunk_shape": self.spec.chunk_shape,
            "key": key.to_string(),
            "offset_bytes": offset_bytes,
        });
        if let Some(names) = &self.spec.dimension_names {
            document["dimension_names"] = json!(names);
        }
        if !self.attributes.is_empty() {
            document["attributes"] = Value::Object(self.attributes.clone());
        }
        Ok(Some(write_pretty(&document)))
    }
}

#[cfg(test)]
mod tests {
    use rechunk_grid::{DataType, TimeUnit};

    use super::*;

    const PLAIN: &str = r#"{"shape": [5, 4, 3], "data_type": "uint16", "endian": "big",
        "order": "F", "chunk_shape": [2, 2, 3], "key": "{0}_{1}_{2}.bin", "offset_bytes": 16}"#;

    fn parse(text: &str) -> Result<RawMetadata, String> {
        parse_array_json(text.as_bytes()).map_err(|error| error.to_string())
    }

    /// The plain document with other members.
    fn with(changes: &Value) -> Result<RawMetadata, String> {
        let mut document: Value = serde_json::from_str(PLAIN).unwrap();
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        parse(&document.to_string())
    }

    #[test]
    fn a_document_is_read_and_written() {
        let metadata = parse(PLAIN).unwrap();
        assert_eq!(metadata.spec.shape, [5, 4, 3]);
        assert_eq!(
            (metadata.spec.data_type, metadata.order.endian),
            (DataType::Uint16, Endian::Big)
        );
        assert_eq!(metadata.order.axes, [2, 1, 0]);
        assert_eq!(metadata.file_key(&[2, 1, 0]), "2_1_0.bin");
        // 1 × 2 × 3 of 2 bytes, and the offset.
        assert_eq!(metadata.file_bytes(&[2, 1, 0]), Ok(28));
        let more = json!({
            "attributes": {"a": 1.5, "b": {"c": []}}, "dimension_names": ["z", null, "x"],
            "order": "C", "offset_bytes": 0,
        });
        for metadata in [metadata, with(&more).unwrap()] {
            let again = parse_array_json(&metadata.array_json().unwrap().unwrap()).unwrap();
            assert_eq!(again, metadata);
        }
        let nan =
            PLAIN.replace("\"offset_bytes\"", "\"attributes\": {\"v\": NaN}, \"offset_bytes\"");
        let written = parse(&nan).unwrap().array_json().unwrap().unwrap();
        assert!(String::from_utf8(written).unwrap().contains("\"v\": NaN"));
    }

    #[test]
    fn types_with_parameters_and_records() {
        let data_type = |value: Value| with(&json!({"data_type": value}));
        let time = data_type(json!("M8[10us]")).unwrap();
        let unit = TimeUnit::Microsecond;
        assert_eq!(time.spec.data_type, DataType::DateTime64 { unit, scale: 10 });
        let record = data_type(json!([["a", "<i4"], ["b", ">f8", [2]], [["t", "c"], "|S3"]]));
        let record = record.unwrap();
        assert_eq!(record.spec.data_type, DataType::Structured { bytes: 23 });
        for metadata in [time, record, data_type(json!("S5")).unwrap()] {
            let again = parse_array_json(&metadata.array_json().unwrap().unwrap()).unwrap();
            assert_eq!(again, metadata);
        }
        for wrong in [json!("object"), json!("S0"), json!("S9999999"), json!(2), json!([])] {
            assert!(data_type(wrong.clone()).unwrap_err().contains("data_type"), "{wrong}");
        }
        for wrong in [json!([["a"]]), json!([["a", "|O"]]), json!([["a", "<i4", [1_u64 << 40]]])] {
            assert!(data_type(wrong.clone()).unwrap_err().contains("data_type"), "{wrong}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (changes, why) in [
            (json!({"shape": null}), "\"shape\": is missing"),
            (json!({"endian": null}), "\"endian\": is missing"),
            (json!({"shape": [5, 4]}), "3 axes, but the shape has 2"),
            (json!({"shape": [5, -4, 3]}), "non-negative"),
            (json!({"shape": [u64::MAX, 4, 3]}), "63 bits"),
            (json!({"shape": [1_u64 << 61, 2, 1]}), "63 bits"),
            (json!({"shape": [0, 1_u64 << 61, 2]}), "63 bits"),
            (json!({"shape": vec![1; 33]}), "33 axes"),
            (json!({"chunk_shape": [0, 2, 3]}), "is 0"),
            (json!({"chunk_shape": [1_u64 << 41, 1, 1]}), "chunks of more than"),
            (json!({"order": "K"}), "is not C or F"),
            (json!({"endian": "native"}), "is not little or big"),
            (json!({"key": "{0}.bin"}), "does not stand"),
            (json!({"key": "../{0}_{1}_{2}"}), "no name"),
            (json!({"offset_bytes": -1}), "offset_bytes"),
            (json!({"offset_bytes": i64::MAX}), "63 bits"),
            (json!({"compressor": "zlib"}), "this member (\"zlib\") is not supported"),
            (json!({"dimension_names": ["z"]}), "name for each"),
            (json!({"attributes": []}), "expected an object"),
        ] {
            let error = with(&changes).unwrap_err();
            assert!(error.contains(why), "{changes}: {error}");
        }
        assert!(parse(r#"{"shape": [1], "shape": [1]}"#).unwrap_err().contains("appears twice"));
        assert!(parse(&"[".repeat(99)).unwrap_err().contains("deeper"));
        assert!(parse("[]").unwrap_err().contains("expected a JSON object"));
    }
}
