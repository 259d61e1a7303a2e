//! Boxes of elements of the finest level.

use crate::DatastoreError;
use crate::View;
use crate::boxes::{Box3, copy, positions};
use crate::open_level::OpenLevel;

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
        let address = view.block(position);
        let Some((sizes, block)) = level.read_elements(&address).await? else { continue };
        let target = elements.get_or_insert_with(|| wanted.zeros(level.item_bytes()));
        let origin = std::array::from_fn(|axis| position[axis] * full[axis]);
        let source = Box3 { start: origin, size: sizes.map(u64::from) };
        copy(&block, source, target, wanted, level.item_bytes())?;
    }
    Ok(elements)
}
