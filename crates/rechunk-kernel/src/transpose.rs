//! Two axes that the sides walk in different orders. Unsafe code, as in [`crate::element`].

use crate::axes::Axis;
use crate::element::{Element, debug_check, move_element};

/// Edge of the square tiles a transposition is cut into, elements. Larger tiles fall out of the
/// first-level cache when strides are powers of two, smaller ones waste cache lines.
const TILE: usize = 16;
/// Edge of tiles that are moved in squares, bytes, where that is more. A square takes a few lines
/// of the cache at once, and a line that two tiles share is fetched for both.
const TILE_BYTES: usize = 256;

/// Moves the elements of two axes in small square tiles. `outer` is the source's fastest axis,
/// `inner` the target's, so that neither side is walked against its grain for long.
///
/// # Safety
/// Every turn of the two loops from the given starts touches only bytes inside `source` and
/// `target`.
#[expect(unsafe_code, reason = "the box was checked as a whole; a check per element halves speed")]
pub(crate) unsafe fn move_tiles<E: Element, const SWAP: bool>(
    outer: Axis,
    inner: Axis,
    source: &[u8],
    source_start: usize,
    target: &mut [u8],
    target_start: usize,
) {
    let source_steps = [(outer.extent, outer.source_step), (inner.extent, inner.source_step)];
    let target_steps = [(outer.extent, outer.target_step), (inner.extent, inner.target_step)];
    debug_check(source, source_start, size_of::<E>(), &source_steps);
    debug_check(target, target_start, size_of::<E>(), &target_steps);
    let (source, target) = (source.as_ptr(), target.as_mut_ptr());
    // Elements that are neighbours on both sides, each along its axis, fill registers.
    let are_packed = outer.source_step == size_of::<E>() && inner.target_step == size_of::<E>();
    let side = square::edge::<E>().filter(|_| !SWAP);
    let has_squares = are_packed && side.is_some();
    let side = side.unwrap_or(1);
    let edge = if has_squares { TILE.max(TILE_BYTES / size_of::<E>()) } else { TILE };
    let at = |o: usize, i: usize| inner.at(i, outer.at(o, (source_start, target_start)));
    // Where the squares between `start` and `end` end.
    let whole = |start: usize, end: usize| {
        if has_squares { end - (end - start) % side } else { start }
    };
    for inner_start in (0..inner.extent).step_by(edge) {
        let inner_end = inner.extent.min(inner_start + edge);
        let inner_whole = whole(inner_start, inner_end);
        for outer_start in (0..outer.extent).step_by(edge) {
            let outer_end = outer.extent.min(outer_start + edge);
            let outer_whole = whole(outer_start, outer_end);
            for o in (outer_start..outer_whole).step_by(side) {
                for i in (inner_start..inner_whole).step_by(side) {
                    let (source_at, target_at) = at(o, i);
                    // SAFETY: all `side` turns from `o` and from `i` are below their extents, and
                    // their elements are packed.
                    unsafe {
                        square::transpose::<E>(
                            (source.add(source_at), inner.source_step),
                            (target.add(target_at), outer.target_step),
                        );
                    }
                }
            }
            for o in outer_start..outer_end {
                let from = if o < outer_whole { inner_whole } else { inner_start };
                for i in from..inner_end {
                    let (source_at, target_at) = at(o, i);
                    // SAFETY: `o` and `i` are below their extents, so the caller's promise covers
                    // both accesses.
                    unsafe { move_element::<E, SWAP>(source, source_at, target, target_at) };
                }
            }
        }
    }
}

