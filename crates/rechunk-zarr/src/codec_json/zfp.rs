//! zfp, as zarrs and numcodecs spell it.

use rechunk_codec::zfp;
use rechunk_format::FormatError;
use rechunk_grid::DataType;
use serde_json::{Value, json};

use super::Settings;
use crate::codec_spec::{CodecSpec, Real, ZfpElement, ZfpMode, ZfpSpec};
use crate::element_type::ElementType;
use crate::field::{Field, shown};

/// Names of the codec in metadata.
pub(crate) const NAMES: [&str; 3] =
    ["zfp", "zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"];

/// Message of a build without it.
const NOT_BUILT_IN: &str = "this program was built without zfp; `cargo build --release \
     -p rechunk-cli --features zfp` makes one that reads and writes it (needs cmake and libclang)";

/// numcodecs' numbers of the modes, which are zfp's.
const RATE: i64 = 2;
const PRECISION: i64 = 3;
const ACCURACY: i64 = 4;
const REVERSIBLE: i64 = 5;

/// The type as zfp takes it; `None` if it does not.
pub(crate) fn zfp_element(element: ElementType) -> Option<ZfpElement> {
    // Big-endian elements nobody gives it.
    let element = (element == element.little_endian()).then_some(element.data_type)?;
    Some(match element {
        DataType::Int8 => ZfpElement::Int8,
        DataType::Int16 => ZfpElement::Int16,
        DataType::Int32 => ZfpElement::Int32,
        DataType::Int64 => ZfpElement::Int64,
        DataType::Uint8 => ZfpElement::Uint8,
        DataType::Uint16 => ZfpElement::Uint16,
        DataType::Uint32 => ZfpElement::Uint32,
        DataType::Uint64 => ZfpElement::Uint64,
        DataType::Float32 => ZfpElement::Float32,
        DataType::Float64 => ZfpElement::Float64,
        _ => return None,
    })
}

impl Settings<'_> {
    /// The codec of zarrs.
    pub(super) fn zfp(&self) -> Result<CodecSpec, FormatError> {
        self.check_built_in("zfp")?;
        let (field, value) = self.get("mode", None)?;
        let mode = match field.text(&value)? {
            "expert" => {
                let bits = |name| self.count(name);
                let (field, exponent) = self.get("minexp", None)?;
                let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
                let exponent = field.integer(&exponent, low, high)?;
                ZfpMode::Expert {
                    min_bits: bits("minbits")?,
                    max_bits: bits("maxbits")?,
                    max_planes: bits("maxprec")?,
                    min_exponent: i32::try_from(exponent).unwrap_or(0),
                }
            }
            "fixed_rate" => ZfpMode::FixedRate(self.real("rate")?),
            "fixed_precision" => ZfpMode::FixedPrecision(self.count("precision")?),
            "fixed_accuracy" => ZfpMode::FixedAccuracy(self.real("tolerance")?),
            "reversible" => ZfpMode::Reversible,
            other => return Err(field.unsupported(format!("mode {other:?}"), "")),
        };
        self.zfp_of(mode, false)
    }

    /// The codec of numcodecs. It gives zfp the one setting of its mode; where that is below zero,
    /// which is the default, zfp is reversible.
    pub(super) fn zfpy(&self) -> Result<CodecSpec, FormatError> {
        self.check_built_in("zfpy")?;
        let number = self.integer("mode", Some(ACCURACY), (0, i64::from(u8::MAX)))?;
        let is_set = |name: &str| {
            let value = self.map.get(name).and_then(Value::as_f64);
            value.is_some_and(|value| value >= 0.0)
        };
        let mode = match number {
            RATE if is_set("rate") => ZfpMode::FixedRate(self.real("rate")?),
            PRECISION if is_set("precision") => ZfpMode::FixedPrecision(self.count("precision")?),
            ACCURACY if is_set("tolerance") => ZfpMode::FixedAccuracy(self.real("tolerance")?),
            RATE | PRECISION | ACCURACY => {
                self.check_numbers()?;
                ZfpMode::Reversible
            }
            REVERSIBLE => ZfpMode::Reversible,
            other => {
                let hint = "there are 2 (rate), 3 (precision), 4 (accuracy) and 5 (reversible)";
                return Err(self.field.child("mode").unsupported(format!("mode {other}"), hint));
            }
        };
        self.zfp_of(mode, true)
    }

    fn check_built_in(&self, name: &str) -> Result<(), FormatError> {
        if zfp::IS_BUILT_IN {
            return Ok(());
        }
        Err(self.field.unsupported(format!("codec {name:?}"), NOT_BUILT_IN))
    }

    fn zfp_of(&self, mode: ZfpMode, has_header: bool) -> Result<CodecSpec, FormatError> {
        let (spec, element) = (ZfpSpec { mode, has_header }, self.input);
        let codec = CodecSpec::Zfp { spec, element };
        if zfp_element(element).is_none_or(|element| has_header && !element.is_native()) {
            let what = format!("codec {:?} on {}", codec.name(), element.numpy());
            let hint = if has_header {
                "it has little-endian int32, int64, float32 and float64"
            } else {
                "it has little-endian integers of 8 to 64 bits, float32 and float64"
            };
            return Err(self.field.unsupported(what, hint));
        }
        Ok(codec)
    }

    /// Settings that are no numbers are a mistake, and not a default.
    fn check_numbers(&self) -> Result<(), FormatError> {
        for name in ["rate", "precision", "tolerance"] {
            let value = self.map.get(name).filter(|value| !value.is_null());
            if let Some(value) = value.filter(|value| value.as_f64().is_none()) {
                return Err(not_a_number(&self.field.child(name), value));
            }
        }
        Ok(())
    }

    fn real(&self, name: &str) -> Result<Real, FormatError> {
        let (field, value) = self.get(name, None)?;
        value.as_f64().and_then(Real::new).ok_or_else(|| not_a_number(&field, &value))
    }

    fn count(&self, name: &str) -> Result<u32, FormatError> {
        let count = self.integer(name, None, (0, i64::from(u32::MAX)))?;
        Ok(u32::try_from(count).unwrap_or(0))
    }
}

