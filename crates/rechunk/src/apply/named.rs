//! Operations of this program, as the executor calls them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rechunk_apply::{OpOutput, VoxelBox};
use rechunk_exec::{WindowCall, WindowInput, WindowOp};
use rechunk_grid::{DataType, Region, buffer_bytes};
use rechunk_ops::{BoxView, Operation, Outcome, TaskContext};
use rechunk_plan::OpSpec;

/// An operation by its name, and a cast of its results where one is asked for.
#[derive(Debug)]
pub(super) struct NamedOp {
    pub operation: Arc<dyn Operation>,
    /// Cast of results.
    pub cast: Option<Arc<dyn Operation>>,
    /// Type of results, before the cast.
    pub computed: DataType,
    /// Type of results.
    pub output: DataType,
    /// Calls so far.
    pub calls: Arc<AtomicU64>,
}

impl NamedOp {
    /// The operation as a plan names it.
    pub(super) fn spec(&self) -> OpSpec {
        spec_of(self.operation.as_ref(), self.cast.as_deref())
    }
}

/// An operation, with a cast of its results, as a plan names it.
pub(super) fn spec_of(operation: &dyn Operation, cast: Option<&dyn Operation>) -> OpSpec {
    let identity = ("identity".to_owned(), operation.identity());
    let cast = cast.map(|cast| ("cast".to_owned(), cast.identity()));
    let settings: BTreeMap<_, _> = [identity].into_iter().chain(cast).collect();
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
pub(super) fn view<'a>(input: &WindowInput<'a>) -> BoxView<'a> {
    BoxView::new(input.data_type, input.shape, input.bytes)
}

/// Elements of a box; zeros.
fn zeros(shape: &[u64], data_type: DataType) -> Result<Vec<u8>, String> {
    buffer_bytes(shape, data_type)
        .map(|bytes| vec![0; bytes])
        .ok_or_else(|| "a box is too large".to_owned())
}

impl WindowOp for NamedOp {
    fn computes(&self, spec: &OpSpec, inputs: &[DataType]) -> bool {
        *spec == self.spec() && self.operation.check_types(inputs).is_ok()
    }

    fn run(&self, call: &WindowCall<'_>) -> Result<OpOutput, String> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let inputs: Vec<BoxView<'_>> = call.inputs.iter().map(view).collect();
        let tile = call.tile;
        let context = context(&tile.padded, &tile.keep);
        let shape = tile.padded.shape();
        let mut out = zeros(&shape, self.computed)?;
        let text = |error: rechunk_ops::OpError| error.to_string();
        if self.operation.run(&inputs, &mut out, &context).map_err(text)? == Outcome::Skip {
            return Ok(OpOutput::Skip);
        }
        let Some(cast) = &self.cast else { return Ok(OpOutput::Padded(out)) };
        let mut converted = zeros(&shape, self.output)?;
        let computed = BoxView::new(self.computed, &shape, &out);
        cast.run(&[computed], &mut converted, &context).map_err(text)?;
        Ok(OpOutput::Padded(converted))
    }
}
