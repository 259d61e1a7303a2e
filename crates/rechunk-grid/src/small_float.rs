//! Floats of at most 8 bits, as `ml_dtypes` and zarr-extensions have them.

use serde::{Deserialize, Serialize};

/// A float of at most 8 bits; it takes a byte, in the low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it: exponent bits, mantissa bits, flavour")]
pub enum SmallFloat {
    Float4E2m1fn,
    Float6E2m3fn,
    Float6E3m2fn,
    Float8E3m4,
    Float8E4m3,
    Float8E4m3b11fnuz,
    Float8E4m3fn,
    Float8E4m3fnuz,
    Float8E5m2,
    Float8E5m2fnuz,
    Float8E8m0fnu,
}

/// Which bits are not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    /// None.
    None,
    /// As IEEE 754: all bits of the exponent set is an infinity or NaN.
    Ieee,
    /// All bits but the sign set is NaN.
    AllOnes,
    /// Minus zero is NaN.
    MinusZero,
}

impl SmallFloat {
    /// Every such float.
    pub const ALL: [Self; 11] = [
        Self::Float4E2m1fn,
        Self::Float6E2m3fn,
        Self::Float6E3m2fn,
        Self::Float8E3m4,
        Self::Float8E4m3,
        Self::Float8E4m3b11fnuz,
        Self::Float8E4m3fn,
        Self::Float8E4m3fnuz,
        Self::Float8E5m2,
        Self::Float8E5m2fnuz,
        Self::Float8E8m0fnu,
    ];

