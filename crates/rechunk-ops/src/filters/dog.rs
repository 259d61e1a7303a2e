//! Difference of gaussians.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::gaussian::{chain, sigma, truncate};
use super::linear::{Combine, Linear, LinearFilter, float_type};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::Operation;
use crate::settings::{PerAxis, Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "dog",
    "difference of gaussians: smoothed by `low`, without smoothed by `high`",
    "the source's for floats, float32 for integers of at most 16 bits, else float64",
    &[
        Parameter::new("low", "0 or more, one or one for each axis", "the smaller sigma"),
        Parameter::new("high", "0 or more, one or one for each axis", "the larger sigma"),
        Parameter::new("truncate", "above 0, at most 10", "radius of the windows, in sigmas")
            .or("4"),
    ],
);

#[derive(Debug)]
struct Dog {
    low: PerAxis<f64>,
    high: PerAxis<f64>,
    truncate: f64,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let truncate = truncate(settings)?;
    let [low, high] = [sigma(settings, "low", truncate)?, sigma(settings, "high", truncate)?];
    Ok(Arc::new(Dog { low, high, truncate }))
}

impl LinearFilter for Dog {
    fn linear(&self, rank: usize) -> Result<Linear, OpError> {
        let chains = [&self.low, &self.high].map(|sigma| chain(sigma, self.truncate, rank));
        let [low, high] = chains;
        Ok(Linear { chains: vec![low?, high?], combine: Combine::Difference, divisor: 1.0 })
    }
}

impl Operation for Dog {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        let parameters = [
            ("low", self.low.canonical()),
            ("high", self.high.canonical()),
            ("truncate", self.truncate.to_string()),
        ];
        identity(INFO.name, 1, &parameters)
    }

    fn halo(&self, rank: usize) -> Result<Vec<[u64; 2]>, OpError> {
        Ok(self.linear(rank)?.halo(rank))
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        float_type(INFO.name, input)
    }

    fn scratch_bytes(&self, shape: &[u64], input: DataType) -> u64 {
        self.filter_bytes(shape, input)
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        self.filter(inputs, out, context)
    }
}
