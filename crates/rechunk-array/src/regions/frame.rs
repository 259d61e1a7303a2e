//! Positions of a box's elements in a buffer.

use std::ops::Range;

use rechunk_format::ElementOrder;
use rechunk_grid::Region;
use rechunk_kernel::{KernelError, copy_region, fill_region};

/// A buffer that holds a box of the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Array position of the first element.
    origin: Vec<u64>,
    strides_bytes: Vec<u64>,
    /// Bytes between that element and the buffer's first byte.
    skipped_bytes: u64,
    /// Length of the buffer.
    pub(crate) bytes: u64,
}

impl Frame {
    /// All elements of `region` in `order`, without gaps. Its bytes have been checked to be a
    /// number.
    pub(crate) fn new(region: &Region, order: &ElementOrder, item_bytes: u64) -> Self {
        Self {
            origin: region.start.clone(),
            strides_bytes: order.strides_bytes(&region.shape, item_bytes),
            skipped_bytes: 0,
            bytes: region.elements() * item_bytes,
        }
    }

    /// The frame of [`Frame::new`] in C order.
    pub(crate) fn in_c_order(region: &Region, item_bytes: u64) -> Self {
        Self::new(region, &ElementOrder::c_little(region.rank()), item_bytes)
    }

    /// Range from the first byte of `region` to its last. The region has elements, and lies in the
    /// box.
    pub(crate) fn bytes_of(&self, region: &Region, item_bytes: u64) -> Range<u64> {
        let start = self.offset_bytes(&region.start);
        let steps = region.shape.iter().zip(&self.strides_bytes);
        let last: u64 = steps.map(|(extent, stride)| (extent - 1) * stride).sum();
        start..start + last + item_bytes
    }

    /// Returns the frame of a buffer that has only the bytes `range` of this one.
    pub(crate) fn part(self, range: &Range<u64>) -> Self {
        let skipped_bytes = self.skipped_bytes + range.start;
        Self { skipped_bytes, bytes: range.end - range.start, ..self }
    }

    /// Byte distance between neighbours along `axis`.
    pub(crate) fn stride_bytes(&self, axis: usize) -> u64 {
        self.strides_bytes[axis]
    }

    fn offset_bytes(&self, position: &[u64]) -> u64 {
        let steps = position.iter().zip(&self.origin).zip(&self.strides_bytes);
        let from_origin: u64 = steps.map(|((at, origin), stride)| (at - origin) * stride).sum();
        from_origin - self.skipped_bytes
    }
}

/// Form of one element in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) bytes: usize,
    /// Bytes that change places between stored and native order; 1 where none do.
    pub(crate) swap_bytes: usize,
}

/// Copies the elements of `region` between buffers, from stored to native order or back.
pub(crate) fn copy(
    item: Item,
    region: &Region,
    (source, from): (&[u8], &Frame),
    (target, to): (&mut [u8], &Frame),
) -> Result<(), KernelError> {
    copy_region(
        item.bytes,
        &region.shape,
        source,
        from.offset_bytes(&region.start),
        &from.strides_bytes,
        target,
        to.offset_bytes(&region.start),
        &to.strides_bytes,
        item.swap_bytes,
    )
}

/// Sets the elements of `region` to `element`.
pub(crate) fn fill(
    element: &[u8],
    region: &Region,
    (target, to): (&mut [u8], &Frame),
) -> Result<(), KernelError> {
    let offset_bytes = to.offset_bytes(&region.start);
    fill_region(element, &region.shape, target, offset_bytes, &to.strides_bytes)
}
