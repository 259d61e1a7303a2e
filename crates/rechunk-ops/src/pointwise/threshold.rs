//! Whether values lie within bounds.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::bounds::Bounds;
use crate::element::{Element, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, ValueKind, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "threshold",
    "true from `min` to `max`, both included, compared exactly; NaN is false",
    "bool",
    &[
        Parameter::new("min", "a number", "least value that is true (left out: no bound)"),
        Parameter::new("max", "a number", "largest value that is true (left out: no bound)"),
    ],
);

#[derive(Debug)]
struct Threshold(Bounds);

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Threshold(Bounds::read(settings)?)))
}

impl Operation for Threshold {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &self.0.parameters())
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input).map(|_| DataType::Bool)
    }

    fn value_kind(&self) -> ValueKind {
        ValueKind::Label
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        for_elements!(INFO.name, input.data_type, T => self.run_as::<T>(&input, out))
    }
}

impl Threshold {
    fn run_as<T: Element>(&self, input: &BoxView<'_>, out: &mut [u8]) -> Result<Outcome, OpError> {
        let elements = input.elements::<T>(INFO.name)?;
        let pairs = out.iter_mut().zip(elements);
        // `None`: there is no bound; `Some(None)`: it lies beyond all values of the type.
        let min = self.0.min.as_ref().map(|bound| bound.lower_bound::<T>(input.data_type));
        let max = self.0.max.as_ref().map(|bound| bound.upper_bound::<T>(input.data_type));
        match (min, max) {
            (Some(None), _) | (_, Some(None)) => pairs.for_each(|(out, _)| *out = 0),
            (Some(Some(min)), Some(Some(max))) => {
                pairs.for_each(|(out, &x)| *out = u8::from(x >= min) & u8::from(x <= max));
            }
            (Some(Some(min)), None) => pairs.for_each(|(out, &x)| *out = u8::from(x >= min)),
            (None, Some(Some(max))) => pairs.for_each(|(out, &x)| *out = u8::from(x <= max)),
            (None, None) => pairs.for_each(|(out, x)| *out = u8::from(!x.is_nan())),
        }
        Ok(Outcome::Done)
    }
}
