//! Moves runs of bytes that are too short for a `memcpy` each. The call, and finding out how long
//! the run is, would take a good part of the time. Unsafe code, as in [`crate::element`].

use crate::axes::Axis;
use crate::element::{Element, InRuns, debug_check, move_element};

/// Bytes that are moved at once. Where the last of them would go beyond the run, it begins earlier.
const BLOCK: usize = 32;
/// Longest run that has code of its own, and what longer ones are moved by, in blocks.
const BLOCKS_MAX: usize = 8;
const GROUP_BLOCKS: usize = 4;
/// Longest run, bytes. The processors that `memcpy` is made for move as much as a page faster by
/// it; from 300 bytes to that, blocks take half to nine tenths of its time.
const RUN_BYTES_MAX: usize = 4095;
/// Bytes at the beginning of a long run that are asked for while the run before is moved. A
/// processor reads ahead inside of a run, but cannot know where the next one begins.
const AHEAD_BYTES: usize = 256;
/// Bytes that a processor fetches at once.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Whether runs of so many bytes are moved here faster than by `memcpy`. (Those that are swapped
/// always are.)
pub(crate) fn are_short(row_bytes: usize) -> bool {
    (2..=RUN_BYTES_MAX).contains(&row_bytes)
}

/// Moves the runs of `row_bytes` of one axis, each element with its bytes reversed if `SWAP`.
///
/// # Safety
/// Every run, at every turn of `axis` from the given starts, lies inside `source` and `target`. Runs are of two whole elements and
/// more.
#[expect(
    unsafe_code,
    reason = "the box was checked as a whole; a check per run takes as long as the run"
)]
pub(crate) unsafe fn move_rows<E: InRuns, const SWAP: bool>(
    axis: Axis,
    row_bytes: usize,
    (source, source_start): (&[u8], usize),
    (target, target_start): (&mut [u8], usize),
) {
    debug_assert!(row_bytes >= 2 * size_of::<E>(), "{row_bytes} bytes");
    debug_assert!(row_bytes.is_multiple_of(size_of::<E>()), "{row_bytes} bytes");
    debug_check(source, source_start, row_bytes, &[(axis.extent, axis.source_step)]);
    debug_check(target, target_start, row_bytes, &[(axis.extent, axis.target_step)]);
    let (source, target) = ((source.as_ptr(), source_start), (target.as_mut_ptr(), target_start));
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has it, and the caller's promise is handed on.
        return unsafe { rows_avx2::<E, SWAP>(axis, row_bytes, source, target) };
    }
    // SAFETY: the caller's promise is handed on.
    unsafe { rows::<E, SWAP>(axis, row_bytes, source, target) }
}

/// [`rows`] in registers of a block.
///
/// # Safety
/// That of [`move_rows`], on a processor that has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "as in `move_rows`")]
unsafe fn rows_avx2<E: InRuns, const SWAP: bool>(
    axis: Axis,
    row_bytes: usize,
    source: (*const u8, usize),
    target: (*mut u8, usize),
) {
    // SAFETY: the caller's promise is handed on.
    unsafe { rows::<E, SWAP>(axis, row_bytes, source, target) }
}

/// # Safety
/// That of [`move_rows`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "becomes part of functions for different processors")]
#[expect(unsafe_code, reason = "as in `move_rows`")]
unsafe fn rows<E: InRuns, const SWAP: bool>(
    axis: Axis,
    row_bytes: usize,
    source: (*const u8, usize),
    target: (*mut u8, usize),
) {
    // SAFETY: the caller's promise is handed on; a run has one or two elements, the second of which
    // may begin in the first, more than BLOCKS - 1 blocks, or more than BLOCKS_MAX.
    unsafe {
        match row_bytes.div_ceil(BLOCK) {
            _ if row_bytes < 4 => pairs::<E::Of2, SWAP>(axis, row_bytes, source, target),
            _ if row_bytes < 8 => pairs::<E::Of4, SWAP>(axis, row_bytes, source, target),
            _ if row_bytes < 16 => pairs::<E::Of8, SWAP>(axis, row_bytes, source, target),
            _ if row_bytes < BLOCK => pairs::<E::Of16, SWAP>(axis, row_bytes, source, target),
            1 => blocks::<E, SWAP, 1>(axis, row_bytes, source, target),
            2 => blocks::<E, SWAP, 2>(axis, row_bytes, source, target),
            3 => blocks::<E, SWAP, 3>(axis, row_bytes, source, target),
            4 => blocks::<E, SWAP, 4>(axis, row_bytes, source, target),
            5 => blocks::<E, SWAP, 5>(axis, row_bytes, source, target),
            6 => blocks::<E, SWAP, 6>(axis, row_bytes, source, target),
            7 => blocks::<E, SWAP, 7>(axis, row_bytes, source, target),
            BLOCKS_MAX => blocks::<E, SWAP, BLOCKS_MAX>(axis, row_bytes, source, target),
            _ => groups::<E, SWAP>(axis, row_bytes, source, target),
        }
    }
}

