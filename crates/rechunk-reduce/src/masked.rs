//! Reduction of some elements of each cell: for arrays with missing chunks.

use rechunk_grid::DataType;

use crate::cells::{Block, Cells};
use crate::element::{Element, for_elements};
use crate::error::ReduceError;
use crate::extremes::{Extremes, Largest, Least};
use crate::item::Item;
use crate::kernel::{Kernel, check_bytes, check_length};
use crate::mean::{Mean, Sums};
use crate::median::Median;
use crate::method::{Method, Rounding};
use crate::mode::Mode;
use crate::quotient::Total;
use crate::sums::{check_volume, fill_item};

/// Adds the elements of each cell whose `mask` is not 0, and counts them.
///
/// `input` and `mask` (bytes) have `shape` entries; `sums` and `counts` one for each cell. A cell
/// without elements has the sum of none: 0, of floats -0. Refuses what
/// [`sum_cells`](crate::sum_cells) refuses.
pub fn sum_cells_masked(
    data_type: DataType,
    input: &[u8],
    mask: &[u8],
    shape: &[u64],
    factors: &[u64],
    sums: &mut [u8],
    counts: &mut [u64],
) -> Result<(), ReduceError> {
    let cells = Cells::new(shape, factors)?;
    check_length("counts", "entries", counts.len(), cells.cells())?;
    for_elements!(Method::Mean, data_type, T => {
        check_volume(cells.volume(), T::WIDE_MAX)?;
        let kernel = Sums::<<T as Element>::Wide, <T as Element>::Wide>::new();
        let none = <<T as Element>::Wide as Total>::NONE.write();
        let masked = Masked { input, mask, cells: &cells };
        masked.run::<T, _>(kernel, none, sums, |cell, count| counts[cell] = count)
    })
}

/// Reduces the elements of each cell whose `mask` is not 0, by any method but
/// [`Method::Gaussian`].
///
/// `input` and `mask` (bytes) have `shape` entries; `output` and `presence` (bytes) one for each
/// cell. A cell without elements becomes `fill`, one element, with a presence of 0; the presence of
/// other cells is 1. [`Method::Stride`] takes the first element that counts, in C order. Refuses
/// what [`reduce`](crate::reduce) refuses.
///
/// ```
/// use rechunk_grid::DataType;
/// use rechunk_reduce::{Method, Rounding, reduce_masked};
///
/// let (input, mask) = ([1, 2, 3, 4, 5, 6_u8], [1, 1, 0, 1, 0, 0]);
/// let (mut output, mut presence) = ([0; 3], [0; 3]);
/// let (rounding, data_type, fill) = (Rounding::Down, DataType::Uint8, [255]);
/// reduce_masked(
///     Method::Mean, rounding, data_type, &input, &mask, &[6], &[2], &fill, &mut output,
///     &mut presence,
/// )?;
/// assert_eq!((output, presence), ([1, 4, 255], [1, 1, 0]));
/// # Ok::<(), rechunk_reduce::ReduceError>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "buffers, their geometry, and the method's choices")]
pub fn reduce_masked(
    method: Method,
    rounding: Rounding,
    data_type: DataType,
    input: &[u8],
    mask: &[u8],
    shape: &[u64],
    factors: &[u64],
    fill: &[u8],
    output: &mut [u8],
    presence: &mut [u8],
) -> Result<(), ReduceError> {
    method.check(data_type)?;
    let cells = Cells::new(shape, factors)?;
    check_length("buffer of presences", "bytes", presence.len(), cells.cells())?;
    let masked = Masked { input, mask, cells: &cells };
    let presence = |cell: usize, count| presence[cell] = u8::from(count > 0);
    match method {
        Method::Mean => for_elements!(method, data_type, T => {
            check_volume(cells.volume(), T::WIDE_MAX)?;
            let kernel = Mean::<<T as Element>::Wide>::new(rounding);
            masked.run::<T, _>(kernel, fill_item::<T>(fill)?, output, presence)
        }),
        Method::Mode => for_elements!(method, data_type, T => {
            masked.run::<T, _>(Mode::<T>::new(), fill_item::<T>(fill)?, output, presence)
        }),
        Method::Median => for_elements!(method, data_type, T => {
            masked.run::<T, _>(Median::<T>::new(), fill_item::<T>(fill)?, output, presence)
        }),
        Method::Min => for_elements!(method, data_type, T => {
            let kernel = Extremes::<T, Least>::new();
            masked.run::<T, _>(kernel, fill_item::<T>(fill)?, output, presence)
        }),
        Method::Max => for_elements!(method, data_type, T => {
            let kernel = Extremes::<T, Largest>::new();
            masked.run::<T, _>(kernel, fill_item::<T>(fill)?, output, presence)
        }),
        Method::Stride => {
            let item_bytes = usize::try_from(data_type.item_bytes()).unwrap_or(usize::MAX);
            masked.stride(item_bytes, fill, output, presence)
        }
        Method::Gaussian => Err(ReduceError::LooksAround { method: method.name() }),
    }
}

