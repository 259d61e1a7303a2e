//! Contract of a reduction of cells by themselves, and its run over a box.

use crate::cells::{Block, Cells};
use crate::error::ReduceError;
use crate::item::Item;

/// A reduction of elements of type `T`. It keeps scratch from one block to the next.
pub(crate) trait Kernel<T: Item> {
    /// Type of what a cell becomes.
    type Output: Item;

    /// Reduces the cells of a block of `input` into as many outputs.
    fn block(
        &mut self,
        input: &[T::Bytes],
        block: &Block<'_>,
        output: &mut [<Self::Output as Item>::Bytes],
    );

    /// Reduces some elements of a cell, at least one, in C order.
    fn part(&mut self, items: &[T::Bytes]) -> <Self::Output as Item>::Bytes;
}

/// Reduces every cell of a box.
pub(crate) fn run<T: Item, K: Kernel<T>>(
    mut kernel: K,
    input: &[u8],
    cells: &Cells,
    output: &mut [u8],
) -> Result<(), ReduceError> {
    check_bytes("input", input.len(), cells.elements(), size_of::<T::Bytes>())?;
    let item_bytes = size_of::<<K::Output as Item>::Bytes>();
    check_bytes("output", output.len(), cells.cells(), item_bytes)?;
    let (input, output) = (T::items(input), K::Output::items_mut(output));
    cells.for_blocks(|block| kernel.block(input, block, &mut output[block.range()]));
    Ok(())
}

/// Refuses a buffer that does not hold exactly `items` of `item_bytes`.
pub(crate) fn check_bytes(
    buffer: &'static str,
    given: usize,
    items: usize,
    item_bytes: usize,
) -> Result<(), ReduceError> {
    check_length(buffer, "bytes", given, items.saturating_mul(item_bytes))
}

/// Refuses a buffer of another length.
pub(crate) fn check_length(
    buffer: &'static str,
    unit: &'static str,
    given: usize,
    expected: usize,
) -> Result<(), ReduceError> {
    if given == expected {
        Ok(())
    } else {
        Err(ReduceError::Buffer { buffer, given, expected, unit })
    }
}

/// Replaces `items` by the elements of a cell, in C order.
pub(crate) fn gather<B: Copy>(input: &[B], block: &Block<'_>, cell: usize, items: &mut Vec<B>) {
    items.clear();
    block.for_elements(cell, |at| items.push(input[at]));
}