fn not_a_number(field: &Field, value: &Value) -> FormatError {
    field.invalid(format!("expected a number that is not below 0, found {}", shown(value)))
}

/// The configuration of zarrs' codec.
pub(super) fn write_zfp(mode: ZfpMode) -> Value {
    match mode {
        ZfpMode::Expert { min_bits, max_bits, max_planes, min_exponent } => json!({
            "mode": "expert", "minbits": min_bits, "maxbits": max_bits,
            "maxprec": max_planes, "minexp": min_exponent,
        }),
        ZfpMode::FixedRate(rate) => json!({"mode": "fixed_rate", "rate": rate.get()}),
        ZfpMode::FixedPrecision(planes) => json!({"mode": "fixed_precision", "precision": planes}),
        ZfpMode::FixedAccuracy(tolerance) => {
            json!({"mode": "fixed_accuracy", "tolerance": tolerance.get()})
        }
        ZfpMode::Reversible => json!({"mode": "reversible"}),
    }
}

/// The settings of numcodecs' codec. Reversible is what it does without a tolerance; of its mode 5
/// it can only read chunks. zarrs refuses integers with a tolerance, even with none, so they get
/// mode 5.
pub(super) fn write_zfpy(mode: ZfpMode, element: ElementType) -> Value {
    let mut settings = json!({"mode": ACCURACY, "tolerance": -1, "rate": -1, "precision": -1});
    match mode {
        ZfpMode::FixedRate(rate) => {
            settings["mode"] = json!(RATE);
            settings["rate"] = json!(rate.get());
        }
        ZfpMode::FixedPrecision(planes) => {
            settings["mode"] = json!(PRECISION);
            settings["precision"] = json!(planes);
        }
        ZfpMode::FixedAccuracy(tolerance) => settings["tolerance"] = json!(tolerance.get()),
        ZfpMode::Reversible if !element.is_float() => settings["mode"] = json!(REVERSIBLE),
        ZfpMode::Expert { .. } | ZfpMode::Reversible => {}
    }
    settings
}
