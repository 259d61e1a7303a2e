//! Contract of a statistic: a value of the whole domain.

use std::fmt;

use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

use crate::error::OpError;
use crate::exact_sum::ExactSum;
use crate::view::{BoxView, TaskContext};

/// A statistic of boxes: each is measured by itself, and parts are merged in any order.
pub trait Statistic: fmt::Debug + Send + Sync {
    /// Measures the part of `input` that `context` keeps.
    fn measure(&self, input: &BoxView<'_>, context: &TaskContext) -> Result<Partial, OpError>;

    /// Returns the part that an empty box has.
    fn empty(&self, input: DataType) -> Result<Partial, OpError>;

    /// Adds `other` to `into`. The result depends on no order: counts and integers are added
    /// exactly, floats by [`ExactSum`], which is exact too.
    fn merge(&self, into: &mut Partial, other: &Partial) -> Result<(), OpError>;

    /// The value that a user sees, for JSON: an object.
    fn finish(&self, part: &Partial) -> Result<serde_json::Value, OpError>;
}

/// Measured part of a statistic; serialisable, so that a task can leave it in a journal.
///
/// Elements in it are order keys: unsigned integers that ascend as the elements do, of any type. An
/// unsigned integer is its own key, a signed one has its sign bit flipped, a negative float all
/// bits, a positive float the sign bit. NaN has the largest key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "statistic", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Partial {
    /// Counts of a histogram.
    Histogram {
        /// Type of an element.
        data_type: DataType,
        /// Elements in each bin.
        counts: Vec<u64>,
        /// Elements below the first bin.
        below: u64,
        /// Elements above the last bin.
        above: u64,
        /// Elements that are not a number.
        nan: u64,
    },
    /// Extremes and sum.
    Summary(Box<SummaryPart>),
    /// Values that occur.
    Unique {
        /// Type of an element.
        data_type: DataType,
        /// Order keys of the values, ascending.
        keys: Vec<u64>,
        /// Elements counted.
        count: u64,
    },
    /// Sum over elements of a hash of place and value, modulo 2^128.
    Checksum {
        /// Type of an element.
        data_type: DataType,
        /// Sum, as 32 hexadecimal digits.
        sum: String,
        /// Elements counted.
        count: u64,
    },
}

/// Extremes and sum of some elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryPart {
    /// Type of an element.
    pub data_type: DataType,
    /// Elements that are a number, infinities among them.
    pub count: u64,
    /// Elements that are not a number.
    pub nan: u64,
    /// Order key of the least element; `None` without elements.
    pub min: Option<u64>,
    /// Order key of the largest element.
    pub max: Option<u64>,
    /// Sum of the elements.
    pub sum: Sum,
}

/// Sum without rounding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sum {
    /// Sum of integers, in decimal digits (they may need more than 64 bits).
    Integer(String),
    /// Sum of floats.
    Float(Box<ExactSum>),
}
