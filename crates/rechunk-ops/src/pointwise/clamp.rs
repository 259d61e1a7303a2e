//! Values within bounds.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::bounds::Bounds;
use crate::element::{Element, for_elements};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "clamp",
    "the nearest value from `min` to `max`, exactly; NaN stays NaN",
    "the source's type",
    &[
        Parameter::new("min", "a number", "least value (left out: no bound)"),
        Parameter::new("max", "a number", "largest value (left out: no bound)"),
    ],
);

#[derive(Debug)]
struct Clamp(Bounds);

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Clamp(Bounds::read(settings)?)))
}

impl Operation for Clamp {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &self.0.parameters())
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        if input == DataType::Bool {
            let reason = "their bounds are 0 and 1".to_owned();
            return Err(OpError::DataType {
                operation: INFO.name.to_owned(),
                data_type: input,
                reason,
            });
        }
        for_elements!(INFO.name, input, T => self.bounds_of::<T>(input).map(|_| input))
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

impl Clamp {
    /// The bounds as elements; `None` where there is none. Refuses bounds between which the type
    /// has no value.
    fn bounds_of<T: Element>(&self, input: DataType) -> Result<[Option<T>; 2], OpError> {
        let refusal = || {
            let bounds = self.0.parameters();
            let bounds: Vec<_> =
                bounds.iter().map(|(key, bound)| format!("{key}={bound}")).collect();
            OpError::DataType {
                operation: INFO.name.to_owned(),
                data_type: input,
                reason: format!("no value of the type is within {}", bounds.join(",")),
            }
        };
        let min = self.0.min.as_ref();
        let min = min.map(|bound| bound.lower_bound::<T>(input).ok_or_else(refusal)).transpose()?;
        let max = self.0.max.as_ref();
        let max = max.map(|bound| bound.upper_bound::<T>(input).ok_or_else(refusal)).transpose()?;
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(refusal());
        }
        Ok([min, max])
    }

    fn run_as<T: Element>(&self, input: &BoxView<'_>, out: &mut [u8]) -> Result<Outcome, OpError> {
        let [min, max] = self.bounds_of::<T>(input.data_type)?;
        let elements = input.elements::<T>(INFO.name)?;
        for (out, &element) in elements_mut::<T>(INFO.name, out)?.iter_mut().zip(elements) {
            let mut value = element;
            if let Some(min) = min {
                value = if value < min { min } else { value };
            }
            if let Some(max) = max {
                value = if value > max { max } else { value };
            }
            *out = value;
        }
        Ok(Outcome::Done)
    }
}
