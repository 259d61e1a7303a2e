//! Least, largest and mean element.

use std::sync::Arc;

use rechunk_grid::DataType;
use serde_json::{Value, json};

use super::values::{check_input, element, float, integer, same_type, stranger};
use crate::element::{Element, Key, Wide, for_elements, supported};
use crate::error::OpError;
use crate::exact_sum::ExactSum;
use crate::info::OperationInfo;
use crate::operation::{Operation, Output};
use crate::settings::{Settings, identity};
use crate::statistic::{Partial, Statistic, Sum, SummaryPart};
use crate::view::{BoxView, TaskContext, for_kept_rows};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "min-max-mean",
    "least, largest and mean element, by an exact sum; NaN is counted and left out",
    "a statistic: count, nan, min, max, sum, mean",
    &[],
);

#[derive(Debug)]
struct Summary;

#[expect(clippy::unnecessary_wraps, reason = "as all builders")]
pub(crate) fn build(_settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Summary))
}

impl Operation for Summary {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &[])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input)
    }

    fn output(&self) -> Output<'_> {
        Output::Statistic(self)
    }
}

/// The smaller or larger of two keys, of which each may be missing.
fn pick(a: Option<u64>, b: Option<u64>, of: fn(u64, u64) -> u64) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(of(a, b)),
        (a, b) => a.or(b),
    }
}

/// Extremes and sums of elements.
struct Measured {
    count: u64,
    nan: u64,
    extremes: Option<(u64, u64)>,
    integer: i128,
    float: ExactSum,
}

impl Measured {
    fn add<T: Element>(&mut self, row: &[T]) {
        for &element in row {
            if element.is_nan() {
                self.nan += 1;
                continue;
            }
            self.count += 1;
            let key = element.to_key().to_u64();
            let (min, max) = self.extremes.unwrap_or((key, key));
            self.extremes = Some((min.min(key), max.max(key)));
            match element.to_wide() {
                Wide::Int(value) => self.integer += value,
                Wide::Float(value) => self.float.add(value),
            }
        }
    }
}

impl Statistic for Summary {
    fn measure(&self, input: &BoxView<'_>, context: &TaskContext) -> Result<Partial, OpError> {
        check_input(INFO.name, input, context)?;
        let mut measured =
            Measured { count: 0, nan: 0, extremes: None, integer: 0, float: ExactSum::default() };
        for_elements!(INFO.name, input.data_type, T => {
            let elements = input.cast::<T>(INFO.name)?;
            for_kept_rows(input.shape, context, |_, row| {
                measured.add(&elements[row]);
                Ok(())
            })?;
        });
        let sum = if input.data_type.is_ieee_float() {
            Sum::Float(Box::new(measured.float))
        } else {
            Sum::Integer(measured.integer.to_string())
        };
        Ok(Partial::Summary(Box::new(SummaryPart {
            data_type: input.data_type,
            count: measured.count,
            nan: measured.nan,
            min: measured.extremes.map(|(min, _)| min),
            max: measured.extremes.map(|(_, max)| max),
            sum,
        })))
    }

    fn empty(&self, input: DataType) -> Result<Partial, OpError> {
        let data_type = self.output_type(input)?;
        let sum = if input.is_ieee_float() {
            Sum::Float(Box::default())
        } else {
            Sum::Integer("0".to_owned())
        };
        let part = SummaryPart { data_type, count: 0, nan: 0, min: None, max: None, sum };
        Ok(Partial::Summary(Box::new(part)))
    }

    fn merge(&self, into: &mut Partial, other: &Partial) -> Result<(), OpError> {
        let (Partial::Summary(into), Partial::Summary(other)) = (into, other) else {
            return Err(stranger(INFO.name, "one is of another statistic"));
        };
        same_type(INFO.name, into.data_type, other.data_type)?;
        match (&mut into.sum, &other.sum) {
            (Sum::Float(sum), Sum::Float(other)) => sum.merge(other),
            (Sum::Integer(sum), Sum::Integer(other)) => {
                let total = parse(sum)?.checked_add(parse(other)?);
                let total = total.ok_or_else(|| stranger(INFO.name, "its sum is too large"))?;
                *sum = total.to_string();
            }
            _ => return Err(stranger(INFO.name, "one has a sum of floats, another of integers")),
        }
        into.count = into.count.saturating_add(other.count);
        into.nan = into.nan.saturating_add(other.nan);
        into.min = pick(into.min, other.min, u64::min);
        into.max = pick(into.max, other.max, u64::max);
        Ok(())
    }

    fn finish(&self, part: &Partial) -> Result<Value, OpError> {
        let Partial::Summary(part) = part else {
            return Err(stranger(INFO.name, "it is of another statistic"));
        };
        let extreme =
            |key: Option<u64>| key.map(|key| element(INFO.name, part.data_type, key)).transpose();
        let (sum, mean) = match &part.sum {
            Sum::Integer(sum) => {
                let sum = parse(sum)?;
                (integer(sum), sum as f64 / part.count as f64)
            }
            Sum::Float(sum) => {
                let sum = sum.to_f64();
                (float(sum), sum / part.count as f64)
            }
        };
        let mean = if part.count == 0 { Value::Null } else { float(mean) };
        Ok(json!({
            "count": part.count, "nan": part.nan,
            "min": extreme(part.min)?, "max": extreme(part.max)?, "sum": sum, "mean": mean,
        }))
    }
}

/// Reads a sum of integers.
fn parse(sum: &str) -> Result<i128, OpError> {
    sum.parse().map_err(|_| stranger(INFO.name, "its sum is no integer"))
}
