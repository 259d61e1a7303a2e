//! Whether elements have a value.

use std::sync::Arc;

use rechunk_grid::DataType;

use crate::constant::Constant;
use crate::element::{Element, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, ValueKind, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "equal",
    "whether an element is `value`, exactly; `nan` finds NaN, and -0 is 0",
    "bool",
    &[Parameter::new("value", "a number", "value that is looked for; rounded to a float type")],
);

#[derive(Debug)]
struct Equal {
    value: Constant,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Equal { value: settings.constant("value")? }))
}

/// Returns whether an element is the wanted one, NaN counted as one value. Integers know no NaN,
/// and a constant that no element is, is never found.
pub(super) fn matcher<T: Element>(constant: &Constant) -> impl Fn(T) -> bool + use<T> {
    let wanted: Option<T> = constant.to_element();
    let is_nan = wanted.is_some_and(Element::is_nan);
    // NaN differs from all.
    let wanted = wanted.or(T::NAN);
    let is_there = wanted.is_some();
    let wanted = wanted.unwrap_or(T::ZERO);
    move |element: T| is_there & ((element == wanted) | (is_nan & element.is_nan()))
}

impl Operation for Equal {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &[("value", self.value.canonical())])
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
        for_elements!(INFO.name, input.data_type, T => {
            let is_wanted = matcher::<T>(&self.value);
            for (out, &element) in out.iter_mut().zip(input.elements::<T>(INFO.name)?) {
                *out = u8::from(is_wanted(element));
            }
        });
        Ok(Outcome::Done)
    }
}
