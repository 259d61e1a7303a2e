//! Elements of one array, chosen by another.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::equal::matcher;
use super::replace::element_of;
use crate::constant::Constant;
use crate::element::{Element, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_count, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut};

pub(crate) const MASK: OperationInfo = OperationInfo::new(
    "mask",
    "the first source where the second is not 0 (NaN is not 0), else `fill`",
    "the first source's type",
    &[
        Parameter::new("fill", "a number", "value where the mask is 0; one that the type has")
            .or("0"),
        Parameter::new("keep", "nonzero or zero", "where the mask keeps elements").or("nonzero"),
    ],
)
.of_inputs(2);

pub(crate) const WHERE_MISSING: OperationInfo = OperationInfo::new(
    "where-missing",
    "the first source; where it is `missing`, the second",
    "the sources' type",
    &[Parameter::new("missing", "a number", "value of the first source that is none").or("nan")],
)
.of_inputs(2);

#[derive(Debug)]
struct Mask {
    fill: Constant,
    keeps_nonzero: bool,
}

pub(crate) fn build_mask(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let keeps_nonzero = settings.choice("keep", &["nonzero", "zero"])? == 0;
    Ok(Arc::new(Mask { fill: settings.constant("fill")?, keeps_nonzero }))
}

/// Bytes of a block of a mask.
const BLOCK: usize = 4096;

impl Operation for Mask {
    fn name(&self) -> &'static str {
        MASK.name
    }

    fn identity(&self) -> String {
        let keep = if self.keeps_nonzero { "nonzero" } else { "zero" };
        identity(MASK.name, 1, &[("fill", self.fill.canonical()), ("keep", keep.to_owned())])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        for_elements!(MASK.name, input, T => {
            element_of::<T>(MASK.name, "fill", &self.fill, input).map(|_| input)
        })
    }

    fn inputs(&self) -> usize {
        MASK.inputs
    }

    fn check_types(&self, inputs: &[DataType]) -> Result<(), OpError> {
        check_count(MASK.name, MASK.inputs, inputs.len())?;
        inputs.iter().try_for_each(|&input| supported(MASK.name, input).map(|_| ()))?;
        self.output_type(inputs[0]).map(|_| ())
    }

    fn scratch_bytes(&self, _shape: &[u64], _input: DataType) -> u64 {
        BLOCK as u64
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        for_elements!(MASK.name, input.data_type, T => {
            let fill = element_of::<T>(MASK.name, "fill", &self.fill, input.data_type)?;
            let elements = input.elements::<T>(MASK.name)?;
            let out = elements_mut::<T>(MASK.name, out)?;
            inputs[1].check(MASK.name)?;
            let mut flags = vec![0; BLOCK];
            let blocks = elements.chunks(BLOCK).zip(out.chunks_mut(BLOCK));
            for (at, (elements, out)) in blocks.enumerate() {
                let flags = &mut flags[..elements.len()];
                self.flags(&inputs[1], at * BLOCK, flags)?;
                for ((out, &element), &flag) in out.iter_mut().zip(elements).zip(flags.iter()) {
                    *out = if flag != 0 { element } else { fill };
                }
            }
        });
        Ok(Outcome::Done)
    }
}

impl Mask {
    /// Sets 1 for elements of a checked mask that keep, from position `start` on, else 0.
    fn flags(&self, mask: &BoxView<'_>, start: usize, flags: &mut [u8]) -> Result<(), OpError> {
        for_elements!(MASK.name, mask.data_type, M => {
            let mask = &mask.cast::<M>(MASK.name)?[start..];
            for (flag, element) in flags.iter_mut().zip(mask) {
                *flag = u8::from((*element != M::ZERO) == self.keeps_nonzero);
            }
        });
        Ok(())
    }
}

#[derive(Debug)]
struct WhereMissing {
    missing: Constant,
}

pub(crate) fn build_where_missing(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(WhereMissing { missing: settings.constant("missing")? }))
}

impl Operation for WhereMissing {
    fn name(&self) -> &'static str {
        WHERE_MISSING.name
    }

    fn identity(&self) -> String {
        identity(WHERE_MISSING.name, 1, &[("missing", self.missing.canonical())])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        let is_known = for_elements!(WHERE_MISSING.name, input, T => {
            self.missing.to_element::<T>().is_some()
        });
        if is_known {
            return Ok(input);
        }
        let missing = self.missing.canonical();
        let reason =
            format!("`missing={missing}` is no value of the type; name one with `missing`");
        Err(OpError::DataType {
            operation: WHERE_MISSING.name.to_owned(),
            data_type: input,
            reason,
        })
    }

    fn inputs(&self) -> usize {
        WHERE_MISSING.inputs
    }

    fn check_types(&self, inputs: &[DataType]) -> Result<(), OpError> {
        check_count(WHERE_MISSING.name, WHERE_MISSING.inputs, inputs.len())?;
        let [first, second] = [inputs[0], inputs[1]];
        if first != second {
            let reason = format!("one has {first} elements, the other {second}; cast one of them");
            let operation = WHERE_MISSING.name.to_owned();
            return Err(OpError::Disagree { operation, reason });
        }
        self.output_type(first).map(|_| ())
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        for_elements!(WHERE_MISSING.name, input.data_type, T => {
            let is_missing = matcher::<T>(&self.missing);
            let first = input.elements::<T>(WHERE_MISSING.name)?;
            let second = inputs[1].elements::<T>(WHERE_MISSING.name)?;
            let out = elements_mut::<T>(WHERE_MISSING.name, out)?;
            for ((out, &first), &second) in out.iter_mut().zip(first).zip(second) {
                *out = if is_missing(first) { second } else { first };
            }
        });
        Ok(Outcome::Done)
    }
}