    /// The Zarr v3 name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float4E2m1fn => "float4_e2m1fn",
            Self::Float6E2m3fn => "float6_e2m3fn",
            Self::Float6E3m2fn => "float6_e3m2fn",
            Self::Float8E3m4 => "float8_e3m4",
            Self::Float8E4m3 => "float8_e4m3",
            Self::Float8E4m3b11fnuz => "float8_e4m3b11fnuz",
            Self::Float8E4m3fn => "float8_e4m3fn",
            Self::Float8E4m3fnuz => "float8_e4m3fnuz",
            Self::Float8E5m2 => "float8_e5m2",
            Self::Float8E5m2fnuz => "float8_e5m2fnuz",
            Self::Float8E8m0fnu => "float8_e8m0fnu",
        }
    }

    /// Bits of the exponent and the mantissa, bias of the exponent, and what is no number.
    fn layout(self) -> (u32, u32, i32, Special) {
        match self {
            Self::Float4E2m1fn => (2, 1, 1, Special::None),
            Self::Float6E2m3fn => (2, 3, 1, Special::None),
            Self::Float6E3m2fn => (3, 2, 3, Special::None),
            Self::Float8E3m4 => (3, 4, 3, Special::Ieee),
            Self::Float8E4m3 => (4, 3, 7, Special::Ieee),
            Self::Float8E4m3b11fnuz => (4, 3, 11, Special::MinusZero),
            Self::Float8E4m3fn => (4, 3, 7, Special::AllOnes),
            Self::Float8E4m3fnuz => (4, 3, 8, Special::MinusZero),
            Self::Float8E5m2 => (5, 2, 15, Special::Ieee),
            Self::Float8E5m2fnuz => (5, 2, 16, Special::MinusZero),
            Self::Float8E8m0fnu => (8, 0, 127, Special::AllOnes),
        }
    }

    /// Values above this are no element of the type.
    pub fn largest_byte(self) -> u8 {
        match self {
            Self::Float4E2m1fn => 0x0f,
            Self::Float6E2m3fn | Self::Float6E3m2fn => 0x3f,
            _ => 0xff,
        }
    }

    /// The number that `byte` stands for.
    pub fn value(self, byte: u8) -> f64 {
        let (exponent_bits, mantissa_bits, bias, special) = self.layout();
        let bits = u32::from(byte);
        let has_sign = exponent_bits + mantissa_bits < 8;
        let is_negative = has_sign && bits >> (exponent_bits + mantissa_bits) & 1 == 1;
        let exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
        let mantissa = bits & ((1 << mantissa_bits) - 1);
        let ones = exponent == (1 << exponent_bits) - 1;
        let sign = if is_negative { -1.0 } else { 1.0 };
        match special {
            Special::Ieee if ones && mantissa == 0 => return sign * f64::INFINITY,
            Special::Ieee if ones => return f64::NAN,
            Special::AllOnes if ones && mantissa == (1 << mantissa_bits) - 1 => return f64::NAN,
            Special::MinusZero if byte == 0x80 => return f64::NAN,
            _ => {}
        }
        // E8M0 is a power of two and has no subnormals.
        let is_subnormal = exponent == 0 && mantissa_bits > 0;
        let implied = if is_subnormal { 0 } else { 1 << mantissa_bits };
        let power = i32::try_from(exponent.max(u32::from(mantissa_bits > 0))).unwrap_or(0) - bias;
        let unit = f64::powi(2.0, power - i32::try_from(mantissa_bits).unwrap_or(0));
        sign * f64::from(implied + mantissa) * unit
    }

    /// The byte of exactly this number; of the usual NaN for a NaN.
    pub fn byte_of(self, number: f64) -> Option<u8> {
        if number.is_nan() {
            return self.nan();
        }
        (0..=self.largest_byte())
            .find(|&byte| self.value(byte).to_bits() == number.to_bits())
            // A type that has no minus zero.
            .or_else(|| (number == 0.0 && self.value(0) == 0.0).then_some(0))
    }

    /// The NaN that others write.
    pub fn nan(self) -> Option<u8> {
        let (_, mantissa_bits, _, special) = self.layout();
        match (self, special) {
            (_, Special::None) => None,
            (Self::Float8E8m0fnu, _) => Some(0xff),
            (_, Special::AllOnes) => Some(0x7f),
            (_, Special::MinusZero) => Some(0x80),
            // The highest bit of the mantissa: quiet.
            (_, Special::Ieee) => {
                Some(0x7f & !((1_u8 << mantissa_bits) - 1) | 1 << (mantissa_bits - 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_ml_dtypes() {
        // Smallest, largest finite, NaN: as `ml_dtypes` 0.6 has them.
        let table = [
            (SmallFloat::Float4E2m1fn, 0.5, 6.0, None),
            (SmallFloat::Float6E2m3fn, 0.125, 7.5, None),
            (SmallFloat::Float6E3m2fn, 0.0625, 28.0, None),
            (SmallFloat::Float8E3m4, 0.015_625, 15.5, Some(120)),
            (SmallFloat::Float8E4m3, 0.001_953_125, 240.0, Some(124)),
            (SmallFloat::Float8E4m3b11fnuz, 0.000_122_070_312_5, 30.0, Some(128)),
            (SmallFloat::Float8E4m3fn, 0.001_953_125, 448.0, Some(127)),
            (SmallFloat::Float8E4m3fnuz, 0.000_976_562_5, 240.0, Some(128)),
            (SmallFloat::Float8E5m2, 1.525_878_906_25e-5, 57344.0, Some(126)),
            (SmallFloat::Float8E5m2fnuz, 7.629_394_531_25e-6, 57344.0, Some(128)),
            (SmallFloat::Float8E8m0fnu, f64::powi(2.0, -126), f64::powi(2.0, 127), Some(255)),
        ];
        for (kind, smallest, largest, nan) in table {
            let all = (0..=kind.largest_byte()).map(|byte| kind.value(byte));
            let found = all.filter(|value| value.is_finite()).fold(0.0, f64::max);
            assert_eq!(found.to_bits(), largest.to_bits(), "{kind:?}");
            assert_eq!(kind.value(1).to_bits(), f64::to_bits(smallest), "{kind:?}");
            assert_eq!(kind.nan(), nan, "{kind:?}");
            assert!(nan.is_none_or(|nan| kind.value(nan).is_nan()), "{kind:?}");
        }
    }

    #[test]
    fn every_number_has_its_byte() {
        for kind in SmallFloat::ALL {
            for byte in 0..=kind.largest_byte() {
                let value = kind.value(byte);
                if !value.is_nan() {
                    assert_eq!(kind.byte_of(value), Some(byte), "{kind:?} {value}");
                }
            }
        }
        assert_eq!(SmallFloat::Float8E5m2.byte_of(0.3), None);
    }
}
