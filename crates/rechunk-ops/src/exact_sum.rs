//! Sums of floats without rounding.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// Bits of a digit.
const DIGIT_BITS: u32 = 32;
/// Digits: from 2^-1074, the least float, to beyond 2^1024 times 2^64 elements.
const DIGITS: usize = 68;
/// Floats that are added before carries are moved on: digits stay below 2^63.
const CARRY_EVERY: u32 = 1 << 29;

/// Sum of 64-bit floats, exactly: a fixed-point number that is wide enough for all of them
/// (Kulisch, "Computer Arithmetic and Validity", 2013, the long accumulator). Sums of parts, in any
/// order, are the same number. Infinities and NaN are counted beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct ExactSum {
    /// Digits of the sum in two's complement, least first, in units of 2^-1074; each holds more
    /// than 32 bits until carries are moved on.
    digits: [i64; DIGITS],
    pending: u32,
    positive_infinities: u64,
    negative_infinities: u64,
    nan: u64,
}

/// Form in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    /// Digits of 8 hexadecimal characters, most significant first, in two's complement.
    sum: String,
    positive_infinities: u64,
    negative_infinities: u64,
    nan: u64,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self {
            digits: [0; DIGITS],
            pending: 0,
            positive_infinities: 0,
            negative_infinities: 0,
            nan: 0,
        }
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        let counts = |sum: &Self| (sum.positive_infinities, sum.negative_infinities, sum.nan);
        self.carried() == other.carried() && counts(self) == counts(other)
    }
}

impl Eq for ExactSum {}

impl ExactSum {
    /// Adds a float.
    ///
    /// ```
    /// let mut sum = rechunk_ops::ExactSum::default();
    /// [1e300, 1.0, -1e300, 1e-300].into_iter().for_each(|value| sum.add(value));
    /// assert_eq!(sum.to_f64(), 1.0);
    /// ```
    pub fn add(&mut self, value: f64) {
        const FRACTION_BITS: u32 = 52;
        const EXPONENT_MAX: u64 = 0x7ff;
        let bits = value.to_bits();
        let exponent = bits >> FRACTION_BITS & EXPONENT_MAX;
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        if exponent == EXPONENT_MAX {
            return self.add_special(value);
        }
        // A subnormal has the exponent of the least normal, without the leading bit.
        let (mantissa, shift) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << FRACTION_BITS, exponent - 1),
        };
        let [digit, within] = [shift / u64::from(DIGIT_BITS), shift % u64::from(DIGIT_BITS)];
        let wide = u128::from(mantissa) << within;
        let first = usize::try_from(digit).unwrap_or(DIGITS);
        for (at, digit) in self.digits.iter_mut().skip(first).take(3).enumerate() {
            let part = i64::from(low_digit(wide >> (DIGIT_BITS as usize * at)));
            *digit += if value < 0.0 { -part } else { part };
        }
        self.pending += 1;
        if self.pending >= CARRY_EVERY {
            self.carry();
        }
    }

    /// Counts an infinity or NaN.
    fn add_special(&mut self, value: f64) {
        let count = if value.is_nan() {
            &mut self.nan
        } else if value > 0.0 {
            &mut self.positive_infinities
        } else {
            &mut self.negative_infinities
        };
        *count = count.saturating_add(1);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.carry();
        for (digit, other) in self.digits.iter_mut().zip(other.carried()) {
            *digit += other;
        }
        self.pending += 1;
        self.carry();
        let counts = [
            (&mut self.positive_infinities, other.positive_infinities),
            (&mut self.negative_infinities, other.negative_infinities),
            (&mut self.nan, other.nan),
        ];
        for (count, other) in counts {
            *count = count.saturating_add(other);
        }
    }

    /// Moves carries on: each digit but the last is from 0 to 2^32 - 1 afterwards.
    fn carry(&mut self) {
        let mut carry = 0;
        for (at, digit) in self.digits.iter_mut().enumerate() {
            let sum = *digit + carry;
            carry = sum >> DIGIT_BITS;
            // The last digit keeps the sign.
            *digit = if at + 1 < DIGITS { sum & 0xffff_ffff } else { sum };
        }
        self.pending = 0;
    }

    /// The digits after carries.
    fn carried(&self) -> [i64; DIGITS] {
        let mut sum = self.clone();
        sum.carry();
        sum.digits
    }

    /// The nearest float, ties to even; NaN if there was one, or infinities of both signs.
    pub fn to_f64(&self) -> f64 {
        match (self.nan, self.positive_infinities, self.negative_infinities) {
            (0, 0, 0) => {}
            (0, _, 0) => return f64::INFINITY,
            (0, 0, _) => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        let mut digits = self.carried();
        let is_negative = digits[DIGITS - 1] < 0;
        if is_negative {
            let mut negated = self.clone();
            negated.digits.iter_mut().for_each(|digit| *digit = -*digit);
            digits = negated.carried();
        }
        let magnitude = nearest(&digits);
        if is_negative { -magnitude } else { magnitude }
    }
}

