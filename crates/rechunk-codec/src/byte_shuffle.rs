//! Byte shuffle: first all first bytes of the elements, then all second bytes, and so on. Buffers
//! are whole numbers of elements, of at least one byte. Loops over a few elements at a time, which
//! the compiler makes vectors of.

/// Elements that are rearranged at a time: what they go through stays in the first-level cache.
pub(crate) const LANES: usize = 256;

/// Puts the first bytes of all `elements` of `typesize` bytes into `planes`, which is as long, then
/// the second ones, and so on.
pub fn shuffle(typesize: usize, elements: &[u8], planes: &mut [u8]) {
    match typesize {
        1 => planes.copy_from_slice(elements),
        2 => {
            let words = elements.as_chunks().0;
            let (low, high) = planes.split_at_mut(words.len());
            split(words, low, high, |word| of_2(u16::from_le_bytes(word)));
        }
        4 => shuffle_4(elements.as_chunks().0, planes),
        8 => shuffle_8(elements.as_chunks().0, planes),
        _ => {
            let count = elements.len() / typesize;
            for (byte, plane) in planes.chunks_exact_mut(count.max(1)).enumerate() {
                for (value, element) in plane.iter_mut().zip(elements.chunks_exact(typesize)) {
                    *value = element[byte];
                }
            }
        }
    }
}

fn shuffle_4(elements: &[[u8; 4]], planes: &mut [u8]) {
    let mut halves = [[0; LANES]; 2];
    for (some, elements) in elements.chunks(LANES).enumerate() {
        let [low, high] = &mut halves;
        split(elements, low, high, |element| of_4(u32::from_le_bytes(element)));
        into_planes(&halves, some, elements.len(), planes);
    }
}

fn shuffle_8(elements: &[[u8; 8]], planes: &mut [u8]) {
    let (mut halves, mut quarters) = ([[0; LANES]; 2], [[0; LANES]; 4]);
    for (some, elements) in elements.chunks(LANES).enumerate() {
        let [low, high] = &mut halves;
        split(elements, low, high, |element| of_8(u64::from_le_bytes(element)));
        for (half, [low, high]) in halves.iter().zip(quarters.as_chunks_mut().0) {
            split(half, low, high, of_4);
        }
        into_planes(&quarters, some, elements.len(), planes);
    }
}

/// Puts the bytes of the first `count` of each of some `words` into their planes. They go behind
/// those of `some` times [`LANES`]; there is at least one.
fn into_planes<const N: usize>(
    words: &[[u16; LANES]; N],
    some: usize,
    count: usize,
    planes: &mut [u8],
) {
    let plane_bytes = planes.len() / (2 * N);
    for (words, pair) in words.iter().zip(planes.chunks_exact_mut(2 * plane_bytes)) {
        let (low, high) = pair.split_at_mut(plane_bytes);
        let at = some * LANES..some * LANES + count;
        split(&words[..count], &mut low[at.clone()], &mut high[at], of_2);
    }
}

/// Takes the two halves of words apart, in a loop that the compiler makes vectors of. It does 20 to
/// 60 GB/s for all levels of elements of 8 to 2 bytes; one plane after the other, a shift and a
/// byte of each word, it is 7 to 38.
#[inline]
fn split<W: Copy, H>(words: &[W], low: &mut [H], high: &mut [H], halves: impl Fn(W) -> [H; 2]) {
    for ((word, low), high) in words.iter().zip(low).zip(high) {
        [*low, *high] = halves(*word);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn of_2(word: u16) -> [u8; 2] {
    [word as u8, (word >> 8) as u8]
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn of_4(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn of_8(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Undoes [`shuffle`].
pub fn unshuffle(typesize: usize, planes: &[u8], elements: &mut [u8]) {
    let count = elements.len() / typesize;
    unshuffle_planes(typesize, |byte| &planes[byte * count..][..count], elements);
}

/// Puts elements of `typesize` bytes together, of whose bytes each has a plane.
pub(crate) fn unshuffle_planes<'a>(
    typesize: usize,
    plane: impl Fn(usize) -> &'a [u8],
    elements: &mut [u8],
) {
    let byte_plane = |byte: usize| plane(byte).as_chunks::<1>().0;
    match typesize {
        1 => elements.copy_from_slice(plane(0)),
        2 => interleave(byte_plane(0), byte_plane(1), elements.as_chunks_mut::<2>().0),
        4 => unshuffle_4(byte_plane, elements.as_chunks_mut().0),
        8 => unshuffle_8(byte_plane, elements.as_chunks_mut().0),
        _ => {
            for byte in 0..typesize {
                for (element, value) in elements.chunks_exact_mut(typesize).zip(plane(byte)) {
                    element[byte] = *value;
                }
            }
        }
    }
}

fn unshuffle_4<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 4]]) {
    let mut halves = [[[0; 2]; LANES]; 2];
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, half) in halves.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

/// [`unshuffle_planes`] of 8 bytes each.
pub(crate) fn unshuffle_8<'a>(plane: impl Fn(usize) -> &'a [[u8; 1]], elements: &mut [[u8; 8]]) {
    let (mut quarters, mut halves) = ([[[0; 2]; LANES]; 4], [[[0; 4]; LANES]; 2]);
    for (some, elements) in elements.chunks_mut(LANES).enumerate() {
        let at = some * LANES..some * LANES + elements.len();
        for (number, quarter) in quarters.iter_mut().enumerate() {
            interleave(&plane(2 * number)[at.clone()], &plane(2 * number + 1)[at.clone()], quarter);
        }
        for (half, quarters) in halves.iter_mut().zip(quarters.chunks_exact(2)) {
            interleave(&quarters[0], &quarters[1], half);
        }
        interleave(&halves[0], &halves[1], elements);
    }
}

/// Puts the two halves of elements together, in a loop that the compiler makes vectors of. It does
/// 10 to 35 GB/s; byte by byte, elements of 4 bytes take four times as long.
#[inline]
fn interleave<const H: usize, const N: usize>(
    low: &[[u8; H]],
    high: &[[u8; H]],
    elements: &mut [[u8; N]],
) {
    for ((element, low), high) in elements.iter_mut().zip(low).zip(high) {
        element[..H].copy_from_slice(low);
        element[H..].copy_from_slice(high);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn planes_have_one_byte_of_each_element(
            typesize in 1..18_usize, count in 0..3 * LANES, seed in any::<u64>(),
        ) {
            let byte = |at: u64| (at ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0];
            let elements: Vec<u8> = (0..).take(count * typesize).map(byte).collect();
            let mut planes = vec![0; elements.len()];
            shuffle(typesize, &elements, &mut planes);
            for (at, element) in elements.chunks_exact(typesize).enumerate() {
                let of_planes: Vec<u8> = planes.iter().skip(at).step_by(count).copied().collect();
                prop_assert_eq!(&of_planes, element);
            }
            let mut again = vec![0; elements.len()];
            unshuffle(typesize, &planes, &mut again);
            prop_assert_eq!(again, elements);
        }
    }
}
