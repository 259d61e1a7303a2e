//! Operations on windows that a caller brings: what the kernel of an apply names.

use std::fmt;
use std::sync::Arc;

use rechunk_apply::{BottomTile, OpOutput, TopTask};
use rechunk_array::Array;
use rechunk_grid::DataType;
use rechunk_plan::OpSpec;

/// An operation on boxes of elements. It is called on the CPU pool, several times at once, and
/// again for a box whose task is done again.
pub trait WindowOp: fmt::Debug + Send + Sync {
    /// True if it computes what `spec` names, from sources of these types.
    fn computes(&self, spec: &OpSpec, inputs: &[DataType]) -> bool;

    /// Computes the values of a box. Returns why it cannot, in words for the user.
    fn run(&self, call: WindowCall<'_>) -> Result<OpOutput, String>;
}

/// One call of an operation.
#[derive(Debug)]
#[non_exhaustive]
pub struct WindowCall<'a> {
    /// Task that it is of.
    pub task: &'a TopTask,
    /// Boxes of the call.
    pub tile: &'a BottomTile,
    /// Windows of the sources.
    pub inputs: Vec<WindowInput>,
}

/// Window of a source, filled beyond its border. It is the operation's own: nobody reads it after
/// the call.
#[derive(Debug)]
#[non_exhaustive]
pub struct WindowInput {
    /// Type of an element.
    pub data_type: DataType,
    /// Shape of the window, elements.
    pub shape: Vec<u64>,
    /// Elements in C order without gaps, in native byte order.
    pub bytes: Vec<u8>,
}

/// Operation, further sources and constants of an apply.
#[derive(Debug, Clone)]
pub struct Windows {
    /// The operation.
    pub op: Arc<dyn WindowOp>,
    /// Further sources.
    pub others: Vec<Array>,
    /// One element of each source, in native byte order, for voxels beyond its border.
    pub constants: Vec<Vec<u8>>,
}
