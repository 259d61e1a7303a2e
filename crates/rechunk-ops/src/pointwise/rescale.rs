//! Linear maps.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::store::{BLOCK, store_block};
use crate::element::{Element, float_for, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "rescale",
    "scale × x + offset, in 64-bit floats: integers beyond 2^53 are rounded first",
    "the source's for floats, float32 for integers of at most 16 bits, else float64; or `to`",
    &[
        Parameter::new("scale", "a finite number", "factor").or("1"),
        Parameter::new("offset", "a finite number", "term that is added after scaling").or("0"),
        Parameter::new(
            "to",
            "a type of elements",
            "type of the result; integers are rounded half to even and saturate, NaN becomes 0 \
             (left out: see the result)",
        ),
    ],
);

#[derive(Debug)]
struct Rescale {
    scale: f64,
    offset: f64,
    to: Option<DataType>,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    let (scale, offset) = (settings.finite("scale")?, settings.finite("offset")?);
    Ok(Arc::new(Rescale { scale, offset, to: settings.data_type("to")? }))
}

impl Operation for Rescale {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        let to = self.to.map_or_else(|| "default".to_owned(), DataType::name);
        let (scale, offset) = (self.scale.to_string(), self.offset.to_string());
        identity(INFO.name, 1, &[("scale", scale), ("offset", offset), ("to", to)])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input)?;
        Ok(self.to.unwrap_or_else(|| float_for(input)))
    }

    fn scratch_bytes(&self, _shape: &[u64], _input: DataType) -> u64 {
        8 * BLOCK as u64
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        let to = self.output_type(input.data_type)?;
        for_elements!(INFO.name, input.data_type, T => self.run_as::<T>(&input, to, out))
    }
}

impl Rescale {
    fn run_as<T: Element>(
        &self,
        input: &BoxView<'_>,
        to: DataType,
        out: &mut [u8],
    ) -> Result<Outcome, OpError> {
        let store = store_block(INFO.name, to)?;
        let elements = input.elements::<T>(INFO.name)?;
        let item_bytes = out.len() / elements.len().max(1);
        let mut values = vec![0.0; BLOCK];
        let outs = out.chunks_mut(BLOCK * item_bytes.max(1));
        for (elements, out) in elements.chunks(BLOCK).zip(outs) {
            for (value, element) in values.iter_mut().zip(elements) {
                *value = self.scale * element.to_f64() + self.offset;
            }
            store(INFO.name, &values[..elements.len()], out)?;
        }
        Ok(Outcome::Done)
    }
}
