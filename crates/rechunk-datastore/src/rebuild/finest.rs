//! Boxes of elements of the finest level.

use rechunk_kernel::{copy_region, narrow};

use super::grid::{Box3, positions};
use crate::DatastoreError;
use crate::View;
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

/// Copies the elements that two boxes share.
pub(super) fn copy(
    from: &[u8],
    source: Box3,
    to: &mut [u8],
    target: Box3,
    item_bytes: u64,
) -> Result<(), DatastoreError> {
    let Box3 { start: low, size: shape } = source.intersect(target);
    if shape.contains(&0) {
        return Ok(());
    }
    let strides =
        |of: Box3| [item_bytes, of.size[0] * item_bytes, of.size[0] * of.size[1] * item_bytes];
    let offset = |of: Box3| {
        let axes = low.iter().zip(of.start).zip(strides(of));
        axes.map(|((low, start), stride)| (low - start) * stride).sum()
    };
    copy_region(
        narrow(item_bytes),
        &shape,
        from,
        offset(source),
        &strides(source),
        to,
        offset(target),
        &strides(target),
        1,
    )?;
    Ok(())
}
