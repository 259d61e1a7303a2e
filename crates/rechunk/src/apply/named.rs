//! Operations of this program, as the executor calls them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rechunk_apply::{OpOutput, VoxelBox};
use rechunk_exec::{WindowCall, WindowInput, WindowOp};
use rechunk_grid::{DataType, Region};
use rechunk_ops::{BoxView, Operation, Outcome, TaskContext};
use rechunk_plan::OpSpec;

use super::boxes::zeros;

/// An operation by its name.
#[derive(Debug)]
pub(super) struct NamedOp {
    pub operation: Arc<dyn Operation>,
    /// Type of results.
    pub output: DataType,
    /// Calls so far.
    pub calls: Arc<AtomicU64>,
}

impl NamedOp {
    /// The operation as a plan names it.
    pub(super) fn spec(&self) -> OpSpec {
        spec_of(self.operation.as_ref())
    }
}

/// An operation as a plan names it.
pub(super) fn spec_of(operation: &dyn Operation) -> OpSpec {
    let settings = [("identity".to_owned(), operation.identity())].into();
    OpSpec { name: operation.name().to_owned(), settings }
}

/// Place of the box `bounds` in its array, of which `keep` is looked at.
pub(super) fn context(bounds: &VoxelBox, keep: &VoxelBox) -> TaskContext {
    let start = keep.axes.iter().zip(&bounds.axes);
    let start = start.map(|(keep, bounds)| keep.start.abs_diff(bounds.start)).collect();
    TaskContext::whole(&bounds.shape())
        .at(bounds.axes.iter().map(|span| span.start).collect())
        .keeping(Region::new(start, keep.shape()))
}

/// A window as operations take it.
pub(super) fn view(input: &WindowInput) -> BoxView<'_> {
    BoxView::new(input.data_type, &input.shape, &input.bytes)
}

impl WindowOp for NamedOp {
    fn computes(&self, spec: &OpSpec, inputs: &[DataType]) -> bool {
        *spec == self.spec() && self.operation.check_types(inputs).is_ok()
    }

    fn run(&self, call: WindowCall<'_>) -> Result<OpOutput, String> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let inputs: Vec<BoxView<'_>> = call.inputs.iter().map(view).collect();
        let tile = call.tile;
        let context = context(&tile.padded, &tile.keep);
        let mut out = zeros(&tile.padded.shape(), self.output)?;
        let text = |error: rechunk_ops::OpError| error.to_string();
        match self.operation.run(&inputs, &mut out, &context).map_err(text)? {
            Outcome::Skip => Ok(OpOutput::Skip),
            Outcome::Done => Ok(OpOutput::Padded(out)),
        }
    }
}
