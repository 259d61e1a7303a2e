//! Operations of this program, as the executor calls them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rechunk_apply::OpOutput;
use rechunk_exec::{WindowCall, WindowOp};
use rechunk_grid::{DataType, Region};
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
        let identity = ("identity".to_owned(), self.operation.identity());
        let cast = self.cast.as_ref().map(|cast| ("cast".to_owned(), cast.identity()));
        let settings: BTreeMap<_, _> = [identity].into_iter().chain(cast).collect();
        OpSpec { name: self.operation.name().to_owned(), settings }
    }
}

/// Elements of a box; zeros.
fn zeros(shape: &[u64], data_type: DataType) -> Result<Vec<u8>, String> {
    let bytes = shape.iter().try_fold(data_type.item_bytes(), |n, &extent| n.checked_mul(extent));
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    bytes.map(|bytes| vec![0; bytes]).ok_or_else(|| "a box is too large".to_owned())
}

impl WindowOp for NamedOp {
    fn computes(&self, spec: &OpSpec, inputs: &[DataType]) -> bool {
        *spec == self.spec() && self.operation.check_types(inputs).is_ok()
    }

    fn run(&self, call: &WindowCall<'_>) -> Result<OpOutput, String> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let inputs: Vec<BoxView<'_>> = call
            .inputs
            .iter()
            .map(|input| BoxView::new(input.data_type, input.shape, input.bytes))
            .collect();
        let tile = call.tile;
        let start = tile.keep.axes.iter().zip(&tile.padded.axes);
        let start = start.map(|(keep, padded)| keep.start.abs_diff(padded.start)).collect();
        let origin = tile.padded.axes.iter().map(|span| span.start).collect();
        let context = TaskContext::whole(&tile.padded.shape())
            .at(origin)
            .keeping(Region::new(start, tile.keep.shape()));
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
