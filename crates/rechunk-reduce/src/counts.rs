//! Numbers of elements of cells.

use crate::cells::{Cells, product};
use crate::error::ReduceError;
use crate::kernel::check_length;

/// Numbers of elements of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counts<'a> {
    /// Elements along each axis, for each cell along it, slowest axis first: the product is the
    /// cell's. For sums of sums, they are elements of the finest level.
    Axes(Vec<Vec<u64>>),
    /// Elements of each cell, in C order: for arrays with missing chunks.
    Each(&'a [u64]),
}

impl Counts<'_> {
    /// Counts of a box without missing elements, of `shape` elements and cells of `factors`.
    ///
    /// ```
    /// use rechunk_reduce::Counts;
    /// assert_eq!(Counts::of_box(&[4, 5], &[2, 3]), Counts::Axes(vec![vec![2, 2], vec![3, 2]]));
    /// ```
    pub fn of_box(shape: &[u64], factors: &[u64]) -> Self {
        let counts = |(&extent, &factor): (&u64, &u64)| {
            let factor = factor.max(1);
            (0..extent.div_ceil(factor)).map(|cell| factor.min(extent - cell * factor)).collect()
        };
        Self::Axes(shape.iter().zip(factors).map(counts).collect())
    }

    /// Number of cells.
    pub(crate) fn cells(&self) -> Result<usize, ReduceError> {
        match self {
            Self::Axes(axes) => product(axes.iter().map(|axis| axis.len() as u64)),
            Self::Each(counts) => Ok(counts.len()),
        }
    }

    /// Calls `each` with the length and the count of runs of cells that have as many elements.
    pub(crate) fn for_runs(&self, mut each: impl FnMut(usize, u64)) {
        match self {
            Self::Each(counts) => {
                for run in counts.chunk_by(PartialEq::eq) {
                    each(run.len(), run.first().copied().unwrap_or(0));
                }
            }
            Self::Axes(axes) => for_runs(axes, 1, &mut each),
        }
    }
}

fn for_runs(axes: &[Vec<u64>], outer: u64, each: &mut impl FnMut(usize, u64)) {
    match axes {
        [] => each(1, outer),
        [last] => {
            for run in last.chunk_by(PartialEq::eq) {
                each(run.len(), outer.saturating_mul(run.first().copied().unwrap_or(0)));
            }
        }
        [first, rest @ ..] => {
            for &count in first {
                for_runs(rest, outer.saturating_mul(count), each);
            }
        }
    }
}

/// Adds the counts of the cells of a level for the cells of the next.
///
/// `counts` has `shape` entries, `output` one for each cell of `factors`. Refuses what
/// [`reduce`](crate::reduce) refuses of shapes and buffers.
pub fn fold_counts(
    counts: &[u64],
    shape: &[u64],
    factors: &[u64],
    output: &mut [u64],
) -> Result<(), ReduceError> {
    let cells = Cells::new(shape, factors)?;
    check_length("counts", "entries", counts.len(), cells.elements())?;
    check_length("output", "entries", output.len(), cells.cells())?;
    cells.for_blocks(|block| {
        let output = &mut output[block.range()];
        for (cell, output) in output.iter_mut().enumerate() {
            *output = 0;
            block.for_elements(cell, |at| *output = output.saturating_add(counts[at]));
        }
    });
    Ok(())
}
