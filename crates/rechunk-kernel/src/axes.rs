//! From shape and strides to the fewest loops that visit every element once.

use smallvec::{SmallVec, smallvec};

use crate::{Buffer, KernelError};

/// Loops, outermost first. Boxes are often a few hundred bytes: for those, asking the allocator for
/// this takes as long as the copy.
pub(crate) type Axes = SmallVec<[Axis; 6]>;

/// One loop: how often, and how far each side moves per turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Turns, at least 2.
    pub(crate) extent: usize,
    /// Bytes to the next element in the source.
    pub(crate) source_step: usize,
    /// Bytes to the next element in the target.
    pub(crate) target_step: usize,
}

impl Axis {
    /// Whether both sides move by exactly `item_bytes`: the axis is one run of bytes in both.
    pub(crate) fn is_run(&self, item_bytes: usize) -> bool {
        self.source_step == item_bytes && self.target_step == item_bytes
    }

    /// Where turn `turn` begins on the two sides, from where the first does.
    pub(crate) fn at(&self, turn: usize, (source, target): (usize, usize)) -> (usize, usize) {
        (source + turn * self.source_step, target + turn * self.target_step)
    }

    /// Whether `self` around `inner` is the same walk as one longer loop over `inner`.
    fn continues(&self, inner: &Self) -> bool {
        inner.source_step.checked_mul(inner.extent) == Some(self.source_step)
            && inner.target_step.checked_mul(inner.extent) == Some(self.target_step)
    }
}

/// One side of a copy: a buffer and where in it the box lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) buffer: Buffer,
    pub(crate) length_bytes: usize,
    pub(crate) offset_bytes: u64,
    pub(crate) strides_bytes: &'a [u64],
}

impl Side<'_> {
    /// First byte after the box (which is not empty), or `None` if that overflows.
    fn end_bytes(&self, item_bytes: usize, shape: &[u64]) -> Option<u64> {
        let first_end = self.offset_bytes.checked_add(u64::try_from(item_bytes).ok()?)?;
        shape.iter().zip(self.strides_bytes).try_fold(first_end, |end, (extent, stride)| {
            end.checked_add(stride.checked_mul(extent - 1)?)
        })
    }

    fn check_rank(&self, shape: &[u64]) -> Result<(), KernelError> {
        let (shape, strides) = (shape.len(), self.strides_bytes.len());
        if shape == strides {
            return Ok(());
        }
        Err(KernelError::RankMismatch { shape, strides, buffer: self.buffer })
    }

    /// The offset as an index, once the whole box is known to lie inside the buffer.
    fn checked_start(&self, item_bytes: usize, shape: &[u64]) -> Result<usize, KernelError> {
        let buffer = self.buffer;
        let too_large = || KernelError::TooLarge { buffer, shape: shape.to_vec() };
        let needed_bytes = self.end_bytes(item_bytes, shape).ok_or_else(too_large)?;
        let available_bytes = u64::try_from(self.length_bytes).map_err(|_| too_large())?;
        if needed_bytes > available_bytes {
            return Err(KernelError::OutOfBounds { buffer, needed_bytes, available_bytes });
        }
        usize::try_from(self.offset_bytes).map_err(|_| too_large())
    }
}

/// The loops of a box that lies inside both buffers: every byte they touch is in bounds.
#[derive(Debug)]
pub(crate) struct Loops {
    pub(crate) source_start: usize,
    pub(crate) target_start: usize,
    pub(crate) axes: Axes,
}

impl Loops {
    /// Checks the box against both sides; `None` if it holds no element. The axes keep the order
    /// of `shape`; those of extent 1 are dropped.
    pub(crate) fn new(
        item_bytes: usize,
        shape: &[u64],
        source: Side<'_>,
        target: Side<'_>,
    ) -> Result<Option<Self>, KernelError> {
        if item_bytes == 0 {
            return Err(KernelError::EmptyItem);
        }
        source.check_rank(shape)?;
        target.check_rank(shape)?;
        if shape.contains(&0) {
            return Ok(None);
        }
        let source_start = source.checked_start(item_bytes, shape)?;
        let target_start = target.checked_start(item_bytes, shape)?;
        let too_large = |buffer| move |_| KernelError::TooLarge { buffer, shape: shape.to_vec() };
        let mut axes = Axes::with_capacity(shape.len());
        for (axis, &extent) in shape.iter().enumerate() {
            if extent > 1 {
                axes.push(Axis {
                    extent: usize::try_from(extent).map_err(too_large(Buffer::Target))?,
                    source_step: usize::try_from(source.strides_bytes[axis])
                        .map_err(too_large(Buffer::Source))?,
                    target_step: usize::try_from(target.strides_bytes[axis])
                        .map_err(too_large(Buffer::Target))?,
                });
            }
        }
        Ok(Some(Self { source_start, target_start, axes }))
    }

    /// Takes an element of `item_bytes` as a row of smaller ones of `part_bytes`, which divides it.
    pub(crate) fn split(&mut self, item_bytes: usize, part_bytes: usize) {
        if part_bytes < item_bytes {
            let extent = item_bytes / part_bytes;
            self.axes.push(Axis { extent, source_step: part_bytes, target_step: part_bytes });
        }
    }

    /// Puts the target's fastest axis innermost: writes are what caches suffer from most.
    pub(crate) fn sort_by_target(&mut self) {
        self.axes.sort_by_key(|axis| std::cmp::Reverse((axis.target_step, axis.source_step)));
    }

    /// Joins neighbouring loops that walk on where the inner one ends.
    pub(crate) fn merge(&mut self) {
        self.axes.dedup_by(|axis, outer| {
            // No overflow: both factors are bounded by the box, which fits the buffers, except for
            // strides of 0, where a product that overflows is not joined.
            let extent = outer.extent.checked_mul(axis.extent).filter(|_| outer.continues(axis));
            if let Some(extent) = extent {
                *outer = Axis { extent, ..*axis };
            }
            extent.is_some()
        });
    }

    /// Takes a short innermost run (2 to 32 bytes, a power of 2) as one wider element. The loop
    /// around it becomes the inner loop. Returns the bytes of an element from now on.
    pub(crate) fn widen(&mut self, item_bytes: usize) -> usize {
        if let Some(run) = self.axes.last().filter(|axis| axis.is_run(item_bytes)) {
            let row_bytes = run.extent * item_bytes;
            if is_element(row_bytes) {
                self.axes.pop();
                return row_bytes;
            }
        }
        item_bytes
    }
}

/// Whether there are loops over elements of so many bytes.
pub(crate) fn is_element(item_bytes: usize) -> bool {
    item_bytes <= 32 && item_bytes.is_power_of_two()
}

/// Calls `visit(source, target)` with the offsets of every turn of the loops `axes`, which start
/// at the given offsets, in order.
pub(crate) fn for_each(
    axes: &[Axis],
    mut source: usize,
    mut target: usize,
    mut visit: impl FnMut(usize, usize),
) {
    let mut turns: SmallVec<[usize; 6]> = smallvec![0; axes.len()];
    loop {
        visit(source, target);
        let mut level = axes.len();
        loop {
            if level == 0 {
                return;
            }
            level -= 1;
            let axis = &axes[level];
            turns[level] += 1;
            if turns[level] < axis.extent {
                source += axis.source_step;
                target += axis.target_step;
                break;
            }
            turns[level] = 0;
            source -= (axis.extent - 1) * axis.source_step;
            target -= (axis.extent - 1) * axis.target_step;
        }
    }
}
