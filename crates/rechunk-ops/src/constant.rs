//! Numbers in settings.

use rechunk_grid::DataType;

use crate::element::{Element, Wide};

/// A number as a user wrote it. Integers are exact up to 127 bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Constant {
    /// Value; integers as such.
    pub(crate) value: Wide,
    /// Decimal text, for floats that are rounded from it once.
    text: String,
}

impl Constant {
    /// Parses a number: `-3`, `0.5`, `1e3`, `nan`, `inf`, `-inf`, `true`, `false`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = match text {
            "true" => "1",
            "false" => "0",
            plain => plain,
        };
        let value = match plain.parse::<i128>() {
            // Floats tell -0 from 0.
            Ok(0) if plain.starts_with('-') => Wide::Float(-0.0),
            Ok(value) => Wide::Int(value),
            Err(_) => Wide::Float(plain.parse().ok()?),
        };
        Some(Self { value, text: plain.to_owned() })
    }

    /// Creates the constant of an integer.
    pub(crate) fn int(value: i128) -> Self {
        Self { value: Wide::Int(value), text: value.to_string() }
    }

    /// Whether it is larger than another: exactly for integers, else as 64-bit floats.
    pub(crate) fn is_above(&self, other: &Self) -> bool {
        match (self.value, other.value) {
            (Wide::Int(own), Wide::Int(other)) => own > other,
            (own, other) => own.to_f64() > other.to_f64(),
        }
    }

    /// Whether it is not a number.
    pub(crate) fn is_nan(&self) -> bool {
        self.value.to_f64().is_nan()
    }

    /// The value as a 64-bit float, rounded once.
    pub(crate) fn to_f64(&self) -> f64 {
        self.text.parse().unwrap_or_else(|_| self.value.to_f64())
    }

    /// Returns the integer, if it is one.
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    pub(crate) fn to_int(&self) -> Option<i128> {
        match self.value {
            Wide::Int(value) => Some(value),
            Wide::Float(value) if value.fract() == 0.0 && value.abs() < 1e38 => Some(value as i128),
            Wide::Float(_) => None,
        }
    }

    /// The element of this value. Integers must be it exactly; floats are the nearest, unless that
    /// is infinite and the value is not.
    pub(crate) fn to_element<T: Element>(&self) -> Option<T> {
        if !T::IS_FLOAT {
            return T::from_int(self.to_int()?);
        }
        let element: T = self.nearest();
        let is_same = element.to_f64().is_infinite() == self.to_f64().is_infinite();
        is_same.then_some(element)
    }

    /// The nearest float of a type; too large a value becomes infinite.
    fn nearest<T: Element>(&self) -> T {
        if size_of::<T>() == 4 {
            return T::from_f32(self.text.parse().unwrap_or(f32::NAN));
        }
        T::from_f64(self.to_f64())
    }

    /// The least element that is not below this value; `None` if there is none, or if it is NaN.
    /// For floats, the nearest element.
    pub(crate) fn lower_bound<T: Element>(&self, data_type: DataType) -> Option<T> {
        if T::IS_FLOAT {
            return (!self.is_nan()).then(|| self.nearest());
        }
        let (least, largest) = data_type.integer_range()?;
        let value = self.to_bound(f64::ceil)?;
        if value > largest { None } else { T::from_int(value.max(least)) }
    }

    /// The largest element that is not above this value; `None` if there is none, or if it is NaN.
    /// For floats, the nearest element.
    pub(crate) fn upper_bound<T: Element>(&self, data_type: DataType) -> Option<T> {
        if T::IS_FLOAT {
            return (!self.is_nan()).then(|| self.nearest());
        }
        let (least, largest) = data_type.integer_range()?;
        let value = self.to_bound(f64::floor)?;
        if value < least { None } else { T::from_int(value.min(largest)) }
    }

    /// The integer after rounding; what is beyond 127 bits is the extreme.
    #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    fn to_bound(&self, round: fn(f64) -> f64) -> Option<i128> {
        match self.value {
            Wide::Int(value) => Some(value),
            Wide::Float(value) => (!value.is_nan()).then(|| round(value) as i128),
        }
    }

    /// Canonical text: equal values have the same.
    pub(crate) fn canonical(&self) -> String {
        match (self.to_int(), self.value) {
            (Some(0), Wide::Float(value)) if value.is_sign_negative() => "-0.0".to_owned(),
            (Some(value), _) => value.to_string(),
            (None, value) if value.to_f64().is_nan() => "nan".to_owned(),
            // The digits count: they are rounded to the type of elements, not to 64 bits.
            (None, value) => {
                let text = value.to_f64().to_string();
                if Self::parse(&self.text).is_some() && self.is_short() {
                    text
                } else {
                    self.text.to_ascii_lowercase()
                }
            }
        }
    }

    /// Whether 64 bits tell all digits: at most 15 of them are significant.
    fn is_short(&self) -> bool {
        self.text.chars().filter(char::is_ascii_digit).count() <= 15
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(text: &str) -> Constant {
        Constant::parse(text).unwrap()
    }

    #[test]
    fn integers_are_exact() {
        let large = constant("9007199254740993");
        assert_eq!(large.to_element::<u64>(), Some(9_007_199_254_740_993));
        assert_eq!(constant("18446744073709551615").to_element(), Some(u64::MAX));
        assert_eq!(constant("1e3").to_element(), Some(1000_u16));
        assert_eq!(constant("256").to_element::<u8>(), None);
        assert_eq!(constant("0.5").to_element::<i32>(), None);
        assert_eq!(constant("true").to_element(), Some(1_u8));
    }

    #[test]
    fn floats_are_the_nearest() {
        assert_eq!(constant("0.1").to_element(), Some(0.1_f32));
        assert_eq!(constant("1e39").to_element::<f32>(), None);
        assert_eq!(constant("inf").to_element(), Some(f32::INFINITY));
        assert!(constant("nan").to_element::<f64>().unwrap().is_nan());
    }

    #[test]
    fn bounds_lie_within_the_type() {
        let bounds = |text: &str| {
            let constant = constant(text);
            (
                constant.lower_bound::<u8>(DataType::Uint8),
                constant.upper_bound::<u8>(DataType::Uint8),
            )
        };
        assert_eq!(bounds("3.5"), (Some(4), Some(3)));
        assert_eq!(bounds("-7"), (Some(0), None));
        assert_eq!(bounds("1e40"), (None, Some(255)));
        assert_eq!(bounds("nan"), (None, None));
        assert_eq!(bounds("-inf"), (Some(0), None));
    }

    #[test]
    fn one_value_has_one_text() {
        for same in [["1", "1.0"], ["1e3", "1000"], ["+5", "5"], ["0.50", "0.5"], ["nan", "NaN"]] {
            assert_eq!(constant(same[0]).canonical(), constant(same[1]).canonical(), "{same:?}");
        }
        assert_ne!(constant("-0.0").canonical(), constant("0").canonical());
        assert_ne!(
            constant("0.1000000000000000055511151231257827").canonical(),
            constant("0.1").canonical()
        );
        for text in ["", "seven", "1,5", "--1"] {
            assert_eq!(Constant::parse(text), None, "{text}");
        }
    }
}
