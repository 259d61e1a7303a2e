//! Derivatives: Sobel, gradient magnitude, Laplacian.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::linear::{Combine, Linear, LinearFilter, Weights, float_type};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::Operation;
use crate::settings::{Settings, bad_setting, identity};
use crate::view::{BoxView, Outcome, TaskContext};

const RESULT: &str =
    "the source's for floats, float32 for integers of at most 16 bits, else float64";

const AXES: Parameter =
    Parameter::new("axes", "all, or positions of axes from 0", "axes that are looked along")
        .or("all");

pub(crate) const SOBEL: OperationInfo = OperationInfo::new(
    "sobel",
    "Sobel derivative: [-1 0 1] along `axis`, [1 2 1] along the other axes",
    RESULT,
    &[Parameter::new("axis", "the position of an axis from 0", "axis of the derivative"), AXES],
);

pub(crate) const GRADIENT_MAGNITUDE: OperationInfo = OperationInfo::new(
    "gradient-magnitude",
    "root of the sum of squared Sobel derivatives",
    RESULT,
    &[AXES],
);

pub(crate) const LAPLACIAN: OperationInfo = OperationInfo::new(
    "laplacian",
    "sum of second differences, [1 -2 1] along each axis",
    RESULT,
    &[AXES],
);

/// Kinds of derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Sobel's, along one axis.
    Sobel(usize),
    Magnitude,
    Laplacian,
}

#[derive(Debug)]
struct Derivative {
    info: &'static OperationInfo,
    kind: Kind,
    /// Axes in ascending order; `None` is all.
    axes: Option<Vec<usize>>,
}

pub(crate) fn build_sobel(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let axis = settings.text("axis")?.parse();
    let axis = axis.map_err(|_| settings.bad("axis", "it takes the position of an axis from 0"))?;
    let axes = settings.axes("axes")?;
    if axes.as_ref().is_some_and(|axes| !axes.contains(&axis)) {
        return Err(settings.bad("axes", format!("`axis={axis}` is not among them")));
    }
    Ok(Arc::new(Derivative { info: &SOBEL, kind: Kind::Sobel(axis), axes }))
}

pub(crate) fn build_gradient_magnitude(
    settings: &Settings<'_>,
) -> Result<Arc<dyn Operation>, OpError> {
    let axes = settings.axes("axes")?;
    Ok(Arc::new(Derivative { info: &GRADIENT_MAGNITUDE, kind: Kind::Magnitude, axes }))
}

pub(crate) fn build_laplacian(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let axes = settings.axes("axes")?;
    Ok(Arc::new(Derivative { info: &LAPLACIAN, kind: Kind::Laplacian, axes }))
}

/// The windows of Sobel's derivative along `axis`.
fn sobel(axis: usize, axes: &[usize], rank: usize) -> Vec<Option<Weights>> {
    let window = |at: usize| match at {
        _ if at == axis => Some(Weights::Odd(vec![1.0])),
        _ if axes.contains(&at) => Some(Weights::Even(2.0, vec![1.0])),
        _ => None,
    };
    (0..rank).map(window).collect()
}

impl Derivative {
    /// Canonical text of the axes.
    fn axes_text(&self) -> String {
        let text = |axes: &Vec<usize>| {
            let axes: Vec<_> = axes.iter().map(usize::to_string).collect();
            axes.join(",")
        };
        self.axes.as_ref().map_or_else(|| "all".to_owned(), text)
    }
}

impl LinearFilter for Derivative {
    fn linear(&self, rank: usize) -> Result<Linear, OpError> {
        let axes = self.axes.clone().unwrap_or_else(|| (0..rank).collect());
        let wanted = format!("the array has {rank} axes");
        if axes.iter().any(|&axis| axis >= rank) {
            return Err(bad_setting(self.info.name, "axes", &self.axes_text(), wanted));
        }
        let (chains, combine) = match self.kind {
            Kind::Sobel(axis) if axis >= rank => {
                return Err(bad_setting(self.info.name, "axis", &axis.to_string(), wanted));
            }
            Kind::Sobel(axis) => (vec![sobel(axis, &axes, rank)], Combine::Sum),
            Kind::Magnitude => {
                let chains = axes.iter().map(|&axis| sobel(axis, &axes, rank));
                (chains.collect(), Combine::Magnitude)
            }
            Kind::Laplacian => {
                let chain = |&axis: &usize| {
                    let second = || Weights::Even(-2.0, vec![1.0]);
                    (0..rank).map(|at| (at == axis).then(second)).collect()
                };
                (axes.iter().map(chain).collect(), Combine::Sum)
            }
        };
        if chains.is_empty() {
            let wanted = "a derivative needs an axis";
            return Err(bad_setting(self.info.name, "axes", &self.axes_text(), wanted));
        }
        Ok(Linear { chains, combine, divisor: 1.0 })
    }
}

impl Operation for Derivative {
    fn name(&self) -> &'static str {
        self.info.name
    }

    fn identity(&self) -> String {
        let mut parameters = vec![("axes", self.axes_text())];
        if let Kind::Sobel(axis) = self.kind {
            parameters.insert(0, ("axis", axis.to_string()));
        }
        identity(self.info.name, 1, &parameters)
    }

    fn halo(&self, rank: usize) -> Result<Vec<[u64; 2]>, OpError> {
        Ok(self.linear(rank)?.halo(rank))
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        float_type(self.info.name, input)
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
