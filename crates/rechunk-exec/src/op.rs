//! Operations that a caller brings: what kernels of plans name.

use std::fmt;

use rechunk_grid::{DataType, Endian};
use rechunk_plan::OpSpec;

/// An operation on elements, each for itself. It is called on the CPU pool, for several units at
/// once, and again for a unit whose task is done again.
pub trait Op: fmt::Debug + Send + Sync {
    /// True if it computes what `spec` names, for elements of this type.
    fn computes(&self, spec: &OpSpec, data_type: DataType) -> bool;

    /// Computes all elements of a unit in their place. The padding of a chunk that the border of
    /// the array cuts is among them. Returns why it cannot, in words for the user.
    fn apply(&self, spec: &OpSpec, elements: OpElements<'_>) -> Result<(), String>;
}

/// Elements of a finished unit, as they will be encoded.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpElements<'a> {
    /// The elements, in the order that chunks of the target have.
    pub bytes: &'a mut [u8],
    /// Type of an element.
    pub data_type: DataType,
    /// Byte order of an element.
    pub endian: Endian,
}