/// The low 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
fn low_digit(wide: u128) -> u32 {
    wide as u32
}

/// The float nearest to a number of digits that are not negative, ties to even.
fn nearest(digits: &[i64; DIGITS]) -> f64 {
    /// The exponent of the least bit.
    const LEAST: i32 = -1074;
    let Some(top) = digits.iter().rposition(|&digit| digit != 0) else { return 0.0 };
    // Three digits hold at least 65 bits of the number; what is below counts as one bit.
    let low = top.saturating_sub(2);
    let window = digits[low..=top].iter().rev();
    let window = window.fold(0_i128, |wide, &digit| (wide << DIGIT_BITS) + i128::from(digit));
    let is_more_below = digits[..low].iter().any(|&digit| digit != 0);
    let mut wide = window.unsigned_abs();
    let mut exponent = LEAST + 32 * i32::try_from(low).unwrap_or(0);
    // To 64 bits, the last of which stands for all below it: then rounding once is right.
    let excess = (128 - wide.leading_zeros()).saturating_sub(64);
    let is_cut = wide & ((1 << excess) - 1) != 0;
    wide >>= excess;
    exponent += i32::try_from(excess).unwrap_or(0);
    let wide = u64::try_from(wide).unwrap_or(u64::MAX) | u64::from(is_cut || is_more_below);
    scaled(wide, exponent)
}

/// The float nearest to `wide` × 2^`exponent`, where the exponent is -1074 or more.
fn scaled(wide: u64, exponent: i32) -> f64 {
    // Subnormal numbers have fewer bits, but those are exact: nothing lies below 2^-1074.
    let value = wide as f64;
    let half = exponent / 2;
    value * power(half) * power(exponent - half)
}

/// 2^`exponent`, of a normal number.
fn power(exponent: i32) -> f64 {
    let biased = u64::try_from(exponent.clamp(-1022, 1023) + 1023).unwrap_or(0);
    f64::from_bits(biased << 52)
}

impl From<ExactSum> for Saved {
    fn from(sum: ExactSum) -> Self {
        let mut text = String::with_capacity(8 * (DIGITS + 1));
        let digits = sum.carried();
        // The last digit has 64 bits.
        let _ = write!(text, "{:016x}", digits[DIGITS - 1]);
        for digit in digits[..DIGITS - 1].iter().rev() {
            let _ = write!(text, "{digit:08x}");
        }
        Self {
            sum: text,
            positive_infinities: sum.positive_infinities,
            negative_infinities: sum.negative_infinities,
            nan: sum.nan,
        }
    }
}

impl TryFrom<Saved> for ExactSum {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        let wrong = || format!("a sum has {} hexadecimal digits", 8 * (DIGITS + 1));
        if saved.sum.len() != 8 * (DIGITS + 1) || !saved.sum.is_ascii() {
            return Err(wrong());
        }
        let (top, rest) = saved.sum.split_at(16);
        let mut digits = [0; DIGITS];
        digits[DIGITS - 1] = u64::from_str_radix(top, 16).map_err(|_| wrong())?.cast_signed();
        for (at, digit) in digits[..DIGITS - 1].iter_mut().rev().enumerate() {
            let text = &rest[8 * at..8 * (at + 1)];
            *digit = u32::from_str_radix(text, 16).map_err(|_| wrong())?.into();
        }
        Ok(Self {
            digits,
            pending: 0,
            positive_infinities: saved.positive_infinities,
            negative_infinities: saved.negative_infinities,
            nan: saved.nan,
        })
    }
}
