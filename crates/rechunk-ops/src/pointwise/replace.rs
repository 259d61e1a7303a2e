//! One value for another.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::equal::matcher;
use crate::constant::Constant;
use crate::element::{Element, for_elements};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "replace",
    "`to` where an element is `from`, exactly, else the element; `nan` finds NaN, and -0 is 0",
    "the source's type",
    &[
        Parameter::new("from", "a number", "value that is replaced"),
        Parameter::new("to", "a number", "value in its place; one that the type has"),
    ],
);

#[derive(Debug)]
struct Replace {
    from: Constant,
    to: Constant,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Replace { from: settings.constant("from")?, to: settings.constant("to")? }))
}

/// Returns the element of a constant; refuses one that the type does not have.
pub(super) fn element_of<T: Element>(
    operation: &str,
    key: &str,
    constant: &Constant,
    data_type: DataType,
) -> Result<T, OpError> {
    let element: Option<T> = constant.to_element();
    let is_bool = data_type == DataType::Bool;
    let fits = |element: &T| !is_bool || *element <= T::ONE;
    element.filter(fits).ok_or_else(|| {
        let range =
            data_type.integer_range().map(|(least, largest)| format!(" ({least} to {largest})"));
        OpError::DataType {
            operation: operation.to_owned(),
            data_type,
            reason: format!(
                "`{key}={}` is no value of the type{}",
                constant.canonical(),
                range.unwrap_or_default()
            ),
        }
    })
}

impl Operation for Replace {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        let parameters = [("from", self.from.canonical()), ("to", self.to.canonical())];
        identity(INFO.name, 1, &parameters)
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        for_elements!(INFO.name, input, T => {
            element_of::<T>(INFO.name, "to", &self.to, input).map(|_| input)
        })
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        for_elements!(INFO.name, input.data_type, T => {
            let to = element_of::<T>(INFO.name, "to", &self.to, input.data_type)?;
            let is_wanted = matcher::<T>(&self.from);
            let elements = input.elements::<T>(INFO.name)?;
            for (out, &element) in elements_mut::<T>(INFO.name, out)?.iter_mut().zip(elements) {
                *out = if is_wanted(element) { to } else { element };
            }
        });
        Ok(Outcome::Done)
    }
}
