//! Boxes of elements of the finest level.

use super::grid::{Box3, positions};
use crate::open_level::{OpenLevel, View};
use crate::{BlockAddress, DatastoreError};

/// The elements of a box, big-endian, x fastest; zeros where nothing is stored. `None` if no block
/// in it is.
pub(super) async fn read(
    level: &OpenLevel,
    view: View,
    wanted: Box3,
) -> Result<Option<Vec<u8>>, DatastoreError> {
    let full = level.level().block_dimensions;
    let first: [u64; 3] = std::array::from_fn(|axis| wanted.start[axis] / full[axis]);
    let counts = std::array::from_fn(|axis| {
        let end = wanted.start[axis] + wanted.size[axis];
        end.div_ceil(full[axis]) - first[axis]
    });
    let mut elements: Option<Vec<u8>> = None;
    for offset in positions(counts) {
        let position = std::array::from_fn(|axis| first[axis] + offset[axis]);
        let address =
            BlockAddress { position, time: view.time, channel: view.channel, angle: view.angle };
        let Some((sizes, block)) = level.read_elements(&address).await? else { continue };
        let bytes =
            wanted.size.iter().fold(level.item_bytes(), |bytes, size| bytes.saturating_mul(*size));
        let target =
            elements.get_or_insert_with(|| vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)]);
        let origin = std::array::from_fn(|axis| position[axis] * full[axis]);
        let source = Box3 { start: origin, size: sizes.map(u64::from) };
        copy(&block, source, target, wanted, level.item_bytes());
    }
    Ok(elements)
}

/// Copies the rows that two boxes share.
pub(super) fn copy(from: &[u8], source: Box3, to: &mut [u8], target: Box3, item_bytes: u64) {
    let low: [u64; 3] = std::array::from_fn(|axis| source.start[axis].max(target.start[axis]));
    let high: [u64; 3] = std::array::from_fn(|axis| {
        let end = |of: Box3| of.start[axis] + of.size[axis];
        end(source).min(end(target))
    });
    if (0..3).any(|axis| low[axis] >= high[axis]) {
        return;
    }
    let row_bytes = (high[0] - low[0]) * item_bytes;
    for z in low[2]..high[2] {
        for y in low[1]..high[1] {
            let at = |of: Box3| {
                let [x, y, z] = [low[0] - of.start[0], y - of.start[1], z - of.start[2]];
                ((z * of.size[1] + y) * of.size[0] + x) * item_bytes
            };
            let (source, target) = (range(at(source), row_bytes), range(at(target), row_bytes));
            if let (Some(source), Some(target)) = (from.get(source), to.get_mut(target)) {
                target.copy_from_slice(source);
            }
        }
    }
}

/// Bytes of buffers that are in memory.
fn range(start: u64, length: u64) -> std::ops::Range<usize> {
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    start..start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX))
}