/// Runs of as many bytes as `E` has or more, and less than twice as many.
///
/// # Safety
/// That of [`move_rows`], and that.
#[inline(always)]
#[expect(clippy::inline_always, reason = "becomes part of functions for different processors")]
#[expect(unsafe_code, reason = "as in `move_rows`")]
unsafe fn pairs<E: Element, const SWAP: bool>(
    axis: Axis,
    row_bytes: usize,
    (source, source_start): (*const u8, usize),
    (target, target_start): (*mut u8, usize),
) {
    let last = row_bytes - size_of::<E>();
    for turn in 0..axis.extent {
        let (source_at, target_at) = axis.at(turn, (source_start, target_start));
        // SAFETY: a run begins at each of the two, and its first and last `E` lie in it.
        unsafe {
            move_element::<E, SWAP>(source, source_at, target, target_at);
            if last > 0 {
                move_element::<E, SWAP>(source, source_at + last, target, target_at + last);
            }
        }
    }
}

/// Runs of more than `BLOCKS - 1` blocks and at most `BLOCKS`.
///
/// # Safety
/// That of [`move_rows`], and that.
#[inline(always)]
#[expect(clippy::inline_always, reason = "becomes part of functions for different processors")]
#[expect(unsafe_code, reason = "as in `move_rows`")]
unsafe fn blocks<E: InRuns, const SWAP: bool, const BLOCKS: usize>(
    axis: Axis,
    row_bytes: usize,
    (source, source_start): (*const u8, usize),
    (target, target_start): (*mut u8, usize),
) {
    for turn in 0..axis.extent {
        let (source_at, target_at) = axis.at(turn, (source_start, target_start));
        if BLOCKS == BLOCKS_MAX {
            ask_for(source, source_at + axis.source_step);
        }
        // SAFETY: a run begins at each of the two and has at least BLOCKS - 1 blocks, and one.
        unsafe {
            for block in 0..BLOCKS - 1 {
                let at = block * BLOCK;
                move_element::<E::Of32, SWAP>(source, source_at + at, target, target_at + at);
            }
            let last = row_bytes - BLOCK;
            move_element::<E::Of32, SWAP>(source, source_at + last, target, target_at + last);
        }
    }
}

/// Runs of a block and more.
///
/// # Safety
/// That of [`move_rows`], and that.
#[inline(always)]
#[expect(clippy::inline_always, reason = "becomes part of functions for different processors")]
#[expect(unsafe_code, reason = "as in `move_rows`")]
unsafe fn groups<E: InRuns, const SWAP: bool>(
    axis: Axis,
    row_bytes: usize,
    (source, source_start): (*const u8, usize),
    (target, target_start): (*mut u8, usize),
) {
    let last = row_bytes - BLOCK;
    for turn in 0..axis.extent {
        let (source_at, target_at) = axis.at(turn, (source_start, target_start));
        ask_for(source, source_at + axis.source_step);
        let mut at = 0;
        // SAFETY: a run begins at each of the two, and all blocks lie in it: those of a group end
        // with the run at the latest, others begin before the last does, and that ends where the
        // run does.
        unsafe {
            while at + GROUP_BLOCKS * BLOCK <= row_bytes {
                for block in 0..GROUP_BLOCKS {
                    let at = at + block * BLOCK;
                    move_element::<E::Of32, SWAP>(source, source_at + at, target, target_at + at);
                }
                at += GROUP_BLOCKS * BLOCK;
            }
            while at < last {
                move_element::<E::Of32, SWAP>(source, source_at + at, target, target_at + at);
                at += BLOCK;
            }
            move_element::<E::Of32, SWAP>(source, source_at + last, target, target_at + last);
        }
    }
}

