use crate::axes::{Axis, Loops, Side, for_each};
use crate::copy::check_swap;
use crate::words::wide;
use crate::{Buffer, KernelError};

/// Result of [`compare_region`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Elements that differ.
    pub count: u64,
    /// Position in the box of the first of them in C order; empty for a box of no axes.
    pub first: Option<Vec<u64>>,
}

/// Compares two boxes of `shape` elements bit for bit. Every group of `swap_bytes` bytes of an
/// element of `b` is taken in reverse order; 1 takes them as they are.
#[expect(clippy::too_many_arguments, reason = "two sides of offset and strides; a struct hides it")]
pub fn compare_region(
    item_bytes: usize,
    shape: &[u64],
    a: &[u8],
    a_offset_bytes: u64,
    a_strides_bytes: &[u64],
    b: &[u8],
    b_offset_bytes: u64,
    b_strides_bytes: &[u64],
    swap_bytes: usize,
) -> Result<Differences, KernelError> {
    let a_side = Side {
        buffer: Buffer::Source,
        length_bytes: a.len(),
        offset_bytes: a_offset_bytes,
        strides_bytes: a_strides_bytes,
    };
    let b_side = Side {
        buffer: Buffer::Target,
        length_bytes: b.len(),
        offset_bytes: b_offset_bytes,
        strides_bytes: b_strides_bytes,
    };
    check_swap(item_bytes, swap_bytes)?;
    let Some(mut loops) = Loops::new(item_bytes, shape, a_side, b_side)? else {
        return Ok(Differences::default());
    };
    // Not sorted: elements are visited in C order, so that the n-th visit is the n-th element.
    loops.merge();
    let whole = Axis { extent: 1, source_step: item_bytes, target_step: item_bytes };
    let (inner, outer) = loops.axes.split_last().map_or((whole, &[][..]), |(i, o)| (*i, o));
    let is_run = inner.is_run(item_bytes) && swap_bytes == 1;
    let mut found = Found::default();
    for_each(outer, loops.source_start, loops.target_start, |a_start, b_start| {
        let row_bytes = inner.extent * item_bytes;
        if is_run && a[a_start..a_start + row_bytes] == b[b_start..b_start + row_bytes] {
            found.skip(inner.extent);
            return;
        }
        for turn in 0..inner.extent {
            let (i, j) = (a_start + turn * inner.source_step, b_start + turn * inner.target_step);
            found.add(is_equal(&a[i..i + item_bytes], &b[j..j + item_bytes], swap_bytes));
        }
    });
    Ok(Differences { count: found.count, first: found.first.map(|at| position(shape, at)) })
}

/// Whether two elements have the same bytes, groups of `swap_bytes` of one of them reversed.
fn is_equal(a: &[u8], b: &[u8], swap_bytes: usize) -> bool {
    if swap_bytes == 1 {
        return a == b;
    }
    let mut groups = a.chunks_exact(swap_bytes).zip(b.chunks_exact(swap_bytes));
    groups.all(|(a, b)| a.iter().eq(b.iter().rev()))
}

/// Counts differences among elements that are visited in order.
#[derive(Default)]
struct Found {
    visited: u64,
    count: u64,
    /// Number of elements that were visited before the first difference.
    first: Option<u64>,
}

impl Found {
    fn add(&mut self, is_equal: bool) {
        if !is_equal {
            self.count += 1;
            self.first.get_or_insert(self.visited);
        }
        self.visited += 1;
    }

    fn skip(&mut self, elements: usize) {
        self.visited = self.visited.saturating_add(wide(elements));
    }
}

/// The index of the `at`-th element of a box in C order.
fn position(shape: &[u64], mut at: u64) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (slot, extent) in index.iter_mut().zip(shape).rev() {
        *slot = at % extent;
        at /= extent;
    }
    index
}
