//! Tasks and answers: boxes of elements on their way to a program and back.

use rechunk_grid::DataType;

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
