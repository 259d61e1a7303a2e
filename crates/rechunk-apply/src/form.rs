//! Encoding of values between levels, and the rule by which they are combined.

use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

/// Encoding of an element of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// As the data type has it, in the byte order of the machine.
    Plain,
    /// A numerator in 64 signed bits.
    Fixed64,
    /// A numerator in 128 signed bits.
    Fixed128,
    /// A float of 64 bits.
    Float64,
}

/// Form of the elements of a block: plain, or exact fractions that are rounded later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueForm {
    /// Type that the values become in the end.
    pub data_type: DataType,
    /// Encoding.
    pub encoding: Encoding,
    /// Number that numerators are parts of; 1 where values are no fractions.
    pub denominator: u128,
}

impl ValueForm {
    /// Elements as their type has them.
    pub fn plain(data_type: DataType) -> Self {
        Self { data_type, encoding: Encoding::Plain, denominator: 1 }
    }

    /// Bytes of an element.
    pub fn item_bytes(self) -> u64 {
        match self.encoding {
            Encoding::Plain => self.data_type.item_bytes(),
            Encoding::Fixed64 | Encoding::Float64 => 8,
            Encoding::Fixed128 => 16,
        }
    }
}

/// Rule by which the contributions to a voxel become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// There is only one.
    Assign,
    /// The largest.
    Max,
    /// Their weighted sum.
    Sum,
}

/// Numbers in which sums are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// Integers of 64 bits, exact.
    Int64,
    /// Integers of 128 bits, exact.
    Int128,
    /// Floats of 64 bits.
    Float64,
}

/// Arithmetic of a level: chosen by [`crate::prepare`] so that no sum overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Combine {
    /// Rule.
    pub rule: Rule,
    /// Numbers of [`Rule::Sum`].
    pub lane: Lane,
    /// Form of the contributions.
    pub input: ValueForm,
    /// Form of the result.
    pub output: ValueForm,
    /// Number that the weights add up to: product of the ramps' denominators.
    pub denominator: u128,
}

impl Combine {
    /// Moves plain elements of any type where task boxes share no voxel.
    pub fn assign(data_type: DataType) -> Self {
        let form = ValueForm::plain(data_type);
        Self { rule: Rule::Assign, lane: Lane::Int64, input: form, output: form, denominator: 1 }
    }

    /// Bytes that an accumulator holds per voxel of its region: an element of the input form, with
    /// a mark of one byte for the largest. Sums take 8 or 16, those of 64-bit floats 24: the sum,
    /// the first value and a mark.
    pub fn accumulator_bytes(&self) -> u64 {
        match (self.rule, self.lane) {
            (Rule::Assign, _) => self.input.item_bytes(),
            (Rule::Max, _) => self.input.item_bytes() + 1,
            (Rule::Sum, Lane::Int128) => 16,
            (Rule::Sum, Lane::Float64) if self.keeps_first() => 24,
            (Rule::Sum, Lane::Int64 | Lane::Float64) => 8,
        }
    }

    /// Bytes per voxel that finishing takes beside these where contributions are missing.
    pub fn skip_bytes(&self) -> u64 {
        match (self.rule, self.lane) {
            (Rule::Assign | Rule::Max, _) => 0,
            (Rule::Sum, Lane::Int64 | Lane::Float64) => 8,
            (Rule::Sum, Lane::Int128) => 16,
        }
    }

    /// Sums of floats as wide as the lane are no exact copies of equal contributions.
    pub(crate) fn keeps_first(&self) -> bool {
        self.rule == Rule::Sum
            && self.lane == Lane::Float64
            && self.input.data_type == DataType::Float64
    }
}

/// Largest magnitude of an integer type, `None` for other types.
pub(crate) fn magnitude(data_type: DataType) -> Option<u128> {
    let (least, largest) = data_type.integer_range()?;
    Some(least.unsigned_abs().max(largest.unsigned_abs()))
}
