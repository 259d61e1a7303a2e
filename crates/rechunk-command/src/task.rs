//! Tasks and answers: boxes of elements on their way to a program and back.

use rechunk_grid::{DataType, RANK_MAX, element_count, format_shape};

use crate::error::CommandError;
use crate::spec::Returns;

/// Elements of a box: native byte order, C order without gaps.
#[derive(Debug, Clone, Copy)]
pub struct BoxView<'a> {
    /// Type of an element.
    pub data_type: DataType,
    /// Extents in elements, slowest axis first.
    pub shape: &'a [u64],
    /// The elements.
    pub bytes: &'a [u8],
}

/// One box for a program.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Index of the task in its grid, which the program is told.
    pub index: &'a [u64],
    /// Boxes that the program reads, pads included.
    pub inputs: &'a [BoxView<'a>],
    /// Type of the elements that it writes.
    pub out_type: DataType,
    /// Start and end of the first input in its array, for each axis. Beyond the array in pads that
    /// its border cuts.
    pub read: &'a [(i64, i64)],
    /// Start and end of the part of the array that is kept, for each axis.
    pub keep: &'a [(i64, i64)],
    /// Elements of the first input before and after the part that is kept, for each axis.
    pub pads: &'a [(u64, u64)],
}

/// Answer of a program: elements in native byte order and C order, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Elements of a box with the shape of the first input.
    Padded(Vec<u8>),
    /// Elements of a box with the shape of the first input without its pads.
    Cropped(Vec<u8>),
    /// There is nothing to write.
    Skip,
}

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
    element_count(shape)
        .and_then(|elements| elements.checked_mul(data_type.item_bytes()))
        .and_then(|bytes| usize::try_from(bytes).ok())
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| {
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
