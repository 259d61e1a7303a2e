//! First elements of cells, as bytes.

use crate::cells::{Block, Cells};
use crate::error::ReduceError;
use crate::kernel::check_bytes;

/// Copies the first element of each cell.
pub(crate) fn stride(
    input: &[u8],
    item_bytes: usize,
    cells: &Cells,
    output: &mut [u8],
) -> Result<(), ReduceError> {
    check_bytes("input", input.len(), cells.elements(), item_bytes)?;
    check_bytes("output", output.len(), cells.cells(), item_bytes)?;
    match item_bytes {
        0 => {}
        1 => copy_items::<1>(input, cells, output),
        2 => copy_items::<2>(input, cells, output),
        4 => copy_items::<4>(input, cells, output),
        8 => copy_items::<8>(input, cells, output),
        16 => copy_items::<16>(input, cells, output),
        _ => cells.for_blocks(|block| {
            let targets = output[bytes_of(block, item_bytes)].chunks_exact_mut(item_bytes);
            let row = &input[block.start() * item_bytes..];
            let pixels = row.chunks_exact(item_bytes * block.lanes).step_by(block.factor);
            let sources = pixels.flat_map(|pixel| pixel.chunks_exact(item_bytes));
            targets.zip(sources).for_each(|(target, source)| target.copy_from_slice(source));
        }),
    }
    Ok(())
}

fn bytes_of(block: &Block<'_>, item_bytes: usize) -> std::ops::Range<usize> {
    let cells = block.range();
    cells.start * item_bytes..cells.end * item_bytes
}

fn copy_items<const ITEM: usize>(input: &[u8], cells: &Cells, output: &mut [u8]) {
    let (input, output) = (input.as_chunks::<ITEM>().0, output.as_chunks_mut::<ITEM>().0);
    cells.for_blocks(|block| {
        let output = &mut output[block.range()];
        let row = &input[block.start()..block.start() + block.row_length()];
        match (block.factor, block.lanes) {
            (1, _) => output.copy_from_slice(row),
            (2, 1) => copy_firsts::<ITEM, 2>(row, output),
            (factor, lanes) => {
                let cells = row.chunks_exact(factor * lanes);
                for (output, cell) in output.chunks_exact_mut(lanes).zip(cells) {
                    output.copy_from_slice(&cell[..lanes]);
                }
            }
        }
    });
}

fn copy_firsts<const ITEM: usize, const FACTOR: usize>(
    row: &[[u8; ITEM]],
    output: &mut [[u8; ITEM]],
) {
    for (output, cell) in output.iter_mut().zip(row.as_chunks::<FACTOR>().0) {
        *output = cell[0];
    }
}
