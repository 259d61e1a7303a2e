//! Data types as `zarr.json` spells them, except records and what differs in length.

use rechunk_format::{FormatError, numpy::is_scale};
use rechunk_grid::{DataType, ITEM_BYTES_MAX, TimeUnit};
use serde_json::{Map, Value, json};

use crate::field::{Field, shown};

/// The settings of a type; `None` for a name that is none of a type of fixed size.
pub(crate) fn settings(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "numpy.datetime64" | "numpy.timedelta64" => Some(&["unit", "scale_factor"]),
        "null_terminated_bytes" | "raw_bytes" | "fixed_length_utf32" => Some(&["length_bytes"]),
        _ => (raw_bits(name).is_some() || DataType::from_name(name).is_some()).then_some(&[]),
    }
}

/// Reads a type by its name and configuration; `None` if it is not one of fixed size.
pub(crate) fn parse(
    field: &Field,
    name: &str,
    configuration: &Map<String, Value>,
) -> Result<Option<DataType>, FormatError> {
    let settings = Settings { field: field.child("configuration"), map: configuration };
    let data_type = match name {
        "numpy.datetime64" => {
            let (unit, scale) = settings.time()?;
            DataType::DateTime64 { unit, scale }
        }
        "numpy.timedelta64" => {
            let (unit, scale) = settings.time()?;
            DataType::TimeDelta64 { unit, scale }
        }
        "null_terminated_bytes" => DataType::FixedBytes { bytes: settings.length_bytes()? },
        "raw_bytes" => DataType::RawBits { bytes: settings.length_bytes()? },
        "fixed_length_utf32" => {
            let bytes = settings.length_bytes()?;
            if !bytes.is_multiple_of(4) {
                let reason = format!("{bytes} is not a number of characters of 4 bytes");
                return Err(settings.field.child("length_bytes").invalid(reason));
            }
            DataType::FixedUtf32 { characters: bytes / 4 }
        }
        _ => {
            if let Some(bits) = raw_bits(name) {
                return raw(field, name, bits).map(Some);
            }
            let plain = DataType::from_name(name);
            // A configuration would change what the type means.
            return Ok(plain.filter(|_| configuration.is_empty()));
        }
    };
    Ok(Some(data_type))
}

/// The bits of `r24`.
fn raw_bits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('r')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// True for the core specification's spelling of raw bits, `r24`.
pub(crate) fn is_raw_bits(value: &Value) -> bool {
    value.as_str().or_else(|| value["name"].as_str()).is_some_and(|name| raw_bits(name).is_some())
}

fn raw(field: &Field, name: &str, bits: &str) -> Result<DataType, FormatError> {
    let bits: u64 = bits.parse().unwrap_or(u64::MAX);
    if bits == 0 || !bits.is_multiple_of(8) || bits / 8 > ITEM_BYTES_MAX {
        let hint = format!("raw bits come in bytes, 1 to {ITEM_BYTES_MAX}");
        return Err(field.unsupported(format!("data type {name:?}"), &hint));
    }
    let bytes = u32::try_from(bits / 8).unwrap_or(u32::MAX);
    Ok(DataType::RawBits { bytes })
}

/// The configuration of a type.
struct Settings<'a> {
    field: Field,
    map: &'a Map<String, Value>,
}

impl Settings<'_> {
    fn get(&self, name: &str) -> Result<(Field, &Value), FormatError> {
        let field = self.field.child(name);
        match self.map.get(name) {
            Some(value) => Ok((field, value)),
            None => Err(field.invalid("is missing")),
        }
    }

    fn length_bytes(&self) -> Result<u32, FormatError> {
        let (field, value) = self.get("length_bytes")?;
        let most = i64::try_from(ITEM_BYTES_MAX).unwrap_or(i64::MAX);
        Ok(u32::try_from(field.integer(value, 1, most)?).unwrap_or(1))
    }

    fn time(&self) -> Result<(TimeUnit, u32), FormatError> {
        let (field, value) = self.get("unit")?;
        let name = field.text(value)?;
        let unit = TimeUnit::from_name(name)
            .ok_or_else(|| field.unsupported(format!("unit of time {}", shown(value)), ""))?;
        let (field, value) = self.get("scale_factor")?;
        let scale = u32::try_from(field.integer(value, 1, i64::from(i32::MAX))?).unwrap_or(0);
        if !is_scale(scale) {
            return Err(field.invalid(format!("{scale} is no multiple of a unit")));
        }
        Ok((unit, scale))
    }
}