/// Has the processor fetch what is at `at`, the beginning of a run or a place where none is.
#[inline]
fn ask_for(source: *const u8, at: usize) {
    #[cfg(target_arch = "x86_64")]
    for ahead in (0..AHEAD_BYTES).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: nothing is read, and an address where nothing is does no harm.
        #[expect(unsafe_code, reason = "the only way to say it")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(source.wrapping_add(at + ahead).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (source, at, AHEAD_BYTES);
}

#[cfg(test)]
mod tests {
    use crate::copy_region;

    /// Bytes none of which is like its neighbours.
    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|n| u8::try_from((n * 7 + n / 251) % 253).unwrap()).collect()
    }

    #[test]
    fn runs_of_every_length_are_moved_and_nothing_beside_them() {
        for row in
            (1..=300_usize).chain([319, 320, 321, 383, 384, 500, 1000, 1024, 4095, 4096, 4097])
        {
            let (pitch, rows) = (row + 5, 4);
            let source = bytes(rows * pitch);
            let mut target = vec![0xEE; rows * pitch + 3];
            let shape = [rows as u64, row as u64];
            let (from, to) = ([pitch as u64, 1], [(row + 3) as u64, 1]);
            copy_region(1, &shape, &source, 2, &from, &mut target, 3, &to, 1).unwrap();
            let mut expected = vec![0xEE; rows * pitch + 3];
            for n in 0..rows {
                let (from, to) = (2 + n * pitch, 3 + n * (row + 3));
                expected[to..to + row].copy_from_slice(&source[from..from + row]);
            }
            assert!(target == expected, "runs of {row} bytes");
        }
    }

    #[test]
    fn the_longest_and_the_last_byte_of_a_buffer_may_be_moved() {
        for row in [32_usize, 33, 64, 255, 256, 257, 300, 384, 4095, 4096] {
            let source = bytes(3 * row);
            let mut target = vec![0; 3 * row];
            let (shape, still) = ([3, row as u64], [row as u64, 1]);
            copy_region(1, &shape, &source, 0, &still, &mut target, 0, &still, 1).unwrap();
            assert!(target == source, "runs of {row} bytes");
            let (shape, gaps) = ([2, row as u64], [2 * row as u64, 1]);
            let mut target = vec![0; 3 * row];
            copy_region(1, &shape, &source, 0, &gaps, &mut target, 0, &gaps, 1).unwrap();
            assert!(target[..row] == source[..row] && target[2 * row..] == source[2 * row..]);
            assert!(target[row..2 * row].iter().all(|&byte| byte == 0), "runs of {row} bytes");
        }
    }

    #[test]
    fn rows_are_swapped_and_nothing_beside_them() {
        for item in [2_usize, 4, 8, 16, 32] {
            for count in (2..=70).chain([130, 300, 2048]) {
                let (row, rows) = (item * count, 3);
                let source = bytes(rows * (row + 5));
                let mut target = vec![0xEE; rows * (row + 3) + 1];
                let mut expected = target.clone();
                for n in 0..rows {
                    let from = source[n * (row + 5)..][..row].chunks(item);
                    let swapped: Vec<u8> = from.flat_map(|e| e.iter().rev().copied()).collect();
                    expected[1 + n * (row + 3)..][..row].copy_from_slice(&swapped);
                }
                let shape = [rows as u64, count as u64];
                let (from, to) = ([(row + 5) as u64, item as u64], [(row + 3) as u64, item as u64]);
                copy_region(item, &shape, &source, 0, &from, &mut target, 1, &to, item).unwrap();
                assert!(target == expected, "{count} elements of {item} bytes");
            }
        }
    }

    #[test]
    fn runs_are_swapped_whatever_their_length() {
        for item in [2_usize, 4, 8, 16, 32] {
            for count in 1..=70 {
                let source = bytes(item * count);
                let mut target = vec![0; item * count];
                let (shape, step) = ([count as u64], [item as u64]);
                copy_region(item, &shape, &source, 0, &step, &mut target, 0, &step, item).unwrap();
                let expected: Vec<u8> =
                    source.chunks(item).flat_map(|item| item.iter().rev().copied()).collect();
                assert!(target == expected, "{count} elements of {item} bytes");
            }
        }
    }
}
