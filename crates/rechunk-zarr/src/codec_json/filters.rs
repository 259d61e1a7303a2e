//! Filters on elements.

use rechunk_format::FormatError;
use rechunk_grid::{DataType, Endian};
use serde_json::{Map, Value};

use super::Settings;
use crate::codec_spec::{BitPacking, CodecSpec, Scalar, TypePair};
use crate::element_type::ElementType;
use crate::field::{Field, shown};
use crate::json::text;
use crate::metadata::ZarrVersion;
use crate::packed_numbers::{PackedNumbers, Parts};

/// Most decimal digits either side of the point: beyond them the scale is infinite or zero.
const DIGITS_MAX: i64 = 300;

/// Refuses little-endian types in the settings of a stored filter whose elements are big-endian.
/// zarr-python looks at the stored bytes by those types, others by what the codec `bytes` says:
/// readers differ.
pub(crate) fn refuse_little_endian(
    field: &Field,
    settings: &Map<String, Value>,
) -> Result<(), FormatError> {
    for name in ["dtype", "astype", "encode_dtype", "decode_dtype"] {
        let Some(value) = settings.get(name) else { continue };
        let found = text(value).and_then(ElementType::parse);
        let is_little = found.is_some_and(|(data_type, endian)| {
            endian == Some(Endian::Little) && data_type.item_bytes() > 1
        });
        if is_little {
            return Err(another_order(&field.child(name), value));
        }
    }
    Ok(())
}

fn another_order(field: &Field, value: &Value) -> FormatError {
    let what = format!("data type {}, and another byte order in the codec \"bytes\"", shown(value));
    field.unsupported(what, "")
}