/// Squares of elements whose rows fill a register.
#[cfg(target_arch = "x86_64")]
mod square {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi8,
        _mm_unpackhi_epi16, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi8,
        _mm_unpacklo_epi16, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
    };

    use crate::element::Element;

    /// Number of elements along each edge of such a square, if there is code for it.
    pub(super) fn edge<E: Element>() -> Option<usize> {
        let bytes = size_of::<E>();
        (bytes <= size_of::<__m128i>() / 2).then(|| size_of::<__m128i>() / bytes)
    }

    /// Moves a square. Its rows begin so many bytes apart in the source, its columns in the target.
    ///
    /// # Safety
    /// [`edge`] rows of a register lie in the source at every step, and as many in the target.
    #[expect(unsafe_code, reason = "as in `move_tiles`")]
    #[inline]
    pub(super) unsafe fn transpose<E: Element>(
        source: (*const u8, usize),
        target: (*mut u8, usize),
    ) {
        // SAFETY: the caller's promise is handed on, and all x86-64 processors have these
        // instructions.
        unsafe {
            match size_of::<E>() {
                1 => of::<16>(source, target, |a, b| {
                    [_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)]
                }),
                2 => of::<8>(source, target, |a, b| {
                    [_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)]
                }),
                4 => of::<4>(source, target, |a, b| {
                    [_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)]
                }),
                _ => of::<2>(source, target, |a, b| {
                    [_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)]
                }),
            }
        }
    }

    /// A square of `EDGE` rows. Rows that lie half of them apart are interleaved: after as many
    /// turns as `EDGE` has powers of two, each has what was a column.
    #[expect(unsafe_code, reason = "as in `move_tiles`")]
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the rows are to stay in registers")]
    unsafe fn of<const EDGE: usize>(
        (source, source_step): (*const u8, usize),
        (target, target_step): (*mut u8, usize),
        interleaved: impl Fn(__m128i, __m128i) -> [__m128i; 2],
    ) {
        // SAFETY: all x86-64 processors have it.
        let mut rows = [unsafe { _mm_setzero_si128() }; EDGE];
        for (number, row) in rows.iter_mut().enumerate() {
            // SAFETY: row `number` of the source, as promised; it need not be aligned.
            *row = unsafe { _mm_loadu_si128(source.add(number * source_step).cast()) };
        }
        for _ in 0..EDGE.trailing_zeros() {
            let before = rows;
            for pair in 0..EDGE / 2 {
                let [low, high] = interleaved(before[pair], before[pair + EDGE / 2]);
                rows[2 * pair] = low;
                rows[2 * pair + 1] = high;
            }
        }
        for (number, row) in rows.iter().enumerate() {
            // SAFETY: row `number` of the target, as promised; it need not be aligned.
            unsafe { _mm_storeu_si128(target.add(number * target_step).cast(), *row) };
        }
    }
}

/// Squares are moved element by element.
#[cfg(not(target_arch = "x86_64"))]
mod square {
    use crate::element::Element;

    /// There is no code for any.
    pub(super) fn edge<E: Element>() -> Option<usize> {
        None
    }

    /// Never called.
    ///
    /// # Safety
    /// Any arguments will do.
    #[expect(unsafe_code, reason = "as on processors that have one")]
    pub(super) unsafe fn transpose<E: Element>(_: (*const u8, usize), _: (*mut u8, usize)) {}
}

#[cfg(test)]
mod tests {
    use crate::copy_region;

    #[test]
    fn squares_and_what_is_left_beside_them_change_places() {
        for item in [1_usize, 2, 4, 8, 16] {
            for (rows, columns) in
                [(16, 16), (64, 64), (33, 70), (70, 33), (17, 65), (130, 5), (5, 130), (2, 2)]
            {
                let (from_pitch, to_pitch) = (columns * item + 3, rows * item + 5);
                let byte = |n: usize| u8::try_from((n * 7 + n / 251) % 253).unwrap();
                let source: Vec<u8> = (0..2 + rows * from_pitch).map(byte).collect();
                let mut target = vec![0xEE; 1 + columns * to_pitch];
                let mut expected = target.clone();
                for row in 0..rows {
                    for column in 0..columns {
                        let from = 2 + row * from_pitch + column * item;
                        let to = 1 + column * to_pitch + row * item;
                        expected[to..to + item].copy_from_slice(&source[from..from + item]);
                    }
                }
                let wide = |n: usize| u64::try_from(n).unwrap();
                let shape = [wide(rows), wide(columns)];
                let from = [wide(from_pitch), wide(item)];
                let to = [wide(item), wide(to_pitch)];
                copy_region(item, &shape, &source, 2, &from, &mut target, 1, &to, 1).unwrap();
                assert!(target == expected, "{rows} rows of {columns} elements of {item} bytes");
            }
        }
    }
}
