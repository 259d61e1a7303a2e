//! Positions of the elements of a buffer in the array.

use std::ops::Range;

use rechunk_format::ElementOrder;
use rechunk_grid::{ChunkGrid, Region};
use rechunk_kernel::{
    Differences, Digest, DigestKeys, compare_region, copy_region, fill_region, narrow, wide,
};

use crate::Fault;

/// A buffer of elements seen as a box of the array.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Array position of the first element.
    origin: Vec<u64>,
    strides_bytes: Vec<u64>,
    /// Bytes before the buffer, counted from that element.
    skipped_bytes: u64,
    /// Length of the buffer.
    pub bytes: usize,
}

impl Frame {
    /// Chunk `index` of a grid, padded, its elements in `order`.
    pub(crate) fn of_chunk(
        grid: &ChunkGrid,
        index: &[u64],
        order: &ElementOrder,
        item_bytes: usize,
    ) -> Result<Self, Fault> {
        let chunk = grid.chunk(index);
        Ok(Self {
            strides_bytes: order.strides_bytes(&chunk.shape, wide(item_bytes)),
            bytes: buffer_bytes(chunk.elements(), item_bytes)?,
            origin: chunk.start,
            skipped_bytes: 0,
        })
    }

    /// Exactly the elements of `region`, in C order.
    pub(crate) fn of_region(region: &Region, item_bytes: usize) -> Result<Self, Fault> {
        let order = ElementOrder::c_little(region.rank());
        Ok(Self {
            origin: region.start.clone(),
            strides_bytes: order.strides_bytes(&region.shape, wide(item_bytes)),
            skipped_bytes: 0,
            bytes: buffer_bytes(region.elements(), item_bytes)?,
        })
    }

    /// Exactly the elements of `region`, packed in the order of `axes`, slowest first.
    pub(crate) fn of_region_in(
        region: &Region,
        axes: &[usize],
        item_bytes: usize,
    ) -> Result<Self, Fault> {
        let bytes = buffer_bytes(region.elements(), item_bytes)?;
        let mut strides_bytes = vec![0; region.rank()];
        let mut stride = wide(item_bytes);
        for &axis in axes.iter().rev() {
            strides_bytes[axis] = stride;
            stride *= region.shape[axis];
        }
        Ok(Self { origin: region.start.clone(), strides_bytes, skipped_bytes: 0, bytes })
    }

    /// A buffer that has only those bytes of this one.
    pub(crate) fn part(self, bytes: &Range<usize>) -> Self {
        let skipped_bytes = self.skipped_bytes + wide(bytes.start);
        Self { skipped_bytes, bytes: bytes.len(), ..self }
    }

    /// From the first byte of `region` in the buffer to its last. It lies in the box.
    pub(crate) fn bytes_of(&self, region: &Region, item_bytes: usize) -> Range<usize> {
        let last = region.start.iter().zip(&region.shape);
        let last: Vec<u64> = last.map(|(start, extent)| start + extent.saturating_sub(1)).collect();
        let (first, last) = (self.offset_bytes(&region.start), self.offset_bytes(&last));
        narrow(first)..narrow(last).saturating_add(item_bytes)
    }

    /// Largest number of elements, packed in the order of `axes` (slowest first), that parts of a
    /// box of `shape` may have. No such part has its first and its last byte more than `bytes_max`
    /// apart, unless it is one element. Also returns how far apart they are at most.
    pub(crate) fn elements_within(
        &self,
        shape: &[u64],
        axes: &[usize],
        (item_bytes, bytes_max): (usize, usize),
    ) -> (u64, usize) {
        let (mut elements, mut bytes) = (1_u64, wide(item_bytes));
        for &axis in axes.iter().rev() {
            let stride = self.strides_bytes[axis].max(1);
            let more = wide(bytes_max).saturating_sub(bytes) / stride;
            let count = shape[axis].max(1).min(more.saturating_add(1));
            elements = elements.saturating_mul(count);
            bytes = bytes.saturating_add((count - 1).saturating_mul(stride));
            if count < shape[axis] {
                break;
            }
        }
        (elements, narrow(bytes))
    }

    fn offset_bytes(&self, position: &[u64]) -> u64 {
        let steps = position.iter().zip(&self.origin).zip(&self.strides_bytes);
        let from_origin: u64 = steps.map(|((at, origin), stride)| (at - origin) * stride).sum();
        from_origin - self.skipped_bytes
    }
}

/// Copies the elements of `region` from one buffer to another, groups of `swap_bytes` of their
/// bytes reversed.
pub(crate) fn copy(
    item_bytes: usize,
    region: &Region,
    (source, source_frame): (&[u8], &Frame),
    (target, target_frame): (&mut [u8], &Frame),
    swap_bytes: usize,
) -> Result<(), Fault> {
    copy_region(
        item_bytes,
        &region.shape,
        source,
        source_frame.offset_bytes(&region.start),
        &source_frame.strides_bytes,
        target,
        target_frame.offset_bytes(&region.start),
        &target_frame.strides_bytes,
        swap_bytes,
    )
    .map_err(Fault::Kernel)
}

