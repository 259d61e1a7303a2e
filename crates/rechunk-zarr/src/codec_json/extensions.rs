//! Registered extensions of Zarr v3: `scale_offset`, `cast_value`, `reshape`.

use rechunk_format::FormatError;
use serde_json::{Map, Number, Value, json};

use super::{Settings, parse_v3_extension};
use crate::codec_spec::{
    CastValue, CodecSpec, NewAxis, OutOfRange, PackedNumbers, Rounding, ScalarMap, ScaleOffset,
    TypePair, Word,
};
use crate::codecs::key_of;
use crate::element_type::ElementType;
use crate::field::{Field, shown};
use crate::fill_value::{parse_fill_value, write_fill_value};
use crate::metadata::ZarrVersion;
use crate::number_codecs::MAP_ENTRIES_MAX;
use crate::types_v3;

/// Most axes that `reshape` makes.
const AXES_MAX: usize = 64;

/// A number as the fill value of such elements is written; as zarr-python, also in quotes, and with
/// a sign before infinity.
fn scalar(field: &Field, value: &Value, element: ElementType) -> Result<Word, FormatError> {
    let spelled = match value.as_str() {
        Some("+Infinity") => Some(Value::from("Infinity")),
        Some(text) => text.parse::<Number>().ok().map(Value::Number),
        None => None,
    };
    let value = spelled.as_ref().unwrap_or(value);
    let found = parse_fill_value(field, value, element.data_type, ZarrVersion::V3)?;
    found.map(|found| Word::of(&found)).ok_or_else(|| field.invalid("is missing"))
}

fn write_scalar(word: Word, element: ElementType) -> Value {
    write_fill_value(&word.fill_value(element), element.data_type)
}

impl Settings<'_> {
    /// Refuses settings that later versions of a codec may have: they may change what it does.
    fn only(&self, names: &[&str]) -> Result<(), FormatError> {
        match self.map.keys().find(|name| !names.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let hint = "the specification asks to refuse what is not in it";
                Err(self.field.child(name).unsupported("this setting", hint))
            }
        }
    }

    fn counted(&self, codec: &str, element: ElementType) -> Result<(), FormatError> {
        if element.is_counted() {
            return Ok(());
        }
        let what = format!("codec {codec:?} on {}", element.data_type.name());
        let hint = "it is read for integers of 2 to 64 bits and floats of 16 to 64";
        Err(self.field.unsupported(what, hint))
    }

    pub(super) fn scale_offset(&self) -> Result<CodecSpec, FormatError> {
        self.only(&["offset", "scale"])?;
        self.counted("scale_offset", self.input)?;
        let number = |name: &str, default: i64| {
            let value = self.map.get(name).cloned().unwrap_or_else(|| Value::from(default));
            scalar(&self.field.child(name), &value, self.input)
        };
        let (offset, scale) = (number("offset", 0)?, number("scale", 1)?);
        let zero = key_of(Word(0), self.input);
        if key_of(scale, self.input) == zero {
            return Err(self.field.child("scale").invalid("is zero: nothing can be decoded"));
        }
        Ok(CodecSpec::ScaleOffset(ScaleOffset { element: self.input, offset, scale }))
    }

    pub(super) fn cast_value(&self) -> Result<CodecSpec, FormatError> {
        self.only(&["data_type", "rounding", "out_of_range", "scalar_map"])?;
        self.counted("cast_value", self.input)?;
        let (field, value) = self.get("data_type", None)?;
        let (name, configuration) = parse_v3_extension(&field, &value)?;
        let data_type = types_v3::parse(&field, name, &configuration)?
            .ok_or_else(|| field.unsupported(format!("data type {name:?}"), ""))?;
        let encoded = ElementType::new(data_type, self.order);
        self.counted("cast_value", encoded)?;
        let types = TypePair { decoded: self.input, encoded };
        let (field, value) = self.get("rounding", Some(Value::from("nearest-even")))?;
        let rounding = Rounding::from_name(field.text(&value)?)
            .ok_or_else(|| field.invalid(format!("{} is no way to round", shown(&value))))?;
        let field = self.field.child("out_of_range");
        let out_of_range = match self.map.get("out_of_range").filter(|value| !value.is_null()) {
            None => None,
            Some(value) => Some(OutOfRange::from_name(field.text(value)?).ok_or_else(|| {
                field.invalid(format!("expected \"clamp\" or \"wrap\", found {}", shown(value)))
            })?),
        };
        if out_of_range == Some(OutOfRange::Wrap) && !encoded.is_integer() {
            return Err(field.invalid("is \"wrap\", which is for integers alone"));
        }
        let (encode, decode) = self.scalar_maps(types)?;
        let cast = CastValue { types, rounding, out_of_range, encode, decode };
        Ok(CodecSpec::CastValue(Box::new(cast)))
    }

    fn scalar_maps(&self, types: TypePair) -> Result<(ScalarMap, ScalarMap), FormatError> {
        let field = self.field.child("scalar_map");
        let Some(value) = self.map.get("scalar_map").filter(|value| !value.is_null()) else {
            return Ok((ScalarMap::default(), ScalarMap::default()));
        };
        let map = field.object(value)?;
        let direction = |name: &str, from: ElementType, to: ElementType| {
            let field = field.child(name);
            match map.get(name).filter(|value| !value.is_null()) {
                None => Ok(ScalarMap::default()),
                Some(value) => scalar_map(&field, value, from, to),
            }
        };
        let TypePair { decoded, encoded } = types;
        Ok((direction("encode", decoded, encoded)?, direction("decode", encoded, decoded)?))
    }

    pub(super) fn reshape(&self) -> Result<CodecSpec, FormatError> {
        self.only(&["shape"])?;
        let (field, value) = self.get("shape", None)?;
        let list = field.list(&value)?;
        if list.len() > AXES_MAX {
            return Err(field.unsupported(format!("{} axes", list.len()), ""));
        }
        let axis = |value: &Value| match value {
            Value::Array(_) => {
                let axes = field.shape(value)?;
                Ok(NewAxis::Axes(
                    axes.into_iter().filter_map(|a| usize::try_from(a).ok()).collect(),
                ))
            }
            value if value.as_i64() == Some(-1) => Ok(NewAxis::Rest),
            value => {
                let extent = field.integer(value, 1, i64::MAX)?;
                Ok(NewAxis::Extent(extent.unsigned_abs()))
            }
        };
        let axes: Vec<NewAxis> = list.iter().map(axis).collect::<Result<_, FormatError>>()?;
        if axes.iter().filter(|axis| **axis == NewAxis::Rest).count() > 1 {
            return Err(field.invalid("has -1 more than once"));
        }
        Ok(CodecSpec::Reshape(axes))
    }
}

