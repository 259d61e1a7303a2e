//! Elements of many cells side by side: the first element of each, then the second.

use crate::cells::{BLOCK_CELLS, Block};
use crate::element::Element;

/// Elements of a cell that a network compares, at most.
pub(crate) const NETWORK_MAX: usize = 64;
/// Bytes of columns that stay in the nearest cache.
const BYTES_AT_ONCE: usize = 16 << 10;

/// Keys of the elements of cells, and a network that sorts all cells at once.
#[derive(Debug)]
pub(crate) struct Columns<K> {
    keys: Vec<K>,
    make_network: fn(usize) -> Vec<(usize, usize)>,
    /// Comparisons for cells of `network_for` elements.
    network: Vec<(usize, usize)>,
    network_for: usize,
}

impl<K: Copy + Ord> Columns<K> {
    /// Creates columns that the network of `make_network` sorts.
    pub(crate) fn new(make_network: fn(usize) -> Vec<(usize, usize)>) -> Self {
        Self { keys: Vec::new(), make_network, network: Vec::new(), network_for: 0 }
    }

    /// The columns, one after the other.
    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }

    /// Cells of `volume` elements that are taken at once.
    pub(crate) fn cells_at_once(volume: usize) -> usize {
        (BYTES_AT_ONCE / (volume * size_of::<K>()).max(1)).clamp(16, BLOCK_CELLS)
    }

    /// Takes the elements of a block.
    pub(crate) fn take<T: Element<Key = K>>(
        &mut self,
        input: &[T::Bytes],
        block: &Block<'_>,
        to_key: impl Fn(T) -> K,
    ) {
        let (length, factor, lanes) = (block.row_length(), block.factor, block.lanes);
        let keys = &mut self.keys;
        keys.clear();
        block.for_rows(|start| {
            let row = &input[start..start + length];
            match (factor, lanes) {
                (1, _) => keys.extend(row.iter().map(|&item| to_key(T::read(item)))),
                (2, 1) => take_short::<T, 2>(row, keys, &to_key),
                (4, 1) => take_short::<T, 4>(row, keys, &to_key),
                _ => {
                    for at in 0..factor {
                        let cells = row.chunks_exact(factor * lanes);
                        let column = cells.flat_map(|cell| &cell[at * lanes..][..lanes]);
                        keys.extend(column.map(|&item| to_key(T::read(item))));
                    }
                }
            }
        });
    }

    /// Compares the columns of cells of `volume` elements.
    pub(crate) fn run_network(&mut self, volume: usize, cells: usize) {
        if self.network_for != volume {
            self.network = (self.make_network)(volume);
            self.network_for = volume;
        }
        for &(low, high) in &self.network {
            let (below, above) = self.keys.split_at_mut(high * cells);
            compare_exchange(&mut below[low * cells..][..cells], &mut above[..cells]);
        }
    }
}

fn take_short<T: Element, const FACTOR: usize>(
    row: &[T::Bytes],
    keys: &mut Vec<T::Key>,
    to_key: impl Fn(T) -> T::Key,
) {
    let cells = row.as_chunks::<FACTOR>().0;
    for at in 0..FACTOR {
        keys.extend(cells.iter().map(|cell| to_key(T::read(cell[at]))));
    }
}

/// Leaves the lesser keys in `low`, the others in `high`.
fn compare_exchange<K: Copy + Ord>(low: &mut [K], high: &mut [K]) {
    for (low, high) in low.iter_mut().zip(high) {
        let keys = (*low, *high);
        *low = keys.0.min(keys.1);
        *high = keys.0.max(keys.1);
    }
}
