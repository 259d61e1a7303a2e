//! Boxes of elements as operations get them.

use std::ops::Range;

use bytemuck::Pod;
use rechunk_grid::{DataType, Region, buffer_bytes, format_shape};

use crate::error::OpError;

/// Elements of a box: native byte order, C order without gaps, aligned for their type.
#[derive(Debug, Clone, Copy)]
pub struct BoxView<'a> {
    /// Type of an element.
    pub data_type: DataType,
    /// Extents in elements, slowest axis first.
    pub shape: &'a [u64],
    /// The elements.
    pub bytes: &'a [u8],
}

impl<'a> BoxView<'a> {
    /// Creates the view; checked when an operation takes it.
    pub fn new(data_type: DataType, shape: &'a [u64], bytes: &'a [u8]) -> Self {
        Self { data_type, shape, bytes }
    }

    /// Refuses a buffer of another length, and bytes that are no bool in an array of bools.
    pub(crate) fn check(&self, operation: &str) -> Result<(), OpError> {
        check_bytes(operation, "input", self.bytes.len(), self.shape, self.data_type)?;
        if self.data_type == DataType::Bool
            && let Some(at) = self.bytes.iter().position(|&byte| byte > 1)
        {
            let byte = self.bytes[at];
            let reason = format!("element {at} of a bool array is {byte}, not 0 or 1");
            return Err(OpError::Buffer { operation: operation.to_owned(), reason });
        }
        Ok(())
    }

    /// Returns the elements as `T`; refuses a buffer of another alignment.
    pub(crate) fn cast<T: Pod>(&self, operation: &str) -> Result<&'a [T], OpError> {
        bytemuck::try_cast_slice(self.bytes).map_err(|error| OpError::Buffer {
            operation: operation.to_owned(),
            reason: format!("input of {}: {error}", self.data_type),
        })
    }

    /// Returns the elements of a buffer that is checked, as `T`.
    pub(crate) fn elements<T: Pod>(&self, operation: &str) -> Result<&'a [T], OpError> {
        self.check(operation)?;
        self.cast(operation)
    }
}

/// Returns the elements of an output buffer as `T`; refuses one of another alignment.
pub(crate) fn elements_mut<'a, T: Pod>(
    operation: &str,
    out: &'a mut [u8],
) -> Result<&'a mut [T], OpError> {
    bytemuck::try_cast_slice_mut(out).map_err(|error| OpError::Buffer {
        operation: operation.to_owned(),
        reason: format!("output: {error}"),
    })
}

/// Refuses a buffer that does not hold exactly the elements of `shape`.
pub(crate) fn check_bytes(
    operation: &str,
    what: &str,
    bytes: usize,
    shape: &[u64],
    data_type: DataType,
) -> Result<(), OpError> {
    let expected = box_bytes(shape, data_type)?;
    if bytes == expected {
        return Ok(());
    }
    let shape = format_shape(shape);
    let reason =
        format!("{what} has {bytes} bytes, {shape} elements of {data_type} have {expected}");
    Err(OpError::Buffer { operation: operation.to_owned(), reason })
}

/// Bytes of a box; refuses one that cannot be addressed.
pub(crate) fn box_bytes(shape: &[u64], data_type: DataType) -> Result<usize, OpError> {
    buffer_bytes(shape, data_type).ok_or_else(|| OpError::TooLarge { shape: format_shape(shape) })
}

/// Place of a task in the whole, and the elements that its caller looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskContext {
    /// Index in the domain of the first element of the padded box, for each axis. Negative in pads
    /// in front of the domain. Checksums use it.
    pub origin: Vec<i64>,
    /// Part of the padded box, counted from its first element, that the caller looks at. Elements
    /// of an output outside of it are left unspecified; statistics count those in it.
    pub keep: Region,
}

impl TaskContext {
    /// Creates the context of a box of `shape` that is at the origin and kept whole.
    ///
    /// ```
    /// use rechunk_grid::Region;
    /// use rechunk_ops::TaskContext;
    ///
    /// let padded = TaskContext::whole(&[12, 12]).at(vec![-2, 6]);
    /// let padded = padded.keeping(Region::new(vec![2, 2], vec![8, 8]));
    /// assert_eq!((padded.origin, padded.keep.shape), (vec![-2, 6], vec![8, 8]));
    /// ```
    pub fn whole(shape: &[u64]) -> Self {
        Self { origin: vec![0; shape.len()], keep: Region::whole(shape) }
    }

    /// Returns the context with the box at another place of the domain.
    #[must_use]
    pub fn at(self, origin: Vec<i64>) -> Self {
        Self { origin, ..self }
    }

    /// Returns the context with another part that is kept.
    #[must_use]
    pub fn keeping(self, keep: Region) -> Self {
        Self { keep, ..self }
    }

    /// Refuses a context that does not fit a box of `shape`.
    pub(crate) fn check(&self, operation: &str, shape: &[u64]) -> Result<(), OpError> {
        let rank = shape.len();
        let fits = |axis: usize| {
            let end = self.keep.start[axis].checked_add(self.keep.shape[axis]);
            end.is_some_and(|end| end <= shape[axis])
        };
        let is_whole = self.origin.len() == rank
            && self.keep.start.len() == rank
            && self.keep.shape.len() == rank
            && (0..rank).all(fits);
        if is_whole {
            return Ok(());
        }
        let shape = format_shape(shape);
        let reason = format!("its context does not lie in the box of {shape} elements");
        Err(OpError::Buffer { operation: operation.to_owned(), reason })
    }

    /// The part that is kept, as a range of each axis. The box was addressed, so extents fit.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let axes = 0..self.keep.rank();
        axes.map(|axis| size(self.keep.start[axis])..size(self.keep.end(axis))).collect()
    }
}

/// Calls `each` with every row that `context` keeps of a box of `shape`. Hands over its index over
/// the axes before the last, and the range of its elements. A scalar is a row of one element.
pub(crate) fn for_kept_rows(
    shape: &[u64],
    context: &TaskContext,
    mut each: impl FnMut(&[usize], Range<usize>) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let (shape, keep) = (extents(shape), context.ranges());
    let (Some(&extent), Some(last)) = (shape.last(), keep.last()) else { return each(&[], 0..1) };
    if keep.iter().any(Range::is_empty) {
        return Ok(());
    }
    let axes = shape.len() - 1;
    let mut index: Vec<_> = keep[..axes].iter().map(|keep| keep.start).collect();
    loop {
        let row = index.iter().zip(&shape).fold(0, |row, (at, extent)| row * extent + at);
        each(&index, row * extent + last.start..row * extent + last.end)?;
        let Some(axis) = (0..axes).rev().find(|&axis| index[axis] + 1 < keep[axis].end) else {
            return Ok(());
        };
        index[axis] += 1;
        for later in axis + 1..axes {
            index[later] = keep[later].start;
        }
    }
}

/// Extents as `usize`; those of a box that was addressed fit.
pub(crate) fn extents(shape: &[u64]) -> Vec<usize> {
    shape.iter().map(|&extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect()
}

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The output holds the result.
    Done,
    /// There is nothing to write; the output is unspecified.
    Skip,
}
