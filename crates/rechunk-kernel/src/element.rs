//! The inner loops, over elements of a size known to the compiler. Like those of [`crate::rows`]
//! and [`crate::transpose`] they are unsafe: whoever calls them has checked the box as a whole.

use crate::axes::Axis;

/// Turns of a line that are taken at once.
const UNROLLED: usize = 8;

/// A value any bytes of its size are valid for: integers and arrays of integers, no padding.
pub(crate) trait Element: Copy {
    /// Returns it with its bytes in reverse order.
    fn swapped(self) -> Self;
}

macro_rules! impl_element {
    ($($integer:ty),*) => {$(
        impl Element for $integer {
            #[inline]
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

/// Neighbours that are moved together, each for itself.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Parts<E, const COUNT: usize>([E; COUNT]);

impl<E: Element, const COUNT: usize> Element for Parts<E, COUNT> {
    #[inline]
    fn swapped(self) -> Self {
        Self(self.0.map(E::swapped))
    }
}

/// An element of which there are runs: so many bytes of them are moved together. (No run of two is
/// shorter than what stands for sizes that an element does not fit.)
pub(crate) trait InRuns: Element {
    type Of2: Element;
    type Of4: Element;
    type Of8: Element;
    type Of16: Element;
    type Of32: Element;
}

macro_rules! impl_in_runs {
    ($($element:ty: $of2:ty, $of4:ty, $of8:ty, $of16:ty, $of32:ty;)*) => {$(
        impl InRuns for $element {
            type Of2 = $of2;
            type Of4 = $of4;
            type Of8 = $of8;
            type Of16 = $of16;
            type Of32 = $of32;
        }
    )*};
}
impl_in_runs! {
    u8: Parts<u8, 2>, Parts<u8, 4>, Parts<u8, 8>, Parts<u8, 16>, Parts<u8, 32>;
    u16: u16, Parts<u16, 2>, Parts<u16, 4>, Parts<u16, 8>, Parts<u16, 16>;
    u32: u32, u32, Parts<u32, 2>, Parts<u32, 4>, Parts<u32, 8>;
    u64: u64, u64, u64, Parts<u64, 2>, Parts<u64, 4>;
    u128: u128, u128, u128, u128, Parts<u128, 2>;
    [u64; 4]: [u64; 4], [u64; 4], [u64; 4], [u64; 4], [u64; 4];
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
    let item_bytes = size_of::<E>();
    debug_check(source, source_start, item_bytes, &[(axis.extent, axis.source_step)]);
    debug_check(target, target_start, item_bytes, &[(axis.extent, axis.target_step)]);
    let (source, target) = (source.as_ptr(), target.as_mut_ptr());
    let starts = (source_start, target_start);
    // Steps that the compiler knows cost no registers.
    // SAFETY: the caller's promise is handed on.
    unsafe {
        if axis.target_step == item_bytes {
            line::<E, SWAP>(Axis { target_step: item_bytes, ..axis }, starts, source, target);
        } else if axis.source_step == item_bytes {
            line::<E, SWAP>(Axis { source_step: item_bytes, ..axis }, starts, source, target);
        } else {
            line::<E, SWAP>(axis, starts, source, target);
        }
    }
}

/// # Safety
/// That of [`move_line`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that the compiler knows a step")]
#[expect(unsafe_code, reason = "as in `move_line`")]
unsafe fn line<E: Element, const SWAP: bool>(
    axis: Axis,
    starts: (usize, usize),
    source: *const u8,
    target: *mut u8,
) {
    let turn = |turn: usize| {
        let (source_at, target_at) = axis.at(turn, starts);
        // SAFETY: `turn` is below the extent, so the caller's promise covers both accesses.
        unsafe { move_element::<E, SWAP>(source, source_at, target, target_at) };
    };
    // Several turns of the loop in one: counting would take as long as moving.
    let whole = axis.extent - axis.extent % UNROLLED;
    for first in (0..whole).step_by(UNROLLED) {
        for next in 0..UNROLLED {
            turn(first + next);
        }
    }
    (whole..axis.extent).for_each(turn);
}