impl Settings<'_> {
    /// The element type under `name`, or `default`.
    pub(super) fn element(
        &self,
        name: &str,
        default: Option<ElementType>,
    ) -> Result<ElementType, FormatError> {
        let stored = self.map.get(name).filter(|value| !value.is_null());
        if let (None, Some(default)) = (stored, default) {
            return if default.is_number() {
                Ok(default)
            } else {
                Err(self.no_type(name, default))
            };
        }
        let (field, value) = self.get(name, None)?;
        let (data_type, endian) = ElementType::parse(field.text(&value)?)
            .ok_or_else(|| field.unsupported(format!("data type {}", shown(&value)), ""))?;
        let endian = match (self.version, endian) {
            (ZarrVersion::V2, endian) => endian.unwrap_or(Endian::Little),
            // In v3 it is the codec "bytes" that orders them.
            (ZarrVersion::V3, Some(Endian::Big))
                if self.order == Endian::Little && data_type.item_bytes() > 1 =>
            {
                return Err(another_order(&field, &value));
            }
            (ZarrVersion::V3, _) => self.order,
        };
        let element = ElementType::new(data_type, endian);
        if element.is_number() { Ok(element) } else { Err(self.no_type(name, element)) }
    }

    /// `dtype` and `astype`. v3 may leave the first to the array.
    fn types(&self) -> Result<TypePair, FormatError> {
        let default = (self.version == ZarrVersion::V3).then_some(self.input);
        let decoded = self.element("dtype", default)?;
        Ok(TypePair { decoded, encoded: self.element("astype", Some(decoded))? })
    }

    fn no_type(&self, name: &str, element: ElementType) -> FormatError {
        let what = format!("this filter on {}", element.data_type.name());
        self.field.child(name).unsupported(what, "")
    }

    pub(super) fn delta(&self) -> Result<CodecSpec, FormatError> {
        let types = self.types()?;
        for (name, element) in [("dtype", types.decoded), ("astype", types.encoded)] {
            if element.data_type == DataType::Bool {
                return Err(self.no_type(name, element));
            }
        }
        // A sum of floats that ends as an integer is cut in between, and not always the same way.
        if types.decoded.is_integer() && types.encoded.is_float() {
            return Err(self.no_type("astype", types.encoded));
        }
        Ok(CodecSpec::Delta(types))
    }

    pub(super) fn fixed_scale_offset(&self) -> Result<CodecSpec, FormatError> {
        let types = self.types()?;
        for (name, element) in [("dtype", types.decoded), ("astype", types.encoded)] {
            if element.data_type == DataType::Bool {
                return Err(self.no_type(name, element));
            }
        }
        Ok(CodecSpec::FixedScaleOffset {
            types,
            offset: self.scalar("offset")?,
            scale: self.scalar("scale")?,
        })
    }

    fn scalar(&self, name: &str) -> Result<Scalar, FormatError> {
        let (field, value) = self.get(name, None)?;
        Scalar::parse(&value)
            .ok_or_else(|| field.invalid(format!("expected a number, found {}", shown(&value))))
    }

    pub(super) fn quantize(&self) -> Result<CodecSpec, FormatError> {
        let types = self.types()?;
        for (name, element) in [("dtype", types.decoded), ("astype", types.encoded)] {
            if !element.is_float() {
                return Err(self.no_type(name, element));
            }
        }
        let digits = self.integer("digits", None, (-DIGITS_MAX, DIGITS_MAX))?;
        Ok(CodecSpec::Quantize { types, digits: i32::try_from(digits).unwrap_or(0) })
    }

    pub(super) fn as_type(&self) -> Result<CodecSpec, FormatError> {
        let encoded = self.element("encode_dtype", None)?;
        let default = (self.version == ZarrVersion::V3).then_some(self.input);
        Ok(CodecSpec::AsType(TypePair { decoded: self.element("decode_dtype", default)?, encoded }))
    }

    pub(super) fn bit_round(&self) -> Result<CodecSpec, FormatError> {
        let bits = match self.input.data_type {
            DataType::Float16 => 10,
            DataType::Float32 => 23,
            DataType::Float64 => 52,
            other => {
                let what = format!("codec \"bitround\" on {}", other.name());
                return Err(self.field.unsupported(what, ""));
            }
        };
        let keep_bits = self.integer("keepbits", None, (0, bits))?;
        let keep_bits = u32::try_from(keep_bits).unwrap_or(0);
        Ok(CodecSpec::BitRound { keep_bits, element: self.input })
    }

    pub(super) fn pack_bits(&self) -> Result<CodecSpec, FormatError> {
        self.only_bool()?;
        Ok(CodecSpec::PackBits(BitPacking::Numcodecs))
    }

    pub(super) fn pack_bits_v3(&self) -> Result<CodecSpec, FormatError> {
        let (data_type, padding) = (self.input.data_type, self.padding_encoding()?);
        let Some(parts) = Parts::of(data_type) else {
            let what = format!("codec \"packbits\" on {}", data_type.name());
            return Err(self.field.unsupported(what, ""));
        };
        let highest = i64::from(parts.bits) - 1;
        let first = self.integer("first_bit", Some(0), (0, highest))?;
        let last = self.integer("last_bit", Some(highest), (first, highest))?;
        if data_type == DataType::Bool {
            return Ok(CodecSpec::PackBits(padding));
        }
        let bit = |number| u32::try_from(number).unwrap_or(0);
        let (first_bit, last_bit) = (bit(first), bit(last));
        Ok(CodecSpec::PackedNumbers(PackedNumbers { data_type, first_bit, last_bit, padding }))
    }

    fn padding_encoding(&self) -> Result<BitPacking, FormatError> {
        let (field, value) = self.get("padding_encoding", Some(Value::from("none")))?;
        Ok(match field.text(&value)? {
            "none" => BitPacking::LowFirst,
            "first_byte" => BitPacking::LowFirstPaddingFirst,
            "last_byte" => BitPacking::LowFirstPaddingLast,
            _ => {
                let wanted = "none, first_byte or last_byte";
                return Err(field.invalid(format!("expected {wanted}, found {}", shown(&value))));
            }
        })
    }

    fn only_bool(&self) -> Result<(), FormatError> {
        // v2 numcodecs looks at bytes as booleans, whatever they are.
        if self.input.data_type == DataType::Bool {
            return Ok(());
        }
        let what = format!("codec \"packbits\" on {}", self.input.data_type.name());
        Err(self.field.unsupported(what, ""))
    }
}