/// Elements of `wanted` out of those of the box `all`, in which it lies; both in C order.
pub(crate) fn cut(
    item_bytes: usize,
    (bytes, all): (&[u8], &Region),
    wanted: &Region,
) -> Result<Vec<u8>, Fault> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let (from, to) = (Frame::of_region(all, item_bytes)?, Frame::of_region(wanted, item_bytes)?);
    let mut cut = vec![0; to.bytes];
    copy(item_bytes, wanted, (bytes, &from), (&mut cut, &to), 1)?;
    Ok(cut)
}

/// Sets the elements of `region` to `item`, which is in the buffer's byte order.
pub(crate) fn fill(
    item: &[u8],
    region: &Region,
    (target, frame): (&mut [u8], &Frame),
) -> Result<(), Fault> {
    let offset_bytes = frame.offset_bytes(&region.start);
    fill_region(item, &region.shape, target, offset_bytes, &frame.strides_bytes)
        .map_err(Fault::Kernel)
}

/// The digest of the elements of `region` in a buffer.
pub(crate) fn digest(
    keys: &DigestKeys,
    region: &Region,
    (bytes, frame): (&[u8], &Frame),
    swap_bytes: usize,
) -> Result<Digest, Fault> {
    let offset_bytes = frame.offset_bytes(&region.start);
    let (start, shape) = (&region.start, &region.shape);
    keys.region(start, shape, bytes, offset_bytes, &frame.strides_bytes, swap_bytes)
        .map_err(Fault::Kernel)
}

/// Compares the elements of `region` in two buffers of the same frame.
pub(crate) fn compare(
    item_bytes: usize,
    region: &Region,
    a: &[u8],
    b: &[u8],
    frame: &Frame,
) -> Result<Differences, Fault> {
    let offset_bytes = frame.offset_bytes(&region.start);
    let strides = &frame.strides_bytes;
    compare_region(item_bytes, &region.shape, a, offset_bytes, strides, b, offset_bytes, strides, 1)
        .map_err(Fault::Kernel)
}

/// Compares the elements of `region` with `item`, which is in the buffer's byte order.
pub(crate) fn compare_with_fill(
    item: &[u8],
    region: &Region,
    buffer: &[u8],
    frame: &Frame,
) -> Result<Differences, Fault> {
    let still = vec![0; region.rank()];
    let offset_bytes = frame.offset_bytes(&region.start);
    let strides = &frame.strides_bytes;
    let shape = &region.shape;
    compare_region(item.len(), shape, item, 0, &still, buffer, offset_bytes, strides, 1)
        .map_err(Fault::Kernel)
}

/// Bytes of a buffer of `elements`, if this machine can address them.
pub(crate) fn buffer_bytes(elements: u64, item_bytes: usize) -> Result<usize, Fault> {
    usize::try_from(elements)
        .ok()
        .and_then(|elements| elements.checked_mul(item_bytes))
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or(Fault::BufferTooLarge { elements })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rechunk_format::ElementOrder;
    use rechunk_grid::{ChunkGrid, Endian, Region};

    use super::*;
    use crate::units::slabs::Slabs;

    proptest! {
        #[test]
        fn slabs_of_a_part_are_within_what_they_may_have(
            (chunk, start, shape, axes) in (1_usize..4).prop_flat_map(|rank| (
                prop::collection::vec(1_u64..7, rank),
                prop::collection::vec(0_u64..7, rank),
                prop::collection::vec(1_u64..7, rank),
                Just((0..rank).collect::<Vec<_>>()).prop_shuffle(),
            )),
            item_bytes in 1_usize..9,
            bytes_max in 0_usize..400,
        ) {
            let grid = ChunkGrid::new(&chunk, &chunk).unwrap();
            let order = ElementOrder { axes: axes.clone(), endian: Endian::Little };
            let index = vec![0; chunk.len()];
            let frame = Frame::of_chunk(&grid, &index, &order, item_bytes).unwrap();
            let Some(part) = Region::new(start, shape).intersect(&Region::whole(&chunk)) else {
                return Ok(());
            };
            let within = (item_bytes, bytes_max);
            let (elements_max, room) = frame.elements_within(&part.shape, &axes, within);
            prop_assert!(room <= bytes_max.max(item_bytes), "{room}");
            let mut at = 0;
            for slab in Slabs::new(&part, &axes, elements_max).unwrap() {
                let range = frame.bytes_of(&slab, item_bytes);
                prop_assert!(range.len() <= room && range.start >= at, "{slab:?}: {range:?}");
                at = range.end;
            }
            if frame.bytes_of(&part, item_bytes).len() <= bytes_max {
                prop_assert_eq!(elements_max, part.elements(), "it is one slab");
            }
        }
    }
}
