//! Histograms.

use std::sync::Arc;

use rechunk_grid::DataType;
use serde_json::{Value, json};

use super::values::{check_input, float, same_type, stranger};
use crate::constant::Constant;
use crate::element::{Element, Wide, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, Output};
use crate::settings::{Settings, identity};
use crate::statistic::{Partial, Statistic};
use crate::view::{BoxView, TaskContext, for_kept_rows};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "histogram",
    "elements in bins of one width, the last with its upper edge; others counted beside them",
    "a statistic: range, counts, below, above, nan",
    &[
        Parameter::new("bins", "1 to 1048576", "number of bins").or("256"),
        Parameter::new(
            "range",
            "low..high",
            "edges of the first and the last bin (left out: all values of a type of 8 bits)",
        ),
    ],
);

/// Bins at most.
const BINS_MAX: usize = 1 << 20;

#[derive(Debug)]
struct Histogram {
    bins: usize,
    range: Option<(Constant, Constant)>,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let bins = settings.text("bins")?.parse().ok();
    let bins = bins.filter(|bins| (1..=BINS_MAX).contains(bins));
    let bins = bins.ok_or_else(|| settings.bad("bins", format!("it takes 1 to {BINS_MAX}")))?;
    let range = settings.optional("range").map(|text| parse_range(settings, text)).transpose()?;
    Ok(Arc::new(Histogram { bins, range }))
}

/// Reads `low..high`.
fn parse_range(settings: &Settings<'_>, text: &str) -> Result<(Constant, Constant), OpError> {
    let wanted = "it takes low..high, two finite numbers in ascending order";
    let ends = text.split_once("..");
    let ends = ends.and_then(|(low, high)| Some((Constant::parse(low)?, Constant::parse(high)?)));
    let ends = ends.filter(|(low, high)| {
        let width = high.to_f64() - low.to_f64();
        width > 0.0 && width.is_finite()
    });
    ends.ok_or_else(|| settings.bad("range", wanted))
}

/// Bins of integers, exactly.
#[derive(Debug, Clone, Copy)]
struct IntegerBins {
    low: i128,
    high: i128,
    bins: i128,
}

/// Bins of floats, by edges `low + bin × step`, as `numpy.histogram` has them.
#[derive(Debug, Clone, Copy)]
struct FloatBins {
    low: f64,
    high: f64,
    bins: usize,
}

/// Place of an element.
#[derive(Debug, Clone, Copy)]
enum Place {
    Bin(usize),
    Below,
    Above,
    Nan,
}

impl IntegerBins {
    fn place(self, value: i128) -> Place {
        if value < self.low {
            return Place::Below;
        }
        if value > self.high {
            return Place::Above;
        }
        let (offset, width) = (value - self.low, self.high - self.low);
        let bin = match (u64::try_from(offset), u64::try_from(width), u64::try_from(self.bins)) {
            // The product fits: bins have at most 21 bits.
            (Ok(offset), Ok(width), Ok(bins)) if width < 1 << 43 => {
                i128::from(offset * bins / width)
            }
            _ => offset * self.bins / width,
        };
        Place::Bin(usize::try_from(bin.min(self.bins - 1)).unwrap_or(0))
    }
}