/// A box of which some elements count.
#[derive(Debug, Clone, Copy)]
struct Masked<'a> {
    input: &'a [u8],
    mask: &'a [u8],
    cells: &'a Cells,
}

/// Elements of a block that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    Some,
    All,
}

impl Masked<'_> {
    /// Reduces with `kernel`; hands the index of each cell and its count of elements to `count`.
    fn run<T: Item, K: Kernel<T>>(
        &self,
        mut kernel: K,
        none: <K::Output as Item>::Bytes,
        output: &mut [u8],
        mut count: impl FnMut(usize, u64),
    ) -> Result<(), ReduceError> {
        let output_bytes = size_of::<<K::Output as Item>::Bytes>();
        self.check(size_of::<T::Bytes>(), output.len(), output_bytes)?;
        let (input, output) = (T::items(self.input), K::Output::items_mut(output));
        let mut items = Vec::new();
        self.cells.for_blocks(|block| {
            let output = &mut output[block.range()];
            match self.part(block) {
                Part::All => {
                    kernel.block(input, block, output);
                    block.range().for_each(|cell| count(cell, block.volume() as u64));
                }
                Part::None => {
                    output.fill(none);
                    block.range().for_each(|cell| count(cell, 0));
                }
                Part::Some => {
                    for (cell, output) in output.iter_mut().enumerate() {
                        items.clear();
                        self.for_present(block, cell, |at| items.push(input[at]));
                        *output = if items.is_empty() { none } else { kernel.part(&items) };
                        count(block.range().start + cell, items.len() as u64);
                    }
                }
            }
        });
        Ok(())
    }

    /// Copies the first element that counts.
    fn stride(
        &self,
        item_bytes: usize,
        fill: &[u8],
        output: &mut [u8],
        mut count: impl FnMut(usize, u64),
    ) -> Result<(), ReduceError> {
        self.check(item_bytes, output.len(), item_bytes)?;
        check_bytes("fill value", fill.len(), 1, item_bytes)?;
        self.cells.for_blocks(|block| {
            for cell in 0..block.cells {
                let mut first = None;
                self.for_present(block, cell, |at| first = first.or(Some(at)));
                let cell = block.range().start + cell;
                let source = first.map_or(fill, |at| &self.input[at * item_bytes..][..item_bytes]);
                output[cell * item_bytes..][..item_bytes].copy_from_slice(source);
                count(cell, u64::from(first.is_some()));
            }
        });
        Ok(())
    }

    fn check(
        &self,
        item_bytes: usize,
        output_length: usize,
        output_bytes: usize,
    ) -> Result<(), ReduceError> {
        check_bytes("input", self.input.len(), self.cells.elements(), item_bytes)?;
        check_length("mask", "bytes", self.mask.len(), self.cells.elements())?;
        check_bytes("output", output_length, self.cells.cells(), output_bytes)
    }

    fn part(&self, block: &Block<'_>) -> Part {
        let (mut has_some, mut has_all) = (false, true);
        block.for_rows(|start| {
            let row = &self.mask[start..start + block.row_length()];
            let (least, largest) = row
                .iter()
                .fold((u8::MAX, 0), |(least, largest), &mask| (mask.min(least), mask.max(largest)));
            has_some |= largest > 0;
            has_all &= least > 0;
        });
        match (has_some, has_all) {
            (false, _) => Part::None,
            (true, false) => Part::Some,
            (true, true) => Part::All,
        }
    }

    /// Calls `each` with the index of each element of a cell that counts, in C order.
    fn for_present(&self, block: &Block<'_>, cell: usize, mut each: impl FnMut(usize)) {
        block.for_elements(cell, |at| {
            if self.mask[at] != 0 {
                each(at);
            }
        });
    }
}
