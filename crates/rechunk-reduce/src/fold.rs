//! Folds the elements of cells, row by row.

use crate::cells::Block;
use crate::item::Item;

/// A value that is made of the elements of a cell, one after the other in C order.
pub(crate) trait Fold<T: Item, V> {
    /// The value of the first element.
    fn start(item: T) -> V;

    /// The value with one element more.
    fn step(value: V, item: T) -> V;

    /// The value of the first two elements.
    #[inline]
    fn start_pair(pair: [T::Bytes; 2]) -> V {
        let [first, second] = pair.map(T::read);
        Self::step(Self::start(first), second)
    }

    /// The value with two elements more.
    #[inline]
    fn step_pair(value: V, pair: [T::Bytes; 2]) -> V {
        let [first, second] = pair.map(T::read);
        Self::step(Self::step(value, first), second)
    }
}

/// Folds each cell of a block into its entry of `values`, which are as many.
pub(crate) fn fold_block<T: Item, V: Copy, F: Fold<T, V>>(
    input: &[T::Bytes],
    block: &Block<'_>,
    values: &mut [V],
) {
    let length = block.row_length();
    let mut is_first = true;
    block.for_rows(|start| {
        let row = &input[start..start + length];
        if is_first {
            fold_row::<T, V, F, true>(row, block, values);
        } else {
            fold_row::<T, V, F, false>(row, block, values);
        }
        is_first = false;
    });
}

fn fold_row<T: Item, V: Copy, F: Fold<T, V>, const IS_FIRST: bool>(
    row: &[T::Bytes],
    block: &Block<'_>,
    values: &mut [V],
) {
    match (block.factor, block.lanes) {
        // Each element is a cell.
        (1, _) => {
            for (value, &item) in values.iter_mut().zip(row) {
                *value = fold_item::<T, V, F>(*value, item, IS_FIRST);
            }
        }
        (2, 1) => {
            for (value, &pair) in values.iter_mut().zip(row.as_chunks::<2>().0) {
                *value = if IS_FIRST { F::start_pair(pair) } else { F::step_pair(*value, pair) };
            }
        }
        (3, 1) => fold_short::<T, V, F, IS_FIRST, 3>(row, values),
        (4, 1) => fold_short::<T, V, F, IS_FIRST, 4>(row, values),
        (factor, 1) => {
            for (value, cell) in values.iter_mut().zip(row.chunks_exact(factor)) {
                *value = fold_cell::<T, V, F>(*value, cell, IS_FIRST);
            }
        }
        (factor, 3) => fold_lanes::<T, V, F, IS_FIRST, 3>(row, factor, values),
        (factor, 4) => fold_lanes::<T, V, F, IS_FIRST, 4>(row, factor, values),
        (factor, lanes) => {
            let pixels = row.chunks_exact(factor * lanes);
            for (values, pixels) in values.chunks_exact_mut(lanes).zip(pixels) {
                for (at, pixel) in pixels.chunks_exact(lanes).enumerate() {
                    for (value, &item) in values.iter_mut().zip(pixel) {
                        *value = fold_item::<T, V, F>(*value, item, IS_FIRST && at == 0);
                    }
                }
            }
        }
    }
}

/// Folds cells whose length along the row is known to the compiler, which makes vectors of them.
fn fold_short<T: Item, V: Copy, F: Fold<T, V>, const IS_FIRST: bool, const FACTOR: usize>(
    row: &[T::Bytes],
    values: &mut [V],
) {
    for (value, cell) in values.iter_mut().zip(row.as_chunks::<FACTOR>().0) {
        *value = fold_cell::<T, V, F>(*value, cell, IS_FIRST);
    }
}

fn fold_lanes<T: Item, V: Copy, F: Fold<T, V>, const IS_FIRST: bool, const LANES: usize>(
    row: &[T::Bytes],
    factor: usize,
    values: &mut [V],
) {
    let cells = row.as_chunks::<LANES>().0.chunks_exact(factor);
    for (values, cell) in values.as_chunks_mut::<LANES>().0.iter_mut().zip(cells) {
        for (at, pixel) in cell.iter().enumerate() {
            for (value, &item) in values.iter_mut().zip(pixel) {
                *value = fold_item::<T, V, F>(*value, item, IS_FIRST && at == 0);
            }
        }
    }
}

#[inline]
fn fold_cell<T: Item, V: Copy, F: Fold<T, V>>(value: V, cell: &[T::Bytes], is_first: bool) -> V {
    cell.iter()
        .enumerate()
        .fold(value, |value, (at, &item)| fold_item::<T, V, F>(value, item, is_first && at == 0))
}

#[inline]
fn fold_item<T: Item, V, F: Fold<T, V>>(value: V, item: T::Bytes, is_first: bool) -> V {
    let item = T::read(item);
    if is_first { F::start(item) } else { F::step(value, item) }
}