impl FloatBins {
    /// Lower edge of a bin.
    fn edge(self, bin: usize) -> f64 {
        if bin == self.bins {
            return self.high;
        }
        self.low + bin as f64 * ((self.high - self.low) / self.bins as f64)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    fn place(self, value: f64) -> Place {
        if value.is_nan() {
            return Place::Nan;
        }
        if value < self.low {
            return Place::Below;
        }
        if value > self.high {
            return Place::Above;
        }
        let guess = (value - self.low) / (self.high - self.low) * self.bins as f64;
        let mut bin = (guess as usize).min(self.bins - 1);
        while bin > 0 && value < self.edge(bin) {
            bin -= 1;
        }
        while bin + 1 < self.bins && value >= self.edge(bin + 1) {
            bin += 1;
        }
        Place::Bin(bin)
    }
}

/// Counts of a box.
struct Counts {
    bins: Vec<u64>,
    below: u64,
    above: u64,
    nan: u64,
}

impl Counts {
    fn add(&mut self, place: Place) {
        match place {
            Place::Bin(bin) => self.bins[bin] += 1,
            Place::Below => self.below += 1,
            Place::Above => self.above += 1,
            Place::Nan => self.nan += 1,
        }
    }
}

impl Histogram {
    /// The edges for elements of a type.
    fn range_for(&self, data_type: DataType) -> Result<(Constant, Constant), OpError> {
        if let Some(range) = &self.range {
            return Ok(range.clone());
        }
        match data_type.integer_range() {
            Some((least, largest)) if data_type.item_bytes() == 1 => {
                Ok((Constant::int(least), Constant::int(largest)))
            }
            _ => Err(OpError::DataType {
                operation: INFO.name.to_owned(),
                data_type,
                reason: "their values are too many for bins; set `range=low..high`".to_owned(),
            }),
        }
    }
}

impl Operation for Histogram {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        let range = self.range.as_ref();
        let range = range.map_or_else(
            || "default".to_owned(),
            |(low, high)| format!("{}..{}", low.canonical(), high.canonical()),
        );
        identity(INFO.name, 1, &[("bins", self.bins.to_string()), ("range", range)])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input)?;
        self.range_for(input).map(|_| input)
    }

    fn scratch_bytes(&self, _shape: &[u64], _input: DataType) -> u64 {
        8 * self.bins as u64
    }

    fn output(&self) -> Output<'_> {
        Output::Statistic(self)
    }
}

impl Statistic for Histogram {
    fn measure(&self, input: &BoxView<'_>, context: &TaskContext) -> Result<Partial, OpError> {
        check_input(INFO.name, input, context)?;
        let (low, high) = self.range_for(input.data_type)?;
        let integers = match (low.to_int(), high.to_int()) {
            (Some(low), Some(high)) => Some(IntegerBins { low, high, bins: self.bins as i128 }),
            _ => None,
        };
        let floats = FloatBins { low: low.to_f64(), high: high.to_f64(), bins: self.bins };
        let mut counts = Counts { bins: vec![0; self.bins], below: 0, above: 0, nan: 0 };
        for_elements!(INFO.name, input.data_type, T => {
            let elements = input.cast::<T>(INFO.name)?;
            for_kept_rows(input.shape, context, |_, row| {
                for element in &elements[row] {
                    counts.add(match (element.to_wide(), integers) {
                        (Wide::Int(value), Some(integers)) => integers.place(value),
                        (value, _) => floats.place(value.to_f64()),
                    });
                }
                Ok(())
            })?;
        });
        let (data_type, Counts { bins: counts, below, above, nan }) = (input.data_type, counts);
        Ok(Partial::Histogram { data_type, counts, below, above, nan })
    }

    fn empty(&self, input: DataType) -> Result<Partial, OpError> {
        let (data_type, counts) = (self.output_type(input)?, vec![0; self.bins]);
        Ok(Partial::Histogram { data_type, counts, below: 0, above: 0, nan: 0 })
    }

    fn merge(&self, into: &mut Partial, other: &Partial) -> Result<(), OpError> {
        let (
            Partial::Histogram { data_type, counts, below, above, nan },
            Partial::Histogram {
                data_type: type_of_more,
                counts: more,
                below: lower,
                above: higher,
                nan: none,
            },
        ) = (into, other)
        else {
            return Err(stranger(INFO.name, "one is of another statistic"));
        };
        same_type(INFO.name, *data_type, *type_of_more)?;
        if counts.len() != more.len() {
            let reason = format!("one has {} bins, another {}", counts.len(), more.len());
            return Err(stranger(INFO.name, reason));
        }
        let sums = counts.iter_mut().zip(more);
        let sums = sums.chain([(below, lower), (above, higher), (nan, none)]);
        for (sum, count) in sums {
            *sum = sum.saturating_add(*count);
        }
        Ok(())
    }

    fn finish(&self, part: &Partial) -> Result<Value, OpError> {
        let Partial::Histogram { data_type, counts, below, above, nan } = part else {
            return Err(stranger(INFO.name, "it is of another statistic"));
        };
        let (low, high) = self.range_for(*data_type)?;
        let range = [low, high].map(|end| float(end.to_f64()));
        Ok(json!({
            "bins": self.bins, "range": range, "counts": counts,
            "below": below, "above": above, "nan": nan,
        }))
    }
}
