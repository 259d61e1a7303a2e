//! The inner loops, over elements of a size known to the compiler. Unsafe code is here, in
//! [`crate::rows`] and in [`crate::transpose`].

use crate::axes::Axis;

/// Turns of a line that are taken at once.
const UNROLLED: usize = 4;

/// A value any bytes of its size are valid for: integers and arrays of integers, no padding.
pub(crate) trait Element: Copy {
    /// The same with its bytes in reverse order.
    fn swapped(self) -> Self;
}

macro_rules! impl_element {
    ($($integer:ty),*) => {$(
        impl Element for $integer {
            fn swapped(self) -> Self {
                self.swap_bytes()
            }
        }
    )*};
}
impl_element!(u8, u16, u32, u64, u128);

/// 32 bytes: a short run of smaller elements that are moved together.
impl Element for [u64; 4] {
    fn swapped(self) -> Self {
        let [a, b, c, d] = self;
        [d.swap_bytes(), c.swap_bytes(), b.swap_bytes(), a.swap_bytes()]
    }
}

/// Moves one element, reversed if `SWAP`.
///
/// # Safety
/// `size_of::<E>()` bytes from `source_at` on lie in the buffer `source` points to, and as many
/// from `target_at` on in that of `target`, which may be written. Alignment does not matter.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call per element would cost more than the element")]
#[expect(unsafe_code, reason = "the box was checked as a whole; a check per element halves speed")]
pub(crate) unsafe fn move_element<E: Element, const SWAP: bool>(
    source: *const u8,
    source_at: usize,
    target: *mut u8,
    target_at: usize,
) {
    // SAFETY: the caller keeps both accesses inside their buffers; they are unaligned accesses,
    // and any bytes are a valid `E` (see `Element`).
    unsafe {
        let value = source.add(source_at).cast::<E>().read_unaligned();
        let value = if SWAP { value.swapped() } else { value };
        target.add(target_at).cast::<E>().write_unaligned(value);
    }
}

/// Panics in debug builds if loops over `axes` from `start` would leave `bytes`.
pub(crate) fn debug_check(bytes: &[u8], start: usize, item_bytes: usize, steps: &[(usize, usize)]) {
    let end = steps.iter().map(|(extent, step)| (extent - 1) * step).sum::<usize>();
    debug_assert!(start + end + item_bytes <= bytes.len(), "the box was checked before");
}

/// Moves the elements of one axis.
///
/// # Safety
/// Every turn of `axis` from the given starts touches only bytes inside `source` and `target`.
#[expect(unsafe_code, reason = "the box was checked as a whole; a check per element halves speed")]
pub(crate) unsafe fn move_line<E: Element, const SWAP: bool>(
    axis: Axis,
    source: &[u8],
    source_start: usize,
    target: &mut [u8],
    target_start: usize,
) {
    let Axis { extent, source_step, target_step } = axis;
    debug_check(source, source_start, size_of::<E>(), &[(extent, source_step)]);
    debug_check(target, target_start, size_of::<E>(), &[(extent, target_step)]);
    let (source, target) = (source.as_ptr(), target.as_mut_ptr());
    let turn = |turn: usize| {
        let source_at = source_start + turn * source_step;
        let target_at = target_start + turn * target_step;
        // SAFETY: `turn` is below the extent, so the caller's promise covers both accesses.
        unsafe { move_element::<E, SWAP>(source, source_at, target, target_at) };
    };
    // Several turns of the loop in one: counting would take as long as moving.
    let whole = extent - extent % UNROLLED;
    for first in (0..whole).step_by(UNROLLED) {
        for next in 0..UNROLLED {
            turn(first + next);
        }
    }
    (whole..extent).for_each(turn);
}
