//! Shapes of a task: checked, and that of its output.

use rechunk_grid::{DataType, RANK_MAX, buffer_bytes, format_shape};

use crate::error::CommandError;
use crate::spec::Returns;
use crate::task::Task;

impl Task<'_> {
    /// Refuses parts that do not belong together.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        let Some(first) = self.inputs.first() else { return Err(wrong("it has no input")) };
        let rank = first.shape.len();
        if rank > RANK_MAX {
            return Err(wrong(format!("its box has {rank} axes, at most {RANK_MAX} are taken")));
        }
        if [self.read.len(), self.keep.len(), self.pads.len()].iter().any(|&axes| axes != rank) {
            return Err(wrong(format!("its boxes and pads do not have {rank} axes")));
        }
        for input in self.inputs {
            let bytes = box_bytes(input.data_type, input.shape)?;
            if input.bytes.len() != bytes {
                let (given, shape) = (input.bytes.len(), format_shape(input.shape));
                let data_type = input.data_type;
                return Err(wrong(format!(
                    "{shape} elements of {data_type} have {bytes} bytes, {given} are given"
                )));
            }
        }
        cropped(first.shape, self.pads).map(|_| ())
    }

    /// Shape that the output has to have.
    pub(crate) fn out_shape(&self, returns: Returns) -> Result<Vec<u64>, CommandError> {
        let shape = self.inputs.first().map(|input| input.shape).unwrap_or_default();
        match returns {
            Returns::Padded => Ok(shape.to_vec()),
            Returns::Cropped => cropped(shape, self.pads),
        }
    }
}

/// Returns the bytes of a box; refuses one that cannot be addressed.
pub(crate) fn box_bytes(data_type: DataType, shape: &[u64]) -> Result<usize, CommandError> {
    buffer_bytes(shape, data_type).ok_or_else(|| {
        wrong(format!("a box of {} elements cannot be addressed", format_shape(shape)))
    })
}

fn cropped(shape: &[u64], pads: &[(u64, u64)]) -> Result<Vec<u64>, CommandError> {
    let extents = shape.iter().zip(pads).map(|(&extent, &(before, after))| {
        let kept = extent.checked_sub(before).and_then(|rest| rest.checked_sub(after));
        kept.ok_or_else(|| {
            wrong(format!("pads of {before} and {after} do not fit an extent of {extent}"))
        })
    });
    extents.collect()
}

fn wrong(reason: impl Into<String>) -> CommandError {
    CommandError::Task { reason: reason.into() }
}
