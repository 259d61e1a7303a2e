//! Most frequent values of cells.

use crate::cells::Block;
use crate::columns::{Columns, NETWORK_MAX};
use crate::element::Element;
use crate::kernel::{Kernel, gather};
use crate::network::sorting_network;

/// Longer lists of values are sorted to count them.
const COUNTED_MAX: usize = 16;

/// Takes the most frequent value.
#[derive(Debug)]
pub(crate) struct Mode<T: Element> {
    firsts: Vec<T::Bytes>,
    differences: Vec<T::Bits>,
    items: Vec<T::Bytes>,
    keys: Vec<T::Key>,
    columns: Columns<T::Key>,
    modes: Vec<T::Key>,
    /// Lengths of the runs that the keys of cells are in.
    runs: Vec<u8>,
    longest: Vec<u8>,
}

impl<T: Element> Mode<T> {
    pub(crate) fn new() -> Self {
        Self {
            firsts: Vec::new(),
            differences: Vec::new(),
            items: Vec::new(),
            keys: Vec::new(),
            columns: Columns::new(sorting_network),
            modes: Vec::new(),
            runs: Vec::new(),
            longest: Vec::new(),
        }
    }

    /// Finds the first element of each cell, and whether bits of others differ from it: cells of
    /// images of labels are mostly of one value.
    fn compare(&mut self, input: &[T::Bytes], block: &Block<'_>) {
        let (length, lanes, factor) = (block.row_length(), block.lanes, block.factor);
        self.firsts.clear();
        self.differences.clear();
        self.differences.resize(block.cells, T::Bits::default());
        block.for_rows(|start| {
            let row = &input[start..start + length];
            if self.firsts.is_empty() {
                let cells = row.chunks_exact(factor * lanes);
                self.firsts.extend(cells.flat_map(|cell| &cell[..lanes]));
            }
            match (factor, lanes) {
                (1, _) => compare_short::<T, 1>(row, &self.firsts, &mut self.differences),
                (2, 1) => compare_short::<T, 2>(row, &self.firsts, &mut self.differences),
                (4, 1) => compare_short::<T, 4>(row, &self.firsts, &mut self.differences),
                _ => {
                    let cells = row.chunks_exact(factor * lanes);
                    let firsts = self.firsts.chunks_exact(lanes);
                    let differences = self.differences.chunks_exact_mut(lanes);
                    for (differences, (cell, firsts)) in differences.zip(cells.zip(firsts)) {
                        for pixel in cell.chunks_exact(lanes) {
                            compare_short::<T, 1>(pixel, firsts, differences);
                        }
                    }
                }
            }
        });
    }

    /// The element whose value is the most frequent of `items`.
    fn most_frequent(&mut self) -> T::Bytes {
        self.keys.clear();
        self.keys.extend(self.items.iter().map(|&item| T::read(item).to_value_key()));
        let mode = if self.keys.len() <= COUNTED_MAX {
            most_frequent_counted(&self.keys)
        } else {
            self.keys.sort_unstable();
            most_frequent_sorted(&self.keys)
        };
        // Sorting lost the order of the keys, and several elements may have one.
        let has_mode = |&&item: &&T::Bytes| T::read(item).to_value_key() == mode;
        let first = self.items.iter().find(has_mode);
        first.copied().unwrap_or_else(|| T::from_key(mode).write())
    }

    /// Reduces all cells of a block at once.
    fn reduce_columns(&mut self, input: &[T::Bytes], block: &Block<'_>, output: &mut [T::Bytes]) {
        self.columns.take::<T>(input, block, T::to_value_key);
        self.columns.run_network(block.volume(), block.cells);
        self.find_longest_runs(block.cells);
        for (cell, output) in output.iter_mut().enumerate() {
            let mode = self.modes[cell];
            // Several elements may have these keys: the first is wanted.
            if T::NAN_KEY.is_some_and(|nan| mode == nan || mode == T::Key::default()) {
                gather(input, block, cell, &mut self.items);
                *output = self.most_frequent();
            } else {
                *output = T::from_key(mode).write();
            }
        }
    }

    /// Finds the keys of the longest runs of sorted columns: of equal runs the first.
    fn find_longest_runs(&mut self, cells: usize) {
        self.runs.clear();
        self.runs.resize(cells, 1);
        self.longest.clear();
        self.longest.resize(cells, 1);
        self.modes.clear();
        let (first, others) = self.columns.keys().split_at(cells);
        self.modes.extend_from_slice(first);
        let mut before = first;
        for keys in others.chunks_exact(cells) {
            let runs = self.runs.iter_mut().zip(&mut self.longest);
            let keys_of_cells = keys.iter().zip(before);
            for ((mode, (run, longest)), (&key, &before)) in
                self.modes.iter_mut().zip(runs).zip(keys_of_cells)
            {
                *run = if key == before { run.saturating_add(1) } else { 1 };
                *mode = if *run > *longest { key } else { *mode };
                *longest = (*run).max(*longest);
            }
            before = keys;
        }
    }
}

fn compare_short<T: Element, const FACTOR: usize>(
    row: &[T::Bytes],
    firsts: &[T::Bytes],
    differences: &mut [T::Bits],
) {
    let cells = row.as_chunks::<FACTOR>().0.iter().zip(firsts);
    for (difference, (cell, &first)) in differences.iter_mut().zip(cells) {
        let first = T::bits(first);
        let differences = cell.iter().map(|&item| T::bits(item) ^ first);
        *difference = differences.fold(*difference, |all, one| all | one);
    }
}

fn most_frequent_counted<K: Copy + Ord + Default>(keys: &[K]) -> K {
    let (mut mode, mut count_max) = (K::default(), 0);
    for &key in keys {
        let count = keys.iter().filter(|&&other| other == key).count();
        if count > count_max || (count == count_max && key < mode) {
            (mode, count_max) = (key, count);
        }
    }
    mode
}

fn most_frequent_sorted<K: Copy + Ord + Default>(keys: &[K]) -> K {
    let (mut mode, mut count_max) = (K::default(), 0);
    for run in keys.chunk_by(PartialEq::eq) {
        // Of equally long runs, the first has the smallest value.
        if run.len() > count_max
            && let Some(&key) = run.first()
        {
            (mode, count_max) = (key, run.len());
        }
    }
    mode
}

impl<T: Element> Kernel<T> for Mode<T> {
    type Output = T;

    fn block(&mut self, input: &[T::Bytes], block: &Block<'_>, output: &mut [T::Bytes]) {
        self.compare(input, block);
        let none = T::Bits::default();
        let mixed = self.differences.iter().filter(|difference| **difference != none).count();
        // Columns cost as much whether a cell is mixed or not.
        if mixed > block.cells / 8 && block.volume() <= NETWORK_MAX {
            let cells = Columns::<T::Key>::cells_at_once(block.volume());
            block.for_parts(cells, |part, range| {
                self.reduce_columns(input, part, &mut output[range]);
            });
            return;
        }
        output.copy_from_slice(&self.firsts);
        for (cell, output) in output.iter_mut().enumerate() {
            if self.differences[cell] != none {
                gather(input, block, cell, &mut self.items);
                *output = self.most_frequent();
            }
        }
    }

    fn part(&mut self, items: &[T::Bytes]) -> T::Bytes {
        self.items.clear();
        self.items.extend_from_slice(items);
        self.most_frequent()
    }
}
