//! Gaussian smoothing.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::linear::{Linear, LinearFilter, Weights, refuse_bool};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::Operation;
use crate::settings::{PerAxis, Settings, WINDOW_MAX, identity};
use crate::view::{BoxView, Outcome, TaskContext};

const TRUNCATE: Parameter =
    Parameter::new("truncate", "above 0, at most 10", "radius of the window, in sigmas").or("4");

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "gaussian",
    "gaussian smoothing; integers are rounded once, half to even",
    "the source's type, not bool",
    &[
        Parameter::new(
            "sigma",
            "0 or more, one or one for each axis",
            "standard deviation in elements; 0 leaves an axis as it is",
        ),
        TRUNCATE,
    ],
);

#[derive(Debug)]
struct Gaussian {
    sigma: PerAxis<f64>,
    truncate: f64,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let truncate = truncate(settings)?;
    Ok(Arc::new(Gaussian { sigma: sigma(settings, "sigma", truncate)?, truncate }))
}

/// Reads the radius of a window in sigmas.
pub(super) fn truncate(settings: &Settings<'_>) -> Result<f64, OpError> {
    const TRUNCATE_MAX: f64 = 10.0;
    let truncate = settings.finite("truncate")?;
    if truncate > 0.0 && truncate <= TRUNCATE_MAX {
        return Ok(truncate);
    }
    Err(settings.bad("truncate", format!("it takes a number above 0, at most {TRUNCATE_MAX}")))
}

/// Reads standard deviations.
pub(super) fn sigma(
    settings: &Settings<'_>,
    key: &str,
    truncate: f64,
) -> Result<PerAxis<f64>, OpError> {
    let wanted = "it takes numbers from 0 on, one or one for each axis";
    let parse = |text: &str| text.parse().ok().filter(|sigma: &f64| (0.0..1e9).contains(sigma));
    let sigma = settings.per_axis(key, wanted, parse)?;
    let radius = sigma.values().iter().map(|&sigma| radius(sigma, truncate)).max().unwrap_or(0);
    if 2 * radius as u64 >= WINDOW_MAX {
        let wanted = format!(
            "its window has {} elements, at most {WINDOW_MAX} are taken; smooth a coarser level",
            2 * radius + 1
        );
        return Err(settings.bad(key, wanted));
    }
    Ok(sigma)
}

/// Elements on each side of a window, as `scipy.ndimage.gaussian_filter` has them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn radius(sigma: f64, truncate: f64) -> usize {
    if sigma > 0.0 { (truncate * sigma + 0.5) as usize } else { 0 }
}

/// Weights of a window, which add to 1; `None` if it is its middle alone.
pub(super) fn weights(sigma: f64, truncate: f64) -> Option<Weights> {
    let radius = radius(sigma, truncate);
    if radius == 0 {
        return None;
    }
    let weight = |distance: usize| (-0.5 * (distance * distance) as f64 / (sigma * sigma)).exp();
    let sides: Vec<f64> = (1..=radius).map(weight).collect();
    // Small ones first.
    let sum = 1.0 + 2.0 * sides.iter().rev().sum::<f64>();
    Some(Weights::Even(1.0 / sum, sides.iter().map(|side| side / sum).collect()))
}

/// The windows of all axes.
pub(super) fn chain(
    sigma: &PerAxis<f64>,
    truncate: f64,
    rank: usize,
) -> Result<Vec<Option<Weights>>, OpError> {
    Ok(sigma.of_rank(rank)?.into_iter().map(|sigma| weights(sigma, truncate)).collect())
}

impl LinearFilter for Gaussian {
    fn linear(&self, rank: usize) -> Result<Linear, OpError> {
        Ok(Linear::single(chain(&self.sigma, self.truncate, rank)?))
    }
}

impl Operation for Gaussian {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        let parameters =
            [("sigma", self.sigma.canonical()), ("truncate", self.truncate.to_string())];
        identity(INFO.name, 1, &parameters)
    }

    fn halo(&self, rank: usize) -> Result<Vec<[u64; 2]>, OpError> {
        Ok(self.linear(rank)?.halo(rank))
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        refuse_bool(INFO.name, input)?;
        Ok(input)
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
