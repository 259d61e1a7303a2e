//! Elements as they are.

use std::sync::Arc;

use rechunk_grid::DataType;

use crate::error::OpError;
use crate::info::OperationInfo;
use crate::operation::{Operation, check_run};
use crate::settings::{Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, check_bytes};

pub(crate) const INFO: OperationInfo =
    OperationInfo::new("identity", "elements as they are, of any type", "the source's type", &[]);

#[derive(Debug)]
struct Identity;

#[expect(clippy::unnecessary_wraps, reason = "as all builders")]
pub(crate) fn build(_settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Identity))
}

impl Operation for Identity {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &[])
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        if !input.is_variable() {
            return Ok(input);
        }
        let reason = "they differ in length".to_owned();
        Err(OpError::DataType { operation: INFO.name.to_owned(), data_type: input, reason })
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        check_bytes(INFO.name, "input", input.bytes.len(), input.shape, input.data_type)?;
        out.copy_from_slice(input.bytes);
        Ok(Outcome::Done)
    }
}
