//! Light for dark.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::replace::element_of;
use crate::constant::Constant;
use crate::element::{Element, Wide, for_elements};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "invert",
    "max - x, exactly; integers out of range saturate, NaN stays NaN",
    "the source's type",
    &[Parameter::new(
        "max",
        "a number",
        "value that becomes 0 (left out: the largest of an unsigned type, -1 for a signed one, \
         which flips its range, and 1 for floats and bool)",
    )],
);

#[derive(Debug)]
struct Invert {
    max: Option<Constant>,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Invert { max: settings.optional_constant("max")? }))
}

impl Invert {
    /// The element that becomes 0.
    fn max_of<T: Element>(&self, input: DataType) -> Result<T, OpError> {
        let default = || match input.integer_range() {
            // -1 of a signed type, whose extremes add to it.
            Some((least, largest)) => Constant::int(least + largest),
            None => Constant::int(1),
        };
        let max = self.max.clone().unwrap_or_else(default);
        element_of(INFO.name, "max", &max, input)
    }
}

/// Returns `max - value`; integers saturate.
#[inline]
fn difference<T: Element>(max: T, value: T, is_short: bool) -> T {
    if T::IS_FLOAT || is_short {
        // Exact for integers of 32 bits; of floats, rounded once.
        return T::from_f64(max.to_f64() - value.to_f64());
    }
    let (Wide::Int(max), Wide::Int(value)) = (max.to_wide(), value.to_wide()) else {
        return T::ZERO;
    };
    let exact = max - value;
    let extreme = if exact < 0 { f64::NEG_INFINITY } else { f64::INFINITY };
    T::from_int(exact).unwrap_or_else(|| T::from_f64(extreme))
}

impl Operation for Invert {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        let max = self.max.as_ref();
        let max = max.map_or_else(|| "default".to_owned(), Constant::canonical);
        identity(INFO.name, 1, &[("max", max)])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        for_elements!(INFO.name, input, T => self.max_of::<T>(input).map(|_| input))
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        for_elements!(INFO.name, input.data_type, T => {
            let max = self.max_of::<T>(input.data_type)?;
            let is_short = size_of::<T>() <= 4;
            let elements = input.elements::<T>(INFO.name)?;
            for (out, &element) in elements_mut::<T>(INFO.name, out)?.iter_mut().zip(elements) {
                *out = difference(max, element, is_short);
            }
        });
        Ok(Outcome::Done)
    }
}
