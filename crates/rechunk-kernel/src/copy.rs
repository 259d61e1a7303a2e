use crate::axes::{Axes, Axis, Loops, Side, for_each, is_element};
use crate::element::{InRuns, move_line};
use crate::rows::{are_short, move_rows};
use crate::transpose::move_tiles;
use crate::{Buffer, KernelError};

/// Copies a box of `shape` elements of `item_bytes` bytes from `source` to `target`.
///
/// On each side the box begins at an offset and neighbours along an axis lie a stride apart, in
/// bytes, indexed like `shape`. Every group of `swap_bytes` bytes of an element is reversed on the
/// way: 1 moves the bytes as they are, `item_bytes` swaps whole elements, half of it each part of a
/// complex number. The bounds are checked before anything is written.
#[expect(clippy::too_many_arguments, reason = "two sides of offset and strides; a struct hides it")]
pub fn copy_region(
    item_bytes: usize,
    shape: &[u64],
    source: &[u8],
    source_offset_bytes: u64,
    source_strides_bytes: &[u64],
    target: &mut [u8],
    target_offset_bytes: u64,
    target_strides_bytes: &[u64],
    swap_bytes: usize,
) -> Result<(), KernelError> {
    let source_side = Side {
        buffer: Buffer::Source,
        length_bytes: source.len(),
        offset_bytes: source_offset_bytes,
        strides_bytes: source_strides_bytes,
    };
    let target_side = Side {
        buffer: Buffer::Target,
        length_bytes: target.len(),
        offset_bytes: target_offset_bytes,
        strides_bytes: target_strides_bytes,
    };
    check_swap(item_bytes, swap_bytes)?;
    let Some(mut loops) = Loops::new(item_bytes, shape, source_side, target_side)? else {
        return Ok(());
    };
    let swap = swap_bytes > 1;
    // From here on an element is what is swapped as one, or else has a size with loops of its own.
    let part_bytes = match swap {
        true => swap_bytes,
        false if is_element(item_bytes) => item_bytes,
        false => 1,
    };
    loops.split(item_bytes, part_bytes);
    loops.sort_by_target();
    loops.merge();
    let item_bytes = if swap { part_bytes } else { loops.widen(part_bytes) };
    match (item_bytes, swap) {
        (1, _) => run::<u8, false>(&loops, source, target),
        (2, false) => run::<u16, false>(&loops, source, target),
        (2, true) => run::<u16, true>(&loops, source, target),
        (4, false) => run::<u32, false>(&loops, source, target),
        (4, true) => run::<u32, true>(&loops, source, target),
        (8, false) => run::<u64, false>(&loops, source, target),
        (8, true) => run::<u64, true>(&loops, source, target),
        (16, false) => run::<u128, false>(&loops, source, target),
        (16, true) => run::<u128, true>(&loops, source, target),
        (32, false) => run::<[u64; 4], false>(&loops, source, target),
        (32, true) => run::<[u64; 4], true>(&loops, source, target),
        _ => swap_any(item_bytes, &loops, source, target),
    }
    Ok(())
}

/// Refuses groups of bytes that an element is not made of.
pub(crate) fn check_swap(item_bytes: usize, swap_bytes: usize) -> Result<(), KernelError> {
    if swap_bytes > 0 && item_bytes.is_multiple_of(swap_bytes) {
        return Ok(());
    }
    Err(KernelError::UnevenSwap { item_bytes, swap_bytes })
}

/// Runs loops over elements of a size the compiler knows.
#[expect(unsafe_code, reason = "hands the checked loops to the inner loops of `element`")]
fn run<E: InRuns, const SWAP: bool>(loops: &Loops, source: &[u8], target: &mut [u8]) {
    let item_bytes = size_of::<E>();
    let (source_start, target_start) = (loops.source_start, loops.target_start);
    let single = Axis { extent: 1, source_step: 0, target_step: 0 };
    let (inner, outer) = loops.axes.split_last().map_or((single, &[][..]), |(i, o)| (*i, o));
    if inner.is_run(item_bytes) {
        let row_bytes = inner.extent * item_bytes;
        if SWAP || are_short(row_bytes) {
            let (line, around) = outer.split_last().map_or((single, outer), |(l, a)| (*l, a));
            for_each(around, source_start, target_start, |from, to| {
                let (from, to) = ((source, from), (&mut *target, to));
                // SAFETY: `Loops::new` has checked that every turn of all loops together stays
                // inside both buffers, and `from`, `to` are one turn of the loops around these two.
                // A run is a loop of two turns or more.
                unsafe {
                    if SWAP {
                        move_rows::<E, true>(line, row_bytes, from, to);
                    } else {
                        move_rows::<u8, false>(line, row_bytes, from, to);
                    }
                }
            });
            return;
        }
        for_each(outer, source_start, target_start, |from, to| {
            target[to..to + row_bytes].copy_from_slice(&source[from..from + row_bytes]);
        });
    } else if let Some(fastest) = source_fastest(outer, inner) {
        let mut around = Axes::from_slice(outer);
        let across = around.remove(fastest);
        for_each(&around, source_start, target_start, |from, to| {
            // SAFETY: as above.
            unsafe { move_tiles::<E, SWAP>(across, inner, source, from, target, to) };
        });
    } else {
        for_each(outer, source_start, target_start, |from, to| {
            // SAFETY: as above; `inner` is the loop that `from`, `to` are one turn around of.
            unsafe { move_line::<E, SWAP>(inner, source, from, target, to) };
        });
    }
}

/// Which of `outer` the source walks in smaller steps than it walks `inner`: then the two sides
/// run in different directions. `None` if they agree.
fn source_fastest(outer: &[Axis], inner: Axis) -> Option<usize> {
    let (fastest, axis) = outer.iter().enumerate().min_by_key(|(_, axis)| axis.source_step)?;
    (axis.source_step < inner.source_step).then_some(fastest)
}

/// Runs loops over elements of any size, one by one, and reverses each.
fn swap_any(item_bytes: usize, loops: &Loops, source: &[u8], target: &mut [u8]) {
    for_each(&loops.axes, loops.source_start, loops.target_start, |from, to| {
        let to = &mut target[to..to + item_bytes];
        to.copy_from_slice(&source[from..from + item_bytes]);
        to.reverse();
    });
}
