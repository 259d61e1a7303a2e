use smallvec::{SmallVec, smallvec};

use crate::axes::{Axis, Loops, Side, for_each};
use crate::rows::{are_short, move_rows};
use crate::{Buffer, KernelError};

/// Sets every element of a box of `shape` elements in `target` to `item`, whose length is the
/// size of an element. The bounds are checked before anything is written.
#[expect(unsafe_code, reason = "hands the checked loops to the inner loops of `rows`")]
pub fn fill_region(
    item: &[u8],
    shape: &[u64],
    target: &mut [u8],
    target_offset_bytes: u64,
    target_strides_bytes: &[u64],
) -> Result<(), KernelError> {
    let side = Side {
        buffer: Buffer::Target,
        length_bytes: target.len(),
        offset_bytes: target_offset_bytes,
        strides_bytes: target_strides_bytes,
    };
    // The target stands for the source too, so that axes join wherever the target allows it.
    let Some(mut loops) = Loops::new(item.len(), shape, side, side)? else {
        return Ok(());
    };
    loops.sort_by_target();
    loops.merge();
    let run = loops.axes.last().filter(|axis| axis.is_run(item.len())).copied();
    let row_bytes = run.map_or(1, |run| run.extent) * item.len();
    let outer = &loops.axes[..loops.axes.len() - usize::from(run.is_some())];
    if let Some((line, around)) = outer.split_last().filter(|_| are_short(row_bytes)) {
        let mut row: SmallVec<[u8; 256]> = smallvec![0; row_bytes];
        fill(item, &mut row);
        let line = Axis { source_step: 0, ..*line };
        for_each(around, loops.target_start, loops.target_start, |_, start| {
            // SAFETY: `Loops::new` has checked that every turn of all loops together stays inside
            // the target, and `start` is one turn of the loops around `line`; the source is the row
            // at every turn.
            unsafe { move_rows::<u8, false>(line, row_bytes, (&row, 0), (&mut *target, start)) };
        });
        return Ok(());
    }
    for_each(outer, loops.target_start, loops.target_start, |_, start| {
        fill(item, &mut target[start..start + row_bytes]);
    });
    Ok(())
}

/// Repeats `item` over the whole of `target`. (A length that is no multiple of the item's ends
/// with the beginning of one; an empty item changes nothing.)
pub fn fill(item: &[u8], target: &mut [u8]) {
    let Some(&first) = item.first() else {
        return;
    };
    if item.iter().all(|&byte| byte == first) {
        target.fill(first);
        return;
    }
    let mut filled = item.len().min(target.len());
    target[..filled].copy_from_slice(&item[..filled]);
    // A multiple of the item's length is filled at every turn, so the copy goes on in phase.
    // 4 KiB at most at a time: what is copied stays in the first-level cache.
    while filled < target.len() {
        let step =
            filled.min(target.len() - filled).min(item.len() * 4096_usize.div_ceil(item.len()));
        target.copy_within(..step, filled);
        filled += step;
    }
}

/// Whether `bytes` is `item` over and over (also: is empty). Stops early at a difference.
pub fn is_all(item: &[u8], bytes: &[u8]) -> bool {
    if bytes.is_empty() {
        return true;
    }
    if item.is_empty() || !bytes.len().is_multiple_of(item.len()) {
        return false;
    }
    // Equal to itself one item further on, and beginning with the item: one `memcmp`.
    bytes.starts_with(item) && bytes[item.len()..] == bytes[..bytes.len() - item.len()]
}
