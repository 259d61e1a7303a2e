//! Middle values of cells.

use crate::cells::Block;
use crate::columns::{Columns, NETWORK_MAX};
use crate::element::Element;
use crate::kernel::{Kernel, gather};
use crate::network::median_network;

/// Takes the middle value, of an even count the lower of both.
#[derive(Debug)]
pub(crate) struct Median<T: Element> {
    items: Vec<T::Bytes>,
    keys: Vec<T::Key>,
    columns: Columns<T::Key>,
    /// Largest keys of cells, for types that have NaN.
    largest: Vec<T::Key>,
}

impl<T: Element> Median<T> {
    pub(crate) fn new() -> Self {
        let columns = Columns::new(median_network);
        Self { items: Vec::new(), keys: Vec::new(), columns, largest: Vec::new() }
    }

    /// The middle of `items`, at least one.
    fn middle(&mut self) -> T::Bytes {
        self.keys.clear();
        self.keys.extend(self.items.iter().map(|&item| T::read(item).to_key()));
        if let Some(nan) = T::NAN_KEY
            && self.keys.contains(&nan)
        {
            return T::from_key(nan).write();
        }
        let middle = self.keys.len().saturating_sub(1) / 2;
        let key = *self.keys.select_nth_unstable(middle).1;
        T::from_key(key).write()
    }

    fn find_largest(&mut self, cells: usize) {
        self.largest.clear();
        let (first, others) = self.columns.keys().split_at(cells);
        self.largest.extend_from_slice(first);
        for keys in others.chunks_exact(cells) {
            for (largest, &key) in self.largest.iter_mut().zip(keys) {
                *largest = key.max(*largest);
            }
        }
    }

    /// Reduces all cells of a block at once.
    fn reduce_columns(&mut self, input: &[T::Bytes], block: &Block<'_>, output: &mut [T::Bytes]) {
        let (volume, cells) = (block.volume(), block.cells);
        self.columns.take::<T>(input, block, T::to_key);
        if T::NAN_KEY.is_some() {
            self.find_largest(cells);
        }
        self.columns.run_network(volume, cells);
        let middle = &self.columns.keys()[(volume - 1) / 2 * cells..][..cells];
        for (output, &key) in output.iter_mut().zip(middle) {
            *output = T::from_key(key).write();
        }
        let Some(nan) = T::NAN_KEY else { return };
        for (output, &largest) in output.iter_mut().zip(&self.largest) {
            if largest == nan {
                *output = T::from_key(nan).write();
            }
        }
    }
}

impl<T: Element> Kernel<T> for Median<T> {
    type Output = T;

    fn block(&mut self, input: &[T::Bytes], block: &Block<'_>, output: &mut [T::Bytes]) {
        if block.volume() <= NETWORK_MAX {
            let cells = Columns::<T::Key>::cells_at_once(block.volume());
            block.for_parts(cells, |part, range| {
                self.reduce_columns(input, part, &mut output[range]);
            });
            return;
        }
        for (cell, output) in output.iter_mut().enumerate() {
            gather(input, block, cell, &mut self.items);
            *output = self.middle();
        }
    }

    fn part(&mut self, items: &[T::Bytes]) -> T::Bytes {
        self.items.clear();
        self.items.extend_from_slice(items);
        self.middle()
    }
}