fn scalar_map(
    field: &Field,
    value: &Value,
    from: ElementType,
    to: ElementType,
) -> Result<ScalarMap, FormatError> {
    let list = field.list(value)?;
    if list.len() > MAP_ENTRIES_MAX {
        return Err(field.unsupported(format!("{} entries", list.len()), ""));
    }
    let entry = |value: &Value| match field.list(value)? {
        [key, to_value] => {
            Ok((key_of(scalar(field, key, from)?, from), scalar(field, to_value, to)?))
        }
        _ => Err(field.invalid(format!("expected a pair of numbers, found {}", shown(value)))),
    };
    Ok(ScalarMap::new(list.iter().map(entry).collect::<Result<_, FormatError>>()?))
}

/// The configuration of `scale_offset`.
pub(super) fn write_scale_offset(codec: &ScaleOffset) -> Value {
    let number = |word| write_scalar(word, codec.element);
    json!({"offset": number(codec.offset), "scale": number(codec.scale)})
}

/// The configuration of `cast_value`; what is as it would be anyway is left out.
pub(super) fn write_cast_value(cast: &CastValue) -> Value {
    let TypePair { decoded, encoded } = cast.types;
    let mut map = Map::new();
    map.insert("data_type".to_owned(), Value::from(encoded.data_type.name()));
    map.insert("rounding".to_owned(), Value::from(cast.rounding.name()));
    if let Some(rule) = cast.out_of_range {
        map.insert("out_of_range".to_owned(), Value::from(rule.name()));
    }
    let pairs = |scalars: &ScalarMap, from, to| -> Value {
        let pair = |(key, value): &(Word, Word)| {
            json!([write_scalar(unkeyed(*key, from), from), write_scalar(*value, to)])
        };
        scalars.entries().iter().map(pair).collect()
    };
    let mut scalars = Map::new();
    if !cast.encode.is_empty() {
        scalars.insert("encode".to_owned(), pairs(&cast.encode, decoded, encoded));
    }
    if !cast.decode.is_empty() {
        scalars.insert("decode".to_owned(), pairs(&cast.decode, encoded, decoded));
    }
    if !scalars.is_empty() {
        map.insert("scalar_map".to_owned(), Value::Object(scalars));
    }
    Value::Object(map)
}

/// The number of a key as an element.
fn unkeyed(key: Word, element: ElementType) -> Word {
    crate::codecs::unkeyed(key, element)
}

/// The configuration of `packbits` on numbers.
pub(super) fn write_packed(packed: &PackedNumbers) -> Value {
    json!({
        "padding_encoding": packed.padding.padding_encoding(),
        "first_bit": packed.first_bit, "last_bit": packed.last_bit,
    })
}

/// The configuration of `reshape`.
pub(super) fn write_reshape(axes: &[NewAxis]) -> Value {
    let axis = |axis: &NewAxis| match axis {
        NewAxis::Extent(extent) => json!(extent),
        NewAxis::Axes(axes) => json!(axes),
        NewAxis::Rest => json!(-1),
    };
    json!({"shape": axes.iter().map(axis).collect::<Value>()})
}

#[cfg(test)]
mod tests;
