//! A cast of the results of an operation.

use std::sync::Arc;

use rechunk_apply::OpOutput;
use rechunk_exec::{WindowCall, WindowOp};
use rechunk_grid::DataType;
use rechunk_ops::{BoxView, Operation, TaskContext};
use rechunk_plan::OpSpec;

use super::boxes::zeros;
use crate::Error;

/// Setting of an operation whose results are cast.
const CAST: &str = "cast";

/// An operation whose results are cast.
#[derive(Debug)]
pub(super) struct ConvertedOp {
    op: Arc<dyn WindowOp>,
    /// The operation without the cast.
    inner: OpSpec,
    cast: Arc<dyn Operation>,
    computed: DataType,
    output: DataType,
}

impl ConvertedOp {
    /// Casts results of `op`, which is named `inner`, from `computed` to `output`.
    pub(super) fn new(
        op: Arc<dyn WindowOp>,
        inner: OpSpec,
        (computed, output): (DataType, DataType),
    ) -> Result<Self, Error> {
        let to = [("to".to_owned(), output.name())].into();
        let cast = rechunk_ops::operation("cast", &to).map_err(Error::operation)?;
        cast.check_types(&[computed]).map_err(Error::operation)?;
        Ok(Self { op, inner, cast, computed, output })
    }

    /// The operation as a plan names it.
    pub(super) fn spec(&self) -> OpSpec {
        let mut spec = self.inner.clone();
        spec.settings.insert(CAST.to_owned(), self.cast.identity());
        spec
    }

    fn convert(&self, shape: &[u64], bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut converted = zeros(shape, self.output)?;
        let computed = BoxView::new(self.computed, shape, bytes);
        let cast = self.cast.run(&[computed], &mut converted, &TaskContext::whole(shape));
        cast.map_err(|error| error.to_string())?;
        Ok(converted)
    }
}

/// Whether the results of an operation of a plan are cast.
pub(super) fn is_cast(spec: &OpSpec) -> bool {
    spec.settings.contains_key(CAST)
}

impl WindowOp for ConvertedOp {
    fn computes(&self, spec: &OpSpec, inputs: &[DataType]) -> bool {
        *spec == self.spec() && self.op.computes(&self.inner, inputs)
    }

    fn run(&self, call: WindowCall<'_>) -> Result<OpOutput, String> {
        let tile = call.tile;
        match self.op.run(call)? {
            OpOutput::Padded(bytes) => {
                self.convert(&tile.padded.shape(), &bytes).map(OpOutput::Padded)
            }
            OpOutput::Cropped(bytes) => {
                self.convert(&tile.task_box.shape(), &bytes).map(OpOutput::Cropped)
            }
            OpOutput::Skip => Ok(OpOutput::Skip),
        }
    }
}