/// The type as zarr-python 3.1 and zarr-extensions spell it; the name alone where there is no
/// parameter. Not for records and what differs in length.
pub(crate) fn write(data_type: DataType) -> Value {
    let name = data_type.plain_name();
    let configuration = match data_type {
        DataType::DateTime64 { unit, scale } | DataType::TimeDelta64 { unit, scale } => {
            json!({"unit": unit.name(), "scale_factor": scale})
        }
        DataType::FixedBytes { .. } | DataType::FixedUtf32 { .. } | DataType::RawBits { .. } => {
            json!({"length_bytes": data_type.item_bytes()})
        }
        _ => return Value::from(name),
    };
    json!({"name": name, "configuration": configuration})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec_json::parse_v3_extension;

    fn read(value: &Value) -> Result<Option<DataType>, String> {
        let field = Field::new("zarr.json", "data_type");
        let (name, configuration) = parse_v3_extension(&field, value).unwrap();
        parse(&field, name, &configuration).map_err(|error| error.to_string())
    }

    #[test]
    fn types_round_trip() {
        let time = |unit, scale| DataType::DateTime64 { unit, scale };
        let more = TimeUnit::ALL.map(|unit| time(unit, 10)).into_iter().chain([
            DataType::TimeDelta64 { unit: TimeUnit::Nanosecond, scale: 1 },
            DataType::FixedBytes { bytes: 5 },
            DataType::FixedUtf32 { characters: 5 },
            DataType::RawBits { bytes: 3 },
        ]);
        for data_type in DataType::ALL.into_iter().chain(more) {
            assert_eq!(read(&write(data_type)), Ok(Some(data_type)));
        }
        assert_eq!(
            write(time(TimeUnit::Microsecond, 10)),
            json!({"name": "numpy.datetime64", "configuration": {"unit": "us", "scale_factor": 10}})
        );
    }

    #[test]
    fn spellings() {
        assert_eq!(read(&json!("r24")), Ok(Some(DataType::RawBits { bytes: 3 })));
        assert_eq!(read(&json!({"name": "int8"})), Ok(Some(DataType::Int8)));
        assert_eq!(read(&json!("variable")), Ok(None));
        assert_eq!(read(&json!({"name": "int8", "configuration": {"a": 1}})), Ok(None));
        assert!(is_raw_bits(&json!("r24")) && is_raw_bits(&json!({"name": "r8"})));
        assert!(!is_raw_bits(&json!("raw_bytes")) && !is_raw_bits(&json!("r")));
    }

    #[test]
    fn what_is_refused() {
        let with = |name: &str, configuration: Value| {
            read(&json!({"name": name, "configuration": configuration})).unwrap_err()
        };
        for (name, configuration, part) in [
            ("numpy.datetime64", json!({}), "unit\": is missing"),
            ("numpy.datetime64", json!({"unit": "s"}), "scale_factor\": is missing"),
            ("numpy.datetime64", json!({"unit": "eon", "scale_factor": 1}), "unit of time \"eon\""),
            ("numpy.timedelta64", json!({"unit": "s", "scale_factor": 0}), "an integer from 1"),
            ("fixed_length_utf32", json!({"length_bytes": 6}), "characters of 4 bytes"),
            ("null_terminated_bytes", json!({"length_bytes": 0}), "an integer from 1 to 1048576"),
            ("raw_bytes", json!({"length_bytes": 1_u64 << 40}), "an integer from 1 to 1048576"),
            ("raw_bytes", json!({}), "length_bytes\": is missing"),
        ] {
            let message = with(name, configuration);
            assert!(message.contains(part), "{message}");
        }
        for name in ["r0", "r7", "r99999999999999999999999"] {
            assert!(read(&json!(name)).unwrap_err().contains("raw bits come in bytes"), "{name}");
        }
    }
}
