//! Faults of regions.

use rechunk_array::{ArrayError, RegionError};

use crate::Fault;

/// The fault of a region that could not be read or written; `of_chunk` makes it of a chunk's.
pub(crate) fn region_fault(of_chunk: fn(ArrayError) -> Fault) -> impl Fn(RegionError) -> Fault {
    move |error| match error {
        RegionError::Chunk(error) => of_chunk(error),
        error => Fault::Plan { reason: error.to_string() },
    }
}
